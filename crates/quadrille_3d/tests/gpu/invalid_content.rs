//! Every way to make a camera, mesh, material, light, sprite, text or node unusable: no frame fails, everything else is
//! drawn, and one warning names each omitted item.

use bevy_asset::RenderAssetUsages;
use bevy_asset::uuid::Uuid;
use bevy_camera::{ImageRenderTarget, ManualTextureViewHandle};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_window::WindowRef;
use quadrille::prelude::{GpuDevice, ImageDesc};
use quadrille::vulkan::Format;
use quadrille_2d::prelude as flat;
use quadrille_2d::prelude::{
    ImageNode, Node, Quadrille2dPlugin, Sprite, Text, Text2d, TextFont, ViewportNode,
};
use quadrille_3d::prelude::*;
use quadrille_content::warnings::RateLimitedWarnings;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::common::{Rig, log};

#[path = "invalid_content/meshes.rs"]
mod meshes;

/// A red plane before the only camera of the window.
fn rig() -> Rig {
    log::collect();
    let mut rig = Rig::built(16, 16, |app, renderer| {
        app.add_plugins((
            renderer,
            Quadrille3dPlugin::default(),
            Quadrille2dPlugin::default(),
        ));
    });
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(50.0, 50.0));
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial {
            base_color: Color::srgb(1.0, 0.0, 0.0),
            unlit: true,
            ..StandardMaterial::default()
        });
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    let last = Camera {
        order: 100,
        ..Camera::default()
    };
    world.spawn((Camera3d::default(), last, Tonemapping::None, eye));
    rig.update(3);
    let lines = log::take();
    assert!(lines.is_empty(), "{lines:#?}");
    rig
}

/// Runs frames with an entity, and returns the logged lines. The plane stays visible.
fn with(rig: &mut Rig, case: &str, bundle: impl Bundle) -> Vec<String> {
    let world = rig.app.world_mut();
    // Waiting for the rate limit of one second in each case would take too long.
    world.insert_resource(RateLimitedWarnings::default());
    let bad = world.spawn((Name::new("culprit"), bundle)).id();
    rig.update(4);
    assert_eq!(rig.picture().at(8, 8), [255, 0, 0, 255], "{case}");
    let world = rig.app.world_mut();
    world.despawn(bad);
    let lines = log::take();
    assert!(
        !lines.iter().any(|line| line.contains("bevy_ecs::error")),
        "{case}: {lines:#?}"
    );
    lines
}

/// Asserts that exactly one line was logged, which contains these words.
fn assert_one_line(case: &str, lines: &[String], words: &[&str]) {
    assert_eq!(lines.len(), 1, "{case}: {lines:#?}");
    for word in words {
        assert!(lines[0].contains(word), "{case}, {word}: {lines:#?}");
    }
}

/// Asserts that the logged lines contain these words, one line each. Lines of the asset server about missing files are
/// ignored.
fn lines_say(case: &str, lines: &[String], words: &[&str]) {
    let mut lines: Vec<_> = lines
        .iter()
        .filter(|line| !line.contains("bevy_asset"))
        .collect();
    for word in words {
        let known = lines.iter().position(|line| line.contains(word));
        let known = known.unwrap_or_else(|| panic!("{case}: nothing says {word}: {lines:#?}"));
        lines.remove(known);
    }
    assert!(lines.is_empty(), "{case}: {lines:#?}");
}

/// An image asset of a kind, with this usage in addition to its others.
fn image(format: TextureFormat, size: [u32; 3], mips: u32, usage: TextureUsages) -> Image {
    let [width, height, depth_or_array_layers] = size;
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers,
    };
    let usages = RenderAssetUsages::default();
    let mut image = Image::new_uninit(size, TextureDimension::D2, format, usages);
    image.texture_descriptor.mip_level_count = mips;
    image.texture_descriptor.usage |= usage;
    image
}

#[test]
#[ignore = "needs a device"]
fn camera_with_unusable_target_image_is_skipped() {
    let mut rig = rig();
    let drawn = TextureUsages::RENDER_ATTACHMENT;
    let srgb = TextureFormat::Rgba8UnormSrgb;
    let mut add = |image: Image| {
        rig.app
            .world_mut()
            .resource_mut::<Assets<Image>>()
            .add(image)
    };
    let no_usage = add(image(srgb, [8, 8, 1], 1, TextureUsages::empty()));
    let mut volume = image(srgb, [8, 8, 4], 1, drawn);
    volume.texture_descriptor.dimension = TextureDimension::D3;
    let volume = add(volume);
    let unknown = Handle::Uuid(Uuid::from_u128(7), std::marker::PhantomData);
    let failed = rig
        .app
        .world()
        .resource::<AssetServer>()
        .load("no such file.png");
    let cases: [(&str, Handle<Image>, &[&str]); 5] = [
        (
            "default handle",
            Handle::default(),
            &["the default `Handle<Image>`", "RENDER_ATTACHMENT"],
        ),
        (
            "no usage",
            no_usage,
            &["the Image that the program added", "RENDER_ATTACHMENT"],
        ),
        ("volume", volume, &["4 slices"]),
        (
            "no asset",
            unknown,
            &["the Image with the UUID", "no image belongs to its handle"],
        ),
        (
            "no file",
            failed,
            &["the Image `no such file.png`", "could not be loaded"],
        ),
    ];
    for (case, image, words) in cases {
        for is_3d in [true, false] {
            let target = RenderTarget::Image(ImageRenderTarget::from(image.clone()));
            let lines = match is_3d {
                true => with(&mut rig, case, (Camera3d::default(), target)),
                false => with(&mut rig, case, (Camera2d, target)),
            };
            // The asset server also logs an error about the file.
            let lines: Vec<_> = lines
                .into_iter()
                .filter(|line| !line.contains("bevy_asset"))
                .collect();
            assert_one_line(case, &lines, &["camera `culprit` ("]);
            assert_one_line(case, &lines, words);
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn camera_draws_to_first_layer_and_mip() {
    let mut rig = rig();
    let drawn = TextureUsages::RENDER_ATTACHMENT;
    let srgb = TextureFormat::Rgba8UnormSrgb;
    for (case, image) in [
        ("mip levels", image(srgb, [8, 8, 1], 3, drawn)),
        ("layers", image(srgb, [8, 8, 2], 1, drawn)),
        (
            "one channel",
            image(TextureFormat::R8Unorm, [8, 8, 1], 1, drawn),
        ),
        (
            "half floats",
            image(TextureFormat::Rgba16Float, [8, 8, 1], 1, drawn),
        ),
    ] {
        let handle = rig
            .app
            .world_mut()
            .resource_mut::<Assets<Image>>()
            .add(image);
        let target = RenderTarget::Image(ImageRenderTarget::from(handle));
        let lines = with(&mut rig, case, (Camera3d::default(), target.clone()));
        assert!(lines.is_empty(), "{case}: {lines:#?}");
        let lines = with(&mut rig, case, (Camera2d, Msaa::Sample4, target));
        assert!(lines.is_empty(), "{case} in 2D: {lines:#?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn camera_with_mismatched_manual_target_is_skipped() {
    let mut rig = rig();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let srgb = Format::R8G8B8A8_SRGB;
    let target = |name, format| ImageDesc::color_target(name, [8, 8], format);
    let descs = [
        (
            ImageDesc::sampled("no usage", [8, 8], srgb),
            "ImageUsage::COLOR_ATTACHMENT",
        ),
        (
            ImageDesc::depth("depth", [8, 8], Format::D32_SFLOAT),
            "ImageUsage::COLOR_ATTACHMENT",
        ),
        (target("integers", Format::R32_UINT), "R32_UINT"),
        (
            ImageDesc {
                samples: 4,
                ..target("samples", srgb)
            },
            "4 samples",
        ),
        (
            ImageDesc::color_target("volume", [8, 8, 4], srgb),
            "4 slices",
        ),
    ];
    for (place, (desc, word)) in descs.into_iter().enumerate() {
        let handle = ManualTextureViewHandle(place as u32 + 10);
        let image = gpu.create_image(&desc).expect("the device has such images");
        rig.app
            .world_mut()
            .resource_mut::<ManualTextureViews>()
            .insert(handle, image);
        let target = RenderTarget::TextureView(handle);
        let lines = with(&mut rig, &desc.name, (Camera3d::default(), target));
        assert_one_line(
            &desc.name,
            &lines,
            &[
                "camera `culprit` (",
                &format!("the image `{}`", desc.name),
                word,
            ],
        );
    }
    let target = RenderTarget::TextureView(ManualTextureViewHandle(99));
    let lines = with(&mut rig, "no image", (Camera2d, target));
    assert_one_line(
        "no image",
        &lines,
        &["camera `culprit` (", "no image has this handle"],
    );
    let nobody = rig.app.world_mut().spawn_empty().id();
    let target = RenderTarget::Window(WindowRef::Entity(nobody));
    let lines = with(&mut rig, "no window", (Camera2d, target));
    assert_one_line(
        "no window",
        &lines,
        &["camera `culprit` (", "has no `Window`"],
    );
}

#[test]
#[ignore = "needs a device"]
fn camera_warning_repeats_only_for_new_reason() {
    let mut rig = rig();
    let target = RenderTarget::TextureView(ManualTextureViewHandle(99));
    let world = rig.app.world_mut();
    world.insert_resource(RateLimitedWarnings::default());
    let camera = world.spawn((Camera2d, target)).id();
    rig.update(2);
    assert_eq!(log::take().len(), 1);
    // The rate limit is not the reason for the missing warning.
    rig.app
        .world_mut()
        .insert_resource(RateLimitedWarnings::default());
    rig.update(2);
    let lines = log::take();
    assert!(lines.is_empty(), "{lines:#?}");
    let other = RenderTarget::Image(Handle::<Image>::default().into());
    rig.app.world_mut().entity_mut(camera).insert(other);
    rig.update(2);
    assert_one_line(
        "another target",
        &log::take(),
        &["the default `Handle<Image>`"],
    );
}

#[test]
#[ignore = "needs a device"]
fn invalid_meshes_and_materials_do_not_affect_others() {
    let mut rig = rig();
    let material = rig
        .app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(StandardMaterial::default());
    let behind = Transform::from_xyz(0.0, 0.0, -5.0);
    for (case, mesh, [in_3d, in_2d]) in meshes::odd() {
        let mesh = rig.app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
        let solid = (
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material.clone()),
            behind,
        );
        let lines = with(&mut rig, case, solid);
        lines_say(case, &lines, in_3d);
        assert!(
            lines
                .iter()
                .all(|line| line.contains("the Mesh that the program added")),
            "{case}: {lines:#?}"
        );
        let material = flat::MeshMaterial2d::<flat::ColorMaterial>(Handle::default());
        let lines = with(&mut rig, case, (Mesh2d(mesh), material));
        lines_say(case, &lines, in_2d);
    }
    let cube = rig
        .app
        .world_mut()
        .resource_mut::<Assets<Mesh>>()
        .add(Cuboid::default());
    let drawn = (Mesh3d(cube.clone()), behind);
    // Default handles and missing files wait for their assets, as in bevy.
    let empty = (Mesh3d(Handle::default()), MeshMaterial3d(material));
    lines_say("default mesh", &with(&mut rig, "default mesh", empty), &[]);
    let plain = MeshMaterial3d::<StandardMaterial>(Handle::default());
    let lines = with(&mut rig, "default material", (drawn.clone(), plain));
    lines_say("default material", &lines, &[]);
    let failed = rig
        .app
        .world()
        .resource::<AssetServer>()
        .load("no such file.png");
    let images = [("default image", Handle::default()), ("no file", failed)];
    for (case, image) in images {
        let material = StandardMaterial {
            base_color_texture: Some(image.clone()),
            normal_map_texture: Some(image.clone()),
            emissive_texture: Some(image.clone()),
            depth_map: Some(image),
            ..StandardMaterial::default()
        };
        let mut materials = rig
            .app
            .world_mut()
            .resource_mut::<Assets<StandardMaterial>>();
        let material = materials.add(material);
        let lines = with(&mut rig, case, (drawn.clone(), MeshMaterial3d(material)));
        lines_say(case, &lines, &[]);
    }
    let odd = StandardMaterial {
        perceptual_roughness: f32::NAN,
        ..StandardMaterial::default()
    };
    let odd = rig
        .app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>()
        .add(odd);
    let lines = with(&mut rig, "NaN", (drawn, MeshMaterial3d(odd)));
    assert_one_line(
        "NaN",
        &lines,
        &["the StandardMaterial that the program added", "NaN"],
    );
}

#[test]
#[ignore = "needs a device"]
fn invalid_lights_do_not_affect_others() {
    let mut rig = rig();
    let failed: Handle<Image> = rig
        .app
        .world()
        .resource::<AssetServer>()
        .load("no such file.png");
    for (case, image) in [("default image", Handle::default()), ("no file", failed)] {
        let spot = SpotLightTexture {
            image: image.clone(),
        };
        let lines = with(&mut rig, case, (SpotLight::default(), spot));
        lines_say(case, &lines, &[]);
        let sun = DirectionalLightTexture {
            image: image.clone(),
            tiled: true,
        };
        let lines = with(&mut rig, case, (DirectionalLight::default(), sun));
        lines_say(case, &lines, &[]);
        let probe = EnvironmentMapLight {
            diffuse_map: image.clone(),
            specular_map: image.clone(),
            ..EnvironmentMapLight::default()
        };
        let is_there = image == Handle::default();
        let lines = with(&mut rig, case, (LightProbe::default(), probe));
        let no_cube = "a diffuse map is not drawn: its image `image that the program added` of 1x1 texels and 1 layers \
                       is no cube; a `GeneratedEnvironmentMapLight` takes others";
        lines_say(case, &lines, &[no_cube][..usize::from(is_there)]);
        let volume = IrradianceVolume {
            voxels: image.clone(),
            ..IrradianceVolume::default()
        };
        let lines = with(&mut rig, case, volume);
        let flat = "an irradiance volume is not drawn: its image `image that the program added` of [1, 1, 1] texels";
        lines_say(case, &lines, &[flat][..usize::from(is_there)]);
    }
    let odd = PointLight {
        intensity: f32::NAN,
        ..PointLight::default()
    };
    let lines = with(&mut rig, "NaN", odd);
    assert_one_line("NaN", &lines, &["the light `culprit` ("]);
    let cascades = CascadeShadowConfigBuilder {
        num_cascades: 20,
        ..Default::default()
    };
    let cascades = cascades.build();
    let sun = DirectionalLight {
        shadow_maps_enabled: true,
        ..DirectionalLight::default()
    };
    let lines = with(&mut rig, "20 cascades", (sun, cascades));
    // A slow device takes more than a second, after which the warning is repeated.
    assert_one_line(
        "20 cascades",
        &lines[..1],
        &["the light `culprit` (", "has 20 cascades"],
    );
}

#[test]
#[ignore = "needs a device"]
fn invalid_sprites_texts_and_nodes_do_not_affect_others() {
    let mut rig = rig();
    let server = rig.app.world().resource::<AssetServer>().clone();
    let failed: Handle<Image> = server.load("no such file.png");
    let page = Camera {
        order: -5,
        ..Camera::default()
    };
    let page = rig.app.world_mut().spawn((Camera2d, page)).id();
    for (case, image) in [("default image", Handle::default()), ("no file", failed)] {
        let sprite = Sprite::from_image(image.clone());
        let lines = with(&mut rig, case, sprite.clone());
        lines_say(case, &lines, &[]);
        let atlas = flat::TextureAtlas {
            layout: Handle::default(),
            index: 99,
        };
        let sprite = Sprite {
            texture_atlas: Some(atlas),
            ..sprite
        };
        let lines = with(&mut rig, case, sprite);
        lines_say(case, &lines, &[]);
        let lines = with(
            &mut rig,
            case,
            (
                Node::default(),
                ImageNode::new(image),
                flat::UiTargetCamera(page),
            ),
        );
        lines_say(case, &lines, &[]);
    }
    let font = TextFont::default().with_font(server.load("no such file.ttf"));
    let lines = with(&mut rig, "no font", (Text2d::new("words"), font.clone()));
    lines_say("no font", &lines, &[]);
    let lines = with(
        &mut rig,
        "no font",
        (Text::new("words"), font, flat::UiTargetCamera(page)),
    );
    lines_say("no font", &lines, &[]);
    let nobody = rig.app.world_mut().spawn_empty().id();
    let lines = with(
        &mut rig,
        "no camera",
        (
            Node::default(),
            ViewportNode::new(nobody),
            flat::UiTargetCamera(page),
        ),
    );
    lines_say("no camera", &lines, &[]);
    with(
        &mut rig,
        "no target camera",
        (Node::default(), flat::UiTargetCamera(nobody)),
    );
    let lines = with(
        &mut rig,
        "no mesh",
        (
            Mesh2d(Handle::default()),
            flat::MeshMaterial2d::<flat::ColorMaterial>(Handle::default()),
        ),
    );
    lines_say("no mesh", &lines, &[]);
}
