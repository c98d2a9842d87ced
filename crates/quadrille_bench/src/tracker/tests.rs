use quadrille::vulkan::vk;

use super::{Call, Tracker};
use crate::workload::{SEED, Workload};

/// Barrier calls and barriers of a steady-state frame.
fn counts(passes: usize) -> [usize; 2] {
    let workload = Workload::new(passes, SEED);
    let buffers = vec![vk::Buffer::null(); workload.buffers];
    let images = vec![vk::Image::null(); workload.images];
    let mut tracker = Tracker::new(&workload);
    let mut counts = [0, 0];
    for _ in 0..2 {
        let _barrier = tracker.begin();
        counts = [1, 1];
        for &pass in &workload.passes {
            let mut call = Call::default();
            tracker.before(pass, &buffers, &images, &mut call);
            counts[0] += usize::from(!call.is_empty());
            counts[1] += call.buffers.len() + call.images.len();
        }
    }
    counts
}

#[test]
fn as_many_barriers_as_others_counted_for_such_a_tracker() {
    // 87 calls with 142 barriers, and the barrier at the start of the frame.
    assert_eq!(counts(100), [88, 143]);
}
