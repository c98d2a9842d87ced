use bevy_asset::Handle;
use bevy_color::Color;
use bevy_gltf::GltfMaterial;

use crate::components::material::{AlphaMode, StandardMaterial};

fn converted(set: impl FnOnce(&mut GltfMaterial)) -> StandardMaterial {
    let mut material = GltfMaterial {
        base_color: Color::linear_rgb(1.0, 0.5, 0.0),
        metallic: 0.0,
        ..GltfMaterial::default()
    };
    set(&mut material);
    StandardMaterial::from(&material)
}

#[test]
fn transmission_becomes_alpha() {
    let glass = converted(|it| it.specular_transmission = 0.75);
    assert_eq!(glass.alpha_mode, AlphaMode::Premultiplied);
    assert_eq!(glass.base_color, Color::linear_rgba(0.25, 0.125, 0.0, 0.25));
    let plain = converted(|_| ());
    assert_eq!(plain.alpha_mode, AlphaMode::Opaque);
    assert_eq!(plain.base_color, Color::linear_rgb(1.0, 0.5, 0.0));
    let masked = converted(|it| {
        it.specular_transmission = 1.0;
        it.specular_transmission_texture = Some(Handle::default());
    });
    assert_eq!(masked.alpha_mode, AlphaMode::Opaque);
    let with_image = converted(|it| {
        (it.metallic, it.specular_transmission) = (1.0, 0.75);
        it.metallic_roughness_texture = Some(Handle::default());
    });
    assert_eq!(with_image.alpha_mode, AlphaMode::Premultiplied);
    let metal = converted(|it| (it.metallic, it.specular_transmission) = (1.0, 1.0));
    assert_eq!(metal.alpha_mode, AlphaMode::Opaque);
}
