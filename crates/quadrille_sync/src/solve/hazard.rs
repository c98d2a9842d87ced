//! Phase `hazard`: which passes must not overlap in time?
//!
//! What is left of the order once the memory is looked at: neighbours on a span of which one
//! writes, or between which the layout or the owner changes. Order that no hazard stands behind is
//! not here; nobody could see it.

use super::touch::Touches;
use crate::flags::Layout;
use crate::frame::{Frame, PassKind, Use};
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
    let mut edges = Vec::new();
    let mut readers: Vec<u32> = Vec::new();
    for (span, members) in touches.spans() {
        let resource = frame.resource(span.resource);
        let exclusive = resource.sharing == Sharing::Exclusive;
        // What has to be the same for two reads to overlap. The host owns nothing, and takes
        // nothing from its owner.
        let setting = |one: &Use, pass: u32| {
            let layout = resource.is_image().then(|| one.access.layout());
            let queue = queues[pass as usize].filter(|_| exclusive);
            (layout, queue.map(|queue| topology.family(queue)))
        };
        readers.clear();
        let mut change: Option<u32> = None;
        let mut present: Option<(Option<Layout>, Option<FamilyIndex>)> = None;
        let is_culled = |pass: u32| {
            let is_device = frame.passes[pass as usize].kind == PassKind::Device;
            is_device && queues[pass as usize].is_none()
        };
        for at in members
            .iter()
            .filter(|at| !is_culled(touches.pass_of(**at)))
        {
            let (one, pass) = (&frame.uses[*at as usize], touches.pass_of(*at));
            let (layout, family) = setting(one, pass);
            let changes = one.access.is_write() || present.is_some_and(|(now, _)| now != layout);
            let before = present.and_then(|(_, owner)| owner);
            let moves = before.zip(family).is_some_and(|(now, new)| now != new);
            let mut push = |from: u32| {
                if from != pass {
                    edges.push(Hazard { from, to: pass });
                }
            };
            change.into_iter().for_each(&mut push);
            if changes || moves {
                // The host reads on while the owner changes.
                let stays =
                    |reader: u32| !changes && frame.passes[reader as usize].kind == PassKind::Host;
                readers
                    .iter()
                    .copied()
                    .filter(|reader| !stays(*reader))
                    .for_each(push);
                readers.retain(|reader| stays(*reader));
                change = Some(pass);
            } else {
                readers.push(pass);
            }
            let owner = family.or(before);
            present = Some((layout, owner));
        }
    }
    edges
}
