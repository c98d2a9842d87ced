use std::collections::HashSet;

use super::History;

/// Model of a presentation engine that returns images in any order. Runs frames with the images of `order` on a device
/// that completes `lag` frames later. Checks that no semaphore is reused while the present that waits for it may be
/// pending.
fn check(order: &[u32], images: usize, lag: u64) -> usize {
    let mut history: History<u32, u64> = History::new();
    let mut made = 0;
    let mut free = Vec::new();
    let mut pending_of_image = vec![None; images];
    let mut pending = HashSet::new();
    let mut longest = 0;
    for (frame, &image) in (1u64..).zip(order) {
        // The completed frame waited for its acquisition, so the previous present of the same image is complete.
        let completed = frame.saturating_sub(lag);
        let is_done = |&proof: &u64| proof <= completed;
        history.recycle(is_done, |done| {
            assert!(
                !pending.contains(&done.semaphore),
                "frame {frame}: in use, {order:?}"
            );
            free.push(done.semaphore);
        });
        // Acquisition: the engine has returned the image, so it has waited for the image's last present.
        if let Some(semaphore) = pending_of_image[image as usize].take() {
            pending.remove(&semaphore);
        }
        history.reacquired(image, frame);
        let semaphore = free.pop().unwrap_or_else(|| {
            made += 1;
            made
        });
        assert!(
            pending.insert(semaphore),
            "frame {frame}: signalled twice, {order:?}"
        );
        pending_of_image[image as usize] = Some(semaphore);
        history.presented(image, semaphore, None);
        longest = longest.max(history.len());
    }
    longest
}

#[test]
fn round_robin() {
    let order: Vec<u32> = (0..300).map(|frame| frame % 3).collect();
    assert!(check(&order, 3, 2) <= 3 + 2);
}

#[test]
fn one_index_every_frame() {
    // As lavapipe does without a window.
    assert!(check(&[0; 500], 4, 2) <= 4);
}

#[test]
fn an_index_comes_back_out_of_order() {
    let order: Vec<u32> = (0..300).map(|frame| [0, 1, 0, 2][frame % 4]).collect();
    assert!(check(&order, 3, 2) <= 3 + 2);
}

#[test]
fn an_index_that_never_comes_back_blocks_nobody() {
    let mut order = vec![2];
    order.extend((0..300).map(|frame| frame % 2));
    assert!(check(&order, 3, 2) <= 3 + 2);
}

#[test]
fn random_orders() {
    for seed in 1..200u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let images = 1 + (next() % 6) as usize;
        let lag = next() % 4;
        let order: Vec<u32> = (0..200).map(|_| (next() % images as u64) as u32).collect();
        let longest = check(&order, images, lag);
        // One per image, and those whose proof has not completed.
        assert!(
            longest <= images + lag.max(1) as usize,
            "seed {seed}: {longest}"
        );
    }
}

/// Returns the items recycled by these proofs: semaphores and fences.
fn recycled<P: Copy>(
    history: &mut History<char, P>,
    is_done: impl Fn(&P) -> bool,
) -> Vec<(char, Option<P>)> {
    let mut all = Vec::new();
    history.recycle(is_done, |done| all.push((done.semaphore, done.fence)));
    all
}

#[test]
fn fences_prove_without_an_acquisition_and_in_any_order() {
    let mut history: History<char, u64> = History::new();
    history.presented(0, 'a', Some(1));
    history.presented(1, 'b', Some(2));
    let done = recycled(&mut history, |&fence| fence == 2);
    assert_eq!(done, [('b', Some(2))]);
    let done = recycled(&mut history, |_| true);
    assert_eq!(done, [('a', Some(1))]);
    // A fence does not prove anything about the previous swapchain.
    assert!(!history.has_replaced_older(|_| true));
}

#[test]
fn reacquired_image_proves_a_present_with_a_lost_fence() {
    let mut history: History<char, &str> = History::new();
    history.presented(0, 'a', Some("fence"));
    history.reacquired(0, "point");
    history.presented(0, 'b', Some("another fence"));
    let done = recycled(&mut history, |&proof| proof == "point");
    assert_eq!(done, [('a', Some("fence"))]);
    assert!(history.has_replaced_older(|&proof| proof == "point"));
    assert_eq!(history.fences().collect::<Vec<_>>(), ["another fence"]);
}

#[test]
fn the_first_present_shows_that_older_swapchains_are_gone() {
    let mut history: History<char, u64> = History::new();
    history.presented(0, 'a', None);
    history.presented(1, 'b', None);
    history.reacquired(1, 1);
    let done = recycled(&mut history, |&proof| proof == 1);
    assert_eq!(done, [('b', None)]);
    assert!(!history.has_replaced_older(|&proof| proof == 1));
    history.reacquired(0, 2);
    assert!(!history.has_replaced_older(|&proof| proof == 1), "not done");
    let done = recycled(&mut history, |&proof| proof == 2);
    assert_eq!(done, [('a', None)]);
    assert!(history.has_replaced_older(|&proof| proof == 2));
}

#[test]
fn the_first_present_shows_it_too_if_its_fence_was_first() {
    let mut history: History<char, &str> = History::new();
    history.presented(0, 'a', Some("fence"));
    let done = recycled(&mut history, |&proof| proof == "fence");
    assert_eq!(done, [('a', Some("fence"))]);
    history.reacquired(0, "point");
    history.presented(0, 'b', None);
    assert!(!history.has_replaced_older(|&proof| proof == "fence"));
    history.reacquired(0, "later");
    assert!(history.has_replaced_older(|&proof| proof == "point"));
}

#[test]
fn a_swapchain_that_never_presented_says_so() {
    let mut history: History<char, u64> = History::new();
    assert!(!history.has_presented());
    history.presented(0, 'a', None);
    assert!(history.has_presented());
    assert_eq!(history.drain().count(), 1);
    assert!(history.has_presented());
}
