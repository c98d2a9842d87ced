//! One random life: an app in which things happen, and the record of how it should look.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;

use super::part::{Parts, apply};
use super::travel::{copy, registry};
use super::{Files, Fixed, Random, Stage};
use crate::common::Rig;

/// An app, and what it should show.
pub(super) struct Life<'a> {
    pub(super) stage: &'a Stage,
    pub(super) rig: Rig,
    pub(super) random: Random,
    pub(super) entities: Vec<(Entity, Parts)>,
    /// Many entities that come and go at once, and the seed of each.
    pub(super) crowd: Vec<(Entity, u64)>,
    /// A world without a renderer, and entities that moved there.
    elsewhere: World,
    /// With the number of renewals when they left.
    away: Vec<(Entity, Parts, u32)>,
    renewals: u32,
    pub(super) fixed: Vec<Parts>,
    /// By kind and slot.
    pub(super) assets: Vec<Vec<Option<u64>>>,
    /// Kind and slot of assets whose files are broken, which is shown where nothing else is.
    pub(super) broken: BTreeSet<(usize, usize)>,
    /// Since pictures were the same.
    pub(super) history: Vec<String>,
}

/// As many entities as there are at most.
const MOST: usize = 16;

impl<'a> Life<'a> {
    pub(super) fn new(stage: &'a Stage, seed: u64) -> Self {
        let mut rig = (stage.begin)();
        let world = rig.app.world_mut();
        for kind in stage.assets {
            (kind.begin)(world, kind.slots);
        }
        rig.start();
        // Apps begin alike: which letter comes first decides where it lies in its atlas.
        rig.update(stage.settling);
        Self {
            stage,
            rig,
            random: Random::new(seed),
            entities: Vec::new(),
            crowd: Vec::new(),
            elsewhere: World::new(),
            away: Vec::new(),
            renewals: 0,
            fixed: vec![Parts::new(); stage.fixed.len()],
            assets: stage
                .assets
                .iter()
                .map(|kind| vec![None; kind.slots])
                .collect(),
            broken: BTreeSet::new(),
            history: Vec::new(),
        }
    }

    pub(super) fn world(&mut self) -> &mut World {
        self.rig.app.world_mut()
    }

    /// One thing that happens.
    pub(super) fn act(&mut self) {
        if self.random.below(100) < self.stage.fixed_percentage {
            self.change_fixed();
            return;
        }
        if self.random.one_in(8) {
            match self.random.below(8) {
                0..2 => self.leave(),
                2..4 => self.come_back(),
                4 => self.change_crowd(),
                _ => self.change_file(),
            }
            return;
        }
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

    /// Moves an entity to the world without a renderer.
    fn leave(&mut self) {
        let Some(at) = self.some().filter(|_| self.stage.travels) else {
            return;
        };
        let (entity, parts) = self.entities.swap_remove(at);
        let world = self.rig.app.world_mut();
        let there = copy(world, &mut self.elsewhere, entity, registry(world));
        world.despawn(entity);
        self.away.push((there, parts, self.renewals));
        self.history.push(format!("{entity} leaves"));
    }

    /// Moves an entity back.
    fn come_back(&mut self) {
        if self.away.is_empty() || self.entities.len() >= MOST {
            return;
        }
        let at = self.random.below(self.away.len());
        let (there, parts, renewals) = self.away.swap_remove(at);
        let world = self.rig.app.world_mut();
        let registry = registry(world);
        let entity = copy(&self.elsewhere, world, there, registry);
        self.elsewhere.despawn(there);
        // Relations and handles may have changed meanwhile.
        for (&part, &seed) in &parts {
            let of = &self.stage.parts[part];
            if of.is_related || renewals != self.renewals {
                (of.insert)(world, entity, &mut Random::new(seed));
            }
        }
        self.entities.push((entity, parts));
        self.history.push(format!("{entity} comes back"));
    }

    /// Lets a crowd come, or go.
    fn change_crowd(&mut self) {
        let crowd = &self.stage.crowd;
        if !self.crowd.is_empty() {
            self.disperse();
        } else if self.random.one_in(2) {
            let count = self.random.below(crowd.most) + 1;
            for _ in 0..count {
                let seed = self.random.next();
                let world = self.rig.app.world_mut();
                let entity = world.spawn_empty().id();
                (crowd.insert)(world, entity, &mut Random::new(seed));
                self.crowd.push((entity, seed));
            }
            self.history.push(format!("a crowd of {count}"));
        }
    }

    pub(super) fn disperse(&mut self) {
        let world = self.rig.app.world_mut();
        for (entity, _) in self.crowd.drain(..) {
            world.despawn(entity);
        }
        self.history.push("no crowd".to_owned());
    }

    /// One of the fixed entities: each as often, or more often the more parts it may have.
    fn some_fixed(&mut self) -> usize {
        let tables = self.stage.fixed;
        if self.random.one_in(2) {
            return self.random.below(tables.len());
        }
        let total = tables.iter().map(|table| table.len()).sum();
        let mut nth = self.random.below(total);
        let mut which = 0;
        while nth >= tables[which].len() {
            nth -= tables[which].len();
            which += 1;
        }
        which
    }

    fn change_fixed(&mut self) {
        let which = self.some_fixed();
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
        self.broken.remove(&(kind, slot));
        self.history.push(format!("{what} {} {slot}", of.name));
    }

    /// Loads an asset from a file, which may be broken, or loads one again.
    fn change_file(&mut self) {
        let stage = self.stage;
        let kinds = stage.assets.iter().enumerate();
        let with_files: Vec<_> = kinds.filter_map(|(at, it)| Some((at, it.files?))).collect();
        if with_files.is_empty() {
            return;
        }
        let (kind, files) = self.random.pick(&with_files);
        let slot = files.first + self.random.below(stage.assets[kind].slots - files.first);
        let seed = self.random.next();
        let contents = (!self.random.one_in(3)).then(|| Random::new(seed));
        let is_again = (files.has_file)(self.world(), slot) && self.random.one_in(2);
        let (name, is_whole) = (stage.assets[kind].name, contents.is_some());
        if is_again {
            self.history
                .push(format!("load {name} {slot} again, {is_whole}"));
            (files.reload)(self.world(), slot, contents.clone());
        } else {
            self.history.push(format!("load {name} {slot}, {is_whole}"));
            self.world().resource::<Files>().set_closed(true);
            (files.load)(self.world(), slot, contents.clone());
            self.assets[kind][slot] = None;
            self.broken.remove(&(kind, slot));
            self.put_all_again();
            self.rig.update(2);
            if self.random.one_in(4) {
                self.compare("while a file is loaded");
            }
            self.world().resource::<Files>().set_closed(false);
        }
        self.wait_for_file((kind, slot), contents);
        if is_whole {
            self.assets[kind][slot] = Some(seed);
            self.broken.remove(&(kind, slot));
        } else if self.assets[kind][slot].is_none() {
            self.broken.insert((kind, slot));
        }
    }

    /// Runs frames until a file is loaded or has failed to.
    fn wait_for_file(&mut self, (kind, slot): (usize, usize), contents: Option<Random>) {
        let of = &self.stage.assets[kind];
        let has_ended = of.files.expect("it has files").has_ended;
        for _ in 0..1000 {
            self.rig.update(1);
            if has_ended(self.rig.app.world(), slot, contents.clone()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        panic!("{} {slot} is not loaded", of.name);
    }

    /// Loads all files that are broken.
    pub(super) fn load_broken(&mut self) {
        for (kind, slot) in self.broken.clone() {
            let files = self.stage.assets[kind].files.expect("it has files");
            (files.load)(self.world(), slot, None);
            self.wait_for_file((kind, slot), None);
        }
    }

    /// Puts all handles that changed where they are kept.
    pub(super) fn put_all_again(&mut self) {
        self.renewals += 1;
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
        for (entity, seed) in &self.crowd {
            (self.stage.crowd.insert)(world, *entity, &mut Random::new(*seed));
        }
        let fixed = world.resource::<Fixed>().0.clone();
        for ((entity, table), parts) in fixed.into_iter().zip(self.stage.fixed).zip(&self.fixed) {
            apply(world, entity, table, parts);
        }
    }
}
