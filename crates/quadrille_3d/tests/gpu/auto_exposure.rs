//! Auto exposure in stops: target, compensation, metering mask and speed.

use std::time::Duration;

use bevy_asset::RenderAssetUsages;
use bevy_camera::Hdr;
use bevy_curve::cubic_splines::LinearSpline;
use bevy_image::Image;
use bevy_time::TimeUpdateStrategy;
use quadrille::prelude::Renderer;
use quadrille_3d::auto_exposure::{
    AutoExposure, AutoExposureCompensationCurve, AutoExposurePlugin,
};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::camera_effects::{camera, set_viewport};
use crate::common::Rig;

/// Adapts at once.
fn immediate() -> AutoExposure {
    AutoExposure {
        speed_brighten: 1e6,
        speed_darken: 1e6,
        ..AutoExposure::default()
    }
}

fn rig() -> Rig {
    let mut rig = Rig::new(32, 16);
    let step = TimeUpdateStrategy::ManualDuration(Duration::from_millis(50));
    rig.app
        .add_plugins(AutoExposurePlugin)
        .insert_resource(step);
    rig.start();
    rig
}

/// Mean luminance that the histogram of the default range has of one value, in stops.
fn metered(value: f32) -> f32 {
    let share = (value.log2() + 8.0) / 16.0;
    let bin = 1.0 + (share * 62.0).floor();
    bin / 63.0 * 16.0 - 8.0
}

/// Exposure of a picture of one value, in stops.
fn exposure(rig: &mut Rig, value: f32) -> f32 {
    (rig.exactly(20, 8)[0] / value).log2()
}

fn expect_stops(found: f32, expected: f32) {
    assert!(
        (found - expected).abs() < 0.01,
        "{found} stops, not {expected}"
    );
}

#[test]
#[ignore = "needs a device"]
fn exposure_is_opposite_to_mean_luminance() {
    for value in [0.02, 0.3, 1.1, 40.0] {
        let mut rig = rig();
        let eye = camera(rig.app.world_mut(), 0, value, Msaa::Off);
        rig.app
            .world_mut()
            .entity_mut(eye)
            .insert((immediate(), Hdr));
        rig.update(3);
        expect_stops(exposure(&mut rig, value), -metered(value));
        // Another view does not count.
        set_viewport(&mut rig, eye, [16, 0, 16, 16]);
        camera(rig.app.world_mut(), 1, 3.0, Msaa::Off);
        let other = AutoExposure {
            range: 0.0..=2.0,
            ..immediate()
        };
        let left = camera(rig.app.world_mut(), 2, 0.7, Msaa::Off);
        set_viewport(&mut rig, left, [0, 0, 16, 16]);
        rig.app.world_mut().entity_mut(left).insert((other, Hdr));
        rig.app
            .world_mut()
            .get_mut::<Camera>(eye)
            .expect("it has one")
            .order = 5;
        rig.app
            .world_mut()
            .get_mut::<Camera>(eye)
            .expect("it has one")
            .clear_color = ClearColorConfig::None;
        rig.update(3);
        expect_stops(exposure(&mut rig, value), -metered(value));
        // Darker than the range: its darkest.
        expect_stops((rig.exactly(3, 8)[0] / 0.7).log2(), 0.0);
    }
}

#[test]
#[ignore = "needs a device"]
fn compensation_curve_adds_stops_by_luminance() {
    let mut rig = rig();
    let points = [Vec2::new(-4.0, -2.0), Vec2::new(4.0, 2.0)];
    let curve = AutoExposureCompensationCurve::from_curve(LinearSpline::new(points));
    let curve = curve.expect("it is a line");
    let mut curves = rig
        .app
        .world_mut()
        .resource_mut::<Assets<AutoExposureCompensationCurve>>();
    let curve = curves.add(curve);
    let value = 0.125;
    let eye = camera(rig.app.world_mut(), 0, value, Msaa::Off);
    let settings = AutoExposure {
        compensation_curve: curve,
        ..immediate()
    };
    rig.app.world_mut().entity_mut(eye).insert((settings, Hdr));
    rig.update(3);
    let mean = metered(value);
    let found = exposure(&mut rig, value);
    assert!((found - (0.5 * mean - mean)).abs() < 0.03, "{found}");
}

#[test]
#[ignore = "needs a device"]
fn metering_mask_weights_parts_of_the_view() {
    let mut rig = rig();
    let left = 0.05;
    let eye = camera(rig.app.world_mut(), 0, left, Msaa::Off);
    // The right half is brighter.
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(100.0, 100.0));
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(20.0, 20.0, 20.0))
    };
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let place = Transform::from_xyz(50.0, 0.0, 0.1);
    world.spawn((
        Mesh3d(mesh),
        MeshMaterial3d(material),
        place,
        RenderLayers::layer(0),
    ));
    let mask = |texels: [u8; 2]| {
        Image::new(
            Extent3d {
                width: 2,
                height: 1,
                depth_or_array_layers: 1,
            },
            TextureDimension::D2,
            texels.to_vec(),
            TextureFormat::R8Unorm,
            RenderAssetUsages::default(),
        )
    };
    for (texels, metered_value) in [([255, 0], left), ([0, 255], 20.0)] {
        let mask = rig
            .app
            .world_mut()
            .resource_mut::<Assets<Image>>()
            .add(mask(texels));
        let settings = AutoExposure {
            metering_mask: mask,
            ..immediate()
        };
        rig.app.world_mut().entity_mut(eye).insert((settings, Hdr));
        rig.update(5);
        let found = (rig.exactly(4, 8)[0] / left).log2();
        expect_stops(found, -metered(metered_value));
    }
}

#[test]
#[ignore = "needs a device"]
fn exposure_adapts_at_its_speed() {
    let mut rig = rig();
    let eye = camera(rig.app.world_mut(), 0, 60.0, Msaa::Off);
    // 0.05 stops a frame.
    let settings = AutoExposure {
        speed_brighten: 1.0,
        exponential_transition_distance: 0.1,
        ..AutoExposure::default()
    };
    rig.app.world_mut().entity_mut(eye).insert((settings, Hdr));
    let frames = |rig: &Rig| rig.app.world().resource::<Renderer>().submitted_frames();
    let (first, from) = (exposure(&mut rig, 60.0), frames(&rig));
    rig.update(40);
    let (last, to) = (exposure(&mut rig, 60.0), frames(&rig));
    let speed = (first - last) / (to - from) as f32;
    assert!((speed - 0.05).abs() < 5e-3, "{speed} stops a frame");
}
