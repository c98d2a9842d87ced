//! Stages of effects: before and after tone mapping, over clear colors and over what earlier cameras drew.

use bevy_asset::RenderAssetUsages;
use bevy_camera::{Hdr, ImageRenderTarget};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use quadrille::prelude::{Readback, Renderer};
use quadrille_2d::prelude::{Camera2d, Sprite};
use quadrille_3d::prelude::*;
use quadrille_3d::{CameraEffect, Pass3dSystems, Scene3d};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::camera_effects::{Affine, camera, expect_close, rig, set_viewport};
use crate::common::{EXACT, Rig};

/// Halves the color and adds 0.5.
const AFTER: Affine<2> = Affine {
    scale: 0.5,
    offset: 0.5,
};

const BEFORE: Affine<0> = Affine {
    scale: 2.0,
    offset: 1.0,
};

fn set_hdr(rig: &mut Rig, camera: Entity, is_hdr: bool) {
    let mut camera = rig.app.world_mut().entity_mut(camera);
    match is_hdr {
        true => camera.insert(Hdr),
        false => camera.remove::<Hdr>(),
    };
}

/// The plan of a frame, as text.
fn plan(rig: &mut Rig) -> String {
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    rig.update(2);
    let renderer = rig.app.world().resource::<Renderer>();
    renderer.plan_text().expect("frames are kept")
}

/// Passes of the frame with their accesses.
fn case(rig: &Rig) -> String {
    let renderer = rig.app.world().resource::<Renderer>();
    renderer.case_text().expect("a frame was drawn")
}

fn expect_passes(plan: &str, present: &[&str], absent: &[&str]) {
    for pass in present {
        assert!(plan.contains(pass), "no {pass} in {plan}");
    }
    for pass in absent {
        assert!(!plan.contains(pass), "{pass} in {plan}");
    }
}

/// A camera without meshes that clears its target to a grey.
fn empty_camera(world: &mut World, order: isize, clear_color: ClearColorConfig) -> Entity {
    let camera = Camera {
        order,
        clear_color,
        ..Camera::default()
    };
    let layers = RenderLayers::layer(20);
    let kind = (Camera3d::default(), Tonemapping::None, camera, layers);
    let target = RenderTarget::TextureView(EXACT);
    world.spawn((kind, target, DebandDither::Disabled)).id()
}

fn grey(value: f32) -> ClearColorConfig {
    ClearColorConfig::Custom(Color::linear_rgb(value, value, value))
}

#[test]
#[ignore = "needs a device"]
fn effects_after_tone_mapping_read_colors_of_the_screen_below_2d() {
    for (is_hdr, msaa) in [
        (false, Msaa::Off),
        (false, Msaa::Sample4),
        (true, Msaa::Off),
        (true, Msaa::Sample4),
    ] {
        let mut eye = Entity::PLACEHOLDER;
        let mut rig = rig(|world| {
            // Reinhard maps 1 to 0.5 and 3 to 0.75.
            eye = camera(world, 0, 1.0, msaa);
            let settings = (Tonemapping::Reinhard, DebandDither::Disabled, AFTER);
            world.entity_mut(eye).insert(settings);
            let over = Camera {
                order: 1,
                clear_color: ClearColorConfig::None,
                ..Camera::default()
            };
            world.spawn((Camera2d, over, RenderTarget::TextureView(EXACT), msaa));
            let green = Color::linear_rgb(0.0, 1.0, 0.0);
            world.spawn(Sprite::from_color(green, Vec2::splat(4.0)));
        });
        set_hdr(&mut rig, eye, is_hdr);
        expect_close(rig.exactly(1, 1)[0], 0.75);
        assert_eq!(rig.exactly(16, 8)[..3], [0.0, 1.0, 0.0], "2D lies over it");
        let view = rig.app.world().resource::<Scene3d>().views()[0].clone();
        assert_eq!(view.is_scene_referred(), is_hdr);
        let tonemap: &[&str] = &["tonemap_3d"];
        let (present, absent) = if is_hdr {
            (tonemap, &[][..])
        } else {
            (&[][..], tonemap)
        };
        let plan = plan(&mut rig);
        expect_passes(&plan, present, absent);
        expect_passes(&plan, &["composite_3d"], &["load_target_3d", "copy target"]);
        let copied = "pass composite_3d requires TRANSFER";
        assert!(case(&rig).contains(copied), "{}", case(&rig));
        // Both stages, and a viewport.
        rig.app.world_mut().entity_mut(eye).insert(BEFORE);
        expect_close(rig.exactly(1, 1)[0], 0.875);
        set_viewport(&mut rig, eye, [4, 2, 20, 10]);
        expect_close(rig.exactly(4, 2)[0], 0.875);
        assert!(!case(&rig).contains(copied), "a part of the target");
        let outside = rig.exactly(3, 1)[0];
        assert!(outside < 0.1, "{outside} outside of the viewport");
        rig.app.world_mut().entity_mut(eye).remove::<Affine<0>>();
        expect_close(rig.exactly(23, 11)[0], 0.75);
        rig.app.world_mut().entity_mut(eye).remove::<Affine<2>>();
        expect_close(rig.exactly(23, 11)[0], 0.5);
    }
}

#[test]
#[ignore = "needs a device"]
fn cameras_without_effects_have_no_pass_of_effects() {
    let mut eye = Entity::PLACEHOLDER;
    let mut rig = rig(|world| eye = camera(world, 0, 0.25, Msaa::Sample4));
    let of_effects = ["load_target_3d", "copy target", "composite_3d", "affine"];
    expect_passes(&plan(&mut rig), &["opaque_3d"], &of_effects);
    set_hdr(&mut rig, eye, true);
    expect_passes(&plan(&mut rig), &["opaque_3d", "tonemap_3d"], &of_effects);
    rig.app.world_mut().entity_mut(eye).insert(AFTER);
    expect_passes(
        &plan(&mut rig),
        &["affine", "composite_3d"],
        &["load_target_3d"],
    );
    rig.app.world_mut().entity_mut(eye).remove::<Affine<2>>();
    expect_passes(&plan(&mut rig), &["opaque_3d", "tonemap_3d"], &of_effects);
}

#[test]
#[ignore = "needs a device"]
fn effects_read_the_clear_color() {
    for is_hdr in [false, true] {
        for viewport in [None, Some([4, 2, 20, 10])] {
            let mut eye = Entity::PLACEHOLDER;
            let mut rig = rig(|world| eye = empty_camera(world, 0, grey(0.125)));
            set_hdr(&mut rig, eye, is_hdr);
            if let Some(viewport) = viewport {
                set_viewport(&mut rig, eye, viewport);
            }
            expect_close(rig.exactly(5, 3)[0], 0.125);
            rig.app.world_mut().entity_mut(eye).insert(AFTER);
            expect_close(rig.exactly(5, 3)[0], 0.5625);
            rig.app.world_mut().entity_mut(eye).insert(BEFORE);
            expect_close(rig.exactly(5, 3)[0], 1.125);
            rig.app.world_mut().entity_mut(eye).remove::<Affine<2>>();
            expect_close(rig.exactly(5, 3)[0], 1.25);
            // With scene-referred color it is tone mapped, as with `Hdr`.
            let world = rig.app.world_mut();
            world.entity_mut(eye).insert(Tonemapping::Reinhard);
            expect_close(rig.exactly(5, 3)[0], 1.25 / 2.25);
            rig.app.world_mut().entity_mut(eye).remove::<Affine<0>>();
            let expected = if is_hdr { 0.125 / 1.125 } else { 0.125 };
            expect_close(rig.exactly(5, 3)[0], expected);
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn effects_of_a_camera_that_keeps_the_target_read_what_earlier_cameras_drew() {
    for (is_hdr, msaa) in [
        (false, Msaa::Off),
        (false, Msaa::Sample4),
        (true, Msaa::Off),
        (true, Msaa::Sample4),
    ] {
        let mut over = Entity::PLACEHOLDER;
        let mut rig = rig(|world| {
            camera(world, 0, 0.25, msaa);
            over = empty_camera(world, 1, ClearColorConfig::None);
            let settings = (msaa, Tonemapping::Reinhard);
            world.entity_mut(over).insert(settings);
        });
        set_hdr(&mut rig, over, is_hdr);
        set_viewport(&mut rig, over, [4, 2, 20, 10]);
        let subject = format!("Hdr {is_hdr}, {msaa:?}");
        let shown = |rig: &mut Rig, inside: f32| {
            let rows = rig.exact_rows();
            for (x, y, expected) in [
                (4, 2, inside),
                (23, 11, inside),
                (3, 2, 0.25),
                (24, 11, 0.25),
            ] {
                let found: [f32; 4] = rows[y][x];
                assert!(
                    (found[0] - expected).abs() < 2e-3 && found[3] == 1.0,
                    "{subject}: {found:?} at {x}, {y}, not {expected}"
                );
            }
        };
        shown(&mut rig, 0.25);
        expect_passes(&plan(&mut rig), &[], &["load_target_3d", "copy target"]);
        // Target contents that are loaded after tone mapping are not mapped again.
        rig.app.world_mut().entity_mut(over).insert(AFTER);
        shown(&mut rig, 0.625);
        expect_passes(&plan(&mut rig), &["load_target_3d", "copy target"], &[]);
        // Target contents that are loaded before tone mapping are mapped, as in bevy.
        rig.app.world_mut().entity_mut(over).insert(BEFORE);
        rig.app.world_mut().entity_mut(over).remove::<Affine<2>>();
        shown(&mut rig, 1.5 / 2.5);
        rig.app.world_mut().entity_mut(over).insert(AFTER);
        shown(&mut rig, 0.3 + 0.5);
        rig.app
            .world_mut()
            .entity_mut(over)
            .remove::<(Affine<0>, Affine<2>)>();
        shown(&mut rig, 0.25);
    }
}

#[test]
#[ignore = "needs a device"]
fn effects_of_cameras_that_draw_to_image_assets_are_in_the_image() {
    let mut image = Handle::default();
    let mut rig = rig(|world| {
        let mut target = Image::new_fill(
            Extent3d {
                width: 8,
                height: 8,
                depth_or_array_layers: 1,
            },
            TextureDimension::D2,
            &[0; 4],
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::default(),
        );
        target.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
        image = world.resource_mut::<Assets<Image>>().add(target);
        let eye = camera(world, 0, 0.25, Msaa::Sample4);
        let target = RenderTarget::Image(ImageRenderTarget::from(image.clone()));
        world.entity_mut(eye).insert((target, BEFORE, AFTER));
        // A later camera with an effect keeps the contents of the image.
        let over = empty_camera(world, 1, ClearColorConfig::None);
        let target = RenderTarget::Image(ImageRenderTarget::from(image.clone()));
        let half = Affine::<2> {
            scale: 0.5,
            offset: 0.0,
        };
        world.entity_mut(over).insert((target, half));
    });
    rig.update(3);
    let images = rig
        .app
        .world()
        .resource::<quadrille_3d::content::images::DeviceImages>();
    let drawn = images.image(&image).expect("it is on the device").clone();
    let picture = rig.read(Readback::image(&drawn));
    // 0.25 * 2 + 1, clipped to 1 by the format after tone mapping, * 0.5 + 0.5, halved.
    let expected = Color::linear_rgb(0.5, 0.5, 0.5).to_srgba().to_u8_array();
    for (at, pixel) in picture.pixels.iter().enumerate() {
        let off = pixel[0].abs_diff(expected[0]);
        assert!(
            off <= 1 && pixel[3] == 255,
            "{pixel:?} at {at}, not {expected:?}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn pass_of_another_stage_than_its_effect_has_a_warning() {
    crate::common::log::collect();
    let mut rig = rig(|world| {
        let eye = camera(world, 0, 0.25, Msaa::Off);
        world.entity_mut(eye).insert((Hdr, AFTER));
    });
    // Pass of an effect before tone mapping, where the effect has no images: its stage is after tone mapping.
    let misplaced = crate::camera_effects::affine::<2>;
    rig.app.add_systems(
        quadrille::prelude::Render,
        misplaced.in_set(Pass3dSystems::PostProcess),
    );
    rig.update(3);
    let lines = crate::common::log::take();
    let is_warning = |line: &String| line.contains("before tone mapping") && line.contains("STAGE");
    assert!(lines.iter().any(is_warning), "{lines:#?}");
    expect_close(rig.exactly(1, 1)[0], 0.625);
    assert_eq!(Affine::<2>::STAGE, Pass3dSystems::AfterTonemapping);
}
