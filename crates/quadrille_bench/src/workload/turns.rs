//! Alternating workloads, so that no two successive frames are equal.

use super::{Contents, PassWork, SplitMix, Workload};

impl Workload {
    /// Returns `count` variants of this workload. In each one pass, mostly a different one, reads another buffer.
    /// Frames that alternate between them are planned again each time.
    ///
    /// ```
    /// use quadrille_bench::{SEED, Workload};
    /// let workload = Workload::new(100, SEED);
    /// let turns = workload.turns(8);
    /// let differ = |(a, b): (&_, &_)| a != b;
    /// for turn in &turns {
    ///     assert_eq!(turn.passes.iter().zip(&workload.passes).filter(|it| differ(*it)).count(), 1);
    /// }
    /// ```
    pub fn turns(&self, count: usize) -> Vec<Self> {
        let mut random = SplitMix(count as u64);
        let turn = |_| {
            let mut turn = self.clone();
            let at = random.below(turn.passes.len());
            read_another(&mut turn.passes[at], turn.buffers);
            turn
        };
        (0..count).map(turn).collect()
    }

    /// Simulates frames that alternate between workloads of the same resources, and returns the contents. The first
    /// frame has the second workload, because frames are counted from 1.
    pub fn simulate_in_turn(turns: &[Self], frames: u64) -> Contents {
        let mut contents = turns.first().map(Self::start).unwrap_or_default();
        let of = |frame: u64| &turns[(frame % turns.len() as u64) as usize];
        for pass in (1..=frames).flat_map(|frame| &of(frame).passes) {
            contents.run(*pass);
        }
        contents
    }
}

/// Makes a pass read the next buffer that it does not access.
fn read_another(pass: &mut PassWork, buffers: usize) {
    match pass {
        PassWork::Image { buffer, .. } => *buffer = (*buffer + 1) % buffers,
        PassWork::Buffer {
            writes,
            reads: [first, second],
        } => {
            let others = (1..buffers).map(|step| (*first + step) % buffers);
            let mut free = others.filter(|other| ![*writes, *second].contains(other));
            *first = free.next().unwrap_or(*first);
        }
    }
}
