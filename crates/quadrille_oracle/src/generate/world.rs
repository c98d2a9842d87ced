//! The resources of a random sequence, and the parts of them that have contents.

use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::Use;
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceKind, Sharing,
};

use super::draft::DraftPass;
use crate::area::{Area, AreaMap};
use crate::random::Random;

/// Resources by number, and their contents.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) resources: Vec<Resource>,
    written: Vec<AreaMap<bool>>,
    phases: Vec<MemoryPhase>,
}

/// Phase in the lifetime of a resource that shares memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryPhase {
    /// Not used in this frame yet.
    Waiting,
    Present,
    /// Another resource has taken the memory.
    Over,
}

impl World {
    /// Random resources, of which at most one is an image of a swapchain.
    pub(super) fn new(random: &mut Random, count: usize, swapchains: bool) -> Self {
        let transient = if random.chance(25) { 75 } else { 20 };
        // A generator of its own, so that sequences of recorded seeds stay the same.
        let mut deep = Random::new(random.clone().next());
        let may_be_3d = deep.chance(20);
        let mut resources: Vec<Resource> = (0..count)
            .map(|number| {
                let swapchain = swapchains && number == 0 && random.chance(60);
                resource(random, number as u32, swapchain, transient)
            })
            .collect();
        if may_be_3d {
            resources.iter_mut().for_each(|it| deepen(&mut deep, it));
        }
        let empty = |resource: &Resource| AreaMap::new(Area::whole(&resource.kind), false);
        let written = resources.iter().map(empty).collect();
        let mut world = Self {
            phases: vec![MemoryPhase::Waiting; count],
            resources,
            written,
        };
        for resource in &mut world.resources {
            let placed = resource.lifetime == Lifetime::Transient && random.chance(70);
            resource.memory = placed.then_some(Placement {
                block: BlockId(0),
                offset: 0,
                bytes: 64,
            });
        }
        world.choose_placements(random);
        world
    }

    /// Chooses new placements for all resources in memory blocks.
    pub(super) fn choose_placements(&mut self, random: &mut Random) {
        for resource in self.resources.iter_mut().filter(|it| it.memory.is_some()) {
            let bytes = match resource.kind {
                ResourceKind::Buffer { bytes } => bytes + 16 * random.below(2) as u64,
                ResourceKind::Image { .. } => 16 * random.between(1, 8) as u64,
            };
            resource.memory = Some(Placement {
                block: BlockId(random.below(4) as u32 / 3),
                offset: 16 * random.below(4) as u64,
                bytes,
            });
        }
    }

    /// Whether two resources share memory.
    fn share(&self, a: usize, b: usize) -> bool {
        let memory = |number: usize| self.resources[number].memory;
        let both = memory(a).zip(memory(b));
        a != b && both.is_some_and(|(a, b)| a.overlaps(&b))
    }

    /// Whether shared memory allows a pass with these uses to use a resource as well.
    pub(super) fn is_free(&self, number: usize, uses: &[Use]) -> bool {
        let mut others = uses.iter().map(|other| other.resource.0 as usize);
        self.phases[number] != MemoryPhase::Over && !others.any(|other| self.share(number, other))
    }

    /// Whether the host may use a resource: it does not share memory and is no swapchain image.
    pub(super) fn is_for_the_host(&self, number: usize) -> bool {
        let resource = &self.resources[number];
        resource.memory.is_none() && resource.lifetime != Lifetime::Swapchain
    }

    /// Notes a pass with these uses: it ends the lifetimes of other resources in the same memory.
    pub(super) fn enter(&mut self, uses: &[Use]) {
        for number in uses.iter().map(|one| one.resource.0 as usize) {
            for other in 0..self.resources.len() {
                if self.share(number, other) && self.phases[other] == MemoryPhase::Present {
                    self.phases[other] = MemoryPhase::Over;
                }
            }
            self.phases[number] = MemoryPhase::Present;
        }
    }

    /// Marks all of a resource as written.
    pub(super) fn import(&mut self, number: usize) {
        self.written[number]
            .values_mut()
            .for_each(|written| *written = true);
    }

    /// Begins a frame: contents of resources that are not persistent are lost.
    pub(super) fn begin(&mut self) {
        self.phases.fill(MemoryPhase::Waiting);
        for (resource, written) in self.resources.iter().zip(&mut self.written) {
            if resource.lifetime != Lifetime::Persistent {
                written.values_mut().for_each(|written| *written = false);
            }
        }
    }

    /// Whether all of a range has been written.
    pub(super) fn is_written(&self, number: usize, range: &SubRange) -> bool {
        let mut map = self.written[number].clone();
        let area = Area::of(&self.resources[number].kind, range);
        map.parts_mut(&area).all(|(_, written)| *written)
    }

    /// Marks a range as written.
    pub(super) fn write(&mut self, number: usize, range: &SubRange) {
        let area = Area::of(&self.resources[number].kind, range);
        self.written[number]
            .parts_mut(&area)
            .for_each(|(_, written)| *written = true);
    }

    /// Executes the passes of a frame, where uses of resource `i` mean `names[i]`. Returns whether all
    /// ranges that they read had been written.
    pub(super) fn run(&mut self, passes: &[DraftPass], names: &[usize]) -> bool {
        self.begin();
        passes.iter().all(|pass| {
            let number = |declared: &Use| names[declared.resource.0 as usize];
            let readable = pass.uses.iter().all(|declared| {
                let reads = declared.access.is_read() && !declared.discard;
                !reads || self.is_written(number(declared), &declared.range)
            });
            for declared in pass
                .uses
                .iter()
                .filter(|declared| declared.access.is_write())
            {
                self.write(number(declared), &declared.range);
            }
            readable
        })
    }

    /// A random part of a resource.
    pub(super) fn range(&self, random: &mut Random, number: usize) -> SubRange {
        let resource = &self.resources[number];
        if resource.lifetime == Lifetime::Swapchain || random.chance(55) {
            return SubRange::Whole;
        }
        match resource.kind {
            ResourceKind::Buffer { bytes } => {
                let grain = bytes / 4;
                let first = random.below(4) as u64;
                let count = random.between(1, 4 - first as usize) as u64;
                SubRange::Bytes {
                    offset: first * grain,
                    size: count * grain,
                }
            }
            ResourceKind::Image {
                aspects,
                mip_levels,
                slices: 2..,
                ..
            } if random.chance(60) => {
                let mip = random.below(mip_levels as usize) as u32;
                let slices = resource.kind.slices_of(mip) as usize;
                let base = random.below(slices);
                let all: Vec<Aspects> = aspects.iter().chain([aspects]).collect();
                SubRange::Slices(Slices {
                    aspects: random.pick(&all).copied().unwrap_or(aspects),
                    mip,
                    base: base as u32,
                    count: random.between(1, slices - base) as u32,
                })
            }
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            } => {
                let mut part = |count: u32| {
                    let base = random.below(count as usize) as u32;
                    (base, random.between(1, (count - base) as usize) as u32)
                };
                let (base_mip, mip_count) = part(mip_levels);
                let (base_layer, layer_count) = part(array_layers);
                let all: Vec<Aspects> = aspects.iter().chain([aspects]).collect();
                let aspects = random.pick(&all).copied().unwrap_or(aspects);
                let range = SubresourceRange {
                    aspects,
                    base_mip,
                    mip_count,
                    base_layer,
                    layer_count,
                };
                SubRange::Subresources(range)
            }
        }
    }

    /// The aspects that a range names.
    pub(super) fn aspects(&self, number: usize, range: &SubRange) -> Aspects {
        match (range, self.resources[number].kind) {
            (SubRange::Subresources(range), _) => range.aspects,
            (SubRange::Slices(range), _) => range.aspects,
            (_, ResourceKind::Image { aspects, .. }) => aspects,
            _ => Aspects::empty(),
        }
    }
}

/// Turns most images into 3D images.
fn deepen(random: &mut Random, resource: &mut Resource) {
    if let ResourceKind::Image {
        array_layers,
        slices,
        ..
    } = &mut resource.kind
        && resource.lifetime != Lifetime::Swapchain
        && random.chance(70)
    {
        *array_layers = 1;
        *slices = random.between(2, 4) as u32;
    }
}

/// A random resource.
fn resource(random: &mut Random, number: u32, swapchain: bool, transient: usize) -> Resource {
    let id = ResourceId(number);
    let name = format!("{}", char::from(b'a' + (number % 26) as u8));
    let name = if number < 26 {
        name
    } else {
        format!("{name}{}", number / 26)
    };
    let mut made = if swapchain || random.chance(50) {
        Resource::image(id, &name)
    } else {
        Resource::buffer(id, &name, 64)
    };
    if swapchain {
        made.lifetime = Lifetime::Swapchain;
        return made;
    }
    if let ResourceKind::Image {
        aspects,
        mip_levels,
        array_layers,
        ..
    } = &mut made.kind
    {
        if random.chance(30) {
            let depths = [Aspects::DEPTH, Aspects::DEPTH | Aspects::STENCIL];
            *aspects = random.pick(&depths).copied().unwrap_or(Aspects::DEPTH);
        }
        *mip_levels = random.between(1, 3) as u32;
        *array_layers = random.between(1, 2) as u32;
    }
    if random.chance(25) {
        made.sharing = Sharing::Concurrent;
    }
    if random.chance(transient) {
        made.lifetime = Lifetime::Transient;
    }
    made
}
