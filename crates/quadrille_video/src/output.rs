//! Output order of pictures (H.264, clause C.4; H.265, clause C.5.2): "bumping" by picture order count.

/// Limits of the pictures that wait for output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLimits {
    /// Most pictures that wait.
    pub reordered: usize,
    /// Most pictures that follow a waiting one in decoding order and precede it in output order, if that is stated.
    pub latency: Option<u32>,
}

/// Pictures that were decoded and not yet output.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputOrder {
    waiting: Vec<Waiting>,
}

#[derive(Clone, Debug)]
struct Waiting {
    order_count: i32,
    id: u64,
    latency: u32,
}

impl OutputOrder {
    /// Adds a decoded picture, unless it is not shown, and returns the pictures that are output, in order. All earlier
    /// pictures precede one that begins a new order.
    pub(crate) fn add(
        &mut self,
        limits: OutputLimits,
        (id, order_count): (u64, i32),
        is_shown: bool,
        is_first: bool,
    ) -> Vec<u64> {
        let mut output = if is_first { self.flush() } else { Vec::new() };
        if is_shown {
            for earlier in &mut self.waiting {
                earlier.latency = earlier.latency.saturating_add(1);
            }
            self.waiting.push(Waiting {
                order_count,
                id,
                latency: 0,
            });
        }
        let late = |it: &Waiting| limits.latency.is_some_and(|latency| it.latency >= latency);
        while self.waiting.len() > limits.reordered || self.waiting.iter().any(late) {
            output.extend(self.take_first());
        }
        output
    }

    /// Returns all pictures in order.
    pub(crate) fn flush(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.take_first()).collect()
    }

    fn take_first(&mut self) -> Option<u64> {
        let waiting = self.waiting.iter().enumerate();
        let (at, _) = waiting.min_by_key(|(_, picture)| (picture.order_count, picture.id))?;
        Some(self.waiting.remove(at).id)
    }
}
