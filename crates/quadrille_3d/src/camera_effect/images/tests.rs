use super::*;

const PLAIN: EffectImage = EffectImage::new("plain", Format::R16G16B16A16_SFLOAT);

#[test]
fn size_is_a_part_of_the_view_rounded_up_or_fixed() {
    for (image, expected) in [
        (PLAIN, [33, 17]),
        (PLAIN.divided(2), [17, 9]),
        (PLAIN.divided(64), [1, 1]),
        (PLAIN.divided(0), [33, 17]),
        (PLAIN.height(34), [66, 34]),
        (PLAIN.height(0), [1, 1]),
        (PLAIN.fixed(256, 1), [256, 1]),
        (PLAIN.fixed(0, 4), [1, 4]),
        (PLAIN.before_upscaling(), [20, 9]),
        (PLAIN.before_upscaling().divided(2), [10, 5]),
    ] {
        assert_eq!(image.extent([[33, 17], [20, 9]]), expected, "{image:?}");
    }
}

#[test]
fn mip_chain_ends_with_one_texel() {
    let levels = |image: EffectImage| image.desc([[33, 17]; 2]).mip_levels;
    assert_eq!(levels(PLAIN), 1);
    assert_eq!(levels(PLAIN.mips(4)), 4);
    assert_eq!(levels(PLAIN.mips(u32::MAX)), 6);
    assert_eq!(levels(PLAIN.divided(2).mips(u32::MAX)), 5);
    assert_eq!(levels(PLAIN.mips(0)), 1);
}

#[test]
fn images_without_a_history_are_transient() {
    let desc = |image: EffectImage| image.usage(ImageUsage::STORAGE).desc([[8, 8]; 2]);
    assert!(desc(PLAIN).transient);
    assert!(!desc(PLAIN.history()).transient);
    assert!(
        desc(PLAIN)
            .usage
            .contains(ImageUsage::STORAGE | ImageUsage::SAMPLED)
    );
}
