//! Changes of layout that readers on several queues share.
//!
//! A layout is changed before the first pass that wants another one, on the queue of that pass. If
//! readers on several queues want it, the others would wait for that pass, and not only for what
//! they read. So where one of them is on the queue of the writer, the layout changes at the end of
//! the writer's submission: who waits for that waits for nobody else, and the reader on the same
//! queue finds it done.
//!
//! Readers none of which is on the writer's queue still wait for the first of them: at the end of the
//! writer's submission nobody would be there for the change to come before.

use std::ops::Range;

use super::barrier::{begin_anew, source};
use super::record::Barrier;
use super::scope::scope_of;
use super::seen::see;
use super::touch::Member;
use super::track::{Mark, State};
use super::walk::{Request, Walk};
use crate::flags::Stages;
use crate::frame::{Frame, PassIndex, PassKind};
use crate::plan::{PassRef, Reason, Rung, Scope};
use crate::resource::ResourceIndex;
use crate::topology::{QueueIndex, Topology};

/// All shared changes of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    changes: Vec<Change>,
    /// Readers of images, and whose change each shares; sorted.
    readers: Vec<(u32, ResourceIndex, u32)>,
}

/// A change of layout at the end of a writer's submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// The queue of the writer.
    queue: QueueIndex,
    /// The first of the readers on that queue, and what all of them there touch.
    reader: PassIndex,
    dst: Scope,
}

impl Shared {
    /// Looks at those who read an image after a pass that writes all of it, and before the next change;
    /// says whether they share a change of layout.
    pub(super) fn add(
        &mut self,
        frame: &Frame,
        topology: &Topology,
        queues: &[Option<QueueIndex>],
        writer: u32,
        members: &[Member],
    ) -> bool {
        let queue_of = |pass: u32| queues[pass as usize];
        let Some((queue, first)) = queue_of(writer).zip(members.first()) else {
            return false;
        };
        let layout = |member: &Member| frame.uses[member.one as usize].access.layout();
        let reads = |member: &&Member| !member.writes && layout(member) == layout(first);
        let readers = || members.iter().take_while(reads);
        let is_host = |member: &Member| frame.passes[member.pass as usize].kind == PassKind::Host;
        let mut elsewhere = readers().filter_map(|member| queue_of(member.pass));
        if !elsewhere.any(|it| it != queue) || readers().any(is_host) {
            return false;
        }
        let stages = Stages::supported_by(topology.queue(queue).capabilities);
        let here = || readers().filter(|member| queue_of(member.pass) == Some(queue));
        let Some(reader) = here().next() else {
            return false;
        };
        let scopes = here().map(|member| scope_of(&frame.uses[member.one as usize], stages));
        let resource = frame.uses[first.one as usize].resource;
        let change = self.changes.len() as u32;
        self.changes.push(Change {
            queue,
            reader: PassIndex(reader.pass),
            dst: scopes.fold(Scope::default(), Scope::union),
        });
        self.readers
            .extend(readers().map(|member| (member.pass, resource, change)));
        true
    }

    /// To be called when all are there.
    pub(super) fn sort(&mut self) {
        self.readers.sort_unstable();
    }

    fn of(&self, request: &Request) -> Option<Change> {
        let key = (request.pass.0, request.resource);
        let found = self
            .readers
            .binary_search_by_key(&key, |(pass, resource, _)| (*pass, *resource));
        found
            .ok()
            .map(|at| self.changes[self.readers[at].2 as usize])
    }
}

/// Changes the layout that a request needs at the end of the submission that has written the range,
/// if the change is shared and nobody has used the range since; says whether it did.
pub(super) fn change_early(
    walk: &mut Walk<'_>,
    request: &Request,
    interval: &Range<u64>,
    state: &mut State,
) -> bool {
    let Some(change) = walk.shared.and_then(|shared| shared.of(request)) else {
        return false;
    };
    let is_new =
        state.reads.is_empty() && state.rare.pending().is_none() && state.rare.aliased().is_empty();
    let is_written = |write: &Mark| write.queue == change.queue && !write.scope.access.is_empty();
    let Some(write) = state.write.filter(|write| is_new && is_written(write)) else {
        return false;
    };
    // The submission is of this frame, and over.
    let submission = walk.timeline.submission(write.point());
    let Some(submission) = submission.filter(|it| *it != request.submission) else {
        return false;
    };
    let reason = Reason {
        resource: request.resource,
        earlier: walk.past.pass_ref(write.pass),
        later: PassRef::Pass(change.reader),
        rung: Rung::LayoutTransition,
    };
    let mut barrier = Barrier::plain(source(&write, true), change.dst, state.layout, reason);
    barrier.new_layout = request.layout;
    let resource = walk.frame.resource(request.resource);
    walk.records[submission]
        .tail
        .changes
        .push(resource, interval.clone(), barrier);
    begin_anew(state);
    state.layout = request.layout;
    state.write = Some(Mark {
        scope: change.dst.stages_only(),
        // Behind all of that submission.
        step: request.step - 1,
        ..write
    });
    see(state, change.queue, change.dst);
    true
}
