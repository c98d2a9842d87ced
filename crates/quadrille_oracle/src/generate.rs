//! Random frames that are valid declarations: every declared pass can run, conflicting
//! passes have an order, and nothing is read before it is written.
//!
//! Frames come in sequences, because many errors of a solver only show from frame to frame: a frame is
//! repeated, with swapped resources, or without some passes, or another frame follows.

use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Frame, Give, PassKind, Preference, QueueRequest, Use};
use quadrille_sync::range::SubRange;
use quadrille_sync::resource::{Lifetime, Resource, ResourceIndex, Sharing};
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::{Capabilities, FamilyIndex, Topology};

use crate::area::Area;
use crate::random::Random;
use crate::sequence::{Import, Sequence};

pub mod exhaustive;

mod catalogue;
mod draft;
mod emphasis;
mod world;

use catalogue::{Work, accesses};
use draft::{Draft, DraftPass, named};
use emphasis::Emphasis;
use world::World;

/// The device topologies that random sequences are made for.
pub const TOPOLOGIES: &[&str] = &[
    "gct:1",
    "gct:3",
    "gct:4",
    "gct:1,ct:1",
    "gct:1,t:1",
    "gct:1,gct:1",
    "ct:2,gct:1",
    "gct:1,ct:1,t:1",
    "gct:1,ct:2,t:1",
    "gct:2,ct:2,t:2",
    "gctn:1,ctp:1",
    "gct:16,ct:8,t:2",
];

/// Size limits of random sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The most passes of a frame; at least 1.
    pub passes: usize,
    /// The most resources; at least 1.
    pub resources: usize,
    /// The most uses of a pass; at least 1.
    pub uses: usize,
    /// The most frames; at least 1.
    pub frames: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            passes: 7,
            resources: 5,
            uses: 3,
            frames: 6,
        }
    }
}

/// Chooses one of [`TOPOLOGIES`], with random policies.
pub fn topology(random: &mut Random) -> Topology {
    let mut text = random
        .pick(TOPOLOGIES)
        .copied()
        .unwrap_or("gct:1")
        .to_owned();
    for (switch, percent) in [(" precise", 40), (" coalesced", 30), (" maintenance8", 40)] {
        if random.chance(percent) {
            text += switch;
        }
    }
    parse_topology(&text).unwrap_or_default()
}

/// Generates a single random frame.
///
/// ```
/// use quadrille_oracle::{Random, Shape, generate};
/// let frame = generate::frame(&mut Random::new(1), &Shape::default());
/// assert_eq!(frame, generate::frame(&mut Random::new(1), &Shape::default()));
/// ```
pub fn frame(random: &mut Random, shape: &Shape) -> Frame {
    let shape = Shape {
        frames: 1,
        ..*shape
    };
    sequence(random, &shape).frames.pop().unwrap_or_default()
}

/// Generates a random sequence for a random topology.
pub fn sequence(random: &mut Random, shape: &Shape) -> Sequence {
    let topology = topology(random);
    sequence_on(random, shape, topology)
}

/// Generates a random sequence for a given topology.
pub fn sequence_on(random: &mut Random, shape: &Shape, topology: Topology) -> Sequence {
    let maker = Maker {
        emphasis: Emphasis::new(random, &topology),
        topology: &topology,
        shape: *shape,
    };
    let count = random.between(1, shape.resources);
    let mut world = World::new(random, count, true);
    let imports = imports(random, &mut world, &topology);
    let mut drafts = vec![maker.draft(random, &mut world.clone())];
    let mut names: Vec<usize> = (0..count).collect();
    let mut frames = Vec::new();
    let wanted = random.between(1, shape.frames);
    let mut current = drafts[0].clone();
    while frames.len() < wanted {
        let mut next = world.clone();
        if next.run(&current.passes, &names) {
            world = next;
            frames.push(current.frame(&world.resources, &names));
        } else {
            // The draft reads unwritten contents: draw another one that fits the present contents.
            names = (0..count).collect();
            current = maker.draft(random, &mut world.clone());
            drafts.push(current.clone());
            continue;
        }
        match random.below(10) {
            0..4 => {}
            4..6 => swap(random, &world, &mut names),
            6..8 if current.passes.len() > 1 => {
                current = current.without(random.below(current.passes.len()));
                current.declare_order(random, &world.resources);
            }
            8 => current = random.pick(&drafts).cloned().unwrap_or_default(),
            _ => {
                if random.chance(50) {
                    // With other placements, earlier drafts are no longer valid.
                    world.choose_placements(random);
                    drafts.clear();
                }
                current = maker.draft(random, &mut world.clone());
                drafts.push(current.clone());
            }
        }
    }
    if let Some(last) = frames.last_mut()
        && random.chance(15)
    {
        last.gives = gives(random, &world, last);
    }
    Sequence {
        topology,
        imports,
        frames,
    }
}

/// Chooses resources that have contents before the first frame.
fn imports(random: &mut Random, world: &mut World, topology: &Topology) -> Vec<Import> {
    let mut imports = Vec::new();
    for number in 0..world.resources.len() {
        let resource = world.resources[number].clone();
        if resource.lifetime != Lifetime::Persistent || !random.chance(15) {
            continue;
        }
        let layouts = [
            Layout::General,
            Layout::ShaderReadOnlyOptimal,
            Layout::TransferDstOptimal,
        ];
        let layout = random
            .pick(&layouts)
            .copied()
            .filter(|_| resource.is_image());
        let owner = match random.below(8) {
            0 => Some(FamilyIndex::EXTERNAL),
            1 => Some(FamilyIndex::FOREIGN),
            _ => random.pick(&topology.queues).map(|queue| queue.family),
        };
        let owner = owner.filter(|_| resource.sharing == Sharing::Exclusive && random.chance(70));
        world.import(number);
        imports.push(Import {
            resource,
            layout: layout.unwrap_or_default(),
            owner,
        });
    }
    imports
}

/// Gives some resources of the last frame to external owners.
fn gives(random: &mut Random, world: &World, frame: &Frame) -> Vec<Give> {
    let mut gives = Vec::new();
    for (at, resource) in frame.resources.iter().enumerate() {
        let exclusive = resource.sharing == Sharing::Exclusive;
        let kept = resource.lifetime == Lifetime::Persistent;
        let written = world.is_written(resource.id.0 as usize, &SubRange::Whole);
        if exclusive && kept && written && random.chance(50) {
            let image = resource.is_image();
            gives.push(Give {
                resource: ResourceIndex(at as u32),
                family: FamilyIndex::EXTERNAL,
                layout: if image {
                    Layout::General
                } else {
                    Layout::default()
                },
            });
        }
    }
    gives
}

/// Exchanges two resources of the same kind, as double buffering does.
fn swap(random: &mut Random, world: &World, names: &mut [usize]) {
    let (a, b) = (random.below(names.len()), random.below(names.len()));
    let alike = |a: usize, b: usize| {
        let (a, b) = (&world.resources[names[a]], &world.resources[names[b]]);
        let placed = a.memory.or(b.memory).is_some();
        (a.kind, a.sharing, a.lifetime) == (b.kind, b.sharing, b.lifetime) && !placed
    };
    if alike(a, b) {
        names.swap(a, b);
    }
}

/// Generator of the frames of a sequence.
struct Maker<'a> {
    shape: Shape,
    topology: &'a Topology,
    emphasis: Emphasis,
}

impl Maker<'_> {
    /// Drafts a random frame, and notes its writes in the world.
    fn draft(&self, random: &mut Random, world: &mut World) -> Draft {
        world.begin();
        let count = random.between(1, self.shape.passes);
        let mut draft = Draft::default();
        draft.cull = random.chance(12);
        for number in 0..count {
            let works = [Work::Graphics, Work::Compute, Work::Compute, Work::Transfer];
            let work = random.pick(&works).copied().unwrap_or(Work::Graphics);
            let on_host = random.chance(self.emphasis.hosts);
            let work = if on_host { Work::Host } else { work };
            let mut uses = Vec::new();
            for _ in 0..random.between(1, self.shape.uses) {
                let before = draft.passes.last().map(|pass| &pass.uses[..]);
                self.add_use(random, world, (work, before), &mut uses);
            }
            // Later passes can read the pass's writes, but the pass itself cannot.
            for declared in uses
                .iter()
                .filter(|declared: &&Use| declared.access.is_write())
            {
                world.write(declared.resource.0 as usize, &declared.range);
            }
            world.enter(&uses);
            if !uses.is_empty() {
                draft.passes.push(self.pass(random, number, work, uses));
            }
        }
        draft.choose_prologues(random, &world.resources);
        if random.chance(self.emphasis.timelines) {
            draft.choose_timelines(random);
        }
        draft.declare_order(random, &world.resources);
        draft
    }

    /// A pass with these uses.
    fn pass(&self, random: &mut Random, number: usize, work: Work, uses: Vec<Use>) -> DraftPass {
        let preference = if random.chance(50) {
            Preference::Async
        } else {
            Preference::Main
        };
        let able = |capabilities: Capabilities| {
            capabilities.contains(work.required())
                && uses
                    .iter()
                    .all(|declared| declared.access.runs_on(capabilities))
        };
        let queue = random.pick(&self.emphasis.queues).copied();
        let fixed = queue.filter(|queue| {
            let capabilities = self.topology.queues[queue.0 as usize].capabilities;
            random.chance(self.emphasis.fixed) && able(capabilities)
        });
        let host = work == Work::Host;
        DraftPass {
            name: format!("p{number}"),
            kind: if host {
                PassKind::Host
            } else {
                PassKind::Device
            },
            queue: if host {
                QueueRequest::default()
            } else {
                QueueRequest {
                    required: work.required(),
                    preference,
                    fixed,
                }
            },
            side_effect: random.chance(10),
            prologue: false,
            cost_us: random.below(3) as u32 * 100,
            uses,
            timeline_uses: Vec::new(),
        }
    }

    /// A random resource.
    fn number(&self, random: &mut Random, world: &World) -> usize {
        let count = world.resources.len();
        if random.chance(self.emphasis.hot) {
            count - 1
        } else {
            random.below(count)
        }
    }

    /// Adds a random use that is compatible with the others, if one is found in a few attempts.
    fn add_use(
        &self,
        random: &mut Random,
        world: &World,
        (work, before): (Work, Option<&[Use]>),
        uses: &mut Vec<Use>,
    ) {
        for _ in 0..8 {
            let followed = before
                .and_then(|before| random.pick(before))
                .filter(|_| random.chance(self.emphasis.flock));
            let number = match followed {
                Some(followed) => followed.resource.0 as usize,
                None => self.number(random, world),
            };
            if work == Work::Host && !world.is_for_the_host(number) || !world.is_free(number, uses)
            {
                continue;
            }
            let whole = random.chance(self.emphasis.whole);
            let range = match followed {
                Some(followed) => followed.range,
                None if whole => SubRange::Whole,
                None => world.range(random, number),
            };
            let resource = &world.resources[number];
            let choices = accesses(work, resource, world.aspects(number, &range));
            let flock = followed.filter(|it| !it.access.is_write());
            let flock = flock.map(|followed| followed.access.layout());
            let drawn = if work == Work::Host {
                random.pick(choices).copied()
            } else {
                self.emphasis.access(random, choices, flock)
            };
            let Some(access) = drawn else {
                continue;
            };
            let discard = access.is_write() && random.chance(40);
            let needs_contents = access.is_read() && !discard;
            if needs_contents && !world.is_written(number, &range) {
                continue;
            }
            let made = Use {
                resource: named(number),
                range,
                access,
                discard,
            };
            if !uses.iter().any(|other| clash(resource, &made, other)) {
                return uses.push(made);
            }
        }
    }
}

/// Whether two uses of `resource` exclude each other in one pass: they overlap and one writes, or they
/// need different layouts of a mip level.
fn clash(resource: &Resource, one: &Use, other: &Use) -> bool {
    if one.resource != other.resource {
        return false;
    }
    let area = |of: &Use| Area::of(&resource.kind, &of.range);
    let (a, b) = (area(one), area(other));
    let writes = one.access.is_write() || other.access.is_write();
    let layouts_differ = resource.is_image() && one.access.layout() != other.access.layout();
    writes && a.intersection(&b).is_some()
        || layouts_differ && a.levels().intersection(&b.levels()).is_some()
}

#[cfg(test)]
mod tests;
