//! When a present is proven done. Pure.
//!
//! A present waits for a binary semaphore, and Vulkan does not say when it has waited. The
//! semaphore is free again once one of these is known:
//!
//! - the present's fence is signalled (`VK_EXT_swapchain_maintenance1`); or
//! - the same image was acquired again, and a submission that waited for that acquisition is
//!   complete: the presentation engine gave the image back, so it is done with the present before.
//!
//! Presents are proven in the order in which they were made, except that an image which is never
//! acquired again must not hold up the others: when the history grows too long, its head goes to
//! the tail.

use std::collections::VecDeque;

/// A present that is not proven done.
#[derive(Debug)]
struct Present<S, P> {
    image: u32,
    /// It is the first present of its swapchain.
    first: bool,
    semaphore: S,
    proof: Option<P>,
}

/// A present that is proven done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done<S, P> {
    /// The semaphore, free to be signalled again.
    pub semaphore: S,
    /// What proved it.
    pub proof: P,
    /// It was the first present of its swapchain: older swapchains are not shown any more.
    pub first: bool,
}

/// The presents of a swapchain. `S` is a semaphore, `P` a proof: a fence, or a timeline point.
#[derive(Debug)]
pub(crate) struct History<S, P> {
    presents: VecDeque<Present<S, P>>,
    /// Images of the swapchain.
    images: usize,
    presented: bool,
}

impl<S, P> History<S, P> {
    /// The history of a swapchain that has not presented yet.
    pub(crate) fn new(images: usize) -> Self {
        Self {
            presents: VecDeque::new(),
            images,
            presented: false,
        }
    }

    /// Whether there was a present at all.
    pub(crate) fn has_presented(&self) -> bool {
        self.presented
    }

    /// Presents not proven done.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.presents.len()
    }

    /// Notes a present, with its fence if it has one.
    pub(crate) fn presented(&mut self, image: u32, semaphore: S, fence: Option<P>) {
        let first = !std::mem::replace(&mut self.presented, true);
        self.presents.push_back(Present {
            image,
            first,
            semaphore,
            proof: fence,
        });
    }

    /// Notes that a submission has waited for an acquisition of an image: once it is complete,
    /// the image's present before that is proven done.
    pub(crate) fn reacquired(&mut self, image: u32, proof: P) {
        let mut unproven = self
            .presents
            .iter_mut()
            .rev()
            .filter(|present| present.image == image);
        if let Some(present) = unproven.next()
            && present.proof.is_none()
        {
            present.proof = Some(proof);
        }
    }

    /// Takes out the presents that are proven done, in order.
    pub(crate) fn recycle(&mut self, is_done: impl Fn(&P) -> bool) -> Vec<Done<S, P>> {
        if self.presents.len() > 2 * self.images
            && let Some(head) = self.presents.pop_front_if(|head| head.proof.is_none())
        {
            self.presents.push_back(head);
        }
        let mut done = Vec::new();
        let proven = |present: &mut Present<S, P>| present.proof.as_ref().is_some_and(&is_done);
        while let Some(Present {
            semaphore,
            proof: Some(proof),
            first,
            ..
        }) = self.presents.pop_front_if(proven)
        {
            done.push(Done {
                semaphore,
                proof,
                first,
            });
        }
        done
    }

    /// All presents, proven or not: their semaphores, and the proofs that were given.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (S, Option<P>)> {
        self.presents
            .drain(..)
            .map(|present| (present.semaphore, present.proof))
    }

    /// The proofs that were given.
    pub(crate) fn proofs(&self) -> impl Iterator<Item = &P> {
        self.presents
            .iter()
            .filter_map(|present| present.proof.as_ref())
    }
}

#[cfg(test)]
mod tests;
