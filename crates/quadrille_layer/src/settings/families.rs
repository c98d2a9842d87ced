//! Grammar of virtual queue families, and their reported properties.
//!
//! ```text
//! families := family { ',' family }
//! family   := letters ':' count [ '(' option { ',' option } ')' ]
//! letters  := one or more of g c t s d e o, each at most once
//! option   := 'present=' ( 'yes' | 'no' )
//!           | 'granularity=' width 'x' height 'x' depth
//!           | 'timestamps=' bits
//! ```
//! `g` graphics, `c` compute, `t` transfer, `s` sparse binding, `d` video decode, `e` video encode, `o` optical flow.
//! The last three are only reported; their commands are not emulated.

use ash::vk;

use crate::settings::refusal::Refusal;

/// Maximum number of queues of a family.
const MAX_COUNT: u32 = 64;

const CAPABILITIES: [(char, vk::QueueFlags); 7] = [
    ('g', vk::QueueFlags::GRAPHICS),
    ('c', vk::QueueFlags::COMPUTE),
    ('t', vk::QueueFlags::TRANSFER),
    ('s', vk::QueueFlags::SPARSE_BINDING),
    ('d', vk::QueueFlags::VIDEO_DECODE_KHR),
    ('e', vk::QueueFlags::VIDEO_ENCODE_KHR),
    ('o', vk::QueueFlags::OPTICAL_FLOW_NV),
];

/// A virtual queue family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// Capabilities of its queues.
    pub(crate) flags: vk::QueueFlags,
    /// Number of its queues.
    pub(crate) count: u32,
    /// Whether it can present if the real family can.
    pub(crate) present: bool,
    /// Reported `minImageTransferGranularity`; `None` for that of the real family.
    pub(crate) granularity: Option<vk::Extent3D>,
    /// Reported `timestampValidBits`; `None` for those of the real family.
    pub(crate) timestamp_bits: Option<u32>,
}

impl Family {
    /// Returns the properties that the layer reports for this family.
    pub(crate) fn properties(&self, real: vk::QueueFamilyProperties) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties {
            queue_flags: self.flags,
            queue_count: self.count,
            timestamp_valid_bits: self.timestamp_bits.unwrap_or(real.timestamp_valid_bits),
            min_image_transfer_granularity: self
                .granularity
                .unwrap_or(real.min_image_transfer_granularity),
        }
    }
}

/// Returns the flags that the real family needs so that all virtual families can run on it.
///
/// Transfer is implied by graphics and compute (specification, `VkQueueFlagBits`).
pub(crate) fn needed_flags(families: &[Family]) -> vk::QueueFlags {
    let emulated = vk::QueueFlags::GRAPHICS
        | vk::QueueFlags::COMPUTE
        | vk::QueueFlags::TRANSFER
        | vk::QueueFlags::SPARSE_BINDING;
    families
        .iter()
        .fold(vk::QueueFlags::empty(), |all, family| all | family.flags)
        & emulated
}

/// Returns the first real family that has all `needed` flags.
pub(crate) fn real_family(
    real: &[vk::QueueFamilyProperties],
    needed: vk::QueueFlags,
) -> Option<u32> {
    let able = |properties: &vk::QueueFamilyProperties| {
        let mut flags = properties.queue_flags;
        if flags.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
            flags |= vk::QueueFlags::TRANSFER;
        }
        flags.contains(needed)
    };
    real.iter()
        .position(able)
        .and_then(|index| u32::try_from(index).ok())
}

/// Parses a list of families, such as `gct:1,ct:2,t:1(granularity=16x16x8,present=no)`.
pub(crate) fn parse(text: &str) -> Result<Vec<Family>, Refusal> {
    split_outside_parentheses(text)
        .into_iter()
        .map(parse_family)
        .collect()
}

/// Splits at the commas that are not inside an option list.
fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .collect()
}

fn parse_family(text: &str) -> Result<Family, Refusal> {
    let text = text.trim();
    let (head, options) = match text.split_once('(') {
        None => (text, None),
        Some((head, rest)) => {
            let inner = rest
                .strip_suffix(')')
                .ok_or_else(|| Refusal::of(text, "`)` at the end of the options"))?;
            (head, Some(inner))
        }
    };
    let (letters, count) = head
        .split_once(':')
        .ok_or_else(|| Refusal::of(text, "letters, `:` and a count, such as `gct:1`"))?;
    let mut family = Family {
        flags: parse_letters(letters)?,
        count: count
            .parse()
            .ok()
            .filter(|count| (1..=MAX_COUNT).contains(count))
            .ok_or_else(|| Refusal::of(count, "a count of queues from 1 to 64"))?,
        present: true,
        granularity: None,
        timestamp_bits: None,
    };
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        parse_option(option.trim(), &mut family)?;
    }
    Ok(family)
}

fn parse_letters(letters: &str) -> Result<vk::QueueFlags, Refusal> {
    let allowed = "one or more of the letters g c t s d e o, each at most once";
    let mut flags = vk::QueueFlags::empty();
    for letter in letters.chars() {
        let found = CAPABILITIES.iter().find(|(name, _)| *name == letter);
        match found {
            Some((_, flag)) if !flags.contains(*flag) => flags |= *flag,
            _ => return Err(Refusal::of(letters, allowed)),
        }
    }
    if flags.is_empty() {
        Err(Refusal::of(letters, allowed))
    } else {
        Ok(flags)
    }
}

fn parse_option(option: &str, family: &mut Family) -> Result<(), Refusal> {
    let refusal = || {
        Refusal::of(
            option,
            "`present=yes`, `present=no`, `granularity=WxHxD` or `timestamps=BITS`",
        )
    };
    match option.split_once('=').ok_or_else(refusal)? {
        ("present", "yes") => family.present = true,
        ("present", "no") => family.present = false,
        ("granularity", extent) => family.granularity = Some(parse_extent(extent)?),
        ("timestamps", bits) => {
            let bits = bits
                .parse()
                .ok()
                .filter(|bits| *bits == 0 || (36..=64).contains(bits));
            family.timestamp_bits =
                Some(bits.ok_or_else(|| Refusal::of(option, "0, or 36 to 64 valid bits"))?);
        }
        _ => return Err(refusal()),
    }
    Ok(())
}

/// Either (0,0,0), which means whole mip levels, or powers of two, as the specification allows.
fn parse_extent(text: &str) -> Result<vk::Extent3D, Refusal> {
    let sides: Vec<u32> = text
        .split('x')
        .filter_map(|side| side.parse().ok())
        .collect();
    match sides[..] {
        [0, 0, 0] => Ok(vk::Extent3D::default()),
        [width, height, depth] if sides.iter().all(|side| side.is_power_of_two()) => {
            Ok(vk::Extent3D {
                width,
                height,
                depth,
            })
        }
        _ => Err(Refusal::of(
            text,
            "`0x0x0`, or three powers of two such as `16x16x8`",
        )),
    }
}

#[cfg(test)]
mod tests;
