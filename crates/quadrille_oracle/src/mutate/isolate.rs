//! Whether a cell needs a part of a plan, once what stands there for anything else is gone.

use quadrille_sync::{Frame, Plan, Stages, Topology};

use super::cell::{Cell, When};
use super::part::{Element, Part, What, elements, parts, without};
use super::proof::Taken;
use super::world::{Site, View};
use crate::Random;
use crate::judge::Judge;
use crate::stages::{single, stages_of_queue};
use crate::violation::Violation;

/// A part of the plan of one frame of a sequence.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) topology: &'a Topology,
    pub(super) steps: &'a [Taken],
    /// The frame.
    pub(super) at: usize,
    pub(super) part: Part,
}

/// In which order to take out what is there for others. Where several of these do the same, the last
/// one stays, and it may be any of them that a part needs.
#[derive(Clone, Copy)]
pub(super) struct Order(u64);

impl Order {
    /// All that are tried: forward, backward, and some more.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(Self)
    }

    /// Puts parts in order: those that say most come first.
    fn sort(self, all: &mut [(usize, Part)], is_own_way: impl Fn(&(usize, Part)) -> bool) {
        match self.0 / 2 {
            0 => {}
            1 => all.reverse(),
            seed => Random::new(seed).shuffle(all),
        }
        all.sort_by_key(|(_, part)| match part.what {
            What::All => 0,
            What::Access(..) | What::Signals(_) => 1,
            What::Stages(..) | What::OtherStages(..) => 2,
        });
        if self.0.is_multiple_of(2) {
            // Then it is better one through the stage in question.
            all.sort_by_key(is_own_way);
        }
    }
}

/// Frames in which one cell alone is used, and of their plans what that needs.
#[derive(Clone)]
pub(super) struct Isolation<'a> {
    pub(super) question: Question<'a>,
    pub(super) view: View,
    start: Judge,
    pub(super) cell: Cell,
    pub(super) frames: Vec<Frame>,
    plans: Vec<Plan>,
    /// By frame: what has been taken out of its plan.
    gone: Vec<Vec<Part>>,
    /// What was wrong before, such as reading what nobody writes in these frames.
    known: Vec<Violation>,
}

impl<'a> Isolation<'a> {
    /// The frames of a cell, with all that stands in the plans of it and of no range at all.
    pub(super) fn new(question: Question<'a>, cell: Cell, view: View) -> Self {
        let count = match view.is_cut() {
            true => question.at + 1,
            false => question.steps.len(),
        };
        let question = Question {
            steps: &question.steps[..count],
            ..question
        };
        let Question { steps, at, .. } = question;
        let when = |of: usize| When {
            frame: &steps[of].1,
            is_before: of < at,
        };
        let frames = (0..count).map(|frame| {
            cell.frame(when(frame), |pass, at, one| {
                view.left_of(steps, Site { frame, pass }, at, one)
            })
        });
        let frames = frames.collect();
        let clipped = (0..count).map(|of| cell.plan(&steps[of].2, when(of)));
        let (mut plans, gone): (Vec<Plan>, _) = clipped.unzip();
        if let View::Spelled = view {
            let plans = plans.iter_mut();
            plans.for_each(|plan| spell_out(plan, question.topology));
        }
        let mut start = steps[0].0.clone();
        if let View::Whole = view {
            start.widen_queues();
        }
        let mut isolation = Self {
            question,
            view,
            start,
            frames,
            cell,
            plans,
            gone,
            known: Vec::new(),
        };
        isolation.known = isolation.violations();
        isolation
    }

    /// Whether a part is needed once the rest is gone.
    pub(super) fn needs(mut self, order: Order) -> bool {
        self.strip(order);
        let Question { at, part, .. } = self.question;
        self.gone[at].push(part);
        !self.is_right()
    }

    /// Whether a stage is one of several that would each do to lead on from what comes before or to
    /// what comes after: alone it is enough, and then it is needed.
    pub(super) fn links(mut self, order: Order) -> bool {
        let Question { at, part, .. } = self.question;
        let What::Stages(side, stage) = part.what else {
            return false;
        };
        let mask = part.element.scopes(&self.plans[at])[side as usize].stages;
        let is_part = mask.contains(Stages::ALL_COMMANDS) && stage != Stages::ALL_COMMANDS;
        // A group is no link if another stage of the mask is.
        let others = single(mask - stage);
        let alone = match single(stage).intersects(others) && !is_part {
            true => single(stage) - others,
            false => stage,
        };
        let what = What::OtherStages(side, alone);
        self.gone[at].push(Part { what, ..part });
        self.is_right() && self.needs(order)
    }

    /// Takes out of the plans, up to the one with the part, whatever is there for anything but the
    /// cell, and those who use it in this view, as long as they stay right.
    fn strip(&mut self, order: Order) {
        let Question {
            steps,
            at,
            part: own,
            ..
        } = self.question;
        let is_own_way = |(of, part): &(usize, Part)| {
            let What::Stages(_, own) = own.what else {
                return false;
            };
            let stages = match part.what {
                What::Stages(_, stages) | What::OtherStages(_, stages) => stages,
                What::Access(..) | What::Signals(_) => Stages::empty(),
                What::All => {
                    let [src, dst] = part.element.scopes(&steps[*of].2);
                    src.stages | dst.stages
                }
            };
            single(own).intersects(single(stages))
        };
        let all = steps[..=at].iter().enumerate();
        let mut all: Vec<(usize, Part)> = all
            .flat_map(|(of, (_, _, plan))| parts(plan).into_iter().map(move |it| (of, it)))
            .collect();
        order.sort(&mut all, is_own_way);
        self.strip_at_once(&all);
        for (of, part) in all {
            let is_own = of == at && part.element == own.element;
            let is_asked = is_own && (part == own || part.is_in(own) || part.what == What::All);
            let is_gone = self.gone[of].contains(&part);
            if !is_asked && !is_gone && !self.is_known(of, &part) && self.is_for_others(of, &part) {
                self.gone[of].push(part);
                if !self.is_right() {
                    self.gone[of].pop();
                }
            }
        }
    }

    /// Takes out what changes the cell for those who are not there: only all of it together may be
    /// without consequences.
    fn strip_at_once(&mut self, all: &[(usize, Part)]) {
        let Question {
            steps, at, part, ..
        } = self.question;
        let before: Vec<usize> = self.gone.iter().map(Vec::len).collect();
        for (of, other) in all.iter().filter(|(_, part)| part.what == What::All) {
            let is_own = *of == at && other.element == part.element;
            let is_of_range = other.element.area(&steps[*of].2).is_some();
            if !is_own && is_of_range && self.is_for_others(*of, other) {
                self.gone[*of].push(*other);
            }
        }
        if !self.is_right() {
            for (gone, before) in self.gone.iter_mut().zip(before) {
                gone.truncate(before);
            }
        }
    }

    /// Whether an element is known to whoever asks for a whole wait, whatever it is there for: the
    /// other waits of its submission. One that another implies is no wait.
    fn is_known(&self, of: usize, part: &Part) -> bool {
        let Question { at, part: own, .. } = self.question;
        let submission = |element| match element {
            Element::Wait { submission, .. } => Some((of, submission)),
            Element::Barrier(_) => None,
        };
        let own_submission = match own.element {
            Element::Wait { submission, .. } if own.what == What::All => Some((at, submission)),
            _ => None,
        };
        let is_pair = matches!(self.view, View::Pair { .. });
        !is_pair && own_submission.is_some() && submission(part.element) == own_submission
    }

    fn violations(&self) -> Vec<Violation> {
        let mut judge = self.start.clone();
        let mut found = Vec::new();
        for (of, frame) in self.frames.iter().enumerate() {
            let plan = without(
                &self.plans[of],
                self.question.topology,
                self.gone[of].iter(),
            );
            found.extend(judge.frame(frame, &plan));
        }
        found
    }

    /// Whether the plans are as right as they were.
    fn is_right(&self) -> bool {
        let mut found = self.violations().into_iter();
        found.all(|it| self.known.contains(&it))
    }
}

/// Lets the first scopes of barriers name stages instead of `ALL_COMMANDS`.
fn spell_out(plan: &mut Plan, topology: &Topology) {
    for element in elements(plan) {
        let queue = plan.submissions[element.submission()].queue;
        let [mut src, dst] = element.scopes(plan);
        if src.stages == Stages::ALL_COMMANDS {
            src.stages = stages_of_queue(topology.queue(queue).capabilities);
            element.put(plan, [src, dst]);
        }
    }
}
