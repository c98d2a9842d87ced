//! Pixel values of textures, texture coordinates, alpha modes, clearcoat and anisotropy.

use std::f64::consts::PI;

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::GlobalAmbientLight;
use bevy_mesh::{Mesh, UvChannel};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::analytic_lighting::{TOLERANCE, assert_near, energy, exposure};
use crate::common::{EXACT, Rig};

const LUX: f32 = 1000.0;

/// A mesh at the origin, drawn by a camera on the z axis.
struct Rendered {
    mesh: Mesh,
    material: StandardMaterial,
    turned: Quat,
}

/// A plane that faces +z, with tangents of +x, and equal texture coordinates at all vertices.
fn plane(first: Vec2, second: Vec2) -> Mesh {
    Rectangle::new(100.0, 100.0)
        .mesh()
        .build()
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vec![first.to_array(); 4])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_1, vec![second.to_array(); 4])
        .with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, vec![[1.0, 0.0, 0.0, 1.0]; 4])
}

fn rendered(material: StandardMaterial) -> Rendered {
    Rendered {
        mesh: plane(Vec2::splat(0.5), Vec2::splat(0.5)),
        material,
        turned: Quat::IDENTITY,
    }
}

/// Renders meshes under light from a direction, and returns the center pixel; images come from a function.
fn shown(
    things: impl FnOnce(&mut Assets<Image>) -> Vec<Rendered>,
    to_light: Vec3,
    samples: Msaa,
) -> [f32; 4] {
    let mut rig = Rig::with_dfg_lut(8, 8);
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let things = world.resource_scope(|_, mut images: Mut<Assets<Image>>| things(&mut images));
    for Rendered {
        mesh,
        material,
        turned,
    } in things
    {
        let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
        let materials = &mut world.resource_mut::<Assets<StandardMaterial>>();
        let material = materials.add(material);
        let place = Transform::from_rotation(turned);
        world.spawn((Mesh3d(mesh), MeshMaterial3d(material), place));
    }
    let mut projection = OrthographicProjection::default_3d();
    projection.scale = 0.001;
    world.spawn((
        Camera3d::default(),
        RenderTarget::TextureView(EXACT),
        Projection::from(projection),
        Tonemapping::None,
        samples,
        Transform::from_xyz(0.0, 0.0, 10.0),
    ));
    world.spawn((
        DirectionalLight {
            illuminance: LUX,
            ..DirectionalLight::default()
        },
        Transform::from_translation(to_light).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    world.insert_resource(ClearColor(Color::BLACK));
    rig.start();
    rig.exactly(4, 4)
}

fn image(
    images: &mut Assets<Image>,
    format: TextureFormat,
    width: u32,
    texels: &[f32],
) -> Handle<Image> {
    let size = Extent3d {
        width,
        height: 1,
        depth_or_array_layers: 1,
    };
    let bytes = texels
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let dimension = TextureDimension::D2;
    images.add(Image::new(
        size,
        dimension,
        bytes,
        format,
        RenderAssetUsages::default(),
    ))
}

const UP: Vec3 = Vec3::Z;

#[test]
#[ignore = "needs a device"]
fn normal_map_matches_mesh_normals() {
    let angle = 0.6f32;
    let (sine, cosine) = angle.sin_cos();
    let light = Vec3::new(0.3, -0.5, 1.0);
    let shiny = StandardMaterial {
        perceptual_roughness: 0.4,
        ..StandardMaterial::default()
    };
    let by_mesh = |turned| {
        let thing = Rendered {
            turned,
            ..rendered(shiny.clone())
        };
        shown(|_| vec![thing], light, Msaa::Off)
    };
    let by_image = |format, texels: &[f32], flip_normal_map_y| {
        let make = |images: &mut Assets<Image>| {
            vec![rendered(StandardMaterial {
                normal_map_texture: Some(image(images, format, 1, texels)),
                flip_normal_map_y,
                ..shiny.clone()
            })]
        };
        shown(make, light, Msaa::Off)
    };
    let half = |number: f32| number * 0.5 + 0.5;
    let to_x = by_mesh(Quat::from_rotation_y(angle))[0];
    let texel = [half(sine), 0.5, half(cosine), 1.0];
    let found = by_image(TextureFormat::Rgba32Float, &texel, false);
    assert_near(found[0], to_x.into(), TOLERANCE, "along the tangent");
    let found = by_image(TextureFormat::Rg32Float, &texel[..2], false);
    assert_near(found[0], to_x.into(), TOLERANCE, "by two channels");
    let to_y = by_mesh(Quat::from_rotation_x(-angle))[0];
    let found = by_image(
        TextureFormat::Rgba32Float,
        &[0.5, half(sine), half(cosine), 1.0],
        false,
    );
    assert_near(found[0], to_y.into(), TOLERANCE, "across the tangent");
    let found = by_image(
        TextureFormat::Rgba32Float,
        &[0.5, half(-sine), half(cosine), 1.0],
        true,
    );
    assert_near(found[0], to_y.into(), TOLERANCE, "across and flipped");
    let plain = by_mesh(Quat::IDENTITY)[0];
    assert!(
        (plain - to_x).abs() > 0.02 * to_x,
        "{plain} {to_x}: nothing is bent"
    );
}

#[test]
#[ignore = "needs a device"]
fn textures_use_selected_uv_channel() {
    let color = |channel: UvChannel, flips: bool| {
        let make = |images: &mut Assets<Image>| {
            let texels = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
            let texture = image(images, TextureFormat::Rgba32Float, 2, &texels);
            let material = StandardMaterial {
                base_color_texture: Some(texture),
                base_color_channel: channel,
                unlit: true,
                ..StandardMaterial::default()
            };
            vec![Rendered {
                mesh: plane(Vec2::new(0.0, 0.5), Vec2::new(1.0, 0.5)),
                ..rendered(material.flipped(flips, false))
            }]
        };
        shown(make, UP, Msaa::Off)
    };
    const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
    const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
    assert_eq!(color(UvChannel::Uv0, false), RED);
    assert_eq!(color(UvChannel::Uv1, false), GREEN);
    assert_eq!(color(UvChannel::Uv0, true), GREEN);
    assert_eq!(color(UvChannel::Uv1, true), RED);
}

#[test]
#[ignore = "needs a device"]
fn textures_without_uvs_are_white() {
    let color = |channel: UvChannel, removed: &[bevy_mesh::MeshVertexAttribute]| {
        let make = |images: &mut Assets<Image>| {
            let texture = image(images, TextureFormat::Rgba32Float, 1, &[0.0, 0.0, 0.0, 1.0]);
            let mut thing = rendered(StandardMaterial {
                base_color: Color::linear_rgb(0.5, 0.25, 0.125),
                base_color_texture: Some(texture),
                base_color_channel: channel,
                unlit: true,
                ..StandardMaterial::default()
            });
            for attribute in removed {
                thing.mesh.remove_attribute(*attribute);
            }
            vec![thing]
        };
        shown(make, UP, Msaa::Off)
    };
    const PLAIN: [f32; 4] = [0.5, 0.25, 0.125, 1.0];
    const BLACK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    let (first, second) = (Mesh::ATTRIBUTE_UV_0, Mesh::ATTRIBUTE_UV_1);
    assert_eq!(color(UvChannel::Uv0, &[]), BLACK);
    assert_eq!(color(UvChannel::Uv0, &[first, second]), PLAIN);
    assert_eq!(color(UvChannel::Uv1, &[first, second]), PLAIN);
    // The second set alone suffices for textures that use it.
    assert_eq!(color(UvChannel::Uv0, &[first]), PLAIN);
    assert_eq!(color(UvChannel::Uv1, &[first]), BLACK);
    // Without a second set the first one is used.
    assert_eq!(color(UvChannel::Uv1, &[second]), BLACK);
}

fn flat(red: f32, alpha: f32, alpha_mode: AlphaMode) -> StandardMaterial {
    StandardMaterial {
        base_color: Color::linear_rgba(red, red, red, alpha),
        alpha_mode,
        unlit: true,
        ..StandardMaterial::default()
    }
}

/// One plane of this color in front of another one, whose red is 0.5.
fn over(red: f32, alpha: f32, mode: AlphaMode, samples: Msaa) -> [f32; 4] {
    let behind = rendered(flat(0.5, 1.0, AlphaMode::Opaque));
    let mut before = rendered(flat(red, alpha, mode));
    before.mesh = before.mesh.translated_by(Vec3::Z);
    shown(|_| vec![behind, before], UP, samples)
}

#[test]
#[ignore = "needs a device"]
fn alpha_to_coverage_covers_samples() {
    let shown = |alpha, samples| {
        let [red, _, _, covers] = over(0.25, alpha, AlphaMode::AlphaToCoverage, samples);
        assert_eq!(covers, 1.0, "{alpha}, {samples:?}");
        red
    };
    let expect = |alpha, samples, wanted: f32, tolerance| {
        let red = shown(alpha, samples);
        assert!(
            (red - wanted).abs() < tolerance,
            "{alpha}, {samples:?}: {red}"
        );
    };
    // A mask without multisampling.
    for (alpha, red) in [(0.0, 0.5), (0.4, 0.5), (0.5, 0.25), (0.6, 0.25)] {
        expect(alpha, Msaa::Off, red, 1e-3);
    }
    for (alpha, red) in [(0.0, 0.5), (1.0, 0.25)] {
        expect(alpha, Msaa::Sample4, red, 1e-3);
    }
    // The device chooses which samples alpha covers: their number is that share of 4, up to one.
    for alpha in [0.25, 0.5, 0.75] {
        expect(alpha, Msaa::Sample4, 0.5 - 0.25 * alpha, 0.0625 + 1e-3);
    }
}

#[test]
#[ignore = "needs a device"]
fn alpha_modes_match_blend_equations() {
    let cases = [
        (0.25, 0.5, AlphaMode::Opaque, 0.25),
        (0.25, 0.5, AlphaMode::Mask(0.4), 0.25),
        (0.25, 0.5, AlphaMode::Mask(0.6), 0.5),
        (0.25, 0.5, AlphaMode::Blend, 0.375),
        (0.25, 0.5, AlphaMode::Premultiplied, 0.5),
        (0.25, 0.5, AlphaMode::Add, 0.625),
        (0.25, 1.0, AlphaMode::Multiply, 0.125),
        (0.25, 0.5, AlphaMode::Multiply, 0.3125),
    ];
    for (red, alpha, mode, wanted) in cases {
        let [red, _, _, covers] = over(red, alpha, mode, Msaa::Sample4);
        assert!(
            (red - wanted).abs() < 1e-3,
            "{mode:?} {alpha}: {red}, not {wanted}"
        );
        assert_eq!(covers, 1.0, "{mode:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn depth_bias_orders_coplanar_surfaces() {
    let first = |depth_bias| {
        let thing = |red, depth_bias| {
            let material = flat(red, 1.0, AlphaMode::Opaque);
            rendered(StandardMaterial {
                depth_bias,
                ..material
            })
        };
        shown(
            |_| vec![thing(1.0, depth_bias), thing(0.25, 0.0)],
            UP,
            Msaa::Off,
        )[0]
    };
    assert_eq!([first(0.0), first(100.0), first(-100.0)], [0.25, 1.0, 0.25]);
}

fn direction(angle: f64) -> Vec3 {
    Vec3::new(angle.sin() as f32, 0.0, angle.cos() as f32)
}

#[test]
#[ignore = "needs a device"]
fn clearcoat_matches_formula() {
    // The layer below the clearcoat reflects nothing.
    let (roughness, strength, angle) = (0.3f64, 0.8f64, 0.7f64);
    let thing = rendered(StandardMaterial {
        base_color: Color::BLACK,
        reflectance: 0.0,
        clearcoat: strength as f32,
        clearcoat_perceptual_roughness: roughness as f32,
        ..StandardMaterial::default()
    });
    let found = shown(|_| vec![thing], direction(angle), Msaa::Off)[0];
    let square = roughness.powi(4);
    let half = (angle / 2.0).cos();
    let spread = half * half * (square - 1.0) + 1.0;
    let facets = square / (PI * spread * spread);
    let fresnel = strength * (0.04 + 0.96 * (1.0 - half).powi(5));
    let wanted = facets * 0.25 / (half * half) * fresnel * angle.cos();
    assert_near(
        found,
        wanted * f64::from(LUX) * exposure(),
        0.01,
        "clearcoat",
    );
}

#[test]
#[ignore = "needs a device"]
fn anisotropy_stretches_highlights_along_tangent() {
    let (roughness, anisotropy, angle) = (0.4f64, 0.7f64, 0.6f64);
    let found = |rotation: f32| {
        let thing = rendered(StandardMaterial {
            metallic: 1.0,
            perceptual_roughness: roughness as f32,
            anisotropy_strength: anisotropy as f32,
            anisotropy_rotation: rotation,
            ..StandardMaterial::default()
        });
        shown(|_| vec![thing], direction(angle), Msaa::Off)[0]
    };
    let wanted = |is_along: bool| {
        let across = roughness * roughness;
        let along = across + (1.0 - across) * anisotropy * anisotropy;
        // Light, eye and the half between lie in the plane of one axis.
        let radius = if is_along { along } else { across };
        let other = if is_along { across } else { along };
        let (sine, cosine) = (angle / 2.0).sin_cos();
        let both = along * across;
        let spread = (other * sine).powi(2) + (both * cosine).powi(2);
        let facets = both * (both / spread).powi(2) / PI;
        let (n_l, n_v) = (angle.cos(), 1.0);
        let by_light = n_v * ((radius * angle.sin()).powi(2) + n_l * n_l).sqrt();
        let visible = 0.5 / (n_l + by_light);
        // White metal mirrors all, and its bounces are those of the lobe without axes.
        facets * visible / energy(across, n_v) * n_l * f64::from(LUX) * exposure()
    };
    assert_near(found(0.0), wanted(true), 0.01, "along");
    assert_near(
        found(std::f32::consts::FRAC_PI_2),
        wanted(false),
        0.01,
        "across",
    );
}

#[test]
#[ignore = "needs a device"]
fn parallax_mapping_offsets_along_view_ray() {
    const DEPTH: f32 = 0.6;
    let angle = 0.7f32;
    let red = |turned, is_upright, method| {
        let make = |images: &mut Assets<Image>| {
            let ramp: Vec<f32> = (0..64u8)
                .flat_map(|step| [(f32::from(step) + 0.5) / 64.0, 0.0, 0.0, 1.0])
                .collect();
            let ramp = image(images, TextureFormat::Rgba32Float, 64, &ramp);
            if is_upright && let Some(mut ramp) = images.get_mut(&ramp) {
                let size = &mut ramp.texture_descriptor.size;
                (size.width, size.height) = (1, 64);
            }
            let depth = image(images, TextureFormat::R32Float, 1, &[DEPTH]);
            let material = StandardMaterial {
                base_color_texture: Some(ramp),
                depth_map: Some(depth),
                parallax_depth_scale: 0.2,
                parallax_mapping_method: method,
                unlit: true,
                ..StandardMaterial::default()
            };
            vec![Rendered {
                turned,
                ..rendered(material)
            }]
        };
        shown(make, UP, Msaa::Off)[0]
    };
    let relief = ParallaxMappingMethod::Relief { max_steps: 10 };
    let wanted = f64::from(0.5 + 0.2 * DEPTH * angle.tan());
    for method in [ParallaxMappingMethod::Occlusion, relief] {
        let what = format!("{method:?}");
        let along = red(Quat::from_rotation_y(angle), false, method);
        assert_near(along, wanted, TOLERANCE, &what);
        let across = red(Quat::from_rotation_x(angle), true, method);
        assert_near(across, wanted, TOLERANCE, &what);
    }
}

#[test]
#[ignore = "needs a device"]
fn alpha_mask_lets_light_through() {
    let down = Transform::from_xyz(0.0, 6.0, 0.0).looking_at(Vec3::ZERO, Vec3::Z);
    let sun = DirectionalLight {
        illuminance: 1500.0,
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    };
    for alpha_mode in [AlphaMode::Mask(0.5), AlphaMode::Blend] {
        let mut rig = crate::box_over_floor((sun, down));
        rig.picture();
        let world = rig.app.world_mut();
        let sheet = Plane3d::default().mesh().size(4.0, 4.0);
        let sheet = world.resource_mut::<Assets<Mesh>>().add(sheet);
        let texels = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let mut images = world.resource_mut::<Assets<Image>>();
        let half = image(&mut images, TextureFormat::Rgba32Float, 2, &texels);
        let material = StandardMaterial {
            base_color_texture: Some(half),
            alpha_mode,
            ..StandardMaterial::default()
        };
        let material = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(material);
        let mut meshes = world.query_filtered::<Entity, With<Mesh3d>>();
        let box_ = meshes.iter(world).nth(1).expect("there are two meshes");
        world
            .entity_mut(box_)
            .insert((Mesh3d(sheet), MeshMaterial3d(material)));
        let picture = rig.picture();
        let [left, right, beside] = [12, 52, 63].map(|x| picture.at(x, 31)[0]);
        assert!(
            left > right + 60,
            "{alpha_mode:?}: {left} below the hole, {right} beside it"
        );
        assert!(
            left.abs_diff(beside) < 16,
            "{alpha_mode:?}: {left}, {beside} in the light"
        );
    }
}
