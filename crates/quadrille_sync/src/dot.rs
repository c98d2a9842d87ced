//! Plans as diagrams, in Graphviz's language.

use std::fmt::{self, Write};

use crate::frame::{Frame, TimelineUse, TimelineUseKind};
use crate::plan::{Plan, RelativePoint, Step, Submission};
use crate::topology::Topology;

/// Draws a plan: queues as clusters, submissions as boxes with their passes and the number of
/// barriers between them and the values of user timelines that they wait for and signal, waits as edges
/// labeled with resources. Host passes have their own
/// cluster, with edges from the submissions that they wait for and to those that are submitted after
/// them. Culled passes have another cluster.
///
/// `dot -Tsvg` converts the result to an image.
pub fn dot(frame: &Frame, topology: &Topology, plan: &Plan) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = draw(&mut text, frame, topology, plan);
    text
}

fn draw(out: &mut String, frame: &Frame, topology: &Topology, plan: &Plan) -> fmt::Result {
    writeln!(out, "digraph plan {{")?;
    writeln!(out, "  rankdir=LR; node [shape=box, fontname=monospace];")?;
    for queue in topology.indices() {
        writeln!(out, "  subgraph cluster_{} {{", queue.0)?;
        writeln!(
            out,
            "    label=\"queue {}, family {}\";",
            queue.0,
            topology.family(queue).0
        )?;
        let mut before: Option<String> = None;
        for submission in plan.submissions.iter().filter(|it| it.queue == queue) {
            let node = node(RelativePoint {
                queue,
                offset: submission.signal,
            });
            writeln!(out, "    {node} [label=\"{}\"];", label(frame, submission))?;
            if let Some(before) = before {
                writeln!(
                    out,
                    "    {before} -> {node} [style=dotted, arrowhead=none];"
                )?;
            }
            before = Some(node);
        }
        writeln!(out, "  }}")?;
    }
    for submission in &plan.submissions {
        let to = node(RelativePoint {
            queue: submission.queue,
            offset: submission.signal,
        });
        for wait in &submission.waits {
            let resources = wait
                .reasons
                .iter()
                .map(|reason| frame.resource(reason.resource));
            let mut names: Vec<&str> = resources.map(|resource| resource.name.as_ref()).collect();
            names.dedup();
            let from = node(wait.point);
            if wait.point.offset <= 0 {
                let (queue, offset) = (wait.point.queue.0, wait.point.offset);
                writeln!(
                    out,
                    "  {from} [label=\"earlier frame\\nqueue {queue}, {offset}\", style=dashed];"
                )?;
            }
            writeln!(
                out,
                "  {from} -> {to} [label=\"{}\"];",
                escape(&names.join(", "))
            )?;
        }
    }
    draw_host(out, frame, plan)?;
    draw_culled(out, frame, plan)?;
    writeln!(out, "}}")
}

/// Draws the culled passes.
fn draw_culled(out: &mut String, frame: &Frame, plan: &Plan) -> fmt::Result {
    if plan.culled.is_empty() {
        return Ok(());
    }
    writeln!(out, "  subgraph cluster_culled {{\n    label=\"culled\";")?;
    for (at, pass) in plan.culled.iter().enumerate() {
        let name = escape(&frame.pass(*pass).name);
        writeln!(out, "    culled_{at} [label=\"{name}\", style=dashed];")?;
    }
    writeln!(out, "  }}")
}

/// Draws the host passes.
fn draw_host(out: &mut String, frame: &Frame, plan: &Plan) -> fmt::Result {
    if plan.host.is_empty() {
        return Ok(());
    }
    writeln!(out, "  subgraph cluster_host {{\n    label=\"host\";")?;
    for (at, step) in plan.host.iter().enumerate() {
        let name = escape(&frame.pass(step.pass).name);
        writeln!(out, "    host_{at} [label=\"{name}\"];")?;
    }
    writeln!(out, "  }}")?;
    for (at, step) in plan.host.iter().enumerate() {
        for wait in &step.waits {
            writeln!(out, "  {} -> host_{at};", node(*wait))?;
        }
        let after = step.before.map(|before| before as usize);
        let after = after.and_then(|before| plan.submissions.get(before));
        if let Some(Submission { queue, signal, .. }) = after {
            let (queue, offset) = (*queue, *signal);
            let to = node(RelativePoint { queue, offset });
            writeln!(out, "  host_{at} -> {to} [label=\"submitted after\"];")?;
        }
    }
    Ok(())
}

/// Returns the steps of a submission, one per line.
fn label(frame: &Frame, submission: &Submission) -> String {
    let name = |at: &crate::resource::ResourceIndex| escape(&frame.resource(*at).name);
    let acquires = submission
        .acquires
        .iter()
        .map(|it| format!("acquire {}", name(&it.resource)));
    let steps = submission.steps.iter().map(|step| match step {
        Step::Barriers(batch) if batch.len() == 1 => "1 barrier".into(),
        Step::Barriers(batch) => format!("{} barriers", batch.len()),
        Step::Pass(pass) => escape(&frame.pass(*pass).name),
    });
    let presents = submission
        .presents
        .iter()
        .map(|at| format!("present {}", name(at)));
    let uses = submission.timeline_uses(frame);
    let (waits, signals): (Vec<_>, Vec<_>) = uses.partition(|it| it.kind == TimelineUseKind::Wait);
    let line = |word: &'static str| {
        move |one: &TimelineUse| {
            let timeline = frame.timelines.get(one.timeline as usize)?;
            let value = timeline.base.saturating_add(one.value);
            Some(format!("{word} {} {value}", escape(&timeline.name)))
        }
    };
    let waits = waits.into_iter().filter_map(line("wait for"));
    let signals = signals.into_iter().filter_map(line("signal"));
    let lines = waits.chain(acquires).chain(steps).chain(presents);
    let lines: Vec<String> = lines.chain(signals).collect();
    lines.join("\\n")
}

/// Returns the name of the node of the submission that signals a point.
fn node(point: RelativePoint) -> String {
    let sign = if point.offset < 0 { "before" } else { "" };
    format!("q{}_{sign}{}", point.queue.0, point.offset.unsigned_abs())
}

/// Escapes text for a quoted string.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', " ")
}

#[cfg(test)]
mod tests;
