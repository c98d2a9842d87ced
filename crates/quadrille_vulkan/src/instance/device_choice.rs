//! Choice of a physical device. Pure.

use ash::vk;

use crate::error::SetupError;

/// Properties of a physical device that determine the choice.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Name of the device.
    pub name: String,
    /// Discrete, integrated, virtual or software.
    pub kind: vk::PhysicalDeviceType,
    /// Requirements of Quadrille that the device lacks: features, extensions and versions.
    pub missing: Vec<String>,
    /// Requirements of the program that the device lacks.
    pub lacking: Vec<String>,
}

impl Candidate {
    fn is_unfit(&self) -> bool {
        !(self.missing.is_empty() && self.lacking.is_empty())
    }
}

/// Returns the index of the requested device, else of the most capable one that lacks nothing.
pub(crate) fn choose(candidates: &[Candidate], wanted: Option<&str>) -> Result<usize, SetupError> {
    let best = match wanted {
        Some(wanted) => find(candidates, wanted).ok_or_else(|| SetupError::DeviceNotFound {
            wanted: wanted.to_owned(),
            available: candidates
                .iter()
                .map(|candidate| candidate.name.clone())
                .collect(),
        })?,
        None => (0..candidates.len())
            .min_by_key(|&at| (candidates[at].is_unfit(), rank(candidates[at].kind)))
            .ok_or(SetupError::NoDevice)?,
    };
    let best_one = &candidates[best];
    let device = best_one.name.clone();
    if !best_one.missing.is_empty() {
        let missing = best_one.missing.clone();
        return Err(SetupError::Lacks { device, missing });
    }
    if !best_one.lacking.is_empty() {
        let lacking = best_one.lacking.clone();
        return Err(SetupError::LacksExtension { device, lacking });
    }
    Ok(best)
}

/// Finds a device by index, else by part of its name; the most capable one if several match.
fn find(candidates: &[Candidate], wanted: &str) -> Option<usize> {
    if let Ok(index) = wanted.parse::<usize>()
        && index < candidates.len()
    {
        return Some(index);
    }
    let wanted = wanted.to_lowercase();
    (0..candidates.len())
        .filter(|&at| candidates[at].name.to_lowercase().contains(&wanted))
        .min_by_key(|&at| (candidates[at].is_unfit(), rank(candidates[at].kind)))
}

/// Rank of a kind of device; lower is better. An unknown kind is preferred to a software device.
fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 4,
        _ => 3,
    }
}

#[cfg(test)]
mod tests;
