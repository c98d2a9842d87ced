//! Random numbers that are the same for the same seed on every machine (splitmix64).

/// A sequence of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number from `low` up to, but without, `high`.
    pub fn within(&mut self, low: f32, high: f32) -> f32 {
        // 24 bits are what the significand of an f32 holds.
        let fraction = (self.bits() >> 40) as f32 / (1_u64 << 24) as f32;
        low + (high - low) * fraction
    }
}
