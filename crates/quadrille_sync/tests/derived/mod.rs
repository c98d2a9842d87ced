//! Hand-derived lower bounds for the frames of a case, from its head.
//!
//! A line of the head that begins with `Least:`, `Frame 2:`, `Frames 2, 4:` or `Frames 2 to 4:`
//! says how much of what a frame needs at least, and why:
//!
//! ```text
//! // Frame 1: 2 submissions, 1 wait, 2 calls, 3 barriers, 1 transfer. One queue writes, so ...
//! ```
//!
//! Quantities that are not named are not needed; `nothing` says that of all. Transfers are counted where
//! they are acquired, and waits of the host as `host waits`. Frames that are refused need nothing. Plans may
//! need more, which their text in the case shows, and all cases together not much more: a solver that
//! finds the least of everything is not worth its lines. The least is the bound for every plan that
//! obeys Vulkan and these rules:
//!
//! - The frame ends as early as it can, each pass taking as long as any other if none says what it
//!   costs. So a pass that another queue waits for gets a signal of its own, if the frame ends sooner.
//! - A barrier stands in the submission of the access that needs it: in an earlier one it would delay
//!   the waits for that one. What the next frame needs first is predicted, if the last frame or the one
//!   before it is a guide, and stands in this one's last call, or release.
//! - Barriers between the same passes share a call; those of neighbouring ranges that hold back
//!   the same are one, and so are all plain dependencies of a call, unless the topology is
//!   `precise`. Barriers of one call do not chain.
//! - A pass acquires what it needs itself: transfers for several passes stay apart. What passes on
//!   several queues need has a submission of its own, so that none waits for another one.

use std::fmt::{self, Display, Formatter};

use quadrille_sync::PlanErrors;
use quadrille_sync::plan::Plan;

/// The nouns of a derivation, with how much of each.
pub(crate) const NOUNS: [&str; 6] = [
    "submission",
    "wait",
    "call",
    "barrier",
    "transfer",
    "host wait",
];

/// How much of everything a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// The solver refuses the frame.
    Refused,
    /// So much of each of [`NOUNS`].
    Counts([u32; NOUNS.len()]),
}

impl Least {
    /// Returns the counts of a plan.
    pub(crate) fn of(planned: Result<&Plan, &PlanErrors>) -> Self {
        let Ok(plan) = planned else {
            return Least::Refused;
        };
        let counts = plan.counts();
        let host = plan.host.iter().map(|step| step.waits.len() as u32);
        Least::Counts([
            counts.submissions,
            counts.semaphore_waits,
            counts.barrier_calls,
            counts.barriers,
            counts.ownership_transfers,
            host.sum(),
        ])
    }

    /// Whether a plan that has so much has no less of anything.
    fn bounds(self, found: Self) -> bool {
        match (self, found) {
            (Least::Counts(least), Least::Counts(found)) => least
                .iter()
                .zip(found)
                .all(|(least, found)| *least <= found),
            _ => self == found,
        }
    }

    /// Reads what stands before the first full stop, colon or end of a line; none if that is no list
    /// of counts.
    fn read(text: &str) -> Option<Self> {
        let list = text.split(['.', ':']).next().unwrap_or_default().trim();
        let mut counts = [0; NOUNS.len()];
        if list == "nothing" {
            return Some(Least::Counts(counts));
        }
        for item in list.split(", ") {
            let (count, noun) = item.split_once(' ')?;
            let count: u32 = count.parse().ok()?;
            let noun = match count {
                1 => noun,
                _ => noun.strip_suffix('s')?,
            };
            let at = NOUNS.iter().position(|known| *known == noun)?;
            counts[at] = count;
        }
        Some(Least::Counts(counts))
    }
}

impl Display for Least {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Least::Counts(counts) = self else {
            return out.write_str("refused");
        };
        let named = NOUNS.iter().zip(counts).filter(|(_, count)| **count > 0);
        let items: Vec<String> = named
            .map(|(noun, count)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        if items.is_empty() {
            out.write_str("nothing")
        } else {
            out.write_str(&items.join(", "))
        }
    }
}

/// Lower bounds that the head of one case derives, frame by frame.
#[derive(Default)]
pub(crate) struct Derived {
    frames: Vec<(u32, Least)>,
    /// How much all frames need at the least, and how much their plans have.
    pub(crate) sums: [[u32; NOUNS.len()]; 2],
    /// Disagreements, one per line.
    pub(crate) wrong: String,
}

impl Derived {
    /// Reads the head of a case.
    pub(crate) fn read(head: &str) -> Self {
        let mut derived = Self::default();
        for line in head.lines().filter_map(|line| line.strip_prefix("// ")) {
            let Some((frames, least)) = line.split_once(": ") else {
                continue;
            };
            for frame in numbers(frames) {
                match Least::read(least) {
                    Some(least) => derived.frames.push((frame, least)),
                    None => derived.object(format!("cannot read the counts of `{line}`")),
                }
            }
        }
        derived
    }

    /// Compares what was derived for a frame with what its plan has.
    pub(crate) fn compare(&mut self, number: u32, found: Least) {
        let of_frame = self.frames.iter().filter(|(frame, _)| *frame == number);
        let derived: Vec<Least> = of_frame.map(|(_, least)| *least).collect();
        match derived[..] {
            [least] if least.bounds(found) => self.add(least, found),
            [] if found == Least::Refused => {}
            [least] => self.object(format!(
                "frame {number} needs at least {least}, and its plan has {found}"
            )),
            _ => self.object(format!(
                "frame {number} has {} derivations in the head; its plan has {found}",
                derived.len()
            )),
        }
    }

    fn add(&mut self, least: Least, found: Least) {
        for (sums, one) in self.sums.iter_mut().zip([least, found]) {
            if let Least::Counts(counts) = one {
                sums.iter_mut().zip(counts).for_each(|(sum, it)| *sum += it);
            }
        }
    }

    /// Says if the head speaks of frames that there are not.
    pub(crate) fn end(&mut self, count: u32) {
        if let Some((beyond, _)) = self.frames.iter().find(|(frame, _)| *frame > count) {
            self.object(format!("the head derives frame {beyond} of {count}"));
        }
    }

    fn object(&mut self, objection: String) {
        self.wrong += &objection;
        self.wrong.push('\n');
    }
}

/// The frames that the beginning of a line names; none if it is no derivation.
fn numbers(text: &str) -> Vec<u32> {
    if text == "Least" {
        return vec![1];
    }
    let Some(list) = text
        .strip_prefix("Frames ")
        .or_else(|| text.strip_prefix("Frame "))
    else {
        return Vec::new();
    };
    let numbers = |separator| {
        let numbers = list.split(separator).map(str::parse);
        numbers.collect::<Result<Vec<u32>, _>>().unwrap_or_default()
    };
    match numbers(" to ")[..] {
        [first, last] => (first..=last).collect(),
        _ => numbers(", "),
    }
}
