//! Phase `hazard`: pairs of passes that must not overlap in time.
//!
//! Two successive uses of a span are a hazard if one of them writes, or if the layout or the owner
//! changes between them. Declared order without a hazard needs no synchronization, because it has no
//! observable effect.

use crate::flags::Layout;
use crate::frame::{Frame, PassKind};
use crate::resource::Sharing;
use crate::solve::graph::Graph;
use crate::solve::graph::range_uses::{Member, RangeUses, Span};
use crate::states::{PastAccess, RangeState, States};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// The most readers on either side of a change of layout or family that are ordered pair by pair.
/// With more, all later readers are ordered after the first of them.
const FEW: usize = 64;

/// A hazard between two passes, the earlier one and the later.
pub(crate) type Hazard = (u32, u32);

/// All pairs of successive uses that must not overlap in time. `uses` is sorted by order. Culled
/// passes, which have no queue, are skipped. If given, `states` hold the layout and owner in which
/// earlier frames have left mip levels that are used by slices.
pub(crate) fn hazards(
    frame: &Frame,
    topology: &Topology,
    uses: &RangeUses,
    queues: &[Option<QueueIndex>],
    states: Option<&States>,
) -> Vec<Hazard> {
    let mut search = Search {
        frame,
        topology,
        queues,
        all_run: queues.iter().all(Option::is_some),
        edges: Vec::with_capacity(2 * frame.uses.len()),
        readers: Vec::new(),
        base: Vec::new(),
        left: Vec::new(),
    };
    // With one family no ownership is transferred.
    let has_families = topology.family_count() > 1;
    for (span, members) in uses.spans() {
        let resource = frame.resource(span.resource);
        let has_owner = has_families && resource.sharing == Sharing::Exclusive;
        let is_image = resource.is_image();
        search.readers.clear();
        if span.is_of_slices {
            // Layout and owner are compared level by level.
            search.find(members, false, false);
        } else if search.all_run && !has_owner && !is_image {
            between_writes(members, &mut search.readers, &mut search.edges);
        } else {
            search.find(members, is_image, has_owner);
        }
    }
    for (level, members) in uses.levels() {
        let sharing = frame.resource(level.resource).sharing;
        let has_owner = has_families && sharing == Sharing::Exclusive;
        let moves = has_owner && search.changes_family(members);
        // With a transfer, the release waits for all uses of the level and later uses wait for the
        // acquire, whatever state the level had.
        let shared = if moves {
            ReadState::default()
        } else {
            search.shared(level, members, states)
        };
        search.readers.clear();
        search.find_from(shared, members, true, has_owner, 0);
    }
    search.edges
}

/// Returns all dependencies as pairs of an earlier and a later pass: hazards, and the order of the
/// graph.
pub(crate) fn links(graph: &Graph, hazards: &[Hazard]) -> Vec<(u32, u32)> {
    let order = graph.edges.iter().map(|edge| (edge.from, edge.to));
    hazards.iter().copied().chain(order).collect()
}

/// State of the search for hazards.
struct Search<'a> {
    frame: &'a Frame,
    topology: &'a Topology,
    queues: &'a [Option<QueueIndex>],
    /// No pass is culled, and there are no host passes.
    all_run: bool,
    edges: Vec<Hazard>,
    /// Readers of a span since the last change. Reused allocation.
    readers: Vec<u32>,
    /// Passes that these readers depend on: the last writer, or the readers before the last change of
    /// layout or owner. Reused allocation.
    base: Vec<u32>,
    /// The readers before a change. Reused allocation.
    left: Vec<u32>,
}

/// Layout and owner that two reads must share to overlap in time. `None` is unknown. A host pass needs
/// no owner, and changes none.
#[derive(Clone, Copy, Debug, Default)]
struct ReadState {
    layout: Option<Layout>,
    owner: Option<FamilyIndex>,
}

impl Search<'_> {
    /// The layout and owner of a mip level at the start of the frame. If any part of the level is in
    /// another state than its first user needs, that user changes it and the others depend on that.
    fn shared(&self, level: &Span, members: &[Member], states: Option<&States>) -> ReadState {
        let resource = self.frame.resource(level.resource);
        let mut members = members.iter().filter(|it| !self.is_culled(it.pass));
        let (Some(states), Some(first)) = (states, members.next()) else {
            return ReadState::default();
        };
        let queue = self.queues[first.pass as usize];
        let family = queue.map(|queue| self.topology.family(queue));
        let layout = self.frame.uses[first.one as usize].access.layout();
        let map = states.map(resource.id).filter(|_| resource.has_past());
        let Some(map) = map else {
            return ReadState {
                layout: Some(Layout::Undefined),
                owner: None,
            };
        };
        let shared = |(_, state): (_, &RangeState<PastAccess>)| ReadState {
            layout: Some(state.layout),
            // A released range still has to be acquired.
            owner: match state.rare.pending() {
                Some(pending) => Some(pending.from),
                None => state.owner,
            },
        };
        let is_other = |shared: &ReadState| {
            shared.layout != Some(layout) || shared.owner.zip(family).is_some_and(|(a, b)| a != b)
        };
        let mut runs = map.iter_within(level.interval.clone()).map(shared);
        runs.find(is_other).unwrap_or_default()
    }

    /// Whether passes of several families are among the uses.
    fn changes_family(&self, members: &[Member]) -> bool {
        let mut families = members.iter().filter_map(|member| {
            let queue = self.queues[member.pass as usize]?;
            Some(self.topology.family(queue))
        });
        let first = families.next();
        families.any(|family| Some(family) != first)
    }

    fn is_device(&self, pass: u32) -> bool {
        self.frame.passes[pass as usize].kind == PassKind::Device
    }

    fn is_culled(&self, pass: u32) -> bool {
        !self.all_run && self.queues[pass as usize].is_none() && self.is_device(pass)
    }

    /// Finds the hazards on a span of an image, or of a resource with an owner.
    fn find(&mut self, members: &[Member], is_image: bool, has_owner: bool) {
        self.find_from(ReadState::default(), members, is_image, has_owner, FEW);
    }

    /// Finds the hazards on a span that begins in the state `shared`. The first of several readers
    /// changes layout and owner for all. The others depend on the predecessors of that reader, or on
    /// the reader itself if these are more than `few` passes.
    fn find_from(
        &mut self,
        shared: ReadState,
        members: &[Member],
        is_image: bool,
        has_owner: bool,
        few: usize,
    ) {
        self.base.clear();
        let mut present = shared.layout;
        let mut owner = shared.owner.filter(|_| has_owner);
        for Member { one, pass, writes } in members.iter().copied() {
            if self.is_culled(pass) {
                continue;
            }
            let layout = if is_image {
                self.frame.uses[one as usize].access.layout()
            } else {
                Layout::Undefined
            };
            let queue = self.queues[pass as usize].filter(|_| has_owner);
            let family = queue.map(|queue| self.topology.family(queue));
            let changes = writes || present.is_some_and(|now| now != layout);
            let moves = owner.zip(family).is_some_and(|(now, new)| now != new);
            if changes || moves {
                self.follow(pass, changes, writes, few);
            } else {
                // A pass may use a range several times.
                if self.readers.last() != Some(&pass) {
                    for at in 0..self.base.len() {
                        self.push(self.base[at], pass);
                    }
                    self.readers.push(pass);
                }
            }
            owner = family.or(owner);
            present = Some(layout);
        }
    }

    fn push(&mut self, from: u32, to: u32) {
        if from != to {
            self.edges.push((from, to));
        }
    }

    /// Orders a pass that changes contents, layout or owner after the readers, or without readers
    /// after the passes that readers would depend on.
    fn follow(&mut self, pass: u32, changes: bool, writes: bool, few: usize) {
        let mut readers = std::mem::take(&mut self.readers);
        for at in 0..self.base.len() {
            self.push(self.base[at], pass);
        }
        // A host read needs no owner, so it may overlap an ownership transfer.
        readers.retain(|reader| {
            let stays = !changes && !self.is_device(*reader);
            if !stays {
                self.push(*reader, pass);
                self.left.push(*reader);
            }
            stays
        });
        if writes || few == 0 || self.left.len() > few {
            self.base.clear();
            self.base.push(pass);
        } else {
            if !self.left.is_empty() {
                std::mem::swap(&mut self.base, &mut self.left);
            }
            if self.base.is_empty() {
                self.base.push(pass);
            } else {
                readers.push(pass);
            }
        }
        self.left.clear();
        self.readers = readers;
    }
}

/// Hazards on a span without layout and owner: from each write to the reads up to the next write, and
/// from these reads to that write.
fn between_writes(members: &[Member], readers: &mut Vec<u32>, edges: &mut Vec<Hazard>) {
    let mut writer: Option<u32> = None;
    for Member { pass, writes, .. } in members.iter().copied() {
        let mut push = |from: u32| {
            if from != pass {
                edges.push((from, pass));
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
