//! Layout of the city: blocks, streets, solid boxes of buildings, sites for parcels. Plain data, the same for the
//! same seed.

use bevy_math::{Vec2, Vec3, Vec3Swizzles as _};
use examples::random::Random;

/// Meters from one street's center line to the next.
pub(crate) const PITCH: f32 = 64.0;
/// Meters from curb to curb.
pub(crate) const STREET: f32 = 20.0;
/// Half the side of the ground that a block's buildings may cover, in meters.
const LOT: f32 = (PITCH - STREET) / 2.0 - 2.5;

/// An axis-aligned box of a building.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Solid {
    /// Corner with the smallest coordinates.
    pub(crate) min: Vec3,
    /// Corner with the largest coordinates.
    pub(crate) max: Vec3,
    /// Index of its style: wall color and window pattern.
    pub(crate) style: usize,
    /// Whether nothing stands on its roof.
    pub(crate) is_top: bool,
}

impl Solid {
    /// Returns the middle.
    pub(crate) fn center(&self) -> Vec3 {
        (self.min + self.max) / 2.0
    }

    /// Returns the lengths of the edges.
    pub(crate) fn size(&self) -> Vec3 {
        self.max - self.min
    }
}

/// Number of building styles.
pub(crate) const STYLES: usize = 6;

/// A city of square blocks around the origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct City {
    /// Blocks along a side, an even number.
    pub(crate) blocks: u32,
    /// Solids in the order of blocks.
    pub(crate) solids: Vec<Solid>,
    /// First solid of each block, and the number of all at the end.
    firsts: Vec<usize>,
    /// Places where parcels are taken and delivered.
    pub(crate) sites: Vec<Vec3>,
}

impl City {
    /// Builds the city of a seed.
    pub(crate) fn new(seed: u64, blocks: u32) -> Self {
        let mut city = Self {
            blocks,
            solids: Vec::new(),
            firsts: vec![0],
            sites: Vec::new(),
        };
        for index in 0..blocks * blocks {
            // A sequence of its own for each block: a change in one leaves the others as they are.
            let mut random = Random::new(seed ^ (u64::from(index) << 24));
            random.bits();
            let block = [index % blocks, index / blocks];
            city.add_block(block, &mut random);
            city.firsts.push(city.solids.len());
        }
        city
    }

    /// Length of a side in meters.
    pub(crate) fn side(&self) -> f32 {
        self.blocks as f32 * PITCH
    }

    /// Returns the middle of a block.
    pub(crate) fn block_center(&self, [column, row]: [u32; 2]) -> Vec2 {
        let middle = |at: u32| (at as f32 + 0.5 - self.blocks as f32 / 2.0) * PITCH;
        Vec2::new(middle(column), middle(row))
    }

    fn add_block(&mut self, block: [u32; 2], random: &mut Random) {
        let center = self.block_center(block);
        // Towers stand in the middle of the city, low houses at its edge.
        let downtown = (-(center.length() / (0.24 * self.side())).powi(2)).exp();
        if random.within(0.0, 1.0) < 0.06 {
            // A square without buildings.
            self.sites.push(center.extend(0.0).xzy() + Vec3::Y * 3.0);
            return;
        }
        let lots: [u32; 2] = match random.within(0.0, 1.0) + 0.35 * downtown {
            part if part > 1.0 => [1, 2],
            part if part > 0.55 => [2, 2],
            part if part > 0.3 => [2, 3],
            _ => [3, 3],
        };
        let side = Vec2::new(2.0 * LOT / lots[0] as f32, 2.0 * LOT / lots[1] as f32);
        for index in 0..lots[0] * lots[1] {
            let at = Vec2::new((index % lots[0]) as f32, (index / lots[0]) as f32) + 0.5;
            let middle = center - LOT + at * side;
            let half = side / 2.0 - Vec2::new(random.within(0.6, 2.4), random.within(0.6, 2.4));
            let tall = random.within(0.0, 1.0).powi(2);
            let height = 9.0 + random.within(0.0, 14.0) + downtown * (14.0 + 120.0 * tall);
            self.add_building(middle, half, height, random);
        }
        // A street corner.
        if random.within(0.0, 1.0) < 0.3 {
            self.sites
                .push(Vec3::new(center.x - PITCH / 2.0, 3.0, center.y));
        }
    }

    /// Adds a building of one to three boxes, each narrower than the one below.
    fn add_building(&mut self, middle: Vec2, half: Vec2, height: f32, random: &mut Random) {
        let style = (random.bits() % STYLES as u64) as usize;
        let steps: u32 = match height {
            ..30.0 => 1,
            ..70.0 => 2,
            _ => 3,
        };
        let (mut bottom, mut half) = (0.0, half);
        for step in 1..=steps {
            let part = step as f32 / steps as f32;
            let top = height * part.sqrt();
            self.solids.push(Solid {
                min: Vec3::new(middle.x - half.x, bottom, middle.y - half.y),
                max: Vec3::new(middle.x + half.x, top, middle.y + half.y),
                style,
                is_top: step == steps,
            });
            bottom = top;
            half *= random.within(0.68, 0.88);
        }
        if half.min_element() > 4.0 && random.within(0.0, 1.0) < 0.12 {
            self.sites.push(Vec3::new(middle.x, height + 2.5, middle.y));
        }
    }

    /// Returns the solids of the block at a point and of its neighbors.
    pub(crate) fn solids_near(&self, point: Vec3) -> impl Iterator<Item = &Solid> {
        let blocks = self.blocks as i32;
        let index = |at: f32| ((at + self.side() / 2.0) / PITCH).floor() as i32;
        let (column, row) = (index(point.x), index(point.z));
        (-1..=1)
            .flat_map(move |dz| (-1..=1).map(move |dx| (column + dx, row + dz)))
            .filter(move |(x, z)| (0..blocks).contains(x) && (0..blocks).contains(z))
            .flat_map(move |(x, z)| {
                let block = (z * blocks + x) as usize;
                &self.solids[self.firsts[block]..self.firsts[block + 1]]
            })
    }

    /// Returns the height of the highest roof within so many meters, 0 over open ground.
    pub(crate) fn roof_near(&self, point: Vec3, reach: f32) -> f32 {
        self.solids_near(point)
            .filter(|solid| {
                let nearest = point.clamp(solid.min, solid.max);
                (nearest - point).xz().length() < reach
            })
            .map(|solid| solid.max.y)
            .fold(0.0, f32::max)
    }

    /// Pushes a ball out of the solids, and above the ground. Returns its position and the sum of the normals of what
    /// it touched.
    pub(crate) fn push_out(&self, mut point: Vec3, radius: f32) -> (Vec3, Vec3) {
        let mut normals = Vec3::ZERO;
        for solid in self.solids_near(point) {
            let nearest = point.clamp(solid.min, solid.max);
            let away = point - nearest;
            let distance = away.length();
            if distance >= radius {
                continue;
            }
            if distance > 1e-4 {
                let normal = away / distance;
                point = nearest + normal * radius;
                normals += normal;
                continue;
            }
            // The middle is inside: out through the nearest face.
            let (low, high) = (point - solid.min, solid.max - point);
            let faces = [
                (low.x, Vec3::NEG_X),
                (high.x, Vec3::X),
                (high.y, Vec3::Y),
                (low.z, Vec3::NEG_Z),
                (high.z, Vec3::Z),
            ];
            let (depth, normal) = faces
                .into_iter()
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or((0.0, Vec3::Y));
            point += normal * (depth + radius);
            normals += normal;
        }
        if point.y < radius {
            point.y = radius;
            normals += Vec3::Y;
        }
        (point, normals)
    }

    /// Returns the part of a segment, from 0 to 1, that a ball can move along before it is inside a solid.
    pub(crate) fn free_part(&self, from: Vec3, to: Vec3) -> f32 {
        const STEPS: u32 = 12;
        let is_free = |part: f32| {
            let at = from.lerp(to, part);
            self.solids_near(at)
                .all(|solid| (at.clamp(solid.min, solid.max) - at).length_squared() > 0.5)
        };
        (1..=STEPS)
            .map(|step| step as f32 / STEPS as f32)
            .find(|part| !is_free(*part))
            .map_or(1.0, |part| part - 1.0 / STEPS as f32)
    }
}

#[cfg(test)]
#[path = "city_tests.rs"]
mod tests;
