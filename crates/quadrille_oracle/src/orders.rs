//! Every order in which the passes of a small frame can be declared without anybody seeing anything
//! else: what a plan is compared with to tell whether a better one was overlooked.

use quadrille_sync::{Frame, PassIndex, PassKind, Plan, QueueIndex, QueueRequest, Step};

use crate::order::{Order, overlap, share_memory};

/// The frame in every such order. Passes that touch the same memory keep their order if one of them
/// writes, and each pass stays on the queue that `plan` gives it.
///
/// None where order is not only a matter of memory: with host passes, passes that prepare the frame,
/// passes that are culled, or several with side effects. The number of orders grows with the
/// factorial of that of passes.
pub fn orders(frame: &Frame, plan: &Plan) -> Vec<Frame> {
    let is_odd = |kind: PassKind, prologue: bool| kind == PassKind::Host || prologue;
    let mut passes = frame.passes.iter();
    let effects = frame.passes.iter().filter(|it| it.side_effect).count();
    let queues = queues(frame, plan);
    if passes.any(|it| is_odd(it.kind, it.prologue)) || effects > 1 || queues.contains(&None) {
        return Vec::new();
    }
    let needs = needs(frame);
    let mut all = Vec::new();
    extend(frame.passes.len(), &needs, &mut Vec::new(), &mut all);
    let declared = all
        .iter()
        .map(|order| declare(frame, &needs, order, &queues));
    declared.collect()
}

/// The queue of each pass.
fn queues(frame: &Frame, plan: &Plan) -> Vec<Option<QueueIndex>> {
    let mut queues = vec![None; frame.passes.len()];
    for submission in &plan.submissions {
        for step in &submission.steps {
            if let Step::Pass(pass) = step {
                queues[pass.0 as usize] = Some(submission.queue);
            }
        }
    }
    queues
}

/// Pairs of passes that touch the same memory, of which one writes, in their order.
fn needs(frame: &Frame) -> Vec<(usize, usize)> {
    let mut order = Order::of(frame);
    for (writer, reader) in order.inferred(frame) {
        order.add(writer, reader);
    }
    let meet = |a: PassIndex, b: PassIndex| {
        frame.uses_of(a).iter().any(|one| {
            frame.uses_of(b).iter().any(|other| {
                let writes = one.access.is_write() || other.access.is_write();
                writes && overlap(frame, one, other) || share_memory(frame, one, other)
            })
        })
    };
    let mut needs = Vec::new();
    for a in frame.pass_indices() {
        for b in frame.pass_indices().filter(|b| *b > a && meet(a, *b)) {
            let (a, b) = match order.precedes(b, a) {
                true => (b, a),
                false => (a, b),
            };
            needs.push((a.0 as usize, b.0 as usize));
        }
    }
    needs
}

/// Adds all orders that begin with some passes.
fn extend(
    count: usize,
    needs: &[(usize, usize)],
    begun: &mut Vec<usize>,
    all: &mut Vec<Vec<usize>>,
) {
    if begun.len() == count {
        all.push(begun.clone());
    }
    for pass in 0..count {
        let is_early = |(from, to): &(usize, usize)| *to == pass && !begun.contains(from);
        if !begun.contains(&pass) && !needs.iter().any(is_early) {
            begun.push(pass);
            extend(count, needs, begun, all);
            begun.pop();
        }
    }
}

/// The frame declared in an order.
fn declare(
    frame: &Frame,
    needs: &[(usize, usize)],
    order: &[usize],
    queues: &[Option<QueueIndex>],
) -> Frame {
    let mut declared = Frame {
        resources: frame.resources.clone(),
        ..Frame::default()
    };
    for pass in order {
        let before = needs.iter().filter(|(_, to)| to == pass);
        let place = |from: usize| order.iter().position(|it| *it == from);
        let after: Vec<PassIndex> = before
            .filter_map(|(from, _)| place(*from))
            .map(|at| PassIndex(at as u32))
            .collect();
        let one = &frame.passes[*pass];
        let queue = QueueRequest {
            fixed: queues[*pass],
            ..one.queue
        };
        let uses = frame.uses_of(PassIndex(*pass as u32));
        let index = declared.add_pass(one.name.clone(), queue, uses, &after);
        let made = &mut declared.passes[index.0 as usize];
        made.side_effect = one.side_effect;
        made.cost_us = one.cost_us;
    }
    declared
}
