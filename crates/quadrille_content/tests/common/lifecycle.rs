//! Random lives of entities and assets: components and assets come, change and go in any order. Now and
//! then the picture is compared, byte for byte, with that of an app which was built with what is left.
//!
//! `QUADRILLE_LIFECYCLE=SEEDS,STEPS` or `SEEDS,STEPS,PERIOD,FIRST` sets the dose: so many seeds from
//! `FIRST` on, so many frames for each, and a comparison every `PERIOD` frames.

#[path = "lifecycle/asset.rs"]
mod asset;
#[path = "lifecycle/compare.rs"]
mod compare;
#[path = "lifecycle/files.rs"]
mod files;
#[path = "lifecycle/life.rs"]
mod life;
#[path = "lifecycle/part.rs"]
mod part;
#[path = "lifecycle/random.rs"]
mod random;
#[path = "lifecycle/shaders.rs"]
mod shaders;
#[path = "lifecycle/travel.rs"]
mod travel;

use bevy_ecs::prelude::*;

use self::life::Life;
use super::Rig;

pub(crate) use self::asset::{AssetKind, Library, Made};
pub(crate) use self::files::{FileAsset, Files, png_file};
pub(crate) use self::part::{Part, part, remove, reset, touch};
pub(crate) use self::random::Random;
pub(crate) use self::shaders::{HEIGHT, add_shaders, shader, tinted};

/// Entities that are never despawned, such as the camera.
#[derive(Resource)]
pub(crate) struct Fixed(pub(crate) Vec<Entity>);

/// Many entities that come and go at once, so that tables and buffers grow and shrink.
pub(crate) struct Crowd {
    pub(crate) most: usize,
    /// Inserts what an entity of a crowd has. The same numbers give the same values.
    pub(crate) insert: fn(&mut World, Entity, &mut Random),
}

/// All that may happen.
pub(crate) struct Stage {
    /// An app with [`Fixed`] entities, which has not drawn yet.
    pub(crate) begin: fn() -> Rig,
    /// Key of the order of entities in which they are drawn where nothing else decides.
    pub(crate) order: fn(Entity) -> u64,
    pub(crate) parts: &'static [Part],
    /// Parts that entities begin with, by name.
    pub(crate) presets: &'static [&'static [&'static str]],
    /// Parts of each of the fixed entities.
    pub(crate) fixed: &'static [&'static [Part]],
    /// Percentage of changes that concern these alone, in addition to those of all kinds.
    pub(crate) fixed_percentage: usize,
    pub(crate) assets: &'static [AssetKind],
    pub(crate) crowd: Crowd,
    /// Entities move to another world and come back.
    pub(crate) travels: bool,
    /// Frames until all is on the device.
    pub(crate) settling: u32,
}

/// How long to test.
struct Dose {
    seeds: u64,
    steps: u32,
    period: u32,
    first: u64,
}

impl Dose {
    fn new(default: [u64; 3]) -> Self {
        let [seeds, steps, period] = default;
        let given = std::env::var("QUADRILLE_LIFECYCLE").unwrap_or_default();
        let mut numbers = given
            .split(',')
            .filter(|part| !part.is_empty())
            .map(|part| {
                part.trim()
                    .parse::<u64>()
                    .unwrap_or_else(|_| panic!("QUADRILLE_LIFECYCLE={given}: set SEEDS,STEPS"))
            });
        let mut next = |default| numbers.next().unwrap_or(default);
        Self {
            seeds: next(seeds),
            steps: next(steps) as u32,
            period: (next(period) as u32).max(1),
            first: next(0),
        }
    }
}

/// Lets everything happen, for so many seeds, steps of each and steps between comparisons.
#[expect(clippy::print_stdout, reason = "long doses tell how far they are")]
pub(crate) fn run(stage: &Stage, default: [u64; 3]) {
    let dose = Dose::new(default);
    for seed in dose.first..dose.first + dose.seeds {
        let begin = std::time::Instant::now();
        let mut life = Life::new(stage, seed);
        for step in 1..=dose.steps {
            for _ in 0..=life.random.below(4) {
                life.act();
            }
            life.rig.update(1);
            if step % dose.period == 0 {
                life.compare(&format!("seed {seed}, step {step}"));
            }
            if step % 100 == 0 || step == dose.steps {
                println!("seed {seed}, step {step}: {:.0?}", begin.elapsed());
            }
        }
    }
}
