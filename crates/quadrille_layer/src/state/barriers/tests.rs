use ash::vk::{self, ImageLayout as Layout};

use super::{Mapping, Role, rewrite_buffers, rewrite_images};

const IGNORED: u32 = vk::QUEUE_FAMILY_IGNORED;
const EXTERNAL: u32 = vk::QUEUE_FAMILY_EXTERNAL;
const GENERAL: Layout = Layout::GENERAL;
const SAMPLED: Layout = Layout::SHADER_READ_ONLY_OPTIMAL;

/// Mapping for a command buffer of virtual family 1, on real family 3.
const MAPPING: Mapping = Mapping { own: 1, real: 3 };

fn image(src: u32, dst: u32, old: Layout, new: Layout) -> (u32, u32, Layout, Layout) {
    let barrier = vk::ImageMemoryBarrier2::default()
        .src_queue_family_index(src)
        .dst_queue_family_index(dst)
        .old_layout(old)
        .new_layout(new);
    let (rewritten, _) = rewrite_images(&[barrier], MAPPING);
    let out = rewritten[0];
    (
        out.src_queue_family_index,
        out.dst_queue_family_index,
        out.old_layout,
        out.new_layout,
    )
}

#[test]
fn the_release_makes_the_transition_and_the_acquire_keeps_it() {
    let plain = (IGNORED, IGNORED, GENERAL, SAMPLED);
    assert_eq!(
        image(IGNORED, IGNORED, GENERAL, SAMPLED),
        plain,
        "no transfer"
    );
    assert_eq!(
        image(1, 1, GENERAL, SAMPLED),
        plain,
        "equal families are no transfer"
    );
    assert_eq!(
        image(1, 0, GENERAL, SAMPLED),
        plain,
        "a release transitions"
    );
    let kept = (IGNORED, IGNORED, SAMPLED, SAMPLED);
    assert_eq!(
        image(0, 1, GENERAL, SAMPLED),
        kept,
        "an acquire keeps the new layout"
    );
    let discarded = (IGNORED, IGNORED, Layout::UNDEFINED, SAMPLED);
    assert_eq!(
        image(0, 1, Layout::UNDEFINED, SAMPLED),
        discarded,
        "contents are thrown away"
    );
}

#[test]
fn transfers_to_the_outside_stay_transfers_of_the_real_family() {
    assert_eq!(
        image(EXTERNAL, 1, GENERAL, SAMPLED),
        (EXTERNAL, 3, GENERAL, SAMPLED),
        "in"
    );
    assert_eq!(
        image(1, EXTERNAL, GENERAL, SAMPLED),
        (3, EXTERNAL, GENERAL, SAMPLED),
        "out"
    );
}

#[test]
fn transfers_are_counted() {
    let buffer = |src, dst| {
        vk::BufferMemoryBarrier::default()
            .src_queue_family_index(src)
            .dst_queue_family_index(dst)
    };
    let (rewritten, transfers) = rewrite_buffers(
        &[buffer(1, 0), buffer(0, 1), buffer(IGNORED, IGNORED)],
        MAPPING,
    );
    assert_eq!(transfers, 2, "one release, one acquire");
    assert!(
        rewritten
            .iter()
            .all(|one| one.src_queue_family_index == IGNORED),
        "families are gone"
    );
    assert_eq!(
        MAPPING.families(1, 0).2,
        Role::Release,
        "from the own family"
    );
    assert_eq!(MAPPING.families(0, 1).2, Role::Acquire, "to the own family");
}
