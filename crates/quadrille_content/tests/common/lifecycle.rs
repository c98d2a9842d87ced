//! Random lives of entities and assets: components and assets come, change and go in any order. Now and
//! then the picture is compared, byte for byte, with that of an app which was built with what is left.
//!
//! `QUADRILLE_LIFECYCLE=SEEDS,STEPS` or `SEEDS,STEPS,PERIOD,FIRST` sets the dose: so many seeds from
//! `FIRST` on, so many frames for each, and a comparison every `PERIOD` frames.

use std::collections::BTreeMap;

use bevy_asset::{Asset, Assets, Handle};
use bevy_ecs::prelude::*;

use super::{Picture, Rig, temporary, write_png};

/// A splitmix64 sequence (Steele, Lea and Flood 2014).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Between 0 and 1, both with a value of 24 bits.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// A component, or a few that belong together, that entities get and lose.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// Inserts it, or another value of it. The same numbers give the same value.
    pub(crate) insert: fn(&mut World, Entity, &mut Random),
    pub(crate) remove: fn(&mut World, Entity),
}

/// Removes a component.
pub(crate) fn remove<B: Bundle>(world: &mut World, entity: Entity) {
    world.entity_mut(entity).remove::<B>();
}

/// Sets a component back that entities of its kind always have.
pub(crate) fn reset<C: Component + Default>(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(C::default());
}

/// Marks a component as changed, where bevy's own systems do not notice what they should.
pub(crate) fn touch<C: Component<Mutability = bevy_ecs::component::Mutable>>(
    world: &mut World,
    entity: Entity,
) {
    if let Some(mut component) = world.get_mut::<C>(entity) {
        component.set_changed();
    }
}

/// An asset that can be made of random numbers, for one of the slots of its library.
pub(crate) trait Made: Asset {
    fn made(world: &World, slot: usize, random: &mut Random) -> Self;
}

/// Handles of assets, some of which are there.
#[derive(Resource)]
pub(crate) struct Library<A: Asset>(Vec<Handle<A>>);

impl<A: Asset> Library<A> {
    pub(crate) fn pick(world: &World, random: &mut Random) -> Handle<A> {
        let library = &world.resource::<Self>().0;
        library[random.below(library.len())].clone()
    }

    pub(crate) fn slot(world: &World, slot: usize) -> Handle<A> {
        world.resource::<Self>().0[slot].clone()
    }
}

/// How assets of one kind come, change and go.
pub(crate) struct AssetKind {
    name: &'static str,
    slots: usize,
    begin: fn(&mut World, usize),
    /// Adds the asset or puts another one in its place.
    put: fn(&mut World, usize, &mut Random),
    /// Changes it in place.
    modify: fn(&mut World, usize, &mut Random),
    remove: fn(&mut World, usize),
    /// Lets go of the handle, and takes another one that has no asset yet.
    renew: fn(&mut World, usize),
}

impl AssetKind {
    pub(crate) const fn new<A: Made>(name: &'static str, slots: usize) -> Self {
        Self {
            name,
            slots,
            begin: |world, slots| {
                let assets = world.resource::<Assets<A>>();
                let handles = (0..slots).map(|_| assets.reserve_handle()).collect();
                world.insert_resource(Library::<A>(handles));
            },
            put: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = world.resource::<Library<A>>().0[slot].id();
                let mut assets = world.resource_mut::<Assets<A>>();
                assets
                    .insert(id, asset)
                    .expect("the library has its handle");
            },
            modify: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = world.resource::<Library<A>>().0[slot].id();
                let mut assets = world.resource_mut::<Assets<A>>();
                *assets.get_mut(id).expect("it is there") = asset;
            },
            remove: |world, slot| {
                let id = world.resource::<Library<A>>().0[slot].id();
                world.resource_mut::<Assets<A>>().remove(id);
            },
            renew: |world, slot| {
                let handle = world.resource::<Assets<A>>().reserve_handle();
                world.resource_mut::<Library<A>>().0[slot] = handle;
            },
        }
    }
}

/// Entities that are never despawned, such as the camera.
#[derive(Resource)]
pub(crate) struct Fixed(pub(crate) Vec<Entity>);

/// All that may happen.
pub(crate) struct Stage {
    /// An app with [`Fixed`] entities, which has not drawn yet.
    pub(crate) begin: fn() -> Rig,
    pub(crate) parts: &'static [Part],
    /// Parts that entities begin with, by name.
    pub(crate) presets: &'static [&'static [&'static str]],
    /// Parts of each of the fixed entities.
    pub(crate) fixed: &'static [&'static [Part]],
    pub(crate) assets: &'static [AssetKind],
    /// Frames until all is on the device.
    pub(crate) settling: u32,
}

/// The parts of an entity, and the seed of each.
type Parts = BTreeMap<usize, u64>;

/// An app, and what it should show.
struct Life<'a> {
    stage: &'a Stage,
    rig: Rig,
    random: Random,
    entities: Vec<(Entity, Parts)>,
    fixed: Vec<Parts>,
    /// By kind and slot.
    assets: Vec<Vec<Option<u64>>>,
    /// Since pictures were the same.
    history: Vec<String>,
}

/// As many entities as there are at most.
const MOST: usize = 16;

impl<'a> Life<'a> {
    fn new(stage: &'a Stage, seed: u64) -> Self {
        let mut rig = (stage.begin)();
        let world = rig.app.world_mut();
        for kind in stage.assets {
            (kind.begin)(world, kind.slots);
        }
        rig.start();
        Self {
            stage,
            rig,
            random: Random::new(seed),
            entities: Vec::new(),
            fixed: vec![Parts::new(); stage.fixed.len()],
            assets: stage
                .assets
                .iter()
                .map(|kind| vec![None; kind.slots])
                .collect(),
            history: Vec::new(),
        }
    }

    fn world(&mut self) -> &mut World {
        self.rig.app.world_mut()
    }

    /// One thing that happens.
    fn act(&mut self) {
        match self.random.below(100) {
            0..14 => self.spawn(),
            14..40 => self.insert(),
            40..54 => self.remove(),
            54..60 => self.despawn(),
            60..66 => self.clone_entity(),
            66..78 => self.change_fixed(),
            _ => self.change_asset(),
        }
    }

    fn spawn(&mut self) {
        if self.entities.len() >= MOST {
            return;
        }
        let entity = self.world().spawn_empty().id();
        self.history.push(format!("spawn {entity}"));
        self.entities.push((entity, Parts::new()));
        let last = self.entities.len() - 1;
        let preset = self.random.pick(self.stage.presets);
        for name in preset {
            let mut parts = self.stage.parts.iter();
            let part = parts.position(|part| part.name == *name);
            self.put(last, part.unwrap_or_else(|| panic!("no part {name}")));
        }
    }

    fn some(&mut self) -> Option<usize> {
        let count = self.entities.len();
        (count > 0).then(|| self.random.below(count))
    }

    fn put(&mut self, at: usize, part: usize) {
        let seed = self.random.next();
        let (entity, parts) = &mut self.entities[at];
        let (entity, of) = (*entity, &self.stage.parts[part]);
        parts.insert(part, seed);
        (of.insert)(self.rig.app.world_mut(), entity, &mut Random::new(seed));
        self.history.push(format!("insert {} {entity}", of.name));
    }

    fn insert(&mut self) {
        if let Some(at) = self.some() {
            let part = self.random.below(self.stage.parts.len());
            self.put(at, part);
        }
    }

    fn remove(&mut self) {
        let Some(at) = self.some() else { return };
        let (entity, parts) = &mut self.entities[at];
        if parts.is_empty() {
            return;
        }
        let nth = self.random.below(parts.len());
        let part = *parts.keys().nth(nth).expect("there are as many");
        parts.remove(&part);
        let (entity, of) = (*entity, &self.stage.parts[part]);
        (of.remove)(self.rig.app.world_mut(), entity);
        self.history.push(format!("remove {} {entity}", of.name));
    }

    fn despawn(&mut self) {
        let Some(at) = self.some() else { return };
        let (entity, _) = self.entities.swap_remove(at);
        self.world().despawn(entity);
        self.history.push(format!("despawn {entity}"));
    }

    fn clone_entity(&mut self) {
        let Some(at) = self.some() else { return };
        if self.entities.len() < MOST {
            let (entity, parts) = self.entities[at].clone();
            let clone = self.world().entity_mut(entity).clone_and_spawn();
            self.history.push(format!("clone {entity} as {clone}"));
            self.entities.push((clone, parts));
        }
    }

    fn change_fixed(&mut self) {
        let which = self.random.below(self.fixed.len());
        let table = self.stage.fixed[which];
        let part = self.random.below(table.len());
        let of = &table[part];
        let entity = self.world().resource::<Fixed>().0[which];
        let seed = self.random.next();
        let world = self.rig.app.world_mut();
        if self.fixed[which].contains_key(&part) && seed.is_multiple_of(2) {
            (of.remove)(world, entity);
            self.fixed[which].remove(&part);
            self.history.push(format!("remove {} {entity}", of.name));
        } else {
            (of.insert)(world, entity, &mut Random::new(seed));
            self.fixed[which].insert(part, seed);
            self.history.push(format!("insert {} {entity}", of.name));
        }
    }

    fn change_asset(&mut self) {
        let kind = self.random.below(self.assets.len());
        let slot = self.random.below(self.assets[kind].len());
        let seed = self.random.next();
        let of = &self.stage.assets[kind];
        let world = self.rig.app.world_mut();
        let what = match (self.assets[kind][slot], self.random.below(10)) {
            (None, _) | (_, 0..3) => {
                (of.put)(world, slot, &mut Random::new(seed));
                self.assets[kind][slot] = Some(seed);
                "put"
            }
            (_, 3..6) => {
                (of.modify)(world, slot, &mut Random::new(seed));
                self.assets[kind][slot] = Some(seed);
                "modify"
            }
            (_, 6..8) => {
                (of.remove)(world, slot);
                self.assets[kind][slot] = None;
                "remove"
            }
            _ => {
                (of.renew)(world, slot);
                self.assets[kind][slot] = None;
                self.put_all_again();
                "renew"
            }
        };
        self.history.push(format!("{what} {} {slot}", of.name));
    }

    /// Puts all handles that changed where they are kept.
    fn put_all_again(&mut self) {
        let world = self.rig.app.world_mut();
        for (kind, slots) in self.stage.assets.iter().zip(&self.assets) {
            for (slot, seed) in slots.iter().enumerate() {
                if let Some(seed) = seed {
                    (kind.put)(world, slot, &mut Random::new(*seed));
                }
            }
        }
        for (entity, parts) in &self.entities {
            apply(world, *entity, self.stage.parts, parts);
        }
        let fixed = world.resource::<Fixed>().0.clone();
        for ((entity, table), parts) in fixed.into_iter().zip(self.stage.fixed).zip(&self.fixed) {
            apply(world, entity, table, parts);
        }
    }

    /// The picture of an app that never had anything else.
    fn fresh(&mut self) -> Picture {
        let mut life = Life::new(self.stage, 0);
        let world = life.rig.app.world_mut();
        // Systems go through lights and others in the order of entities.
        let mut places: Vec<_> = self
            .entities
            .iter()
            .map(|_| world.spawn_empty().id())
            .collect();
        places.sort_unstable();
        let mut entities = self.entities.clone();
        entities.sort_unstable_by_key(|(entity, _)| *entity);
        for (place, (_, parts)) in places.into_iter().zip(&entities) {
            life.entities.push((place, parts.clone()));
        }
        life.fixed.clone_from(&self.fixed);
        life.assets.clone_from(&self.assets);
        life.put_all_again();
        life.rig.update(self.stage.settling);
        life.rig.picture()
    }

    /// Compares the picture with that of a fresh app.
    fn compare(&mut self, what: &str) {
        let Some((found, wanted)) = self.difference() else {
            self.history.clear();
            return;
        };
        let pixels = || found.pixels.iter().zip(&wanted.pixels);
        let count = pixels().filter(|(a, b)| a != b).count();
        let channels = pixels().flat_map(|(a, b)| (0..4).map(|at| a[at].abs_diff(b[at])));
        let most = channels.max().unwrap_or_default();
        for (name, picture) in [("found", &found), ("wanted", &wanted)] {
            write_png(&temporary(&format!("lifecycle {name}.png")), picture);
        }
        let (history, now) = (std::mem::take(&mut self.history), self.describe());
        let cause = self.cause();
        panic!(
            "{what}: {count} pixels differ by up to {most} of 255; pictures are in {:?}\nsince pictures \
             were the same: {history:#?}\nnow: {now}\nremoved until they are the same: {cause:#?}",
            temporary("")
        );
    }

    /// Both pictures, if they are not the same.
    fn difference(&mut self) -> Option<(Picture, Picture)> {
        self.rig.update(self.stage.settling);
        let found = self.rig.picture();
        let wanted = self.fresh();
        (found != wanted).then_some((found, wanted))
    }

    /// Takes one thing after the other away until pictures are the same: the last one is part of the cause.
    fn cause(&mut self) -> Vec<String> {
        for which in 0..self.fixed.len() {
            while let Some((part, _)) = self.fixed[which].pop_last() {
                let of = &self.stage.fixed[which][part];
                let entity = self.world().resource::<Fixed>().0[which];
                (of.remove)(self.world(), entity);
                self.history.push(format!("{} {entity}", of.name));
                if self.difference().is_none() {
                    return std::mem::take(&mut self.history);
                }
            }
        }
        for at in (0..self.entities.len()).rev() {
            while let Some((part, _)) = self.entities[at].1.pop_last() {
                let (entity, of) = (self.entities[at].0, &self.stage.parts[part]);
                (of.remove)(self.world(), entity);
                self.history.push(format!("{} {entity}", of.name));
                if self.difference().is_none() {
                    return std::mem::take(&mut self.history);
                }
            }
        }
        std::mem::take(&mut self.history)
    }

    fn describe(&self) -> String {
        let names = |table: &'static [Part], parts: &Parts| {
            let names: Vec<_> = parts.keys().map(|&part| table[part].name).collect();
            names.join(", ")
        };
        let entities = self
            .entities
            .iter()
            .map(|(entity, parts)| format!("\n{entity}: {}", names(self.stage.parts, parts)));
        let fixed = self.stage.fixed.iter().zip(&self.fixed);
        let fixed = fixed.map(|(table, parts)| format!("\nfixed: {}", names(table, parts)));
        let assets = self.stage.assets.iter().zip(&self.assets);
        let assets = assets.map(|(kind, slots)| {
            let there: Vec<_> = slots.iter().map(Option::is_some).collect();
            format!("\n{}: {there:?}", kind.name)
        });
        entities.chain(fixed).chain(assets).collect()
    }
}

fn apply(world: &mut World, entity: Entity, table: &[Part], parts: &Parts) {
    for (&part, &seed) in parts {
        (table[part].insert)(world, entity, &mut Random::new(seed));
    }
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
pub(crate) fn run(stage: &Stage, default: [u64; 3]) {
    let dose = Dose::new(default);
    for seed in dose.first..dose.first + dose.seeds {
        let mut life = Life::new(stage, seed);
        for step in 1..=dose.steps {
            for _ in 0..=life.random.below(4) {
                life.act();
            }
            life.rig.update(1);
            if step % dose.period == 0 {
                life.compare(&format!("seed {seed}, step {step}"));
            }
        }
    }
}
