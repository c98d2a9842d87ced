//! Comparison of a life with a fresh app, and the search for the cause of a difference.

use super::Fixed;
use super::life::Life;
use super::part::{Part, Parts};
use crate::common::{Picture, temporary, write_png};

impl Life<'_> {
    /// The picture of an app that never had anything else.
    fn fresh(&mut self) -> Picture {
        let mut life = Life::new(self.stage, 0);
        let world = life.rig.app.world_mut();
        let mut places: Vec<_> = self
            .entities
            .iter()
            .map(|_| world.spawn_empty().id())
            .collect();
        places.sort_unstable_by_key(|&place| (self.stage.order)(place));
        let mut entities = self.entities.clone();
        entities.sort_unstable_by_key(|(entity, _)| (self.stage.order)(*entity));
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
    pub(super) fn compare(&mut self, what: &str) {
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
