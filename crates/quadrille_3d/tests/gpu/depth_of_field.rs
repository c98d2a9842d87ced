//! Depth of field against the thin lens formula.

use quadrille_3d::prelude::*;
use quadrille_3d::{DepthOfField, DepthOfFieldMode};

use crate::common::{EXACT, Rig};

const SIDE: u32 = 64;
/// Vertical field of view, in radians.
const FOV: f32 = 0.8;
/// Distance of the planes, in meters.
const DISTANCE: f32 = 5.0;

/// A grey half plane right of a black one, both at [`DISTANCE`], with the edge in the middle of the view.
fn edge(lens: DepthOfField, msaa: Msaa) -> Vec<[f32; 4]> {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(100.0, 100.0));
    for (x, value) in [(-50.0, 0.0), (50.0, 0.5)] {
        let material = StandardMaterial {
            unlit: true,
            ..StandardMaterial::from(Color::linear_rgb(value, value, value))
        };
        let material = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(material);
        world.spawn((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(material),
            Transform::from_xyz(x, 0.0, -DISTANCE),
        ));
    }
    world.spawn((
        Camera3d::default(),
        Projection::from(PerspectiveProjection {
            fov: FOV,
            ..PerspectiveProjection::default()
        }),
        (Tonemapping::None, msaa, lens),
        RenderTarget::TextureView(EXACT),
    ));
    rig.exact_row(SIDE / 2)
}

/// Diameter of the disk whose blur of the edge has the same variance.
fn measured_diameter(row: &[[f32; 4]]) -> f64 {
    let middle = f64::from(SIDE) / 2.0;
    let variance: f64 = (1..row.len())
        .map(|x| {
            let step = f64::from(row[x][0] - row[x - 1][0]) / 0.5;
            step * (x as f64 - middle).powi(2)
        })
        .sum();
    4.0 * variance.max(0.0).sqrt()
}

/// Diameter of the circle of confusion at [`DISTANCE`], in pixels (Potmesil and Chakravarty 1981).
fn thin_lens_diameter(lens: &DepthOfField) -> f64 {
    let sensor = f64::from(lens.sensor_height);
    let focal_length = 0.5 * sensor / (0.5 * f64::from(FOV)).tan();
    let aperture = focal_length / f64::from(lens.aperture_f_stops);
    let (z, focus) = (f64::from(DISTANCE), f64::from(lens.focal_distance));
    let magnification = focal_length / (focus - focal_length);
    aperture * magnification * (z - focus).abs() / z / sensor * f64::from(SIDE)
}

#[test]
#[ignore = "needs a device"]
fn circles_of_confusion_follow_the_thin_lens_formula() {
    let cases = [
        (1.0, 0.1, Msaa::Off),
        (40.0, 0.02, Msaa::Off),
        (1.0, 0.15, Msaa::Sample4),
    ];
    for mode in [DepthOfFieldMode::Gaussian, DepthOfFieldMode::Bokeh] {
        for (focal_distance, aperture_f_stops, msaa) in cases {
            let lens = DepthOfField {
                mode,
                focal_distance,
                aperture_f_stops,
                ..DepthOfField::default()
            };
            let expected = thin_lens_diameter(&lens);
            let found = measured_diameter(&edge(lens, msaa));
            assert!(
                expected > 8.0 && (found - expected).abs() < 0.05 * expected,
                "{lens:?}, {msaa:?}: {found}, not {expected}"
            );
        }
        let in_focus = DepthOfField {
            mode,
            focal_distance: DISTANCE,
            aperture_f_stops: 0.1,
            ..DepthOfField::default()
        };
        assert_eq!(measured_diameter(&edge(in_focus, Msaa::Off)), 0.0);
    }
}

#[test]
#[ignore = "needs a device"]
fn lenses_without_a_positive_aperture_have_a_warning() {
    crate::common::log::collect();
    crate::common::log::take();
    let lens = DepthOfField {
        aperture_f_stops: 0.0,
        ..DepthOfField::default()
    };
    assert_eq!(measured_diameter(&edge(lens, Msaa::Off)), 0.0);
    let lines = crate::common::log::take();
    let is_warning = |line: &String| line.contains("`aperture_f_stops` is 0");
    assert!(lines.iter().any(is_warning), "{lines:#?}");
}
