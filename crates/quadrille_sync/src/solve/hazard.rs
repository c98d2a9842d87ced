//! Phase `hazard`: which passes must not overlap in time?
//!
//! What is left of the order once the memory is looked at: neighbours on a span of which one
//! writes, or between which the layout or the owner changes. Order that no hazard stands behind is
//! not here; nobody could see it.

use super::touch::{Member, Touches};
use crate::flags::Layout;
use crate::frame::{Frame, PassKind};
use crate::resource::Sharing;
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// A hazard between two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hazard {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// All neighbours that must not overlap in time: one writes, or the layout or the owner changes
/// between two reads. `touches` is sorted by order. Culled passes, which have no queue, touch
/// nothing.
pub(super) fn hazards(
    frame: &Frame,
    topology: &Topology,
    touches: &Touches,
    queues: &[Option<QueueIndex>],
) -> Vec<Hazard> {
    let mut edges = Vec::with_capacity(2 * frame.uses.len());
    let mut readers: Vec<u32> = Vec::new();
    let is_device = |pass: u32| frame.passes[pass as usize].kind == PassKind::Device;
    let all_run = queues.iter().all(Option::is_some);
    let is_culled = |pass: u32| !all_run && queues[pass as usize].is_none() && is_device(pass);
    // With one family nothing moves.
    let has_families = topology.family_count() > 1;
    for (span, members) in touches.spans() {
        let resource = frame.resource(span.resource);
        let has_owner = has_families && resource.sharing == Sharing::Exclusive;
        let is_image = resource.is_image();
        readers.clear();
        if all_run && !has_owner && !is_image {
            between_writes(members, &mut readers, &mut edges);
            continue;
        }
        let mut change: Option<u32> = None;
        // What has to be the same for two reads to overlap. The host owns nothing, and takes
        // nothing from its owner.
        let mut present: Option<Layout> = None;
        let mut owner: Option<FamilyIndex> = None;
        for Member { one, pass, writes } in members.iter().copied() {
            if is_culled(pass) {
                continue;
            }
            let layout = match is_image {
                true => frame.uses[one as usize].access.layout(),
                false => Layout::Undefined,
            };
            let queue = queues[pass as usize].filter(|_| has_owner);
            let family = queue.map(|queue| topology.family(queue));
            let changes = writes || present.is_some_and(|now| now != layout);
            let moves = owner.zip(family).is_some_and(|(now, new)| now != new);
            let mut push = |from: u32| {
                if from != pass {
                    edges.push(Hazard { from, to: pass });
                }
            };
            change.into_iter().for_each(&mut push);
            if changes || moves {
                // The host reads on while the owner changes.
                let stays = |reader: u32| !changes && !is_device(reader);
                let leave = readers.iter().copied().filter(|reader| !stays(*reader));
                leave.for_each(push);
                readers.retain(|reader| stays(*reader));
                change = Some(pass);
            } else {
                readers.push(pass);
            }
            owner = family.or(owner);
            present = Some(layout);
        }
    }
    edges
}

/// What is left of all hazards if nothing but contents counted.
pub(super) fn data_hazards(
    frame: &Frame,
    touches: &Touches,
    queues: &[Option<QueueIndex>],
) -> Vec<Hazard> {
    let runs = |member: &&Member| {
        let kind = frame.passes[member.pass as usize].kind;
        kind != PassKind::Device || queues[member.pass as usize].is_some()
    };
    let (mut edges, mut readers, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (_, members) in touches.spans() {
        readers.clear();
        kept.clear();
        kept.extend(members.iter().filter(runs).copied());
        between_writes(&kept, &mut readers, &mut edges);
    }
    edges
}

/// Hazards on a span of which only the contents count: from each write to the uses up to the next
/// one, and from these to that.
fn between_writes(members: &[Member], readers: &mut Vec<u32>, edges: &mut Vec<Hazard>) {
    let mut writer: Option<u32> = None;
    for Member { pass, writes, .. } in members.iter().copied() {
        let mut push = |from: u32| {
            if from != pass {
                edges.push(Hazard { from, to: pass });
            }
        };
        writer.into_iter().for_each(&mut push);
        if writes {
            readers.drain(..).for_each(push);
            writer = Some(pass);
        } else {
            readers.push(pass);
        }
    }
}
