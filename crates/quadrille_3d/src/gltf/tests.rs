use bevy_asset::Handle;
use bevy_gltf::GltfMaterial;

use crate::components::material::{AlphaMode, StandardMaterial};

#[test]
fn transmission_and_volume_are_converted() {
    let glass = StandardMaterial::from(&GltfMaterial {
        specular_transmission: 0.75,
        specular_transmission_texture: Some(Handle::default()),
        thickness: 2.0,
        thickness_texture: Some(Handle::default()),
        ior: 1.33,
        attenuation_distance: 3.0,
        ..GltfMaterial::default()
    });
    assert_eq!(glass.alpha_mode, AlphaMode::Opaque);
    let numbers = [glass.specular_transmission, glass.thickness, glass.ior];
    assert_eq!(numbers, [0.75, 2.0, 1.33]);
    assert_eq!(glass.attenuation_distance, 3.0);
    assert!(glass.specular_transmission_texture.is_some() && glass.thickness_texture.is_some());
}
