//! Fog volumes: density images, order, jitter and invalid numbers.

use bevy_asset::RenderAssetUsages;
use bevy_camera::visibility::Visibility;
use bevy_image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy_light::{FogVolume, VolumetricFog, VolumetricLight};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::Rig;
use crate::volumetric_fog::{
    BOX, SIDE, assert_near, dark, dense, extinction, part_in_box, rig, spawn_plane, sun,
};

/// An image of density with columns of 0 and 1, which repeats.
fn columns(address: ImageAddressMode) -> Image {
    let extent = Extent3d {
        width: 2,
        height: 1,
        depth_or_array_layers: 2,
    };
    let mut image = Image::new(
        extent,
        TextureDimension::D3,
        vec![0, 255, 0, 255],
        TextureFormat::R8Unorm,
        RenderAssetUsages::default(),
    );
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: address,
        address_mode_v: address,
        address_mode_w: address,
        mag_filter: ImageFilterMode::Nearest,
        min_filter: ImageFilterMode::Nearest,
        ..ImageSamplerDescriptor::default()
    });
    image
}

#[test]
#[ignore = "needs a device"]
fn density_texture_scales_density_with_its_sampler_and_offset() {
    use ImageAddressMode::{ClampToEdge, Repeat};
    // Whether there is fog left and right of the middle.
    for (address, offset, filled) in [
        (Repeat, 0.0, [false, true]),
        (Repeat, 0.5, [true, false]),
        (ClampToEdge, 0.5, [true, true]),
        (ClampToEdge, -0.5, [false, false]),
    ] {
        let mut rig = rig(dark());
        spawn_plane(&mut rig);
        let world = rig.app.world_mut();
        let image = world.resource_mut::<Assets<Image>>().add(columns(address));
        let volume = FogVolume {
            fog_color: Color::BLACK,
            density_texture: Some(image),
            density_texture_offset: Vec3::new(offset, 0.0, 0.0),
            ..dense()
        };
        world.spawn((volume.clone(), BOX));
        let row = rig.exact_row(SIDE / 2);
        for (x, is_filled) in [4, 11].into_iter().zip(filled) {
            let [start, end] = part_in_box(&BOX, (x, 8));
            let length = if is_filled { end - start } else { 0.0 };
            let expected = (-extinction(&volume) * length).exp();
            assert_near(
                row[x][0],
                expected,
                0.01,
                &format!("{address:?} {offset} {x}"),
            );
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn volumes_are_drawn_back_to_front() {
    let fog = VolumetricFog {
        ambient_intensity: 1.0,
        ..VolumetricFog::default()
    };
    let scale = Vec3::new(100.0, 100.0, 2.0);
    let far = FogVolume {
        fog_color: Color::linear_rgb(1.0, 0.0, 0.0),
        density_factor: 2.0,
        ..dense()
    };
    let near = FogVolume {
        fog_color: Color::linear_rgb(0.0, 1.0, 0.0),
        ..dense()
    };
    let (at_far, at_near) = (
        Transform::from_xyz(0.0, 0.0, -8.0).with_scale(scale),
        Transform::from_xyz(0.0, 0.0, -4.0).with_scale(scale),
    );
    let mut found = [false, true].map(|far_first| {
        let mut rig = rig(fog);
        let world = rig.app.world_mut();
        if far_first {
            world.spawn((far.clone(), at_far));
        }
        world.spawn((near.clone(), at_near));
        if !far_first {
            world.spawn((far.clone(), at_far));
        }
        rig.exactly(8, 8)
    });
    let [start, end] = part_in_box(&at_near, (8, 8));
    let transmittance = |volume: &FogVolume| (-extinction(volume) * (end - start)).exp();
    let light = |volume: &FogVolume| 0.4 * (1.0 - transmittance(volume).powi(2)) / 2.0;
    let [first, second] = &mut found;
    assert_eq!(first, second);
    assert_near(first[0], transmittance(&near) * light(&far), 0.01, "far");
    assert_near(first[1], light(&near), 0.01, "near");
}

#[test]
#[ignore = "needs a device"]
fn picture_without_volume_is_unchanged() {
    let picture = |fog: Option<VolumetricFog>,
                   volume: Option<(FogVolume, Visibility, Transform)>| {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        spawn_plane(&mut rig);
        let world = rig.app.world_mut();
        world.spawn((sun(), VolumetricLight));
        let mut camera = world.spawn(Camera3d::default());
        if let Some(fog) = fog {
            camera.insert(fog);
        }
        if let Some(volume) = volume {
            world.spawn(volume);
        }
        rig.picture().pixels
    };
    let without = picture(None, None);
    assert_eq!(picture(Some(dark()), None), without);
    let hidden = (dense(), Visibility::Hidden, BOX);
    assert_eq!(picture(Some(dark()), Some(hidden)), without);
    let shown = (dense(), Visibility::Inherited, BOX);
    assert_eq!(picture(None, Some(shown.clone())), without);
    assert_ne!(picture(Some(dark()), Some(shown)), without);
}

#[test]
#[ignore = "needs a device"]
fn jitter_moves_steps_by_pixel_and_frame() {
    let noise = |jitter: f32| {
        let fog = VolumetricFog {
            step_count: 4,
            jitter,
            ..dark()
        };
        let mut rig = rig(fog);
        let world = rig.app.world_mut();
        let down = Transform::from_xyz(0.0, 3.0, -4.0);
        let light = PointLight {
            intensity: 1e6,
            ..PointLight::default()
        };
        world.spawn((light, VolumetricLight, down));
        world.spawn((dense(), BOX));
        let first = rig.exact_rows();
        (first, rig.exact_rows())
    };
    let (first, later) = noise(0.0);
    assert_eq!(first, later);
    // Mirror images of each other.
    assert_near(
        first[8][4][0],
        f64::from(first[8][11][0]),
        0.005,
        "mirrored",
    );
    let (first, later) = noise(0.5);
    assert_ne!(first, later);
    assert_ne!(first[8][4], first[8][11]);
}

#[test]
#[ignore = "needs a device"]
fn volumes_with_numbers_that_are_not_finite_have_a_warning() {
    crate::common::log::collect();
    crate::common::log::take();
    let mut rig = rig(dark());
    spawn_plane(&mut rig);
    let volume = FogVolume {
        scattering: f32::NAN,
        ..dense()
    };
    rig.app.world_mut().spawn((volume, BOX));
    assert_eq!(rig.exactly(8, 8)[0], 1.0);
    let lines = crate::common::log::take();
    let is_warning = |line: &String| line.contains("the fog volume") && line.contains("NaN");
    assert!(lines.iter().any(is_warning), "{lines:#?}");
}
