//! The synthetic frame: small compute passes that read what others write, chosen at random.

mod turns;

/// Where the random numbers of the published measurements start; the number of passes is added.
pub const SEED: u64 = 0xC0_FFEE;

/// Work of one pass, on buffers and images by index. All arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassWork {
    /// `buffers[writes] = 3 * buffers[reads[0]] + 5 * buffers[reads[1]] + 1`.
    Buffer {
        /// The buffer written.
        writes: usize,
        /// The two buffers read, which differ from it.
        reads: [usize; 2],
    },
    /// `images[writes] = 3 * buffers[buffer] + 5 * images[reads] + 1`.
    Image {
        /// The buffer read.
        buffer: usize,
        /// The image written, as a storage image.
        writes: usize,
        /// The image sampled, another one.
        reads: usize,
    },
}

/// A frame of passes. The same number of passes and seed give the same frame.
///
/// ```
/// use quadrille_bench::{SEED, Workload};
/// let workload = Workload::new(100, SEED);
/// assert_eq!((workload.passes.len(), workload.buffers, workload.images), (100, 50, 10));
/// assert_ne!(workload.simulate(1), workload.simulate(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The passes, in the order in which they are declared.
    pub passes: Vec<PassWork>,
    /// The number of buffers, of 256 bytes each.
    pub buffers: usize,
    /// The number of images, of 4 x 4 texels each.
    pub images: usize,
}

/// The first word of every buffer and the first texel of every image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// By buffer.
    pub buffers: Vec<u32>,
    /// By image.
    pub images: Vec<u32>,
}

impl Workload {
    /// Bytes of a buffer.
    pub const BUFFER_BYTES: u64 = 256;

    /// Width and height of an image in texels, which are one `u32` each.
    pub const IMAGE_SIDE: u32 = 4;

    /// A frame of `passes` passes.
    pub fn new(passes: usize, seed: u64) -> Self {
        let (buffers, images) = ((passes / 2).max(4), (passes / 10).max(2));
        let mut random = SplitMix(seed.wrapping_add(passes as u64));
        let mut pass = |at: usize| {
            if at % 5 == 4 {
                let buffer = random.below(buffers);
                let writes = random.below(images);
                let reads = (writes + 1 + random.below(images - 1)) % images;
                return PassWork::Image {
                    buffer,
                    writes,
                    reads,
                };
            }
            let writes = random.below(buffers);
            let first = (writes + 1 + random.below(buffers - 1)) % buffers;
            let mut second = random.below(buffers);
            while second == writes || second == first {
                second = (second + 1) % buffers;
            }
            PassWork::Buffer {
                writes,
                reads: [first, second],
            }
        };
        Self {
            passes: (0..passes).map(&mut pass).collect(),
            buffers,
            images,
        }
    }

    /// For each pass, the earlier ones that it cannot come before: the last writers of what it
    /// touches, and the readers since of what it writes. Order that follows from these is left out
    /// only where it is the same resource's.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut last = vec![Last::default(); self.buffers + self.images];
        let mut all = Vec::with_capacity(self.passes.len());
        for (at, pass) in self.passes.iter().enumerate() {
            let (reads, write) = self.touched(*pass);
            let mut before = Vec::new();
            for read in reads {
                before.extend(last[read].writer);
                last[read].readers.push(at);
            }
            before.append(&mut last[write].readers);
            before.extend(last[write].writer);
            last[write].writer = Some(at);
            before.sort_unstable();
            before.dedup();
            all.push(before);
        }
        all
    }

    /// Returns the resources that a pass reads and writes; images are counted on from the buffers.
    fn touched(&self, pass: PassWork) -> ([usize; 2], usize) {
        match pass {
            PassWork::Buffer { writes, reads } => (reads, writes),
            PassWork::Image {
                buffer,
                writes,
                reads,
            } => ([buffer, self.buffers + reads], self.buffers + writes),
        }
    }

    /// Returns the contents before the first frame.
    pub fn start(&self) -> Contents {
        Contents {
            buffers: (1..=self.buffers as u32).collect(),
            images: (1001..=1000 + self.images as u32).collect(),
        }
    }

    /// Returns the contents after so many frames.
    pub fn simulate(&self, frames: u64) -> Contents {
        let mut contents = self.start();
        for _ in 0..frames {
            for pass in &self.passes {
                contents.run(*pass);
            }
        }
        contents
    }
}

/// The passes that touched a resource last.
#[derive(Clone, Debug, Default)]
struct Last {
    writer: Option<usize>,
    readers: Vec<usize>,
}

impl Contents {
    fn run(&mut self, pass: PassWork) {
        let value = |a: u32, b: u32| {
            a.wrapping_mul(3)
                .wrapping_add(b.wrapping_mul(5))
                .wrapping_add(1)
        };
        match pass {
            PassWork::Buffer {
                writes,
                reads: [a, b],
            } => self.buffers[writes] = value(self.buffers[a], self.buffers[b]),
            PassWork::Image {
                buffer,
                writes,
                reads,
            } => self.images[writes] = value(self.buffers[buffer], self.images[reads]),
        }
    }
}

/// Sebastiano Vigna's splitmix64.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests;
