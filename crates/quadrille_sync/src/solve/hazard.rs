//! Phase `hazard`: which passes must not overlap in time?
//!
//! What is left of the order once the memory is looked at: neighbours on a span of which one
//! writes, or between which the layout or the owner changes. Order that no hazard stands behind is
//! not here; nobody could see it.

use super::share::Shared;
use super::touch::{Member, Touches};
use crate::flags::Layout;
use crate::frame::{Frame, PassKind};
use crate::range::EVERYTHING;
use crate::resource::Sharing;
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// A hazard between two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hazard {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// All neighbours that must not overlap in time: one writes, or the layout or the owner changes
/// between two reads; and the changes of layout that several queues share, which are part of the
/// write before. `touches` is sorted by order. Culled passes, which have no queue, touch nothing.
pub(super) fn hazards(
    frame: &Frame,
    topology: &Topology,
    touches: &Touches,
    queues: &[Option<QueueIndex>],
) -> (Vec<Hazard>, Shared) {
    let mut search = Search {
        frame,
        topology,
        queues,
        all_run: queues.iter().all(Option::is_some),
        edges: Vec::with_capacity(2 * frame.uses.len()),
        shared: Shared::default(),
        readers: Vec::new(),
    };
    // With one family nothing moves.
    let has_families = topology.family_count() > 1;
    for (span, members) in touches.spans() {
        let resource = frame.resource(span.resource);
        let has_owner = has_families && resource.sharing == Sharing::Exclusive;
        let is_image = resource.is_image();
        search.readers.clear();
        if span.is_of_slices {
            // The rest is looked at level by level.
            search.look(members, false, false, false);
        } else if search.all_run && !has_owner && !is_image {
            between_writes(members, &mut search.readers, &mut search.edges);
        } else {
            let may_share = is_image && !has_owner && span.interval == EVERYTHING;
            search.look(members, is_image, has_owner, may_share);
        }
    }
    for (level, members) in touches.levels() {
        let sharing = frame.resource(level.resource).sharing;
        search.readers.clear();
        search.look(
            members,
            true,
            has_families && sharing == Sharing::Exclusive,
            false,
        );
    }
    search.shared.sort();
    (search.edges, search.shared)
}

/// What has been found so far.
struct Search<'a> {
    frame: &'a Frame,
    topology: &'a Topology,
    queues: &'a [Option<QueueIndex>],
    /// Nobody is culled, and there are no host passes.
    all_run: bool,
    edges: Vec<Hazard>,
    shared: Shared,
    /// Readers of a span since the last change; kept for its memory.
    readers: Vec<u32>,
}

impl Search<'_> {
    fn is_device(&self, pass: u32) -> bool {
        self.frame.passes[pass as usize].kind == PassKind::Device
    }

    fn is_culled(&self, pass: u32) -> bool {
        !self.all_run && self.queues[pass as usize].is_none() && self.is_device(pass)
    }

    /// Looks at a span of an image, or of what has an owner.
    fn look(&mut self, members: &[Member], is_image: bool, has_owner: bool, may_share: bool) {
        let mut change: Option<u32> = None;
        // The change is a write, and nobody has read what is written.
        let mut is_fresh = false;
        // What has to be the same for two reads to overlap. The host owns nothing, and takes
        // nothing from its owner.
        let mut present: Option<Layout> = None;
        let mut owner: Option<FamilyIndex> = None;
        for (at, Member { one, pass, writes }) in members.iter().copied().enumerate() {
            if self.is_culled(pass) {
                continue;
            }
            let layout = match is_image {
                true => self.frame.uses[one as usize].access.layout(),
                false => Layout::Undefined,
            };
            let queue = self.queues[pass as usize].filter(|_| has_owner);
            let family = queue.map(|queue| self.topology.family(queue));
            let is_other = present.is_some_and(|now| now != layout);
            let may_share = may_share && is_fresh && is_other && !writes;
            let writer = change.filter(|_| may_share);
            let shares = writer.is_some_and(|writer| self.share(writer, &members[at..]));
            let changes = writes || is_other && !shares;
            let moves = owner.zip(family).is_some_and(|(now, new)| now != new);
            change.into_iter().for_each(|from| self.push(from, pass));
            if changes || moves {
                self.leave(pass, changes);
                change = Some(pass);
            } else {
                self.readers.push(pass);
            }
            is_fresh = writes;
            owner = family.or(owner);
            present = Some(layout);
        }
    }

    /// Whether readers share a change of layout with each other.
    fn share(&mut self, writer: u32, readers: &[Member]) -> bool {
        let Self {
            frame,
            topology,
            queues,
            shared,
            ..
        } = self;
        shared.add(frame, topology, queues, writer, readers)
    }

    fn push(&mut self, from: u32, to: u32) {
        if from != to {
            self.edges.push(Hazard { from, to });
        }
    }

    /// Lets a pass that changes contents, layout or owner come after the readers.
    fn leave(&mut self, pass: u32, changes: bool) {
        let mut readers = std::mem::take(&mut self.readers);
        // The host reads on while the owner changes.
        readers.retain(|reader| {
            let stays = !changes && !self.is_device(*reader);
            if !stays {
                self.push(*reader, pass);
            }
            stays
        });
        self.readers = readers;
    }
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
