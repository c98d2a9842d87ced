//! Small random frames.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::{Frame, PassIndex, Preference, QueueRequest, Use};
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_sync::resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceKind, Sharing,
};
use quadrille_sync::topology::{Capabilities, QueueIndex};

/// A small generator (an LCG's high bits), so that a seed is all it takes to repeat a failure.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

pub(crate) const TOPOLOGIES: [&str; 7] = [
    "gct:1",
    "gct:2",
    "gct:1,ct:1",
    "gct:1,ct:2,t:1",
    "gct:1,t:1 precise",
    "gctn:1,ctp:1 maintenance8",
    "gct:1,ct:1,t:1 maintenance8 precise",
];

const COMPUTE: [Access; 6] = [
    Access::StorageReadCompute,
    Access::StorageWriteCompute,
    Access::StorageReadWriteCompute,
    Access::SampledCompute,
    Access::TransferRead,
    Access::TransferWrite,
];

const GRAPHICS: [Access; 5] = [
    Access::SampledFragment,
    Access::SampledGraphics,
    Access::StorageWriteFragment,
    Access::StorageReadVertex,
    Access::ColorAttachmentReadWrite,
];

const TRANSFER: [Access; 3] = [Access::TransferRead, Access::TransferWrite, Access::Clear];

pub(crate) fn resources(random: &mut Random) -> Vec<Resource> {
    let mut resources = Vec::new();
    for id in 0..2 + random.below(5) as u32 {
        let mut resource = Resource::buffer(ResourceId(id), &format!("r{id}"), 64);
        if random.below(2) == 0 {
            let aspects = Aspects::COLOR;
            resource.kind = ResourceKind::Image {
                aspects,
                mip_levels: 2,
                array_layers: 2,
                slices: 1,
            };
            if random.below(5) == 0 {
                resource.lifetime = Lifetime::Swapchain;
            }
        }
        if random.below(2) == 0 && resource.lifetime == Lifetime::Persistent {
            resource.lifetime = Lifetime::Transient;
        }
        if random.below(3) == 0 {
            resource.sharing = Sharing::Concurrent;
        }
        resources.push(resource);
    }
    resources
}

fn range(random: &mut Random, kind: &ResourceKind) -> SubRange {
    if random.below(3) > 0 {
        return SubRange::Whole;
    }
    match kind {
        ResourceKind::Buffer { .. } => {
            let offset = random.below(4) as u64 * 16;
            SubRange::Bytes {
                offset,
                size: 16 + random.below(3) as u64 * 8,
            }
        }
        ResourceKind::Image { aspects, .. } => SubRange::Subresources(SubresourceRange {
            aspects: *aspects,
            base_mip: random.below(2) as u32,
            mip_count: 1,
            base_layer: random.below(2) as u32,
            layer_count: 1,
        }),
    }
}

/// A frame whose passes are mostly in declared order, so that most frames are valid.
pub(crate) fn frame(random: &mut Random, resources: &[Resource]) -> Frame {
    let mut frame = Frame {
        resources: resources.to_vec(),
        cull: random.below(6) == 0,
        ..Frame::default()
    };
    let mut written = vec![false; resources.len()];
    let mut last: Option<PassIndex> = None;
    for name in 0..1 + random.below(8) {
        let (required, accesses): (_, &[Access]) = match random.below(4) {
            0 => (Capabilities::GRAPHICS, &GRAPHICS),
            1 => (Capabilities::TRANSFER, &TRANSFER),
            _ => (Capabilities::COMPUTE, &COMPUTE),
        };
        let mut uses: Vec<Use> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let at = random.below(resources.len());
            let resource = quadrille_sync::resource::ResourceIndex(at as u32);
            let mut one = Use::whole(resource, random.of(accesses));
            if uses.iter().any(|other| other.resource == resource) {
                continue;
            }
            if written[at] {
                one.range = range(random, &resources[at].kind);
                one.discard = one.access.is_write() && random.below(3) == 0;
            } else {
                one.discard = true;
            }
            if one.access.is_read() && !one.access.is_write() {
                if !written[at] {
                    continue;
                }
                one.discard = false;
            }
            written[at] |= one.access.is_write();
            uses.push(one);
        }
        let preference = if random.below(2) == 0 {
            Preference::Async
        } else {
            Preference::Main
        };
        let fixed = (random.below(4) == 0).then(|| QueueIndex(random.below(4) as u8));
        let request = QueueRequest {
            required,
            preference,
            fixed,
        };
        let after: Vec<PassIndex> = last.into_iter().collect();
        last = Some(frame.add_pass(format!("p{name}"), request, &uses, &after));
    }
    frame
}

/// Places some transient resources in a block, wherever it may be.
#[allow(dead_code, reason = "not every test wants any place")]
pub(crate) fn place_at_random(random: &mut Random, resources: &mut [Resource]) {
    let is_transient = |it: &&mut Resource| it.lifetime == Lifetime::Transient;
    for resource in resources.iter_mut().filter(is_transient) {
        let place = Placement {
            block: BlockId(random.below(2) as u32),
            offset: random.below(5) as u64 * 16,
            bytes: 64 + random.below(3) as u64 * 16,
        };
        resource.memory = (random.below(4) > 0).then_some(place);
    }
}
