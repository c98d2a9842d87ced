//! Comparison of a life with a fresh app, and the search for the cause of a difference.

use super::life::Life;
use super::part::{Part, Parts};
use super::{Fixed, Random};
use crate::common::{Picture, temporary, write_png};

impl Life<'_> {
    /// The picture of an app that never had anything else.
    fn fresh(&mut self) -> Picture {
        let mut life = Life::new(self.stage, 0);
        let world = life.rig.app.world_mut();
        let lived = self.entities.iter().map(|(entity, _)| *entity);
        let mut lived: Vec<_> = lived.chain(self.crowd.iter().map(|(it, _)| *it)).collect();
        let order = self.stage.order;
        lived.sort_unstable_by_key(|&entity| order(entity));
        let mut places: Vec<_> = lived.iter().map(|_| world.spawn_empty().id()).collect();
        places.sort_unstable_by_key(|&place| order(place));
        let place = |entity| {
            let at = lived.binary_search_by_key(&order(entity), |&it| order(it));
            places[at.expect("it is listed")]
        };
        for (entity, parts) in &self.entities {
            life.entities.push((place(*entity), parts.clone()));
        }
        for (entity, seed) in &self.crowd {
            life.crowd.push((place(*entity), *seed));
        }
        life.fixed.clone_from(&self.fixed);
        life.assets.clone_from(&self.assets);
        life.broken.clone_from(&self.broken);
        life.load_broken();
        life.put_all_again();
        life.rig.update(self.stage.settling);
        life.rig.picture()
    }

    /// Compares the picture with that of a fresh app.
    pub(super) fn compare(&mut self, what: &str) {
        let Some((found, wanted)) = self.difference() else {
            self.history.clear();
            return;
        };
        let pixels = || found.pixels.iter().zip(&wanted.pixels);
        let count = pixels().filter(|(a, b)| a != b).count();
        let channels = pixels().flat_map(|(a, b)| (0..4).map(|at| a[at].abs_diff(b[at])));
        let most = channels.max().unwrap_or_default();
        let write = |found: &Picture, wanted: &Picture, when: &str| {
            for (name, picture) in [("found", found), ("wanted", wanted)] {
                write_png(&temporary(&format!("lifecycle {name}{when}.png")), picture);
            }
        };
        write(&found, &wanted, "");
        let (history, now) = (std::mem::take(&mut self.history), self.describe());
        let last = self.reduce();
        let rest = self.describe();
        if let Some((found, wanted)) = self.difference() {
            write(&found, &wanted, " at last");
        }
        panic!(
            "{what}: {count} pixels differ by up to {most} of 255; pictures are in {:?}\nsince pictures \
             were the same: {history:#?}\nnow: {now}\nthey differ as well with: {rest}\ngone with: {last:?}",
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

    /// Takes away, one after the other, all parts and assets without which pictures differ as well. Returns
    /// the first one that the difference left with and did not return with: all further ones stay.
    fn reduce(&mut self) -> Option<String> {
        let stage = self.stage;
        let fixed = self.world().resource::<Fixed>().0.clone();
        for (which, table) in stage.fixed.iter().enumerate() {
            for (part, seed) in self.fixed[which].clone() {
                self.fixed[which].remove(&part);
                (table[part].remove)(self.world(), fixed[which]);
                if self.difference().is_some() {
                    continue;
                }
                self.fixed[which].insert(part, seed);
                (table[part].insert)(self.world(), fixed[which], &mut Random::new(seed));
                if self.difference().is_none() {
                    return Some(format!("{} {}", table[part].name, fixed[which]));
                }
            }
        }
        self.disperse();
        if self.difference().is_none() {
            return Some("the crowd".to_owned());
        }
        for at in 0..self.entities.len() {
            for (part, seed) in self.entities[at].1.clone() {
                let (entity, of) = (self.entities[at].0, &stage.parts[part]);
                self.entities[at].1.remove(&part);
                (of.remove)(self.world(), entity);
                if self.difference().is_some() {
                    continue;
                }
                self.entities[at].1.insert(part, seed);
                (of.insert)(self.world(), entity, &mut Random::new(seed));
                if self.difference().is_none() {
                    return Some(format!("{} {entity}", of.name));
                }
            }
        }
        self.reduce_assets()
    }

    fn reduce_assets(&mut self) -> Option<String> {
        let stage = self.stage;
        for (at, kind) in stage.assets.iter().enumerate() {
            for slot in 0..kind.slots {
                let Some(seed) = self.assets[at][slot] else {
                    continue;
                };
                self.assets[at][slot] = None;
                (kind.remove)(self.world(), slot);
                if self.difference().is_some() {
                    continue;
                }
                self.assets[at][slot] = Some(seed);
                (kind.put)(self.world(), slot, &mut Random::new(seed));
                if self.difference().is_none() {
                    return Some(format!("{} {slot}", kind.name));
                }
            }
        }
        None
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
        let crowd = [format!("\ncrowd: {}", self.crowd.len())];
        let crowd = crowd.into_iter().filter(|_| !self.crowd.is_empty());
        entities.chain(crowd).chain(fixed).chain(assets).collect()
    }
}
