//! The present mode of a swapchain, and those that it can switch to without recreation, by the next present
//! (`VK_EXT_swapchain_maintenance1`). Pure.

use ash::vk::PresentModeKHR;

/// Modes that a program can choose; all others need shared presentable images.
const PLAIN: [PresentModeKHR; 4] = [
    PresentModeKHR::FIFO,
    PresentModeKHR::FIFO_RELAXED,
    PresentModeKHR::MAILBOX,
    PresentModeKHR::IMMEDIATE,
];

/// Available, compatible and current present modes of a swapchain.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    /// The mode of the next present.
    current: PresentModeKHR,
    /// The mode of the last present.
    applied: PresentModeKHR,
    /// The modes of the surface at the swapchain's creation.
    available: Vec<PresentModeKHR>,
    /// The modes that the swapchain was created for, including `current`; empty if it has only one.
    compatible: Vec<PresentModeKHR>,
}

impl Modes {
    /// Chooses the first requested mode that is available, else FIFO, which every surface supports, and queries the
    /// modes that are compatible with it.
    pub(super) fn choose<E>(
        available: &[PresentModeKHR],
        wanted: &[PresentModeKHR],
        compatible: impl FnOnce(PresentModeKHR) -> Result<Vec<PresentModeKHR>, E>,
    ) -> Result<Self, E> {
        let current = first_of(available, wanted);
        let mut compatible = compatible(current)?;
        compatible.retain(|mode| PLAIN.contains(mode) && available.contains(mode));
        if compatible.len() < 2 || !compatible.contains(&current) {
            compatible.clear();
        }
        Ok(Self {
            current,
            applied: current,
            available: available.to_vec(),
            compatible,
        })
    }

    /// The mode of the next present.
    pub(crate) fn current(&self) -> PresentModeKHR {
        self.current
    }

    /// The modes that it can switch to, including the current one; empty if it cannot.
    pub(super) fn compatible(&self) -> &[PresentModeKHR] {
        &self.compatible
    }

    /// Switches to the first available requested mode; `false` if that needs another swapchain.
    pub(super) fn change(&mut self, wanted: &[PresentModeKHR]) -> bool {
        let mode = first_of(&self.available, wanted);
        if mode != self.current && !self.compatible.contains(&mode) {
            return false;
        }
        self.current = mode;
        true
    }

    /// Returns the mode that the next present switches to, if any.
    pub(crate) fn news(&self) -> Option<PresentModeKHR> {
        (self.applied != self.current).then_some(self.current)
    }

    /// Marks the mode as applied, after a present with it was queued.
    pub(crate) fn mark_applied(&mut self) {
        self.applied = self.current;
    }
}

/// Returns the first requested mode that is available, else FIFO.
fn first_of(available: &[PresentModeKHR], wanted: &[PresentModeKHR]) -> PresentModeKHR {
    let known = wanted.iter().find(|mode| available.contains(mode));
    known.copied().unwrap_or(PresentModeKHR::FIFO)
}

#[cfg(test)]
mod tests;
