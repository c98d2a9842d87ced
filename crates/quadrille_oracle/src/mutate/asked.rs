//! Whether anybody has asked for what the second scope of a barrier shows.
//!
//! Barriers that are one for several uses, or several readers, show all of their accesses in all of
//! their stages, and of all of their ranges. What a pass finds visible for that reason alone, it finds
//! by chance.

use quadrille_sync::{PassRef, Scope, Use};

use super::cell::{Cell, When};
use super::part::{Element, Part, Side, What, elements};
use super::proof::Survival;
use super::world::{Site, is_before, queue_of};
use crate::stages::{Touch, covers, touches};

impl Survival<'_> {
    /// Whether a part shows something to a pass that nobody has asked for before, since the last
    /// write of the cell, and that nothing else is there for.
    pub(super) fn is_unasked(&self, part: Part, cells: &[Cell], lasts: &[Option<Site>]) -> bool {
        let (_, _, plan) = &self.steps[self.at];
        let [_, dst] = part.element.scopes(plan);
        let shown = match part.what {
            What::All => dst,
            What::Stages(Side::Dst, stages) => Scope { stages, ..dst },
            What::Access(Side::Dst, access) => Scope { access, ..dst },
            _ => return false,
        };
        let lasts = || lasts.iter().flatten();
        cells.iter().any(|cell| {
            lasts().any(|last| {
                let mut touches = self.touches(cell, *last, |_| true).into_iter();
                touches.any(|touch| {
                    covers(shown, touch)
                        && !self.is_asked(cell, *last, touch)
                        && !self.is_supplied(part.element, cell, *last, touch)
                })
            })
        })
    }

    /// What a pass does to a cell, as far as `is_meant`.
    fn touches(&self, cell: &Cell, site: Site, is_meant: impl Fn(&Use) -> bool) -> Vec<Touch> {
        let (_, frame, plan) = &self.steps[site.frame];
        let is_before = site.frame < self.at;
        let left = cell.frame(When { frame, is_before }, |_, _, one| Some(one));
        let Some(queue) = queue_of(plan, site.pass) else {
            return Vec::new();
        };
        let capabilities = self.topology.queue(queue).capabilities;
        let uses = left.uses_of(site.pass).iter().filter(|one| is_meant(one));
        let scopes = uses.map(|one| one.access.scope(capabilities));
        scopes.flat_map(touches).collect()
    }

    /// Whether somebody before a pass, on its queue, does the same since the last write.
    fn is_asked(&self, cell: &Cell, last: Site, touch: Touch) -> bool {
        let queue = |site: Site| queue_of(&self.steps[site.frame].2, site.pass);
        let users = cell.users(self.steps, self.at);
        let mut sites: Vec<Site> = users.into_iter().map(|(site, _)| site).collect();
        sites.retain(|site| is_before(self.steps, *site, last));
        let writes = |site: &&Site| {
            let written = self.touches(cell, **site, |one| one.access.is_write());
            !written.is_empty()
        };
        let writers: Vec<Site> = sites.iter().filter(writes).copied().collect();
        let is_since = |site: &&Site| {
            let mut writers = writers.iter();
            !writers.any(|it| it == *site || is_before(self.steps, **site, *it))
        };
        let mut since = sites.iter().filter(is_since);
        since.any(|site| {
            let asked = || self.touches(cell, *site, |_| true);
            queue(*site) == queue(last) && asked().contains(&touch)
        })
    }

    /// Whether something else is there for a pass that shows it the same.
    fn is_supplied(&self, own: Element, cell: &Cell, last: Site, touch: Touch) -> bool {
        let (_, frame, plan) = &self.steps[self.at];
        let when = When {
            frame,
            is_before: false,
        };
        elements(plan).into_iter().any(|other| {
            let mut reasons = other.reasons(plan).iter();
            let is_for = reasons
                .any(|it| it.later == PassRef::Pass(last.pass) && cell.has(frame, it.resource));
            let area = other.area(plan);
            let meets = area.is_none_or(|(it, area)| cell.meets(when, it, &area));
            other != own && is_for && meets && covers(other.shown(plan), touch)
        })
    }
}
