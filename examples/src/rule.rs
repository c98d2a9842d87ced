//! When a cell is born and when it survives.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A life-like rule: the counts of live cells among the eight neighbours at which a dead cell is
/// born and a live one survives. Bit `n` of a mask stands for `n` neighbours, 0 to 8.
///
/// Rules with `B0` are supported: a torus is finite, so its empty ground may come alive.
///
/// ```
/// use examples::Rule;
///
/// let rule: Rule = "B36/S23".parse()?;
/// assert_eq!(rule, Rule::HIGH_LIFE);
/// assert_eq!(rule.birth(), 1 << 3 | 1 << 6);
/// # Ok::<(), examples::rule::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    birth: u32,
    survival: u32,
}

impl Rule {
    /// Conway's Game of Life, `B3/S23`.
    pub const CONWAY: Self = Self {
        birth: 1 << 3,
        survival: 1 << 2 | 1 << 3,
    };
    /// HighLife, `B36/S23`.
    pub const HIGH_LIFE: Self = Self {
        birth: 1 << 3 | 1 << 6,
        survival: 1 << 2 | 1 << 3,
    };

    /// The counts at which a dead cell is born.
    pub fn birth(self) -> u32 {
        self.birth
    }

    /// The counts at which a live cell survives.
    pub fn survival(self) -> u32 {
        self.survival
    }

    /// Whether a cell lives in the next generation.
    pub fn lives(self, alive: bool, neighbours: u32) -> bool {
        let mask = if alive { self.survival } else { self.birth };
        mask >> neighbours & 1 == 1
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::CONWAY
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, mask) in [("B", self.birth), ("/S", self.survival)] {
            f.write_str(letter)?;
            for count in (0..=8).filter(|count| mask >> count & 1 == 1) {
                write!(f, "{count}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `B3/S23` and its kin: the halves in either order, letters of either case, the slash
    /// optional between lettered halves, or the old notation `23/3` (survival first).
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let error = |problem| RuleError {
            rule: text.to_owned(),
            problem,
        };
        let (first, second) = split(text.trim()).ok_or_else(|| error(Problem::Form))?;
        let (birth, survival) = match (lettered(first), lettered(second)) {
            ((Some('B'), birth), (Some('S'), survival)) => (birth, survival),
            ((Some('S'), survival), (Some('B'), birth)) => (birth, survival),
            ((None, survival), (None, birth)) => (birth, survival),
            _ => return Err(error(Problem::Form)),
        };
        Ok(Self {
            birth: mask(birth).map_err(error)?,
            survival: mask(survival).map_err(error)?,
        })
    }
}

/// The two halves: around the slash or, where there is none, before the second letter.
fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').or_else(|| {
        let second = text.rfind(is_letter)?;
        (second > 0).then(|| text.split_at(second))
    })
}

/// The letter of a half, in upper case, if it has one, and its counts.
fn lettered(half: &str) -> (Option<char>, &str) {
    let half = half.trim();
    match half.chars().next().filter(|first| is_letter(*first)) {
        Some(letter) => (Some(letter.to_ascii_uppercase()), half[1..].trim_start()),
        None => (None, half),
    }
}

fn is_letter(c: char) -> bool {
    matches!(c, 'B' | 'b' | 'S' | 's')
}

fn mask(counts: &str) -> Result<u32, Problem> {
    counts
        .chars()
        .try_fold(0, |mask, count| match count.to_digit(9) {
            Some(digit) => Ok(mask | 1 << digit),
            None => Err(Problem::Count(count)),
        })
}

/// Why a rule was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the rule {rule:?} {problem}; a rule is such as B3/S23 (birth, survival)")]
pub struct RuleError {
    /// Text of the rule.
    pub rule: String,
    /// Problem with it.
    pub problem: Problem,
}

/// Problem of a rule; its text goes on after "the rule ..".
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// Not two halves, or their letters do not match.
    #[error("is not a half for birth and a half for survival")]
    Form,
    /// A half holds something else than counts. Rules with more than two states, with other
    /// neighbourhoods, or that tell arrangements of neighbours apart end here.
    #[error("has {0:?} where a count of neighbours from 0 to 8 belongs")]
    Count(char),
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
