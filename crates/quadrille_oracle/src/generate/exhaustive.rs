//! Exhaustive enumeration of small frames: every combination of passes, queues and accesses of a small
//! alphabet. Each follows a frame that fills the resources, and is repeated so that predictions apply.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::{Frame, PassIndex, QueueRequest, Use};
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceIndex, Sharing,
};
use quadrille_sync::topology::{Capabilities, QueueIndex, Topology};

use crate::sequence::Sequence;

/// A finite set of sequences, indexed by number.
#[derive(Clone, Debug)]
pub struct Space {
    topology: Topology,
    passes: usize,
    resources: Vec<Resource>,
    /// By resource: the uses that a pass may make of it, besides none.
    alphabet: Vec<Vec<Letter>>,
    /// The resources are transient and lie in the same memory.
    shared: bool,
}

/// A use of a resource in the alphabet.
#[derive(Clone, Copy, Debug)]
struct Letter {
    access: Access,
    range: SubRange,
    discard: bool,
}

impl Letter {
    fn new(access: Access) -> Self {
        Self {
            access,
            range: SubRange::Whole,
            discard: false,
        }
    }

    fn discarding(access: Access) -> Self {
        Self {
            discard: true,
            ..Self::new(access)
        }
    }

    fn of(self, range: SubRange) -> Self {
        Self { range, ..self }
    }
}

/// Size of the alphabet of a [`Space`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// One read, one write.
    Small,
    /// Two reads in different layouts, a write that keeps contents, a write that discards them, and
    /// a read of a part.
    Large,
}

impl Space {
    /// All frames of `passes` passes that use a buffer and an image, exclusive or concurrent, on any
    /// queues of a topology. All its queues must support compute.
    pub fn new(topology: &Topology, passes: usize, sharing: Sharing, alphabet: Alphabet) -> Self {
        let mut buffer = Resource::buffer(ResourceId(0), "buffer", 64);
        let mut image = Resource::image(ResourceId(1), "image");
        (buffer.sharing, image.sharing) = (sharing, sharing);
        let mut letters = vec![
            vec![
                Letter::new(Access::UniformReadCompute),
                Letter::new(Access::StorageWriteCompute),
            ],
            vec![
                Letter::new(Access::SampledCompute),
                Letter::new(Access::StorageWriteCompute),
            ],
        ];
        if alphabet == Alphabet::Large {
            let half = SubRange::Bytes {
                offset: 0,
                size: 32,
            };
            letters[0].push(Letter::new(Access::CopyRead).of(half));
            letters[0].push(Letter::discarding(Access::CopyWrite));
            letters[1].push(Letter::new(Access::StorageReadCompute));
            letters[1].push(Letter::discarding(Access::CopyWrite).of(mip(1)));
            image.kind = quadrille_sync::resource::ResourceKind::Image {
                aspects: Aspects::COLOR,
                mip_levels: 2,
                array_layers: 1,
                slices: 1,
            };
        }
        let resources = vec![buffer, image];
        Self {
            topology: topology.clone(),
            passes,
            resources,
            alphabet: letters,
            shared: false,
        }
    }

    /// All frames of `passes` passes in which a buffer and an image of two mip levels occupy the same
    /// bytes one after the other.
    pub fn of_shared_memory(topology: &Topology, passes: usize) -> Self {
        let place = |offset, bytes| {
            let block = BlockId(0);
            Some(Placement {
                block,
                offset,
                bytes,
            })
        };
        let mut buffer = Resource::buffer(ResourceId(0), "buffer", 64);
        let mut image = Resource::image(ResourceId(1), "image");
        (buffer.lifetime, image.lifetime) = (Lifetime::Transient, Lifetime::Transient);
        (buffer.memory, image.memory) = (place(0, 64), place(32, 64));
        image.kind = quadrille_sync::resource::ResourceKind::Image {
            aspects: Aspects::COLOR,
            mip_levels: 2,
            array_layers: 1,
            slices: 1,
        };
        let end = SubRange::Bytes {
            offset: 48,
            size: 16,
        };
        let letters = vec![
            vec![
                Letter::discarding(Access::StorageWriteCompute),
                Letter::discarding(Access::CopyWrite).of(end),
                Letter::new(Access::UniformReadCompute).of(end),
            ],
            vec![
                Letter::discarding(Access::StorageWriteCompute),
                Letter::discarding(Access::CopyWrite).of(mip(1)),
                Letter::new(Access::SampledCompute).of(mip(1)),
            ],
        ];
        Self {
            topology: topology.clone(),
            passes,
            resources: vec![buffer, image],
            alphabet: letters,
            shared: true,
        }
    }

    /// All frames of `passes` passes that use slices of a 3D image.
    pub fn of_slices(topology: &Topology, passes: usize, sharing: Sharing) -> Self {
        let mut image = Resource::image(ResourceId(0), "image");
        image.sharing = sharing;
        image.kind = quadrille_sync::resource::ResourceKind::Image {
            aspects: Aspects::COLOR,
            mip_levels: 1,
            array_layers: 1,
            slices: 3,
        };
        let letters = vec![
            Letter::new(Access::StorageWriteCompute).of(slices(0, 1)),
            Letter::new(Access::StorageWriteCompute).of(slices(1, 2)),
            Letter::new(Access::StorageReadCompute).of(slices(0, 2)),
            Letter::new(Access::SampledCompute),
            Letter::discarding(Access::CopyWrite).of(slices(1, 1)),
            Letter::new(Access::CopyRead).of(slices(2, 1)),
        ];
        Self {
            topology: topology.clone(),
            passes,
            resources: vec![image],
            alphabet: vec![letters],
            shared: false,
        }
    }

    /// The count of sequence numbers.
    pub fn len(&self) -> u64 {
        self.letters_of_pass().pow(self.passes as u32)
    }

    /// Whether the space has no sequences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence with a number: the frame that fills the resources, then one frame three times.
    /// `None` if one of its passes has no uses (a smaller space has that frame), or if lifetimes of
    /// resources in the same memory overlap, or these are read before they are written.
    pub fn sequence(&self, number: u64) -> Option<Sequence> {
        let mut rest = number;
        let mut frame = Frame {
            resources: self.resources.clone(),
            ..Frame::default()
        };
        for pass in 0..self.passes {
            let letter = rest % self.letters_of_pass();
            rest /= self.letters_of_pass();
            let (queue, uses) = self.pass(letter);
            if uses.is_empty() {
                return None;
            }
            let after = conflicting(&frame, &uses);
            let request = QueueRequest {
                fixed: Some(queue),
                ..compute()
            };
            frame.add_pass(format!("p{pass}"), request, &uses, &after);
        }
        let frames = if self.shared {
            if !takes_turns(&frame) {
                return None;
            }
            vec![frame.clone(), frame.clone(), frame]
        } else {
            vec![self.fill(), frame.clone(), frame.clone(), frame]
        };
        Some(Sequence {
            topology: self.topology.clone(),
            imports: Vec::new(),
            frames,
        })
    }

    fn letters_of_pass(&self) -> u64 {
        let choices = self.alphabet.iter().map(|letters| letters.len() as u64 + 1);
        self.topology.queues.len() as u64 * choices.product::<u64>()
    }

    /// Returns queue and uses of a pass, by number.
    fn pass(&self, number: u64) -> (QueueIndex, Vec<Use>) {
        let queues = self.topology.queues.len() as u64;
        let queue = QueueIndex((number % queues) as u8);
        let mut rest = number / queues;
        let mut uses = Vec::new();
        for (resource, letters) in self.alphabet.iter().enumerate() {
            let choice = rest % (letters.len() as u64 + 1);
            rest /= letters.len() as u64 + 1;
            if let Some(Letter {
                access,
                range,
                discard,
            }) = letters.get(choice as usize)
            {
                let resource = ResourceIndex(resource as u32);
                uses.push(Use {
                    resource,
                    range: *range,
                    access: *access,
                    discard: *discard,
                });
            }
        }
        (queue, uses)
    }

    /// The frame that fills all resources.
    fn fill(&self) -> Frame {
        let mut frame = Frame {
            resources: self.resources.clone(),
            ..Frame::default()
        };
        let write = |index: usize| Use {
            discard: true,
            ..Use::whole(ResourceIndex(index as u32), Access::CopyWrite)
        };
        let uses: Vec<Use> = (0..self.resources.len()).map(write).collect();
        frame.add_pass("fill", compute(), &uses, &[]);
        frame
    }
}

/// The earlier passes that conflict with a pass with these uses.
fn conflicting(frame: &Frame, uses: &[Use]) -> Vec<PassIndex> {
    let clash = |earlier: &PassIndex| {
        frame.uses_of(*earlier).iter().any(|first| {
            uses.iter().any(|second| {
                let writes = first.access.is_write() || second.access.is_write();
                let shares = crate::order::share_memory(frame, first, second);
                shares || writes && crate::order::overlap(frame, first, second)
            })
        })
    };
    frame.pass_indices().filter(clash).collect()
}

/// Whether the lifetimes of resources in the same memory are valid: each pass uses one resource, no
/// resource returns after another one, and each is written before it is read. Every write of the
/// alphabet fills the ranges that its reads need.
fn takes_turns(frame: &Frame) -> bool {
    let mut over: Vec<ResourceIndex> = Vec::new();
    let mut present: Option<ResourceIndex> = None;
    frame.pass_indices().all(|pass| {
        let [one] = frame.uses_of(pass) else {
            return false;
        };
        if present != Some(one.resource) {
            over.extend(present);
            present = Some(one.resource);
            // The first access of a lifetime must write.
            return one.access.is_write() && !over.contains(&one.resource);
        }
        true
    })
}

fn compute() -> QueueRequest {
    QueueRequest {
        required: Capabilities::COMPUTE,
        ..QueueRequest::default()
    }
}

/// Slices of the first mip level.
fn slices(base: u32, count: u32) -> SubRange {
    SubRange::Slices(Slices {
        aspects: Aspects::COLOR,
        mip: 0,
        base,
        count,
    })
}

/// One mip level.
fn mip(level: u32) -> SubRange {
    SubRange::Subresources(SubresourceRange {
        aspects: Aspects::COLOR,
        base_mip: level,
        mip_count: 1,
        base_layer: 0,
        layer_count: 1,
    })
}
