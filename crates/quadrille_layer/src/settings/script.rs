//! Grammar of the injection script, and matching of its rules. Pure.
//!
//! ```text
//! script := { [ rule ] [ '#' comment ] newline }
//! rule   := command when '->' result             vkQueueSubmit2 nth=3 -> VK_ERROR_OUT_OF_HOST_MEMORY
//!         | 'extent' when width 'x' height       extent from=10 to=20 0x0
//!         | 'image' 'order' index { ',' index }  image order 0,0,1
//!         | [ 'present' ] 'fence' ( 'never' | 'late=' ms ) when
//!         | 'lost' when
//!         | 'counter' 'max' ( when | 'waits=' n )  counter max from=9
//!         | 'stuck' when
//!         | 'image' 'late=' ms when              image late=20 every=1
//!         | 'swapchains' 'most=' n               swapchains most=6
//!         | 'shown' ( 'never' | 'late=' ms ) when
//! when   := 'nth=' n | 'every=' n | 'from=' n [ 'to=' n ]
//! ```
//! Calls are counted from 1, by rule:
//! - for a command: its calls
//! - `extent`: queries of surface capabilities
//! - `fence`: fences passed to submissions, presents and acquisitions; `present fence`: fences passed to presents
//! - `lost`: submissions to any queue
//! - `counter`: reads of counters (`waits=`: from the n-th `vkWaitSemaphores` on)
//! - `stuck`, `image late`: created swapchains
//! - `shown`: presents with ids

use std::time::Duration;

use ash::vk;

use crate::settings::refusal::Refusal;

/// Calls that a rule applies to, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The n-th call.
    Nth(u64),
    /// Every n-th call.
    Every(u64),
    /// Calls of an inclusive range.
    Range(u64, u64),
}

impl When {
    /// Whether the rule applies to the `nth` call.
    pub(crate) fn applies(self, nth: u64) -> bool {
        match self {
            Self::Nth(n) => nth == n,
            Self::Every(n) => nth.is_multiple_of(n),
            Self::Range(from, to) => (from..=to).contains(&nth),
        }
    }
}

/// Fault of a fence, of a presented image, or of a swapchain's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FenceFault {
    /// Never signals.
    Never,
    /// Signals later by at least this duration.
    Late(Duration),
}

/// All rules of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) results: Vec<(&'static str, When, vk::Result)>,
    pub(crate) extents: Vec<(When, vk::Extent2D)>,
    pub(crate) image_order: Vec<u32>,
    pub(crate) fences: Vec<(When, FenceFault)>,
    pub(crate) present_fences: Vec<(When, FenceFault)>,
    pub(crate) lost: Vec<When>,
    pub(crate) counters: Vec<When>,
    /// Number of `vkWaitSemaphores` calls from which on counters read as the maximum value.
    pub(crate) counter_waits: Option<u64>,
    pub(crate) images: Vec<(When, FenceFault)>,
    pub(crate) most_swapchains: Option<usize>,
    pub(crate) shown: Vec<(When, FenceFault)>,
}

impl Script {
    /// Parses a script; `canonical` maps a command's name to the one it is counted under.
    pub(crate) fn parse(
        text: &str,
        canonical: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, (usize, Refusal)> {
        let mut script = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let rule = line.split('#').next().unwrap_or_default();
            let tokens: Vec<&str> = rule.split_whitespace().collect();
            script
                .add(&tokens, &canonical)
                .map_err(|refusal| (number, refusal))?;
        }
        Ok(script)
    }

    /// Returns the injected result of the `nth` call of a command.
    pub(crate) fn result(&self, command: &str, nth: u64) -> Option<vk::Result> {
        let mut rules = self.results.iter();
        rules
            .find(|rule| rule.0 == command && rule.1.applies(nth))
            .map(|rule| rule.2)
    }

    /// Returns the extent that the `nth` query of surface capabilities reports.
    pub(crate) fn extent(&self, nth: u64) -> Option<vk::Extent2D> {
        self.extents
            .iter()
            .find(|rule| rule.0.applies(nth))
            .map(|rule| rule.1)
    }

    /// Returns the fault of the `nth` fence.
    pub(crate) fn fence(&self, nth: u64) -> Option<FenceFault> {
        self.fences
            .iter()
            .find(|rule| rule.0.applies(nth))
            .map(|rule| rule.1)
    }

    /// Returns the fault of the `nth` fence of a present.
    pub(crate) fn present_fence(&self, nth: u64) -> Option<FenceFault> {
        let rule = self.present_fences.iter().find(|rule| rule.0.applies(nth));
        rule.map(|rule| rule.1)
    }

    /// Returns the fault of the `nth` present with an id.
    pub(crate) fn shown(&self, nth: u64) -> Option<FenceFault> {
        let rule = self.shown.iter().find(|rule| rule.0.applies(nth));
        rule.map(|rule| rule.1)
    }

    /// Whether the `nth` submission loses the device.
    pub(crate) fn loses(&self, nth: u64) -> bool {
        self.lost.iter().any(|when| when.applies(nth))
    }

    /// Whether the `nth` read of a counter, after this number of waits, returns the maximum value.
    pub(crate) fn is_counter_max(&self, nth: u64, waits: u64) -> bool {
        self.counters.iter().any(|when| when.applies(nth))
            || self.counter_waits.is_some_and(|most| waits >= most)
    }

    /// Returns the fault that delays the images of the `nth` swapchain.
    pub(crate) fn images(&self, nth: u64) -> Option<FenceFault> {
        let rule = self.images.iter().find(|rule| rule.0.applies(nth));
        rule.map(|rule| rule.1)
    }

    fn add(
        &mut self,
        tokens: &[&str],
        canonical: &impl Fn(&str) -> Option<&'static str>,
    ) -> Result<(), Refusal> {
        match tokens {
            [] => {}
            ["extent", rest @ ..] => {
                let (when, rest) = parse_when(rest)?;
                self.extents
                    .push((when, parse_extent(only(rest, "a size such as `0x0`")?)?));
            }
            ["image", "order", indices] => {
                let parsed: Result<_, _> = indices.split(',').map(str::parse).collect();
                self.image_order =
                    parsed.map_err(|_| Refusal::of(indices, "image indices such as `0,0,1`"))?;
            }
            ["image", late, rest @ ..] => {
                let fault = parse_late(late)
                    .ok_or_else(|| Refusal::of(late, "`order` or `late=MILLISECONDS`"))?;
                let (when, rest) = parse_when(rest)?;
                nothing(rest)?;
                self.images.push((when, fault));
            }
            ["swapchains", most, rest @ ..] => {
                let most = number(most, "most=", "`most=N`, N from 1")?;
                nothing(rest)?;
                self.most_swapchains = usize::try_from(most).ok();
            }
            ["fence", fault, rest @ ..] => self.fences.push(parse_fault_rule(fault, rest)?),
            ["present", "fence", fault, rest @ ..] => {
                self.present_fences.push(parse_fault_rule(fault, rest)?)
            }
            ["lost", rest @ ..] => {
                let (when, rest) = parse_when(rest)?;
                nothing(rest)?;
                self.lost.push(when);
            }
            ["counter", "max", waits] if waits.starts_with("waits=") => {
                self.counter_waits = Some(number(waits, "waits=", "`waits=N`, N from 1")?);
            }
            ["counter", "max", rest @ ..] => {
                let (when, rest) = parse_when(rest)?;
                nothing(rest)?;
                self.counters.push(when);
            }
            ["shown", fault, rest @ ..] => self.shown.push(parse_fault_rule(fault, rest)?),
            ["stuck", rest @ ..] => {
                let (when, rest) = parse_when(rest)?;
                nothing(rest)?;
                self.images.push((when, FenceFault::Never));
            }
            [command, rest @ ..] => self.add_result(command, rest, canonical)?,
        }
        Ok(())
    }

    /// Adds a rule for the result of a command.
    fn add_result(
        &mut self,
        command: &str,
        rest: &[&str],
        canonical: &impl Fn(&str) -> Option<&'static str>,
    ) -> Result<(), Refusal> {
        let command = canonical(command).ok_or_else(|| {
            let allowed = "a command of the layer's table that returns a VkResult, or \
                           `extent`, `image order`, `image late=`, `swapchains`, `fence`, \
                           `present fence`, `lost`, `counter max`, `stuck`, `shown`";
            Refusal::of(command, allowed)
        })?;
        let (when, rest) = parse_when(rest)?;
        let rest = match rest {
            ["->", rest @ ..] => rest,
            other => return Err(Refusal::of(first(other), "`->` and a result")),
        };
        let result = parse_result(only(rest, "one result")?)?;
        self.results.push((command, when, result));
        Ok(())
    }
}

/// Parses a number of at least 1 after a word.
fn number(token: &str, word: &str, allowed: &str) -> Result<u64, Refusal> {
    let number = token.strip_prefix(word).and_then(|it| it.parse().ok());
    let number = number.filter(|&number: &u64| number > 0);
    number.ok_or_else(|| Refusal::of(token, allowed))
}

fn first<'a>(tokens: &[&'a str]) -> &'a str {
    tokens.first().copied().unwrap_or_default()
}

fn only<'a>(tokens: &[&'a str], allowed: &str) -> Result<&'a str, Refusal> {
    match tokens {
        [token] => Ok(token),
        [_, extra, ..] => Err(Refusal::of(extra, "the end of the line")),
        [] => Err(Refusal::of("", allowed)),
    }
}

fn nothing(tokens: &[&str]) -> Result<(), Refusal> {
    if tokens.is_empty() {
        return Ok(());
    }
    Err(Refusal::of(first(tokens), "the end of the line"))
}

fn parse_when<'a, 'b>(tokens: &'b [&'a str]) -> Result<(When, &'b [&'a str]), Refusal> {
    let refusal = |token| {
        let allowed = "`nth=N`, `every=N` or `from=N` with or without `to=N`, N from 1";
        Refusal::of(token, allowed)
    };
    let number = |token: &'a str, key: &str| {
        let value = token.strip_prefix(key)?.strip_prefix('=')?.parse().ok();
        value.filter(|value: &u64| *value > 0)
    };
    let (token, rest) = tokens.split_first().ok_or_else(|| refusal(""))?;
    if let Some(n) = number(token, "nth") {
        return Ok((When::Nth(n), rest));
    }
    if let Some(n) = number(token, "every") {
        return Ok((When::Every(n), rest));
    }
    let from = number(token, "from").ok_or_else(|| refusal(token))?;
    match rest {
        [token, rest @ ..] if token.starts_with("to=") => {
            let to = number(token, "to").filter(|to| *to >= from);
            Ok((When::Range(from, to.ok_or_else(|| refusal(token))?), rest))
        }
        _ => Ok((When::Range(from, u64::MAX), rest)),
    }
}

fn parse_extent(token: &str) -> Result<vk::Extent2D, Refusal> {
    token
        .split_once('x')
        .and_then(|(width, height)| {
            Some(vk::Extent2D {
                width: width.parse().ok()?,
                height: height.parse().ok()?,
            })
        })
        .ok_or_else(|| Refusal::of(token, "a size such as `0x0`"))
}

/// Parses a fault and the calls that it applies to.
fn parse_fault_rule(fault: &str, when: &[&str]) -> Result<(When, FenceFault), Refusal> {
    let fault = parse_fault(fault)?;
    let (when, rest) = parse_when(when)?;
    nothing(rest)?;
    Ok((when, fault))
}

fn parse_fault(token: &str) -> Result<FenceFault, Refusal> {
    if token == "never" {
        return Ok(FenceFault::Never);
    }
    parse_late(token).ok_or_else(|| Refusal::of(token, "`never` or `late=MILLISECONDS`"))
}

fn parse_late(token: &str) -> Option<FenceFault> {
    let ms = token.strip_prefix("late=")?.parse().ok()?;
    Some(FenceFault::Late(Duration::from_millis(ms)))
}

/// Results that a script may inject.
const RESULTS: [(&str, vk::Result); 20] = [
    ("VK_NOT_READY", vk::Result::NOT_READY),
    ("VK_TIMEOUT", vk::Result::TIMEOUT),
    ("VK_SUBOPTIMAL_KHR", vk::Result::SUBOPTIMAL_KHR),
    (
        "VK_ERROR_OUT_OF_HOST_MEMORY",
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    ),
    (
        "VK_ERROR_OUT_OF_DEVICE_MEMORY",
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    ),
    (
        "VK_ERROR_INITIALIZATION_FAILED",
        vk::Result::ERROR_INITIALIZATION_FAILED,
    ),
    ("VK_ERROR_DEVICE_LOST", vk::Result::ERROR_DEVICE_LOST),
    (
        "VK_ERROR_MEMORY_MAP_FAILED",
        vk::Result::ERROR_MEMORY_MAP_FAILED,
    ),
    (
        "VK_ERROR_EXTENSION_NOT_PRESENT",
        vk::Result::ERROR_EXTENSION_NOT_PRESENT,
    ),
    (
        "VK_ERROR_FEATURE_NOT_PRESENT",
        vk::Result::ERROR_FEATURE_NOT_PRESENT,
    ),
    (
        "VK_ERROR_TOO_MANY_OBJECTS",
        vk::Result::ERROR_TOO_MANY_OBJECTS,
    ),
    (
        "VK_ERROR_FORMAT_NOT_SUPPORTED",
        vk::Result::ERROR_FORMAT_NOT_SUPPORTED,
    ),
    (
        "VK_ERROR_FRAGMENTED_POOL",
        vk::Result::ERROR_FRAGMENTED_POOL,
    ),
    (
        "VK_ERROR_OUT_OF_POOL_MEMORY",
        vk::Result::ERROR_OUT_OF_POOL_MEMORY,
    ),
    ("VK_ERROR_UNKNOWN", vk::Result::ERROR_UNKNOWN),
    (
        "VK_ERROR_SURFACE_LOST_KHR",
        vk::Result::ERROR_SURFACE_LOST_KHR,
    ),
    (
        "VK_ERROR_NATIVE_WINDOW_IN_USE_KHR",
        vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR,
    ),
    (
        "VK_ERROR_OUT_OF_DATE_KHR",
        vk::Result::ERROR_OUT_OF_DATE_KHR,
    ),
    (
        "VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT",
        vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
    ),
    ("VK_ERROR_FRAGMENTATION", vk::Result::ERROR_FRAGMENTATION),
];

fn parse_result(token: &str) -> Result<vk::Result, Refusal> {
    let found = RESULTS.iter().find(|(name, _)| *name == token);
    found.map(|(_, result)| *result).ok_or_else(|| {
        let names: Vec<_> = RESULTS.iter().map(|(name, _)| *name).collect();
        Refusal::of(token, &format!("one of {}", names.join(" ")))
    })
}

#[cfg(test)]
mod tests;
