//! The usual frame: small compute passes in a declared chain, of three uses each.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Frame, QueueRequest, Use};
use quadrille_sync::resource::{Resource, ResourceId, ResourceIndex};
use quadrille_sync::states::States;
use quadrille_sync::topology::{Capabilities, FamilyIndex};

/// The frame, and states in which all its resources have contents.
pub(crate) fn synthetic(passes: usize) -> (Frame, States) {
    let (buffers, images) = ((passes / 2).max(4), (passes / 10).max(2));
    let (mut frame, mut states) = (Frame::default(), States::default());
    for at in 0..buffers {
        let id = ResourceId(at as u32);
        frame.add_resource(Resource::buffer(id, &format!("buffer {at}"), 256));
        states.import(id, Layout::Undefined, Some(FamilyIndex(0)));
    }
    for at in 0..images {
        let id = ResourceId((buffers + at) as u32);
        frame.add_resource(Resource::image(id, &format!("image {at}")));
        states.import(id, Layout::General, Some(FamilyIndex(0)));
    }
    let mut random = Random(0xc0_ffee + passes as u64);
    let request = QueueRequest {
        required: Capabilities::COMPUTE,
        ..QueueRequest::default()
    };
    let mut before = Vec::new();
    for pass in 0..passes {
        let uses = if pass % 5 == 4 {
            image_pass(&mut random, buffers, images)
        } else {
            buffer_pass(&mut random, buffers)
        };
        let index = frame.add_pass(format!("pass {pass}"), request, &uses, &before);
        before = vec![index];
    }
    (frame, states)
}

/// Writes one buffer and reads two others.
pub(crate) fn buffer_pass(random: &mut Random, buffers: usize) -> [Use; 3] {
    let written = random.below(buffers);
    let first = (written + 1 + random.below(buffers - 1)) % buffers;
    let mut second = random.below(buffers);
    while second == written || second == first {
        second = (second + 1) % buffers;
    }
    [
        one_use(written, Access::StorageWriteCompute),
        one_use(first, Access::StorageReadCompute),
        one_use(second, Access::StorageReadCompute),
    ]
}

/// Writes one image, samples another, and reads a buffer.
fn image_pass(random: &mut Random, buffers: usize, images: usize) -> [Use; 3] {
    let buffer = random.below(buffers);
    let written = random.below(images);
    let sampled = (written + 1 + random.below(images - 1)) % images;
    [
        one_use(buffer, Access::StorageReadCompute),
        one_use(buffers + sampled, Access::SampledCompute),
        one_use(buffers + written, Access::StorageWriteCompute),
    ]
}

/// A use of all of a resource.
pub(crate) fn one_use(resource: usize, access: Access) -> Use {
    Use::whole(ResourceIndex(resource as u32), access)
}

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
