//! Proof of completion of presents. Pure.
//!
//! A present waits for a binary semaphore, and Vulkan does not report the end of that wait. The
//! semaphore may be reused once one of these is known:
//!
//! - the present's fence is signalled (`VK_EXT_swapchain_maintenance1`); or
//! - the same image was acquired again, and a submission that waited for that acquisition is
//!   complete: the presentation engine released the image, so the earlier present is complete.
//!
//! Each present is proven separately, so an image that is never acquired again, or a fence that a driver never signals,
//! does not delay the others.
//!
//! A replaced swapchain is no longer displayed once the image of the new swapchain's first present
//! was acquired again. This holds even if a fence has proven that present before, so old swapchains whose own
//! fences are never signalled can be destroyed.

/// A present whose completion is not proven.
#[derive(Debug)]
struct Present<S, P> {
    image: u32,
    semaphore: S,
    fence: Option<P>,
    reacquired: Option<P>,
}

/// A present whose completion is proven.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done<S, P> {
    /// The semaphore, free to be signalled again.
    pub semaphore: S,
    /// Its fence, if it had one.
    pub fence: Option<P>,
}

/// The first present of a swapchain, complete or not.
#[derive(Debug)]
struct First<P> {
    image: u32,
    reacquired: Option<P>,
}

/// The presents of a swapchain. `S` is a semaphore, `P` a proof: a fence, or a timeline point.
#[derive(Debug)]
pub(crate) struct History<S, P> {
    presents: Vec<Present<S, P>>,
    first: Option<First<P>>,
}

impl<S: Copy, P: Copy> History<S, P> {
    /// Creates the history of a new swapchain.
    pub(crate) fn new() -> Self {
        Self {
            presents: Vec::new(),
            first: None,
        }
    }

    /// Whether any image was presented.
    pub(crate) fn has_presented(&self) -> bool {
        self.first.is_some()
    }

    /// Number of presents whose completion is not proven.
    pub(crate) fn len(&self) -> usize {
        self.presents.len()
    }

    /// Records a present, with its fence if it has one.
    pub(crate) fn presented(&mut self, image: u32, semaphore: S, fence: Option<P>) {
        self.first.get_or_insert(First {
            image,
            reacquired: None,
        });
        self.presents.push(Present {
            image,
            semaphore,
            fence,
            reacquired: None,
        });
    }

    /// Records that a submission waits for an acquisition of an image: its completion (`proof`) proves the image's
    /// earlier present complete.
    pub(crate) fn reacquired(&mut self, image: u32, proof: P) {
        let mut presents = self.presents.iter_mut().rev();
        if let Some(present) = presents.find(|present| present.image == image)
            && present.reacquired.is_none()
        {
            present.reacquired = Some(proof);
        }
        if let Some(first) = &mut self.first
            && first.image == image
        {
            first.reacquired.get_or_insert(proof);
        }
    }

    /// Whether older swapchains are no longer displayed: the image of the first present was acquired again.
    pub(crate) fn has_replaced_older(&self, is_done: impl Fn(&P) -> bool) -> bool {
        let first = self.first.as_ref();
        first.is_some_and(|first| first.reacquired.as_ref().is_some_and(is_done))
    }

    /// Removes the presents whose completion is proven, oldest first.
    pub(crate) fn recycle(
        &mut self,
        is_done: impl Fn(&P) -> bool,
        mut take: impl FnMut(Done<S, P>),
    ) {
        let proves = |proof: &Option<P>| proof.as_ref().is_some_and(&is_done);
        self.presents.retain(|present| {
            let done = proves(&present.reacquired) || proves(&present.fence);
            if done {
                take(Done {
                    semaphore: present.semaphore,
                    fence: present.fence,
                });
            }
            !done
        });
    }

    /// All presents, proven or not: their semaphores and fences.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (S, Option<P>)> {
        self.presents
            .drain(..)
            .map(|present| (present.semaphore, present.fence))
    }

    /// The fences of the presents whose completion is not proven.
    pub(crate) fn fences(&self) -> impl Iterator<Item = P> {
        self.presents.iter().filter_map(|present| present.fence)
    }
}

#[cfg(test)]
mod tests;
