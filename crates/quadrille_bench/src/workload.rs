//! Synthetic frame: small compute passes with random dependencies.

mod turns;

/// Seed of the published measurements; the number of passes is added.
pub const SEED: u64 = 0xC0_FFEE;

/// Work of one pass, on buffers and images by index. All arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassWork {
    /// `buffers[writes] = 3 * buffers[reads[0]] + 5 * buffers[reads[1]] + 1`.
    Buffer {
        /// Written buffer.
        writes: usize,
        /// Two read buffers, different from the written one.
        reads: [usize; 2],
    },
    /// `images[writes] = 3 * buffers[buffer] + 5 * images[reads] + 1`.
    Image {
        /// Read buffer.
        buffer: usize,
        /// Image written as a storage image.
        writes: usize,
        /// Sampled image, different from the written one.
        reads: usize,
    },
}

/// Frame of passes, deterministic by number of passes and seed.
///
/// ```
/// use quadrille_bench::{SEED, Workload};
/// let workload = Workload::new(100, SEED);
/// assert_eq!((workload.passes.len(), workload.buffers, workload.images), (100, 50, 10));
/// assert_ne!(workload.simulate(1), workload.simulate(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Passes in declaration order.
    pub passes: Vec<PassWork>,
    /// Number of buffers, of 256 bytes each.
    pub buffers: usize,
    /// Number of images, of 4 x 4 texels each.
    pub images: usize,
}

/// First word of each buffer and first texel of each image.
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

    /// Creates a frame of `passes` passes.
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

    /// Returns the predecessors of each pass: the last writers of the resources it accesses, and the readers since then
    /// of those it writes. Transitive dependencies are reduced per resource only.
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

    /// Returns the resources that a pass reads and writes; image indices follow those of buffers.
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

    /// Simulates frames on the CPU, and returns the contents.
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

/// Last accesses of a resource, by pass.
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

/// SplitMix64 (Vigna 2015).
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
