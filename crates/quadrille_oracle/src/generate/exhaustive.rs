//! All small frames there are: every combination of passes, queues and accesses of a small
//! alphabet, after a frame that fills the resources, and repeated, so that predictions come true.

use quadrille_sync::{
    Access, Aspects, BlockId, Capabilities, Frame, Lifetime, PassIndex, Placement, QueueIndex,
    QueueRequest, Resource, ResourceId, ResourceIndex, Sharing, Slices, SubRange, SubresourceRange,
    Topology, Use,
};

use crate::sequence::Sequence;

/// A finite set of sequences, by number.
#[derive(Clone, Debug)]
pub struct Space {
    topology: Topology,
    passes: usize,
    resources: Vec<Resource>,
    /// By resource: what a pass may do with it, besides nothing.
    alphabet: Vec<Vec<Letter>>,
    /// The resources are transient and lie in the same memory.
    shared: bool,
}

/// A way of touching a resource.
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

/// How many accesses the alphabet of a [`Space`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// One read, one write.
    Small,
    /// Two reads, of which one in another layout, a write that keeps and one that discards, and a
    /// read of a part.
    Large,
}

impl Space {
    /// All frames of `passes` passes that touch a buffer and an image, exclusive or concurrent, on
    /// any of the first queues of a topology whose queues all have compute.
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
            image.kind = quadrille_sync::ResourceKind::Image {
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

    /// All frames of `passes` passes in which a buffer and an image of two mip levels take turns
    /// to have some bytes that both lie in.
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
        image.kind = quadrille_sync::ResourceKind::Image {
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

    /// All frames of `passes` passes that touch slices of a 3D image.
    pub fn of_slices(topology: &Topology, passes: usize, sharing: Sharing) -> Self {
        let mut image = Resource::image(ResourceId(0), "image");
        image.sharing = sharing;
        image.kind = quadrille_sync::ResourceKind::Image {
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

    /// How many numbers there are.
    pub fn len(&self) -> u64 {
        self.letters_of_pass().pow(self.passes as u32)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence with a number: the frame that fills the resources, then the same frame thrice.
    /// None if a pass of it does nothing (the frame is in a smaller space then), or if resources in
    /// the same memory do not take turns, or are read before they are written.
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

    /// A frame that writes everything.
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

/// The earlier passes that a pass with these uses has to come after.
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

/// Whether each pass uses one resource, none after another one has had its turn, and only reads what
/// was written in this turn. All letters that read, read what both kinds of write fill.
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
            // The first access of a turn is a write.
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
