//! Cameras without `Hdr`: tone mapping in the shaders, directly to the target, compared with cameras with `Hdr`.

use bevy_asset::RenderAssetUsages;
use bevy_camera::{Hdr, ManualTextureViewHandle};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::GlobalAmbientLight;
use bevy_math::UVec2;
use quadrille::prelude::{GpuDevice, ImageDesc, Readback, Renderer};
use quadrille::vulkan::Format;
use quadrille_3d::Scene3d;
use quadrille_3d::content::views::CameraTargets;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{SceneColors, SceneMsaaColors};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{Picture, Rig};
use crate::tonemapping::COLORS;

const METHODS: [Tonemapping; 10] = [
    Tonemapping::None,
    Tonemapping::Linear,
    Tonemapping::Reinhard,
    Tonemapping::ReinhardLuminance,
    Tonemapping::AcesFitted,
    Tonemapping::AgX,
    Tonemapping::SomewhatBoringDisplayTransform,
    Tonemapping::TonyMcMapface,
    Tonemapping::BlenderFilmic,
    Tonemapping::KhronosPbrNeutral,
];

/// An app whose world is filled directly, with a window of 8 x 8 pixels.
fn rig() -> Rig {
    let mut rig = Rig::new(8, 8);
    rig.start();
    rig.app
        .world_mut()
        .insert_resource(GlobalAmbientLight::NONE);
    rig
}

/// A camera with one pixel per world unit.
fn camera() -> (Camera3d, Projection, Transform, DebandDither) {
    (
        Camera3d::default(),
        Projection::from(OrthographicProjection::default_3d()),
        Transform::from_xyz(0.0, 0.0, 10.0),
        DebandDither::Disabled,
    )
}

/// An unlit rectangle: center, size and distance from the plane z = 0 towards the camera.
fn rectangle(
    world: &mut World,
    (center, size): ([f32; 3], [f32; 2]),
    material: impl Into<StandardMaterial>,
) -> Entity {
    let mesh = Rectangle::new(size[0], size[1]);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        unlit: true,
        ..material.into()
    };
    let materials = &mut world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(material);
    let transform = Transform::from_translation(Vec3::from(center));
    world
        .spawn((Mesh3d(mesh), MeshMaterial3d(material), transform))
        .id()
}

/// A column of pixels of each color.
fn columns(world: &mut World) {
    for (at, [r, g, b]) in (0u8..).zip(COLORS) {
        let center = [f32::from(at) - 3.5, 0.0, 0.0];
        rectangle(world, (center, [1.0, 8.0]), Color::linear_rgb(r, g, b));
    }
}

fn assert_alike(display_referred: &Picture, scene_referred: &Picture, subject: &str) {
    let both = display_referred.pixels.iter().zip(&scene_referred.pixels);
    for (index, (found, wanted)) in both.enumerate() {
        let off = (found.iter().zip(wanted))
            .map(|(a, b)| a.abs_diff(*b))
            .max();
        assert!(
            off <= Some(1),
            "{subject}, pixel {index}: {found:?}, with Hdr {wanted:?}"
        );
    }
}

/// Pictures of the same camera without and with `Hdr`.
fn both(rig: &mut Rig, camera: Entity) -> [Picture; 2] {
    rig.app.world_mut().entity_mut(camera).remove::<Hdr>();
    let display_referred = rig.picture();
    rig.app.world_mut().entity_mut(camera).insert(Hdr);
    [display_referred, rig.picture()]
}

#[test]
#[ignore = "needs a device"]
fn opaque_surfaces_look_the_same_with_and_without_hdr() {
    let mut rig = rig();
    columns(rig.app.world_mut());
    let camera = rig.app.world_mut().spawn(camera()).id();
    let graded = ColorGrading {
        global: ColorGradingGlobal {
            exposure: 0.5,
            temperature: 0.02,
            post_saturation: 0.75,
            ..Default::default()
        },
        ..Default::default()
    };
    for method in METHODS {
        for (dither, grading, msaa) in [
            (
                DebandDither::Disabled,
                ColorGrading::default(),
                Msaa::Sample4,
            ),
            (DebandDither::Enabled, graded.clone(), Msaa::Off),
            (DebandDither::Enabled, graded.clone(), Msaa::Sample4),
        ] {
            let subject = format!("{method:?}, {dither:?}, {msaa:?}");
            let settings = (method, dither, grading, msaa);
            rig.app.world_mut().entity_mut(camera).insert(settings);
            let [display_referred, scene_referred] = both(&mut rig, camera);
            assert_alike(&display_referred, &scene_referred, &subject);
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn lit_surfaces_in_fog_before_a_sky_look_the_same_with_and_without_hdr() {
    let mut rig = Rig::new(32, 32);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Sphere::new(1.0));
    let material = StandardMaterial::from(Color::srgb_u8(124, 144, 255));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    let light = Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y);
    world.spawn((DirectionalLight::default(), light));
    let sky = Image::new(
        Extent3d {
            width: 4,
            height: 2,
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        [200, 100, 50, 255].repeat(8),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    let sky = world.resource_mut::<Assets<Image>>().add(sky);
    let fog = DistanceFog {
        color: Color::srgb(0.4, 0.6, 0.2),
        falloff: FogFalloff::Linear {
            start: 1.0,
            end: 9.0,
        },
        ..Default::default()
    };
    let camera = world
        .spawn((
            Camera3d::default(),
            Transform::from_xyz(0.0, 0.0, 4.0),
            Skybox {
                image: Some(sky),
                brightness: 3000.0,
                ..Default::default()
            },
            fog,
            Msaa::Off,
        ))
        .id();
    let [display_referred, scene_referred] = both(&mut rig, camera);
    let [corner, middle] = [display_referred.at(0, 0), display_referred.at(16, 16)];
    assert_ne!(corner, middle, "the sphere is before the sky");
    assert_ne!(corner, [0, 0, 0, 255], "the sky is there");
    assert_alike(&display_referred, &scene_referred, "a sphere");
}

/// A linear value as sRGB with 8 bits.
fn srgb(linear: f32) -> u8 {
    Color::linear_rgb(linear, linear, linear)
        .to_srgba()
        .to_u8_array()[0]
}

/// A grey surface before a grey one under Reinhard's method, as drawn in the middle of the picture.
fn layered(front: StandardMaterial, hdr: bool, msaa: Msaa) -> u8 {
    let mut rig = rig();
    let world = rig.app.world_mut();
    let [back, grey] = [4.0, 1.0].map(|level| Color::linear_rgb(level, level, level));
    rectangle(world, ([0.0; 3], [8.0; 2]), back);
    let front = StandardMaterial {
        base_color: grey.with_alpha(0.5),
        ..front
    };
    rectangle(world, ([0.0, 0.0, 1.0], [8.0; 2]), front);
    let mut camera = world.spawn((camera(), Tonemapping::Reinhard, msaa));
    if hdr {
        camera.insert(Hdr);
    }
    let [red, green, blue, alpha] = rig.picture().at(4, 4);
    assert_eq!([red, red, 255], [green, blue, alpha]);
    red
}

fn assert_near(found: u8, wanted: f32, subject: &str) {
    let wanted = srgb(wanted);
    assert!(
        found.abs_diff(wanted) <= 1,
        "{subject}: {found}, not {wanted}"
    );
}

#[test]
#[ignore = "needs a device"]
fn transparent_surfaces_blend_display_referred_colors_without_hdr() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let with = |alpha_mode, hdr| {
            let front = StandardMaterial {
                alpha_mode,
                ..StandardMaterial::default()
            };
            layered(front, hdr, msaa)
        };
        // Reinhard maps 4 to 0.8 and 1 to 0.5.
        assert_near(with(AlphaMode::Blend, false), 0.65, "mean of 0.8 and 0.5");
        assert_near(with(AlphaMode::Blend, true), 2.5 / 3.5, "2.5, mapped");
        assert_near(with(AlphaMode::Add, false), 1.0, "0.8 and half of 0.5");
        assert_near(with(AlphaMode::Add, true), 4.5 / 5.5, "4.5, mapped");
        assert_near(with(AlphaMode::Multiply, false), 0.6, "0.8 times 0.75");
        assert_near(with(AlphaMode::Multiply, true), 0.8, "4 times 1, mapped");
    }
}

#[test]
#[ignore = "needs a device"]
fn multiplying_surfaces_darken_the_clear_color_without_hdr() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let mut rig = rig();
        let world = rig.app.world_mut();
        let front = StandardMaterial {
            base_color: Color::linear_rgb(0.5, 0.25, 1.0),
            alpha_mode: AlphaMode::Multiply,
            ..StandardMaterial::default()
        };
        rectangle(world, ([0.0; 3], [4.0; 2]), front);
        let clear = Camera {
            clear_color: ClearColorConfig::Custom(Color::linear_rgb(0.8, 0.8, 0.8)),
            ..Camera::default()
        };
        world.spawn((camera(), clear, Tonemapping::None, msaa));
        let picture = rig.picture();
        let [red, green, blue, alpha] = picture.at(4, 4);
        assert_near(red, 0.4, "half of 0.8");
        assert_near(green, 0.2, "a quarter of 0.8");
        assert_near(blue, 0.8, "0.8");
        assert_eq!(alpha, 255);
        assert_near(picture.at(0, 0)[0], 0.8, "beside it");
    }
}

#[test]
#[ignore = "needs a device"]
fn samples_are_tone_mapped_before_they_are_resolved_without_hdr() {
    let mut rig = rig();
    let world = rig.app.world_mut();
    // Its right edge is in the middle of the pixels of column 4.
    rectangle(
        world,
        ([-1.75, 0.0, 0.0], [4.5, 8.0]),
        Color::linear_rgb(9.0, 9.0, 9.0),
    );
    rectangle(world, ([0.0, 0.0, -1.0], [8.0; 2]), Color::BLACK);
    let camera = world.spawn((camera(), Tonemapping::Reinhard)).id();
    let [display_referred, scene_referred] = both(&mut rig, camera);
    let [found, with_hdr] = [display_referred, scene_referred].map(|it| it.at(4, 4)[0]);
    assert_near(found, 0.45, "half of 0.9");
    assert_near(with_hdr, 4.5 / 5.5, "4.5, mapped");
}

#[test]
#[ignore = "needs a device"]
fn plain_camera_has_neither_half_floats_nor_a_tone_mapping_pass() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let mut rig = rig();
        let world = rig.app.world_mut();
        columns(world);
        let camera = world.spawn((camera(), msaa)).id();
        let passes = |rig: &mut Rig| {
            let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
            renderer.keep_frames(true);
            rig.update(2);
            let renderer = rig.app.world().resource::<Renderer>();
            renderer.plan_text().expect("frames are kept")
        };
        let plan = passes(&mut rig);
        assert!(plan.contains("opaque_3d"), "{plan}");
        for absent in ["tonemap_3d", "composite_3d", "transparent_3d", "3d color"] {
            assert!(!plan.contains(absent), "{absent} in {plan}");
        }
        let world = rig.app.world();
        let [view] = world.resource::<Scene3d>().views() else {
            panic!("there is one view")
        };
        let target = &world.resource::<CameraTargets>()[view.target()];
        let samples = &world.resource::<SceneMsaaColors>()[view.images()];
        assert_eq!(&world.resource::<SceneColors>()[view.images()], target);
        assert_eq!(samples.format(), target.format());
        assert_eq!(samples.desc().samples, msaa.samples());
        assert!(!view.is_scene_referred());

        rig.app.world_mut().entity_mut(camera).insert(Hdr);
        let plan = passes(&mut rig);
        for present in ["opaque_3d", "tonemap_3d"] {
            assert!(plan.contains(present), "no {present} in {plan}");
        }
        assert!(rig.app.world().resource::<Scene3d>().views()[0].is_scene_referred());
    }
}

#[test]
#[ignore = "needs a device"]
fn cameras_without_hdr_draw_to_targets_of_any_format() {
    for format in [
        Format::R8G8B8A8_SRGB,
        Format::R8G8B8A8_UNORM,
        Format::B8G8R8A8_SRGB,
        Format::R16G16B16A16_SFLOAT,
    ] {
        for (msaa, has_viewport) in [
            (Msaa::Off, false),
            (Msaa::Sample4, false),
            (Msaa::Sample4, true),
        ] {
            let subject = format!("{format:?}, {msaa:?}, viewport {has_viewport}");
            let mut rig = rig();
            let world = rig.app.world_mut();
            rectangle(
                world,
                ([0.0; 3], [8.0; 2]),
                Color::linear_rgb(1.0, 3.0, 0.0),
            );
            let desc = ImageDesc::color_target("target", [8, 8], format);
            let image = world.resource::<GpuDevice>().create_image(&desc);
            let image = image.expect("the device has such images");
            let handle = ManualTextureViewHandle(5);
            world
                .resource_mut::<ManualTextureViews>()
                .insert(handle, image.clone());
            let viewport = Viewport {
                physical_position: UVec2::new(4, 0),
                physical_size: UVec2::new(4, 8),
                ..Viewport::default()
            };
            let camera_settings = Camera {
                viewport: has_viewport.then_some(viewport),
                clear_color: ClearColorConfig::Custom(Color::BLACK),
                ..Camera::default()
            };
            let target = RenderTarget::TextureView(handle);
            world.spawn((
                camera(),
                camera_settings,
                target,
                Tonemapping::Reinhard,
                msaa,
            ));
            rig.update(3);
            let done = rig.read_back(Readback::image(&image));
            let texel_bytes = done.bytes.len() / 64;
            let texel = |x: usize| &done.bytes[(4 * 8 + x) * texel_bytes..][..texel_bytes];
            let [half, most] = [0.5, 0.75];
            let wanted: Vec<u8> = match format {
                Format::R8G8B8A8_SRGB => vec![srgb(half), srgb(most), 0, 255],
                Format::R8G8B8A8_UNORM => vec![128, 191, 0, 255],
                Format::B8G8R8A8_SRGB => vec![0, srgb(most), srgb(half), 255],
                _ => [0x3800_u16, 0x3a00, 0, 0x3c00]
                    .iter()
                    .flat_map(|half| half.to_le_bytes())
                    .collect(),
            };
            let off = texel(6).iter().zip(&wanted).map(|(a, b)| a.abs_diff(*b));
            assert!(
                off.max() <= Some(1),
                "{subject}: {:?}, not {wanted:?}",
                texel(6)
            );
            let left = texel(1);
            assert_eq!(left == texel(6), !has_viewport, "{subject}, left: {left:?}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn stacked_cameras_with_and_without_hdr_cover_and_keep_what_is_below() {
    let stack = |kinds: [bool; 2], clear_color: ClearColorConfig, msaa: Msaa| {
        let mut rig = rig();
        let world = rig.app.world_mut();
        for (layer, (center, color)) in [
            ([-2.0, 0.0, 0.0], Color::linear_rgb(1.0, 0.0, 0.0)),
            ([2.0, 0.0, 0.0], Color::linear_rgb(0.0, 1.0, 0.0)),
        ]
        .into_iter()
        .enumerate()
        {
            let shape = rectangle(world, (center, [4.0, 8.0]), color);
            world
                .entity_mut(shape)
                .insert(RenderLayers::layer(layer + 1));
            let settings = Camera {
                order: layer as isize,
                clear_color: match layer {
                    0 => ClearColorConfig::Custom(Color::BLACK),
                    _ => clear_color,
                },
                ..Camera::default()
            };
            let layers = RenderLayers::layer(layer + 1);
            let mut camera = world.spawn((camera(), settings, layers, msaa, Tonemapping::None));
            if kinds[layer] {
                camera.insert(Hdr);
            }
        }
        let picture = rig.picture();
        [picture.at(1, 4), picture.at(6, 4)]
    };
    let (red, green) = ([255, 0, 0, 255], [0, 255, 0, 255]);
    for msaa in [Msaa::Off, Msaa::Sample4] {
        for kinds in [[false, false], [false, true], [true, false]] {
            let kept = stack(kinds, ClearColorConfig::None, msaa);
            assert_eq!(kept, [red, green], "kept, {kinds:?}, {msaa:?}");
            let blue = ClearColorConfig::Custom(Color::linear_rgb(0.0, 0.0, 1.0));
            // Several samples of the same main texture are kept, as in bevy.
            let is_kept = msaa == Msaa::Sample4 && kinds == [false, false];
            let below = if is_kept { red } else { [0, 0, 255, 255] };
            let covered = stack(kinds, blue, msaa);
            assert_eq!(covered, [below, green], "covered, {kinds:?}, {msaa:?}");
        }
    }
}
