//! Forward decals: covered pixels, texture coordinates and alpha by distance.

use bevy_ecs::prelude::*;
use bevy_image::{ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use quadrille_3d::prelude::*;
use quadrille_3d::{ForwardDecal, ForwardDecalMaterial, ForwardDecalMaterialExt};

use crate::common::{EXACT, Rig};
use crate::environment::image;

const SIDE: u32 = 48;
/// Texels of the decal along each side.
const TEXELS: u32 = 4;
const FADE: f32 = 2.0;

/// The decal: rotated, and not uniformly scaled.
fn place() -> Transform {
    Transform::from_xyz(0.1, 0.0, 0.2)
        .with_rotation(Quat::from_rotation_y(0.5))
        .with_scale(Vec3::new(2.0, 3.0, 1.5))
}

/// Value of a texel.
fn texel([column, row]: [u32; 2]) -> f32 {
    (1 + column + TEXELS * row) as f32 / 16.0
}

/// Pixels of a decal over a black floor at this height.
fn rows(camera: impl Bundle, height: f32, alpha_mode: AlphaMode) -> Vec<Vec<[f32; 4]>> {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let mut pattern = image([TEXELS, TEXELS, 1], |[x, y, _]| [texel([x, y]); 3]);
    pattern.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        mag_filter: ImageFilterMode::Nearest,
        min_filter: ImageFilterMode::Nearest,
        ..ImageSamplerDescriptor::default()
    });
    let pattern = world.resource_mut::<Assets<Image>>().add(pattern);
    let unlit = |color: Color| StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(color)
    };
    let material = ForwardDecalMaterial {
        base: StandardMaterial {
            base_color_texture: Some(pattern),
            alpha_mode,
            ..unlit(Color::WHITE)
        },
        extension: ForwardDecalMaterialExt {
            depth_fade_factor: FADE,
        },
    };
    let material = world
        .resource_mut::<Assets<ForwardDecalMaterial<StandardMaterial>>>()
        .add(material);
    world.spawn((ForwardDecal, MeshMaterial3d(material), place()));
    let floor = world
        .resource_mut::<Assets<Mesh>>()
        .add(Plane3d::new(Vec3::Y, Vec2::splat(50.0)));
    let black = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(unlit(Color::BLACK));
    world.spawn((
        Mesh3d(floor),
        MeshMaterial3d(black),
        Transform::from_xyz(0.0, height, 0.0),
    ));
    world.spawn((
        Camera3d::default(),
        camera,
        Tonemapping::None,
        RenderTarget::TextureView(EXACT),
    ));
    rig.exact_rows()
}

/// Texel of the decal at a point of the world: `Some(None)` beside it, `None` closer to an edge than this part of a texel.
fn texel_at(point: Vec3, margin: f32) -> Option<Option<[u32; 2]>> {
    let local = place().compute_affine().inverse().transform_point3(point);
    let at = Vec2::new(local.x + 0.5, local.z + 0.5);
    let texels = at * TEXELS as f32;
    if (texels - texels.round()).abs().min_element() < margin {
        return None;
    }
    let is_inside = at.cmpge(Vec2::ZERO).all() && at.cmple(Vec2::ONE).all();
    Some(is_inside.then(|| texels.as_uvec2().to_array()))
}

/// A camera that looks down on 4 by 4 meters.
fn above() -> impl Bundle {
    let projection = OrthographicProjection {
        scaling_mode: ScalingMode::Fixed {
            width: 4.0,
            height: 4.0,
        },
        ..OrthographicProjection::default_3d()
    };
    let at = Transform::from_xyz(0.0, 5.0, 0.0).looking_to(Vec3::NEG_Y, Vec3::NEG_Z);
    (Projection::from(projection), at, DepthPrepass)
}

#[test]
#[ignore = "needs a device"]
fn decal_covers_its_projection_and_fades_by_distance() {
    check_projection(Msaa::Off, 0.05, 100);
}

#[test]
#[ignore = "needs a device"]
fn decal_covers_its_projection_with_several_samples() {
    // The samples of a pixel may lie on both sides of an edge, so pixels near one are left out.
    check_projection(Msaa::Sample4, 0.3, 50);
}

/// Compares the pixels that are at least `margin` texels away from an edge, which must be more than `least` inside.
fn check_projection(msaa: Msaa, margin: f32, least: u32) {
    for height in [0.0, 0.5, -0.5, -1.5, -3.0] {
        let rows = rows((above(), msaa), height, AlphaMode::Blend);
        let alpha = (1.0 - height.abs() / FADE).max(0.0);
        let mut covered = 0;
        for (y, row) in (0..).zip(&rows) {
            for (x, found) in (0..).zip(row) {
                let meters = |pixel: u32| (pixel as f32 + 0.5) / SIDE as f32 * 4.0 - 2.0;
                let Some(texel_there) = texel_at(Vec3::new(meters(x), height, meters(y)), margin)
                else {
                    continue;
                };
                covered += u32::from(texel_there.is_some());
                let expected = texel_there.map_or(0.0, |there| alpha * texel(there));
                assert!(
                    (found[0] - expected).abs() < 0.002,
                    "{msaa:?} {height} {x} {y}: {found:?}, not {expected}"
                );
            }
        }
        assert!(covered > least, "{covered}");
    }
}

#[test]
#[ignore = "needs a device"]
fn decal_is_projected_along_its_normal_under_oblique_views() {
    let eye = Transform::from_xyz(1.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
    for height in [0.0, -0.3, 0.3] {
        let camera = (
            Projection::from(PerspectiveProjection {
                fov: 0.9,
                ..PerspectiveProjection::default()
            }),
            eye,
            (DepthPrepass, Msaa::Off),
        );
        let rows = rows(camera, height, AlphaMode::Blend);
        let alpha = 1.0 - height.abs() / FADE;
        let mut covered = 0;
        for (y, row) in (0..).zip(&rows) {
            for (x, found) in (0..).zip(row) {
                let ndc = |pixel: u32| (pixel as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
                let slope = 0.45_f32.tan();
                let ray = eye.rotation * Vec3::new(ndc(x) * slope, -ndc(y) * slope, -1.0);
                let at_height =
                    |height: f32| eye.translation + ray * ((height - eye.translation.y) / ray.y);
                // Pixels that both the quad and its projection cover.
                let (Some(surface), Some(quad)) = (
                    texel_at(at_height(height), 0.05),
                    texel_at(at_height(0.0), 0.05),
                ) else {
                    continue;
                };
                let there = surface.filter(|_| quad.is_some());
                covered += u32::from(there.is_some());
                let expected = there.map_or(0.0, |there| alpha * texel(there));
                assert!(
                    (found[0] - expected).abs() < 0.002,
                    "{height} {x} {y}: {found:?}, not {expected}"
                );
            }
        }
        assert!(covered > 100, "{covered}");
    }
}

#[test]
#[ignore = "needs a device"]
fn opaque_decals_do_not_fade_and_added_ones_do() {
    let middle = texel([2, 1]);
    let value = |mode| {
        let rows = rows((above(), Msaa::Off), -1.0, mode);
        // The middle of a texel.
        let at = place().transform_point(Vec3::new(0.125, 0.0, -0.125));
        let pixel = |meters: f32| ((meters + 2.0) / 4.0 * SIDE as f32) as usize;
        rows[pixel(at.z)][pixel(at.x)][0]
    };
    assert!((value(AlphaMode::Opaque) - middle).abs() < 0.002);
    assert!((value(AlphaMode::Add) - 0.5 * middle).abs() < 0.002);
}

#[test]
#[ignore = "needs a device"]
fn decal_without_prepass_is_invisible() {
    let at = Transform::from_xyz(0.0, 3.0, 0.0).looking_to(Vec3::NEG_Y, Vec3::NEG_Z);
    let rows = rows(at, 0.0, AlphaMode::Blend);
    let mut values = rows.iter().flatten().map(|texel| texel[0]);
    assert!(values.all(|value| value == 0.0));
}
