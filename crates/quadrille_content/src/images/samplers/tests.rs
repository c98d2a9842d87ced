use super::*;

#[test]
fn samplers_of_any_anisotropy_are_few() {
    let descs = (0..=u16::MAX).map(|anisotropy_clamp| {
        to_desc(&ImageSamplerDescriptor {
            anisotropy_clamp,
            ..ImageSamplerDescriptor::linear()
        })
    });
    let mut known: Vec<SamplerDesc> = Vec::new();
    for desc in descs {
        if !known.contains(&desc) {
            known.push(desc);
        }
    }
    assert_eq!(known.len(), 16);
}

#[test]
fn each_field_of_a_description_counts() {
    let desc = to_desc(&ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::MirrorRepeat,
        address_mode_v: ImageAddressMode::ClampToBorder,
        address_mode_w: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Nearest,
        mipmap_filter: ImageFilterMode::Linear,
        lod_min_clamp: 1.5,
        lod_max_clamp: 3.0,
        border_color: Some(ImageSamplerBorderColor::OpaqueWhite),
        anisotropy_clamp: 4,
        ..ImageSamplerDescriptor::default()
    });
    let addresses = [
        vk::SamplerAddressMode::MIRRORED_REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
        vk::SamplerAddressMode::REPEAT,
    ];
    assert_eq!(desc.addresses, Some(addresses));
    let filters = [vk::Filter::LINEAR, vk::Filter::NEAREST];
    assert_eq!([desc.magnify, desc.minify], filters);
    assert_eq!(desc.mipmap, vk::SamplerMipmapMode::LINEAR);
    assert_eq!(desc.levels, [1.5, 3.0]);
    assert_eq!(desc.border, vk::BorderColor::FLOAT_OPAQUE_WHITE);
    assert_eq!(desc.anisotropy.to_bits(), 4.0_f32.to_bits());
}

#[test]
fn odd_levels_of_detail_are_a_range() {
    let levels = |[lod_min_clamp, lod_max_clamp]: [f32; 2]| {
        to_desc(&ImageSamplerDescriptor {
            lod_min_clamp,
            lod_max_clamp,
            ..ImageSamplerDescriptor::default()
        })
        .levels
    };
    let none = vk::LOD_CLAMP_NONE;
    assert_eq!(levels([0.0, 32.0]), [0.0, none]);
    assert_eq!(levels([f32::NAN, f32::INFINITY]), [0.0, none]);
    assert_eq!(levels([4.0, 2.0]), [2.0, 2.0]);
    assert_eq!(levels([-1.0, f32::NAN]), [0.0, none]);
}
