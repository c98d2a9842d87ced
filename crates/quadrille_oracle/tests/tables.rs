//! Tables: passes read members that they do not declare, and the judge knows all of these reads.
//!
//! A frame is planned as [`TableMembers`] has it, in which passes declare the listed members of the
//! table alone. It is judged as what it is: a frame in which each of these passes reads every member
//! that shaders are shown.
//!
//! `QUADRILLE_ORACLE_FRAMES` and `QUADRILLE_ORACLE_SECONDS` say how much, whichever is reached
//! first; `QUADRILLE_ORACLE_SEED` says where to begin.

use std::time::{Duration, Instant};

use quadrille_oracle::{Judge, Random, Violation, generate};
use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::{Frame, PassIndex, Preference, QueueRequest, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_sync::resource::{Resource, ResourceId, ResourceIndex, ResourceKind, Sharing};
use quadrille_sync::states::States;
use quadrille_sync::table::{NonTableUse, TableMembers, TableReaders};
use quadrille_sync::topology::{Capabilities, QueueIndex, Topology};

mod common;

/// Deliberate fault in how a table is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// One of the listed members is not declared.
    UndeclaredAccess,
    /// The states do not receive reads that were not declared.
    ForgetsReads,
    /// Readers on queues that did not read before find members that are not settled for them.
    IgnoresQueues,
}

/// How passes of a frame touch one image.
const OF_IMAGES: [(Access, Capabilities); 8] = [
    (Access::TransferWrite, Capabilities::TRANSFER),
    (Access::TransferWrite, Capabilities::TRANSFER),
    (Access::TransferRead, Capabilities::TRANSFER),
    (Access::StorageWriteCompute, Capabilities::COMPUTE),
    (Access::StorageReadWriteCompute, Capabilities::COMPUTE),
    (Access::ColorAttachmentReadWrite, Capabilities::GRAPHICS),
    (Access::SampledFragment, Capabilities::GRAPHICS),
    (Access::SampledCompute, Capabilities::COMPUTE),
];

/// How passes of a frame touch one buffer.
const OF_BUFFERS: [(Access, Capabilities); 8] = [
    (Access::TransferWrite, Capabilities::TRANSFER),
    (Access::TransferWrite, Capabilities::TRANSFER),
    (Access::TransferRead, Capabilities::TRANSFER),
    (Access::StorageWriteCompute, Capabilities::COMPUTE),
    (Access::StorageReadWriteCompute, Capabilities::COMPUTE),
    (Access::VertexRead, Capabilities::GRAPHICS),
    (Access::StorageReadFragment, Capabilities::GRAPHICS),
    (Access::StorageReadCompute, Capabilities::COMPUTE),
];

/// A frame before the table is added: its resources are all members and others.
struct Draft {
    frame: Frame,
    /// Passes that read the table.
    readers: Vec<PassIndex>,
}

struct World {
    topology: Topology,
    resources: Vec<Resource>,
    states: States,
    planner: Planner,
    judge: Judge,
    table: TableMembers,
    /// By resource, how often it is in the table.
    entries: Vec<u32>,
    /// By resource: the parts that have contents.
    filled: Vec<u32>,
}

/// Mip levels of an image, halves of a buffer.
const PARTS: u32 = 2;

/// The bytes of a half.
const HALF: u64 = 128;

impl World {
    fn new(random: &mut Random) -> Self {
        let topology = generate::topology(random);
        let count = random.between(1, 6);
        let one_mode = random.chance(60);
        let of_buffers = random.chance(50);
        let resource = |at: usize, random: &mut Random| {
            let exclusive = random.chance(if one_mode { 0 } else { 50 });
            Resource {
                kind: match of_buffers {
                    true => ResourceKind::Buffer {
                        bytes: u64::from(PARTS) * HALF,
                    },
                    false => ResourceKind::Image {
                        aspects: Aspects::COLOR,
                        mip_levels: PARTS,
                        array_layers: 1,
                        slices: 1,
                    },
                },
                sharing: if exclusive {
                    Sharing::Exclusive
                } else {
                    Sharing::Concurrent
                },
                ..Resource::image(ResourceId(at as u32), &format!("member {at}"))
            }
        };
        Self {
            judge: Judge::new(&topology),
            topology,
            resources: (0..count).map(|at| resource(at, random)).collect(),
            states: States::default(),
            planner: Planner::default(),
            table: TableMembers::new(match of_buffers {
                true => Access::StorageReadAny,
                false => Access::SampledAny,
            }),
            entries: vec![0; count],
            filled: vec![0; count],
        }
    }

    /// Puts members in and out.
    fn change(&mut self, random: &mut Random) {
        for at in 0..self.resources.len() {
            let id = ResourceId(at as u32);
            if self.entries[at] < 2 && random.chance(30) {
                self.entries[at] += 1;
                self.table.add_entry(id);
            } else if self.entries[at] > 0 && random.chance(10) {
                self.entries[at] -= 1;
                self.table.remove_entry(id);
            }
        }
    }

    /// A frame of passes in one order, some of which read the table.
    fn draft(&self, random: &mut Random) -> Draft {
        let mut frame = Frame::default();
        for resource in &self.resources {
            frame.add_resource(resource.clone());
        }
        let mut filled = self.filled.clone();
        let mut readers = Vec::new();
        for at in 0..random.between(1, 5) {
            let after: Vec<PassIndex> = frame.pass_indices().collect();
            let request = |required| QueueRequest {
                required,
                ..QueueRequest::default()
            };
            if random.chance(50) {
                let capability = if random.chance(50) {
                    Capabilities::GRAPHICS
                } else {
                    Capabilities::COMPUTE
                };
                let queue = wish(random, &self.topology, request(capability));
                let pass = frame.add_pass(format!("table {at}"), queue, &[], &after);
                readers.push(pass);
                continue;
            }
            let member = random.below(self.resources.len());
            let is_buffer = matches!(self.resources[member].kind, ResourceKind::Buffer { .. });
            let others = if is_buffer { OF_BUFFERS } else { OF_IMAGES };
            let (access, capability) = others[random.below(others.len())];
            let part = random.below(PARTS as usize) as u32;
            let whole = random.chance(60);
            let needs = if whole { (1 << PARTS) - 1 } else { 1 << part };
            if access.is_read() && filled[member] & needs != needs {
                continue;
            }
            if access.is_write() {
                filled[member] |= needs;
            }
            let range = if whole {
                SubRange::Whole
            } else if is_buffer {
                SubRange::Bytes {
                    offset: u64::from(part) * HALF,
                    size: HALF,
                }
            } else {
                SubRange::Subresources(SubresourceRange {
                    aspects: Aspects::COLOR,
                    base_mip: part,
                    mip_count: 1,
                    base_layer: 0,
                    layer_count: 1,
                })
            };
            let discard = access == Access::TransferWrite && random.chance(50);
            let used = Use {
                resource: ResourceIndex(member as u32),
                range,
                access,
                discard,
            };
            let queue = wish(random, &self.topology, request(capability));
            frame.add_pass(format!("other {at}"), queue, &[used], &after);
        }
        Draft { frame, readers }
    }

    /// Plans, judges and commits a frame. `None` if its passes cannot be planned with the table: one
    /// of them reads a member before it is filled.
    fn run(&mut self, draft: &Draft, fault: Fault) -> Option<Vec<Violation>> {
        let Draft { frame, readers } = draft;
        let forgets = fault == Fault::ForgetsReads;
        let mut other = self.states.clone();
        let states = if forgets {
            &mut other
        } else {
            &mut self.states
        };
        self.table
            .open(NonTableUse::of(frame), &self.topology, states);
        let access = self.table.access();
        let (reduced, planned) = loop {
            let drop = usize::from(fault == Fault::UndeclaredAccess);
            let listed = self.table.listed().skip(drop);
            let reduced = with_members(frame, readers, access, listed);
            let planned = self
                .planner
                .plan(&reduced, &self.topology, &self.states)
                .ok()?;
            let found = TableReaders::of(readers, &reduced, &planned.plan);
            let covered = fault == Fault::IgnoresQueues
                || self.table.covers(&found, &self.topology, &mut self.states);
            if covered {
                self.table.note_reads(&found, &self.topology, &self.states);
                break (reduced, planned);
            }
        };
        let shown = (0..self.resources.len() as u32).map(ResourceId);
        let shown = shown.filter(|id| self.table.is_shown(*id));
        let whole = with_members(frame, readers, access, shown);
        let violations = self.judge.frame(&whole, &planned.plan);
        self.states.commit(&reduced, &self.topology, &planned.plan);
        self.table.settle(&self.topology, &self.states);
        for used in &frame.uses {
            if used.access.is_write() {
                self.filled[used.resource.0 as usize] |= match used.range {
                    SubRange::Subresources(part) => 1 << part.base_mip,
                    SubRange::Bytes { offset, .. } => 1 << (offset / HALF),
                    _ => (1 << PARTS) - 1,
                };
            }
        }
        Some(violations)
    }
}

/// Any queue, one beside the main one, or just this one.
fn wish(random: &mut Random, topology: &Topology, request: QueueRequest) -> QueueRequest {
    let preference = if random.chance(50) {
        Preference::Main
    } else {
        Preference::Async
    };
    let queue = QueueIndex(random.below(topology.queues.len()) as u8);
    let can = topology
        .queue(queue)
        .capabilities
        .contains(request.required);
    QueueRequest {
        preference,
        fixed: Some(queue).filter(|_| can && random.chance(30)),
        ..request
    }
}

/// The frame in which these passes read these members as well.
fn with_members(
    frame: &Frame,
    readers: &[PassIndex],
    access: Access,
    members: impl Iterator<Item = ResourceId>,
) -> Frame {
    let members: Vec<ResourceId> = members.collect();
    let mut whole = Frame::default();
    for resource in &frame.resources {
        whole.add_resource(resource.clone());
    }
    for pass in frame.pass_indices() {
        let mut uses = frame.uses_of(pass).to_vec();
        if readers.contains(&pass) {
            let uses_of = |id: &ResourceId| Use::whole(ResourceIndex(id.0), access);
            uses.extend(members.iter().map(uses_of));
        }
        let declared = frame.pass(pass);
        whole.add_pass(
            declared.name.clone(),
            declared.queue,
            &uses,
            frame.after_of(pass),
        );
    }
    whole
}

/// Returns the judge's violations in a random sequence, and how many frames it had.
fn sequence(seed: u64, fault: Fault) -> (u64, Vec<Violation>) {
    let mut random = Random::new(seed);
    let mut world = World::new(&mut random);
    let mut frames = 0;
    let mut draft = world.draft(&mut random);
    for _ in 0..random.between(2, 16) {
        if random.chance(40) {
            world.change(&mut random);
        }
        // Frames repeat, so that members are settled and plans are used again.
        if random.chance(60) {
            draft = world.draft(&mut random);
        }
        let reads_empty = draft.frame.uses.iter().any(|used| {
            let (filled, whole) = (world.filled[used.resource.0 as usize], (1 << PARTS) - 1);
            used.access.is_read() && filled != whole
        });
        if reads_empty && !draft.frame.uses.iter().all(|it| it.access.is_write()) {
            // The draft was drawn for a world in which other frames came before.
            draft = world.draft(&mut random);
        }
        let Some(violations) = world.run(&draft, fault) else {
            continue;
        };
        frames += 1;
        if !violations.is_empty() {
            return (frames, violations);
        }
    }
    (frames, Vec::new())
}

#[test]
fn undeclared_members_are_settled() {
    let wanted = common::setting("FRAMES", 100_000);
    let time = Duration::from_secs(common::setting("SECONDS", 15));
    let first_seed = common::setting("SEED", 1);
    let (start, mut frames, mut seed) = (Instant::now(), 0, first_seed);
    while frames < wanted && start.elapsed() < time {
        let (ran, violations) = sequence(seed, Fault::Nothing);
        frames += ran;
        let words: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(
            words.is_empty(),
            "QUADRILLE_ORACLE_SEED={seed} fails in frame {ran}:\n{}",
            words.join("\n")
        );
        seed += 1;
    }
    assert!(frames > 0, "nothing was planned");
    println!(
        "{frames} frames of {} sequences in {:?}",
        seed - first_seed,
        start.elapsed()
    );
}

#[test]
fn judge_rejects_unsettled_members() {
    for fault in [
        Fault::UndeclaredAccess,
        Fault::ForgetsReads,
        Fault::IgnoresQueues,
    ] {
        let found = (1..2000).any(|seed| !sequence(seed, fault).1.is_empty());
        assert!(found, "{fault:?} is found by nobody");
    }
}
