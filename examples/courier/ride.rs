//! Fixed ride along the streets for measurements: the same seed leads to the same pictures.

use bevy_math::Vec3;
use examples::random::Random;

use crate::city::{City, PITCH};
use crate::quality::Quality;

/// Meters in a second.
const SPEED: f32 = 26.0;
/// Crossings of a ride, after which it begins again.
const CROSSINGS: usize = 512;
/// Length over which corners are rounded, in meters.
const ROUNDED: f32 = 24.0;

/// Returns what a measurement is of, so that others of the same can be found.
pub(crate) fn name(seed: u64, blocks: u32, [width, height]: [u32; 2], quality: Quality) -> String {
    format!("seed {seed}, {blocks} blocks, {width}x{height}, quality {quality:?}")
}

/// Way from crossing to crossing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ride {
    crossings: Vec<Vec3>,
}

impl Ride {
    /// Returns the ride of a seed: at each crossing straight on, or to one side, never out of the city.
    pub(crate) fn new(seed: u64, city: &City) -> Self {
        let mut random = Random::new(seed ^ 0x51DE);
        // Crossings are at multiples of the pitch, the outermost streets left out.
        let most = (city.blocks as i32 / 2 - 1).max(1);
        let (mut at, mut way) = ([0_i32, 0], [0_i32, -1]);
        let mut crossings = Vec::with_capacity(CROSSINGS);
        for _ in 0..CROSSINGS {
            crossings.push(Vec3::new(at[0] as f32, 0.0, at[1] as f32) * PITCH);
            let ways = [way, way, [way[1], -way[0]], [-way[1], way[0]]];
            let is_inside =
                |[x, z]: &&[i32; 2]| (at[0] + x).abs() <= most && (at[1] + z).abs() <= most;
            let open: Vec<&[i32; 2]> = ways.iter().filter(is_inside).collect();
            way = *open[random.bits() as usize % open.len()];
            at = [at[0] + way[0], at[1] + way[1]];
        }
        Self { crossings }
    }

    /// Returns eye, target and courier after so many seconds.
    pub(crate) fn pose(&self, seconds: f32) -> [Vec3; 3] {
        let along = seconds * SPEED;
        let height = 13.0 + 6.0 * (along * 0.012).sin();
        let up = Vec3::Y * height;
        [
            self.rounded(along) + up,
            self.rounded(along + 32.0) + up * 0.92,
            self.rounded(along + 13.0) + up - Vec3::Y * 3.4,
        ]
    }

    /// Mean of the way around a point.
    fn rounded(&self, along: f32) -> Vec3 {
        const SAMPLES: i32 = 4;
        let sample = |step: i32| self.point(along + ROUNDED * step as f32 / (2 * SAMPLES) as f32);
        (-SAMPLES..=SAMPLES).map(sample).sum::<Vec3>() / (2 * SAMPLES + 1) as f32
    }

    fn point(&self, along: f32) -> Vec3 {
        let part = (along / PITCH).max(0.0) % (self.crossings.len() - 1) as f32;
        let first = part as usize;
        self.crossings[first].lerp(self.crossings[first + 1], part.fract())
    }
}

#[cfg(test)]
#[path = "ride_tests.rs"]
mod tests;
