//! Synchronization of tables: arrays of images or buffers that shaders index (bindless), so that a pass may read any
//! of their members.
//!
//! If each pass declared all members of a table, a frame would be as large as the table. But most members are
//! written once and only read since. Such a member is **settled**: in the layout that the table's shaders read (if
//! it is an image), owned by the family that reads (or concurrent), and with its last write visible to the shaders
//! of every queue whose passes read the table. A further read of it needs no synchronization (rung 1 of the ladder),
//! so it is not declared.
//!
//! A member becomes **listed** when a frame declares another use of it (an upload, a copy, an attachment), and stays
//! so until it is settled again. Each pass that reads the table declares its listed members. Whether a member is
//! settled is checked by the states after each commit, so it does not depend on assumptions about plans. For example,
//! a member stays listed if look-ahead has already changed its layout for the next write.
//!
//! States do not include undeclared reads. A table stores its last read on each queue, and adds these reads to the
//! state of a member when the member becomes listed or leaves the table. Then the next write waits for them (WAR).
//!
//! A member without contents is not declared, and the caller must keep it out of descriptors.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::access::Access;
use crate::frame::{Frame, PassIndex};
use crate::plan::{Plan, Scope, Step};
use crate::range::SubRange;
use crate::resource::{ResourceId, ResourceKind};
use crate::states::{PastAccess, States, TimelinePoint};
use crate::topology::{QueueIndex, Topology};

/// The members of a table, frame by frame: [`TableMembers::open`] before a frame's table passes are
/// complete, [`TableMembers::covers`] once it is planned, [`TableMembers::note_reads`] before and
/// [`TableMembers::settle`] after it is committed.
///
/// ```
/// use quadrille_sync::access::Access;
/// use quadrille_sync::frame::{Frame, QueueRequest, Use};
/// use quadrille_sync::resource::{Resource, ResourceId};
/// use quadrille_sync::solve::plan;
/// use quadrille_sync::states::States;
/// use quadrille_sync::table::{NonTableUse, TableMembers, TableReaders};
/// use quadrille_sync::text::parse_topology;
/// let topology = parse_topology("gct:1").unwrap();
/// let mut states = States::default();
/// let mut table = TableMembers::new(Access::SampledAny);
/// table.add_entry(ResourceId(0));
/// for (uploads, listed) in [(true, true), (false, true), (false, false)] {
///     let mut frame = Frame::default();
///     let image = frame.add_resource(Resource::image(ResourceId(0), "stone"));
///     if uploads {
///         frame.add_pass("upload", QueueRequest::default(), &[Use::whole(image, Access::TransferWrite)], &[]);
///     }
///     table.open(NonTableUse::of(&frame), &topology, &mut states);
///     let members = table.listed().map(|_| Use::whole(image, Access::SampledAny));
///     let members: Vec<Use> = members.collect();
///     assert_eq!(members.is_empty(), !listed);
///     let draw = frame.add_pass("draw", QueueRequest::default(), &members, &[]);
///     let plan = plan(&frame, &topology, &states).unwrap();
///     let readers = TableReaders::of(&[draw], &frame, &plan);
///     assert!(table.covers(&readers, &topology, &mut states));
///     table.note_reads(&readers, &topology, &states);
///     states.commit(&frame, &topology, &plan);
///     table.settle(&topology, &states);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct TableMembers {
    access: Access,
    /// By resource id.
    members: Vec<Member>,
    listed: Vec<ResourceId>,
    /// Added and removed members that are not handled yet.
    moved: Vec<ResourceId>,
    /// Members that gained or lost contents, or of which the frame declares another use.
    renewed: Vec<ResourceId>,
    /// The queues that read the table in the last frame with readers. Members with contents that are not
    /// listed are settled for these queues.
    queues: Queues,
    /// The last read on each queue.
    reads: SmallVec<[PastAccess; 2]>,
    /// Whether the listed members, or the contents of one, may have changed since the last frame.
    changed: bool,
}

/// Bit by queue.
type Queues = u32;

#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// The number of its entries in the table.
    entries: u32,
    /// The queues that it is settled for.
    settled: Queues,
    state: MemberState,
}

/// State of a member in the frame that was opened last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MemberState {
    /// Without contents.
    #[default]
    Empty,
    /// Declared.
    Listed {
        /// The frame declares another use of it.
        used_otherwise: bool,
    },
    /// Not declared.
    Settled,
}

/// A declared use of a resource that is not by a table.
#[derive(Clone, Copy, Debug)]
pub struct NonTableUse {
    /// The resource.
    pub resource: ResourceId,
    /// Its kind.
    pub kind: ResourceKind,
    /// The range that is used.
    pub range: SubRange,
    /// The access.
    pub access: Access,
}

impl NonTableUse {
    /// All uses of a frame.
    pub fn of(frame: &Frame) -> impl Iterator<Item = Self> + '_ {
        frame.uses.iter().map(|used| {
            let resource = frame.resource(used.resource);
            Self {
                resource: resource.id,
                kind: resource.kind,
                range: used.range,
                access: used.access,
            }
        })
    }
}

/// Queues and timeline values of the passes of a frame that read a table.
#[derive(Clone, Debug, Default)]
pub struct TableReaders(SmallVec<[Reader; 2]>);

#[derive(Clone, Debug)]
struct Reader {
    queue: QueueIndex,
    /// Timeline value of the queue's last submission that reads, relative to the frame's start.
    signal: i64,
    pass: Arc<str>,
}

impl TableReaders {
    /// Returns the readers among the passes of a plan; `passes` is sorted.
    pub fn of(passes: &[PassIndex], frame: &Frame, plan: &Plan) -> Self {
        let mut readers = Self::default();
        if passes.is_empty() {
            return readers;
        }
        for submission in &plan.submissions {
            let mut passes = submission.steps.iter().filter_map(|step| match step {
                Step::Pass(pass) if passes.binary_search(pass).is_ok() => Some(*pass),
                _ => None,
            });
            if let Some(pass) = passes.next_back() {
                let (queue, signal) = (submission.queue, submission.signal);
                let pass = frame.pass(pass).name.clone();
                let reader = Reader {
                    queue,
                    signal,
                    pass,
                };
                match readers.0.iter_mut().find(|it| it.queue == queue) {
                    Some(known) => *known = reader,
                    None => readers.0.push(reader),
                }
            }
        }
        readers
    }

    fn queues(&self) -> Queues {
        self.0.iter().fold(0, |all, it| all | bit(it.queue))
    }
}

impl TableMembers {
    /// An empty table whose members are read with this access. It should include all shader stages of a
    /// queue, since a member is settled per queue, not per stage.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            members: Vec::new(),
            listed: Vec::new(),
            moved: Vec::new(),
            renewed: Vec::new(),
            queues: 0,
            reads: SmallVec::new(),
            changed: true,
        }
    }

    /// The access by which passes read its members.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Notes a new entry with a resource; a resource may have several entries.
    pub fn add_entry(&mut self, resource: ResourceId) {
        let at = resource.0 as usize;
        if at >= self.members.len() {
            self.members.resize(at + 1, Member::default());
        }
        self.members[at].entries += 1;
        if self.members[at].entries == 1 {
            self.moved.push(resource);
            self.changed = true;
        }
    }

    /// Notes that a member has contents that no frame wrote ([`States::import`]).
    pub fn imported(&mut self, resource: ResourceId) {
        self.moved.push(resource);
        self.changed = true;
    }

    /// Notes the removal of an entry with a resource.
    pub fn remove_entry(&mut self, resource: ResourceId) {
        let member = &mut self.members[resource.0 as usize];
        member.entries = member.entries.saturating_sub(1);
        if member.entries == 0 {
            self.moved.push(resource);
            self.changed = true;
        }
    }

    /// Whether the table has not changed since the last frame was opened.
    pub fn is_unchanged(&self) -> bool {
        !self.changed
    }

    /// Begins a frame with these uses. Each pass that reads the table must then declare the members of
    /// [`TableMembers::listed`].
    pub fn open(
        &mut self,
        uses: impl Iterator<Item = NonTableUse>,
        topology: &Topology,
        states: &mut States,
    ) {
        self.changed = false;
        self.renewed.clear();
        self.take_moved(topology, states);
        for resource in &self.listed {
            let used_otherwise = false;
            self.members[resource.0 as usize].state = MemberState::Listed { used_otherwise };
        }
        let mut first_writes: Vec<NonTableUse> = Vec::new();
        for used in uses {
            if !self.has(used.resource) {
                continue;
            }
            if used.access.is_write() && !states.is_defined(used.resource) {
                first_writes.push(used);
            }
            self.list_used(used.resource, states);
        }
        // A member has contents once this frame completes them. Writes of earlier frames that failed do
        // not count.
        first_writes.sort_by_key(|write| write.resource);
        let is_filled = |resource: ResourceId| {
            let start = first_writes.partition_point(|it| it.resource < resource);
            let writes = first_writes[start..].iter();
            let writes = writes.take_while(|it| it.resource == resource);
            states.is_defined(resource) || states.is_defined_after(writes)
        };
        for write in &first_writes {
            let is_empty = self.members[write.resource.0 as usize].state == MemberState::Empty;
            if is_empty && is_filled(write.resource) {
                self.list(write.resource, true);
            }
        }
        let (members, renewed) = (&mut self.members, &mut self.renewed);
        self.listed.retain(|resource| {
            let stays = is_filled(*resource);
            let state = &mut members[resource.0 as usize].state;
            if *state
                == (MemberState::Listed {
                    used_otherwise: true,
                })
                || !stays
            {
                renewed.push(*resource);
            }
            if !stays {
                *state = MemberState::Empty;
            }
            stays
        });
    }

    fn has(&self, resource: ResourceId) -> bool {
        let member = self.members.get(resource.0 as usize);
        member.is_some_and(|member| member.entries > 0)
    }

    /// Handles added and removed members.
    fn take_moved(&mut self, topology: &Topology, states: &mut States) {
        let mut has_unlisted = false;
        for resource in std::mem::take(&mut self.moved) {
            let at = resource.0 as usize;
            let is_member = self.members[at].entries > 0;
            match (is_member, self.members[at].state) {
                (true, MemberState::Empty) if states.is_defined(resource) => {
                    self.renewed.push(resource);
                    let settled = states.settled_for(resource, self.access, topology);
                    // Before the first reader `queues` is empty; `TableMembers::covers` then checks.
                    if settled & self.queues == self.queues {
                        let member = &mut self.members[at];
                        (member.settled, member.state) = (settled, MemberState::Settled);
                    } else {
                        self.list(resource, false);
                    }
                }
                (false, state) => {
                    match state {
                        MemberState::Settled => states.add_reads(resource, &self.reads),
                        MemberState::Listed { .. } => has_unlisted = true,
                        MemberState::Empty => {}
                    }
                    self.members[at] = Member::default();
                }
                (true, _) => {}
            }
        }
        if has_unlisted {
            let members = &self.members;
            let is_listed = |id: &ResourceId| members[id.0 as usize].state != MemberState::Empty;
            self.listed.retain(is_listed);
        }
    }

    fn list(&mut self, resource: ResourceId, used_otherwise: bool) {
        let member = &mut self.members[resource.0 as usize];
        member.state = MemberState::Listed { used_otherwise };
        self.listed.push(resource);
    }

    /// Lists a member of which the frame declares another use. A read with the table's own access counts
    /// too, because look-ahead may prepare a declared resource for another use by the next frame.
    fn list_used(&mut self, resource: ResourceId, states: &mut States) {
        let member = &mut self.members[resource.0 as usize];
        match member.state {
            MemberState::Empty => {}
            MemberState::Listed { .. } => {
                member.state = MemberState::Listed {
                    used_otherwise: true,
                }
            }
            MemberState::Settled => {
                states.add_reads(resource, &self.reads);
                self.list(resource, true);
            }
        }
    }

    /// The members that each pass which reads the table must declare, each as a whole.
    pub fn listed(&self) -> impl ExactSizeIterator<Item = ResourceId> + '_ {
        self.listed.iter().copied()
    }

    /// Returns the members that changed with this frame: they gained or lost contents, or the frame
    /// declares other uses of them, so that their Vulkan objects may have changed.
    pub fn renewed(&self) -> &[ResourceId] {
        &self.renewed
    }

    /// Whether a member has contents, or gets them in the frame, so that its descriptor may be written.
    pub fn is_shown(&self, resource: ResourceId) -> bool {
        let member = self.members.get(resource.0 as usize);
        member.is_some_and(|member| member.state != MemberState::Empty)
    }

    /// Whether all undeclared members are settled for the queues of the frame's readers. If not, lists
    /// more members: the frame has to declare these and be planned again.
    pub fn covers(
        &mut self,
        readers: &TableReaders,
        topology: &Topology,
        states: &mut States,
    ) -> bool {
        let more = readers.queues() & !self.queues;
        if more == 0 {
            return true;
        }
        self.queues |= more;
        let before = self.listed.len();
        for at in 0..self.members.len() {
            let (resource, member) = (ResourceId(at as u32), self.members[at]);
            if member.state != MemberState::Settled || member.settled & more == more {
                continue;
            }
            // Other uses may have settled it.
            let settled = states.settled_for(resource, self.access, topology);
            self.members[at].settled |= settled;
            if (member.settled | settled) & more != more {
                states.add_reads(resource, &self.reads);
                self.list(resource, false);
            }
        }
        self.changed |= self.listed.len() != before;
        self.listed.len() == before
    }

    /// Notes the reads of a frame that is about to be committed.
    pub fn note_reads(&mut self, readers: &TableReaders, topology: &Topology, states: &States) {
        if readers.0.is_empty() {
            return;
        }
        self.queues = readers.queues();
        for reader in &readers.0 {
            let queue = reader.queue;
            let capabilities = topology.queue(queue).capabilities;
            let point = TimelinePoint {
                queue,
                value: states.absolute(queue, reader.signal),
            };
            match self.reads.iter_mut().find(|it| it.point.queue == queue) {
                // Names are only for messages, so an unchanged one is kept without a clone.
                Some(read) => {
                    read.point = point;
                    if !Arc::ptr_eq(&read.pass, &reader.pass) {
                        read.pass = reader.pass.clone();
                    }
                }
                None => self.reads.push(PastAccess {
                    point,
                    scope: Scope {
                        stages: self.access.scope(capabilities).stages,
                        ..Scope::default()
                    },
                    pass: reader.pass.clone(),
                }),
            }
        }
    }

    /// After a commit, removes members from the list that are settled for all queues that read the table.
    pub fn settle(&mut self, topology: &Topology, states: &States) {
        let Self {
            access,
            members,
            listed,
            queues,
            changed,
            ..
        } = self;
        listed.retain(|resource| {
            let member = &mut members[resource.0 as usize];
            if member.state
                == (MemberState::Listed {
                    used_otherwise: true,
                })
            {
                return true;
            }
            member.settled = states.settled_for(*resource, *access, topology);
            let is_settled = *queues != 0 && member.settled & *queues == *queues;
            if is_settled {
                member.state = MemberState::Settled;
                *changed = true;
            }
            !is_settled
        });
    }

    /// Closes the table: adds its reads to the states, so that later writes to its members wait for them.
    pub fn close(&mut self, states: &mut States) {
        for at in 0..self.members.len() {
            if self.members[at].state == MemberState::Settled {
                states.add_reads(ResourceId(at as u32), &self.reads);
            }
        }
        self.members.clear();
        self.listed.clear();
        self.moved.clear();
    }
}

fn bit(queue: QueueIndex) -> Queues {
    1 << queue.0
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
