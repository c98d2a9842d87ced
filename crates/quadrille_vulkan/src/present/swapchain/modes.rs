//! The present mode of a swapchain, and those that it can change to without being recreated
//! (`VK_EXT_swapchain_maintenance1`): the next present says so. Pure.

use ash::vk::PresentModeKHR;

/// The modes that a program can choose; all others need images of another kind.
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
    /// The modes that the surface had when the swapchain was made.
    available: Vec<PresentModeKHR>,
    /// The modes that the swapchain was made for, `current` among them; none if it has but the one.
    compatible: Vec<PresentModeKHR>,
}

impl Modes {
    /// The first of the wanted modes that is available, else FIFO, which every surface has. The
    /// surface is queried for the modes that are compatible with it.
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

    /// The mode in use, from the next present on.
    pub(crate) fn current(&self) -> PresentModeKHR {
        self.current
    }

    /// The modes that it can change to, the one in use included; none if it cannot.
    pub(super) fn compatible(&self) -> &[PresentModeKHR] {
        &self.compatible
    }

    /// Changes to the first of the wanted modes; `false` if only another swapchain can.
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

    /// A present was queued, and said it.
    pub(crate) fn mark_applied(&mut self) {
        self.applied = self.current;
    }
}

/// The first wanted mode that is available, else FIFO.
fn first_of(available: &[PresentModeKHR], wanted: &[PresentModeKHR]) -> PresentModeKHR {
    let known = wanted.iter().find(|mode| available.contains(mode));
    known.copied().unwrap_or(PresentModeKHR::FIFO)
}

#[cfg(test)]
mod tests;
