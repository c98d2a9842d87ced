use ash::vk;

use super::{choose_alpha, choose_extent, choose_format, choose_image_count};
use crate::error::SurfaceError;
use crate::present::swapchain::SurfaceFormat;

fn extent(width: u32, height: u32) -> vk::Extent2D {
    vk::Extent2D { width, height }
}

fn capabilities() -> vk::SurfaceCapabilitiesKHR {
    vk::SurfaceCapabilitiesKHR {
        min_image_count: 2,
        current_extent: extent(u32::MAX, u32::MAX),
        min_image_extent: extent(1, 1),
        max_image_extent: extent(4096, 4096),
        ..Default::default()
    }
}

/// Largest extent of the device's attachments.
const MOST: [u32; 2] = [8192, 8192];

#[test]
fn extents() {
    let free = capabilities();
    assert_eq!(choose_extent(&free, [640, 480], MOST), [640, 480]);
    assert_eq!(choose_extent(&free, [0, 9000], MOST), [1, 4096]);
    assert_eq!(choose_extent(&free, [640, 480], [600, 9000]), [600, 480]);
    let fixed = vk::SurfaceCapabilitiesKHR {
        current_extent: extent(7, 9),
        ..free
    };
    assert_eq!(choose_extent(&fixed, [640, 480], MOST), [7, 9]);
    let minimised = vk::SurfaceCapabilitiesKHR {
        current_extent: extent(0, 0),
        ..free
    };
    assert_eq!(choose_extent(&minimised, [640, 480], MOST), [0, 0]);
    let absurd = vk::SurfaceCapabilitiesKHR {
        max_image_extent: extent(0, 1),
        ..free
    };
    assert_eq!(choose_extent(&absurd, [640, 480], MOST), [0, 1]);
}

#[test]
fn image_counts() {
    let free = capabilities();
    assert_eq!(choose_image_count(&free, 0), 3);
    assert_eq!(choose_image_count(&free, 1), 2);
    assert_eq!(choose_image_count(&free, 8), 8);
    let limited = vk::SurfaceCapabilitiesKHR {
        max_image_count: 2,
        ..free
    };
    assert_eq!(choose_image_count(&limited, 0), 2);
    assert_eq!(choose_image_count(&limited, 8), 2);
}

#[test]
fn formats() {
    let known = |format, color_space| vk::SurfaceFormatKHR {
        format,
        color_space,
    };
    let standard = vk::ColorSpaceKHR::SRGB_NONLINEAR;
    let wide = vk::ColorSpaceKHR::EXTENDED_SRGB_LINEAR_EXT;
    let available = [
        known(vk::Format::R8G8B8A8_UNORM, standard),
        known(vk::Format::B8G8R8A8_SRGB, wide),
        known(vk::Format::B8G8R8A8_SRGB, standard),
    ];
    let wanted =
        [vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_UNORM].map(SurfaceFormat::standard);
    let chosen = choose_format(&available, &wanted).unwrap();
    assert_eq!(
        (chosen.format, chosen.color_space),
        (vk::Format::B8G8R8A8_SRGB, standard)
    );
    let chosen = choose_format(&available[..2], &wanted).unwrap();
    assert_eq!(
        (chosen.format, chosen.color_space),
        (vk::Format::R8G8B8A8_UNORM, standard)
    );
    let chosen = choose_format(&available[1..2], &wanted).unwrap();
    assert_eq!(chosen.color_space, wide);
    let error = choose_format(&[], &wanted).unwrap_err();
    assert!(matches!(error, SurfaceError::NoFormat { .. }));
    assert!(error.to_string().contains("B8G8R8A8_SRGB"), "{error}");
}

#[test]
fn composite_alpha_is_the_wanted_one_or_opaque() {
    use vk::CompositeAlphaFlagsKHR as Alpha;
    let chosen = |supported, wanted| choose_alpha(supported, wanted).mode;
    let all = Alpha::from_raw(15);
    for wanted in [
        Alpha::OPAQUE,
        Alpha::PRE_MULTIPLIED,
        Alpha::POST_MULTIPLIED,
        Alpha::INHERIT,
    ] {
        assert_eq!(chosen(all, wanted), wanted);
    }
    assert_eq!(chosen(all, Alpha::empty()), Alpha::OPAQUE);
    assert_eq!(
        chosen(Alpha::OPAQUE | Alpha::INHERIT, Alpha::PRE_MULTIPLIED),
        Alpha::OPAQUE
    );
    let without = Alpha::INHERIT | Alpha::PRE_MULTIPLIED;
    assert_eq!(chosen(without, Alpha::empty()), Alpha::INHERIT);
    assert_eq!(chosen(without, Alpha::POST_MULTIPLIED), Alpha::INHERIT);
    assert_eq!(
        chosen(Alpha::POST_MULTIPLIED, Alpha::empty()),
        Alpha::POST_MULTIPLIED
    );
    assert_eq!(chosen(Alpha::empty(), Alpha::PRE_MULTIPLIED), Alpha::OPAQUE);
}

#[test]
fn high_dynamic_range_falls_back_to_standard() {
    let known = |format: SurfaceFormat| vk::SurfaceFormatKHR {
        format: format.format,
        color_space: format.color_space,
    };
    let high = SurfaceFormat::HIGH_DYNAMIC_RANGE;
    let wanted = [&high[..], &SurfaceFormat::STANDARD].concat();
    let standard = SurfaceFormat::standard(vk::Format::R8G8B8A8_SRGB);
    let chosen = choose_format(&[known(standard)], &wanted).unwrap();
    assert_eq!(chosen, standard);
    assert!(!chosen.is_high_dynamic_range());
    let chosen = choose_format(&[known(standard), known(high[1])], &wanted).unwrap();
    assert_eq!(chosen, high[1]);
    assert!(chosen.is_high_dynamic_range());
}
