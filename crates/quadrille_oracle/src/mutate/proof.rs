//! Why a mutant survived, shown: without what else stands in the plans, the judge misses it.
//!
//! What a mutant lacks is mostly a [`Part`](super::part::Part). Then frames are made in which one
//! cell of its resource is all that is used, and their plans are stripped of what is there for
//! anything else ([`serve`](super::serve)), as long as they stay right
//! ([`isolate`](super::isolate)): elements with other reasons, and of elements with several what the
//! masks say for the others alone. If the plan is wrong then without the part, it does something, and
//! only what is there for another cell does it too.
//!
//! What passes do to the cell itself is all left in, so that a part that another one of the same
//! cell makes needless is not excused. There are two exceptions ([`world`](super::world)): later
//! passes are left out, because plans are made in submission order, and for parts of masks all but two
//! passes; see [`Excuse::Later`], [`Excuse::Reader`] and [`Excuse::History`]. `tests/wasteful.rs` has
//! plans with what nobody needs, and holds against all this.
//!
//! For other mutants, plan and mutant are judged once more, with the same elements taken out of both
//! ([`restrict`](super::restrict)), none of which is there for what the changed element is there for.

use std::sync::Arc;

use quadrille_sync::{Frame, PassIndex, PassRef, Plan, Reason, Scope, Stages, Step, Topology, Use};

use super::barrier::{Kind, Spot};
use super::cell::Cell;
use super::excuse::is_over;
use super::isolate::{Isolation, Order, Question};
use super::part::{Element, Part, Side, What, elements};
use super::restrict::{
    self, Focus, Purpose, narrow, others, quieten, quieten_others, without, without_others,
};
use super::world::{Site, View, is_before};
use super::{Excuse, Mutant, Mutation};
use crate::area::Area;
use crate::judge::Judge;
use crate::stages::single;
use crate::violation::Violation;

/// One frame of a sequence: the judge before it, the frame, its plan.
pub(super) type Taken = (Judge, Frame, Arc<Plan>);

/// A mutant of the plan of one frame of a sequence.
pub(super) struct Survival<'a> {
    pub(super) topology: &'a Topology,
    pub(super) steps: &'a [Taken],
    pub(super) at: usize,
    pub(super) mutant: &'a Mutant,
}

impl Survival<'_> {
    /// What shows that the changed element does something, if anything does.
    pub(super) fn proof(&self) -> Option<Excuse> {
        let mut parts = self.mutant.part.iter().chain(&self.mutant.late);
        if let Some(excuse) = parts.find_map(|part| self.is_needed_for_one_cell(*part)) {
            return Some(excuse);
        }
        if self.is_foreseen() || self.is_waited_for_next() {
            return Some(Excuse::Prediction);
        }
        if self.is_over_on_host() {
            return Some(Excuse::Over);
        }
        if self.mutant.part.is_some() {
            return None;
        }
        let mutation = self.mutant.mutation;
        let (before, _, _) = &self.steps[self.at];
        if self.is_missed_for_one_resource()
            || self.is_missed_without_one(self.at)
            || self.is_missed_for_one_purpose(before)
        {
            return Some(Excuse::Chance);
        }
        let forgetful = before.without_dependencies();
        if (0..self.at).rev().any(|of| self.is_missed_without_one(of))
            || self.is_missed_after(&forgetful)
            || self.is_missed_for_one_purpose(&forgetful)
        {
            return Some(Excuse::History);
        }
        if mutation == Mutation::WaitValue {
            return self.is_over().then_some(Excuse::Over);
        }
        let is_link = mutation == Mutation::AcquireImageStage && self.is_missed_where_links_meet();
        is_link.then_some(Excuse::Chain)
    }

    /// What is left to say where nothing shows it: a mask says something twice only in words of those
    /// whom it is for.
    pub(super) fn argument(&self) -> Option<Excuse> {
        let is_said =
            |part: Part| self.mutant.excuse != Some(Excuse::Spelling) || self.is_named(part);
        let is_left = self.mutant.part.is_none_or(is_said);
        self.mutant.excuse.filter(|_| is_left)
    }

    /// With nothing in use but one cell, and nothing in the plans that is not for it.
    fn is_needed_for_one_cell(&self, part: Part) -> Option<Excuse> {
        let question = Question {
            topology: self.topology,
            steps: self.steps,
            at: self.at,
            part,
        };
        let purposes = self.mutant.purposes.iter();
        let grain = part.element.grain(&self.steps[self.at].2);
        let cells: Vec<Cell> = purposes
            .flat_map(|purpose| Cell::all(self.steps, self.at, purpose, grain))
            .collect();
        let is_met = self.is_named(question.part) || self.is_met(question.part);
        let look = |view: View, cell: &Cell, order: Order, by_need: Excuse| {
            let isolation = Isolation::new(question, cell.clone(), view);
            match isolation.clone().needs(order) {
                true => Some(by_need),
                false => (is_met && isolation.links(order)).then_some(Excuse::Chain),
            }
        };
        let lasts = self.later_sites(question.part.element);
        let until = lasts.iter().flatten();
        let until = until.map(|last| (View::Until(*last), Excuse::Later));
        let views: Vec<_> = [
            (View::Plain, Excuse::Chance),
            (View::Foreseen, Excuse::Chance),
            (View::Whole, Excuse::Spelling),
            (View::Spelled, Excuse::Spelling),
        ]
        .into_iter()
        .chain(until)
        .collect();
        let (_, _, plan) = &self.steps[self.at];
        let shown = question.part.element.shown(plan);
        let by_pair = self.excuse_of_pairs(question.part.element);
        let by_pair = by_pair.filter(|_| is_met);
        Order::all()
            .find_map(|order| {
                let in_cells = |(view, excuse): &(View, Excuse)| {
                    (cells.iter()).find_map(|cell| look(*view, cell, order, *excuse))
                };
                let of_pair = |by_pair: Excuse| {
                    let is_shown = |cell: &Cell| {
                        let mut pairs = self.pairs(cell, &lasts, shown).into_iter();
                        pairs.any(|view| look(view, cell, order, by_pair).is_some())
                    };
                    cells.iter().any(is_shown).then_some(by_pair)
                };
                let found = views.iter().find_map(in_cells);
                found.or_else(|| by_pair.and_then(of_pair))
            })
            .or_else(|| {
                let is_unasked = self.is_unasked(question.part, &cells, &lasts);
                is_unasked.then_some(Excuse::Product)
            })
    }

    /// All views of two passes that use a cell, of which the later is one of these, or is nobody, and
    /// does all that it does or only what needs no more than what is shown.
    fn pairs(&self, cell: &Cell, lasts: &[Option<Site>], shown: Scope) -> Vec<View> {
        let users = cell.users(self.steps, self.at);
        let mut views = Vec::new();
        for later in lasts.iter().copied() {
            let own = users.iter().find(|(site, _)| Some(*site) == later);
            let count = own.map_or(0, |(_, count)| *count);
            let uses = (0..count).filter(|_| count > 1).map(Some);
            let is_earlier =
                |site: &Site| later.is_none_or(|later| is_before(self.steps, *site, later));
            let uses = [None].into_iter().chain(uses).map(|only| (only, None));
            for (only, shown) in uses.chain([(None, Some(shown))]) {
                let earlier = users.iter().map(|(site, _)| *site).filter(is_earlier);
                views.extend(earlier.map(|earlier| View::Pair {
                    earlier,
                    later,
                    only,
                    shown,
                }));
            }
        }
        views
    }

    /// The passes that an element is for, and whether it is for what is none. Barriers of ranges that
    /// are one for several passes name the first: then it may be any of its submission that uses the
    /// resource behind it.
    fn later_sites(&self, element: Element) -> Vec<Option<Site>> {
        let (_, frame, plan) = &self.steps[self.at];
        let site = |pass: PassIndex| Site {
            frame: self.at,
            pass,
        };
        let named = element.reasons(plan).iter().map(|it| match it.later {
            PassRef::Pass(pass) => Some(site(pass)),
            _ => None,
        });
        let mut sites: Vec<_> = named.collect();
        let of_range = |spot: &Spot| spot.kind != Kind::Memory;
        if let (Element::Barrier(spot), [first]) = (element, element.reasons(plan))
            && of_range(&spot)
        {
            let behind = &plan.submissions[spot.submission].steps[spot.step..];
            let passes = behind.iter().filter_map(|step| match step {
                Step::Pass(pass) => Some(*pass),
                Step::Barriers(_) => None,
            });
            let uses = |pass: &PassIndex| {
                let mut uses = frame.uses_of(*pass).iter();
                uses.any(|one| one.resource == first.resource)
            };
            sites.extend(passes.filter(uses).map(|pass| Some(site(pass))));
        }
        let mut known = Vec::new();
        sites.retain(|site| {
            let is_new = !known.contains(site);
            known.push(*site);
            is_new
        });
        sites
    }

    /// What excuses a part that two passes need if nobody else is there.
    fn excuse_of_pairs(&self, element: Element) -> Option<Excuse> {
        let of_scope = [Mutation::SrcStage, Mutation::SrcAccess, Mutation::WaitStage];
        if of_scope.contains(&self.mutant.mutation) {
            return Some(Excuse::Reader);
        }
        if self.is_over_for(element) {
            return Some(Excuse::Over);
        }
        let is_earlier = |it: &Reason| matches!(it.earlier, PassRef::Earlier(_));
        let (_, _, plan) = &self.steps[self.at];
        if matches!(element, Element::Barrier(_))
            && element.only_orders(plan)
            && element.reasons(plan).iter().all(is_earlier)
        {
            // Which barriers earlier frames have issued is forgotten.
            return Some(Excuse::History);
        }
        // What queues knew at such a point is forgotten, and what others have learned there.
        let forgets = |(_, _, plan): &Taken| {
            let mut waits = plan.submissions.iter().flat_map(|it| &it.waits);
            waits.any(|wait| wait.point.offset < 0)
        };
        let waits = &plan.submissions[element.submission()].waits;
        let is_forgotten = waits.iter().any(|wait| wait.point.offset < 0)
            || matches!(element, Element::Wait { .. }) && self.steps[..self.at].iter().any(forgets);
        is_forgotten.then_some(Excuse::History)
    }

    /// Whether somebody whom an element is for works in the stage that it lacks, by that name.
    fn is_named(&self, part: Part) -> bool {
        let What::Stages(_, stage) = part.what else {
            return true;
        };
        let (_, own, plan) = &self.steps[self.at];
        let names = |frame: &Frame, reason: &Reason, pass: PassIndex| {
            let id = own.resource(reason.resource).id;
            let mut uses = frame.uses_of(pass).iter();
            uses.any(|one| {
                frame.resource(one.resource).id == id && one.access.stages().intersects(stage)
            })
        };
        let is_by = |reason: &Reason, pass: &PassRef| match pass {
            PassRef::Pass(pass) => names(own, reason, *pass),
            PassRef::Earlier(name) => self.steps[..self.at].iter().any(|(_, frame, _)| {
                let mut passes = frame.pass_indices();
                passes.any(|it| frame.pass(it).name == *name && names(frame, reason, it))
            }),
            _ => false,
        };
        // Of several who come before, one is named.
        let is_by_other = |reason: &Reason| {
            let mut frames = self.steps[..=self.at].iter();
            frames.any(|(_, frame, _)| {
                let mut passes = frame.pass_indices();
                passes.any(|it| names(frame, reason, it))
            })
        };
        let is_source = matches!(part.what, What::Stages(Side::Src, _));
        let mut reasons = part.element.reasons(plan).iter();
        reasons.any(|it| {
            is_by(it, &it.earlier) || is_by(it, &it.later) || is_source && is_by_other(it)
        })
    }

    /// Whether another link on the same queue names the stage that an element lacks: chains lead
    /// through stages of others.
    fn is_met(&self, part: Part) -> bool {
        let What::Stages(side, stage) = part.what else {
            return true;
        };
        let queue = |of: usize, element: Element| {
            let (_, _, plan) = &self.steps[of];
            plan.submissions[element.submission()].queue
        };
        let own = queue(self.at, part.element);
        (0..self.steps.len()).any(|of| {
            let (_, _, plan) = &self.steps[of];
            elements(plan).into_iter().any(|other| {
                let [src, dst] = other.scopes(plan);
                let meets = match side {
                    Side::Src => dst.stages,
                    Side::Dst => src.stages,
                };
                let is_other = (of, other) != (self.at, part.element);
                is_other && queue(of, other) == own && single(meets).intersects(single(stage))
            })
        })
    }

    /// Whether what is left out of a second scope in the last call of a queue is nothing that the
    /// pass of the barrier does, but what somebody did with its range in the frame before, or in
    /// an earlier one that used it: he was foreseen, and need not come again.
    fn is_foreseen(&self) -> bool {
        let (Some(part), [purpose]) = (self.mutant.part, &self.mutant.purposes[..]) else {
            return false;
        };
        let what = match part.what {
            What::Stages(Side::Dst, stages) => Scope {
                stages,
                ..Scope::default()
            },
            What::Access(Side::Dst, access) => Scope {
                access,
                ..Scope::default()
            },
            // A range that nobody is in but who was foreseen there.
            What::All if self.mutant.mutation == Mutation::Range => {
                part.element.shown(&self.steps[self.at].2)
            }
            _ => return false,
        };
        let (_, frame, plan) = &self.steps[self.at];
        if !part.element.is_in_last_call(plan) {
            return false;
        }
        let whole = Area::whole(&frame.resource(purpose.resource).kind);
        let area = purpose.area.as_ref().unwrap_or(&whole);
        let queue = plan.submissions[part.element.submission()].queue;
        let capabilities = self.topology.queue(queue).capabilities;
        let id = frame.resource(purpose.resource).id;
        let meets = |frame: &Frame, one: &Use| {
            let of = frame.resource(one.resource);
            of.id == id && Area::of(&of.kind, &one.range).intersection(area).is_some()
        };
        let names = |frame: &Frame, one: &Use| {
            let scope = one.access.scope(capabilities);
            let [stages, access] = [
                scope.stages.intersects(what.stages),
                scope.access.intersects(what.access),
            ];
            let is_named = match part.what {
                What::All => stages && (access || what.access.is_empty()),
                _ => stages || access,
            };
            frame.resource(one.resource).id == id && is_named
        };
        let own = match purpose.later {
            PassRef::Pass(pass) => frame.uses_of(pass),
            _ => &[],
        };
        // What is foreseen of a pass is what all of its uses do that meet.
        let is_it = |frame: &Frame, pass: PassIndex| {
            let uses = frame.uses_of(pass);
            uses.iter().any(|one| meets(frame, one)) && uses.iter().any(|one| names(frame, one))
        };
        let mut earlier = self.steps[..self.at].iter();
        !own.iter().any(|one| names(frame, one) && meets(frame, one))
            && earlier.any(|(_, frame, _)| frame.pass_indices().any(|it| is_it(frame, it)))
    }

    /// Whether a whole wait is for what an earlier submission of its queue waits for as well, but there
    /// for the sake of a release to somebody who is foreseen, and need not come.
    fn is_waited_for_next(&self) -> bool {
        let (Some(part), Mutation::DropWait) = (self.mutant.part, self.mutant.mutation) else {
            return false;
        };
        let Element::Wait { submission, at } = part.element else {
            return false;
        };
        let (_, _, plan) = &self.steps[self.at];
        let own = &plan.submissions[submission];
        let point = own.waits[at].point;
        let before = plan.submissions[..submission].iter();
        let before = before.filter(|it| it.queue == own.queue);
        let mut waits = before.flat_map(|it| &it.waits);
        waits.any(|wait| {
            let mut reasons = wait.reasons.iter();
            wait.point.queue == point.queue
                && wait.point.offset >= point.offset
                && reasons.any(|it| matches!(it.later, PassRef::Next(_)))
        })
    }

    /// Whether all that the element is for was done in earlier frames to ranges that a host pass of
    /// this frame, which has waited for it, writes before.
    fn is_over_on_host(&self) -> bool {
        let (_, frame, plan) = &self.steps[self.at];
        let is_over = |purpose: &Purpose| {
            let of = frame.resource(purpose.resource);
            let area = purpose.area.clone();
            let area = area.unwrap_or_else(|| Area::whole(&of.kind));
            let writes = |one: &Use| {
                one.resource == purpose.resource
                    && one.access.is_write()
                    && Area::of(&of.kind, &one.range).intersection(&area).is_some()
            };
            let mut gates = plan.host.iter().filter(|step| step.before.is_some());
            let is_earlier = matches!(purpose.earlier, Some((PassRef::Earlier(_), _)));
            is_earlier && gates.any(|step| frame.uses_of(step.pass).iter().any(writes))
        };
        let purposes = &self.mutant.purposes;
        !purposes.is_empty() && purposes.iter().all(is_over)
    }

    /// Whether the mutant breaks a rule that the plan does not, in frames and plans that `edit` has
    /// changed; it is given the frames from `from` on, by number.
    fn is_missed(
        &self,
        from: usize,
        before: &Judge,
        edit: impl Fn(usize, &Frame, &Plan) -> (Frame, Plan),
    ) -> bool {
        let judged = |own: &Plan| {
            let mut judge = before.clone();
            let mut found: Vec<Violation> = Vec::new();
            for (at, (_, frame, plan)) in self.steps.iter().enumerate().skip(from) {
                let plan = if at == self.at { own } else { plan };
                let (frame, plan) = edit(at, frame, plan);
                found.extend(judge.frame(&frame, &plan));
            }
            found
        };
        let (_, _, plan) = &self.steps[self.at];
        let known = judged(plan);
        judged(&self.mutant.plan)
            .iter()
            .any(|it| !known.contains(it))
    }

    /// Whether a host pass of an earlier frame has waited for what the mutant does not wait for.
    fn is_over(&self) -> bool {
        let (judge, _, plan) = &self.steps[self.at];
        let waits = |plan: &Plan| {
            let waits = plan.submissions.iter().flat_map(|it| it.waits.clone());
            waits.map(|wait| wait.point).collect::<Vec<_>>()
        };
        let (before, after) = (waits(plan), waits(&self.mutant.plan));
        let changed = before.iter().zip(&after).find(|(one, other)| one != other);
        changed.is_some_and(|(point, _)| {
            let value = judge.value(*point);
            self.steps[..self.at].iter().any(|(judge, _, plan)| {
                let mut waits = plan.host.iter().flat_map(|step| &step.waits);
                waits.any(|it| it.queue == point.queue && judge.value(*it) >= value)
            })
        })
    }

    /// Whether a host pass that a wait's submission comes after has waited for the same signal.
    fn is_over_for(&self, element: Element) -> bool {
        let Element::Wait { submission, at } = element else {
            return false;
        };
        let (_, _, plan) = &self.steps[self.at];
        is_over(plan, submission, &plan.submissions[submission].waits[at])
    }

    /// With nothing but one of its resources in all frames, and in all plans.
    fn is_missed_for_one_resource(&self) -> bool {
        let (first, _, _) = &self.steps[0];
        let (_, frame, _) = &self.steps[self.at];
        let is_missed = |purpose: &Purpose| {
            let focus = Focus::on(purpose, frame);
            [true, false].into_iter().any(|waits| {
                self.is_missed(0, first, |_, frame, plan| {
                    (focus.frame(frame), focus.plan(frame, plan, waits))
                })
            })
        };
        self.mutant.purposes.iter().any(is_missed)
    }

    /// Without one other element of a plan, or what it shows.
    fn is_missed_without_one(&self, of: usize) -> bool {
        let (before, _, plan) = &self.steps[of];
        let purposes = match of == self.at {
            true => &self.mutant.purposes[..],
            // Whatever is in an earlier plan is there for something else.
            false => &[],
        };
        others(plan, purposes).iter().any(|other| {
            [without, quieten].iter().any(|edit| {
                self.is_missed(of, before, |at, frame, plan| {
                    let mut plan = plan.clone();
                    if at == of {
                        edit(&mut plan, other);
                    }
                    (frame.clone(), plan)
                })
            })
        })
    }

    /// With nothing in its own plan that is not for the same purpose.
    fn is_missed_for_one_purpose(&self, before: &Judge) -> bool {
        let purposes = &self.mutant.purposes;
        let edits: [&dyn Fn(&mut Plan); 3] = [
            &|plan| quieten_others(plan, purposes),
            &|plan| without_others(plan, purposes, false),
            &|plan| without_others(plan, purposes, true),
        ];
        edits.iter().any(|edit| {
            self.is_missed(self.at, before, |at, frame, plan| {
                let mut plan = plan.clone();
                if at == self.at {
                    edit(&mut plan);
                }
                (frame.clone(), plan)
            })
        })
    }

    /// After frames that a judge has seen who remembers less of them.
    fn is_missed_after(&self, before: &Judge) -> bool {
        self.is_missed(self.at, before, |_, frame, plan| {
            (frame.clone(), plan.clone())
        })
    }

    /// With all barriers behind it meeting it in no other stage than the one it lost; perhaps without
    /// one other element, which chains around it.
    fn is_missed_where_links_meet(&self) -> bool {
        let purposes = &self.mutant.purposes;
        let elements = (0..=self.at).flat_map(|of| {
            let (_, _, plan) = &self.steps[of];
            let others = others(plan, if of == self.at { purposes } else { &[] });
            others.into_iter().map(move |other| Some((of, other)))
        });
        let mut gone = std::iter::once(None).chain(elements);
        self.mutant.stage != Stages::empty() && gone.any(|gone| self.is_link_missed(&gone))
    }

    fn is_link_missed(&self, gone: &Option<(usize, (usize, restrict::Element))>) -> bool {
        let from = gone.as_ref().map_or(self.at, |(of, _)| *of);
        let (before, _, _) = &self.steps[from];
        self.is_missed(from, before, |at, frame, plan| {
            let mut plan = plan.clone();
            if let Some((_, element)) = gone.as_ref().filter(|(of, _)| *of == at) {
                without(&mut plan, element);
            }
            if at >= self.at {
                narrow(&mut plan, self.mutant.stage);
            }
            (frame.clone(), plan)
        })
    }
}
