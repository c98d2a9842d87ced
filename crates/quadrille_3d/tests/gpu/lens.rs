//! Lens effects against their formulas, before and after tone mapping.

use bevy_asset::RenderAssetUsages;
use bevy_camera::Hdr;
use bevy_image::Image;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::SceneColors;
use quadrille_3d::{ChromaticAberration, LensDistortion, Vignette};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::camera_effects::camera;
use crate::common::Rig;
use crate::fxaa::{SIDE, half_plane};

type Rows = Vec<Vec<[f32; 4]>>;

/// Samples bilinearly at texture coordinates, clamped to the edge.
fn sample(rows: &Rows, [u, v]: [f64; 2]) -> [f64; 3] {
    let last = SIDE as usize - 1;
    let at = |length: f64| {
        let texel = (length * f64::from(SIDE) - 0.5).clamp(0.0, last as f64);
        (texel as usize, texel.fract())
    };
    let ((x, right), (y, below)) = (at(u), at(v));
    std::array::from_fn(|channel| {
        let red = |x: usize, y: usize| f64::from(rows[y.min(last)][x.min(last)][channel]);
        let top = red(x, y) * (1.0 - right) + red(x + 1, y) * right;
        let bottom = red(x, y + 1) * (1.0 - right) + red(x + 1, y + 1) * right;
        top * (1.0 - below) + bottom * below
    })
}

/// Picture with the effects, of the picture without.
struct Reference {
    aberration: ChromaticAberration,
    distortion: LensDistortion,
    vignette: Vignette,
}

impl Reference {
    fn distorted(&self, uv: [f64; 2]) -> [f64; 2] {
        let it = &self.distortion;
        let center = it.center.as_dvec2();
        let [x, y] = uv;
        let from = bevy_math::DVec2::new(x, y) - center;
        let r = from.length();
        let direction = (from / r.max(1e-9)).abs();
        let k1 = f64::from(it.intensity) * direction.dot(it.multiplier.as_dvec2());
        let k2 = k1 * f64::from(it.intensity) * f64::from(it.edge_curvature);
        let factor = 1.0 + k1 * r.powi(2) + k2 * r.powi(4);
        let moved = center + from * factor / f64::from(it.scale);
        moved
            .clamp(bevy_math::DVec2::ZERO, bevy_math::DVec2::ONE)
            .to_array()
    }

    fn aberrated(&self, plain: &Rows, [u, v]: [f64; 2]) -> [f64; 3] {
        let line = [0.5 - u, 0.5 - v].map(|side| side * f64::from(self.aberration.intensity));
        let length = line[0].hypot(line[1]) * f64::from(SIDE);
        let samples = (length.ceil() as u32).min(self.aberration.max_samples);
        if samples <= 1 {
            return sample(plain, [u, v]);
        }
        let (mut sum, mut weights) = ([0.0; 3], [0.0; 3]);
        for i in 0..samples {
            let t = (f64::from(i) + 0.5) / f64::from(samples);
            // Red, green and blue at 0, 1/2 and 1.
            let weight = [1.0 - 2.0 * t, 1.0 - (2.0 * t - 1.0).abs(), 2.0 * t - 1.0];
            let color = sample(plain, [u + line[0] * t, v + line[1] * t]);
            for channel in 0..3 {
                let weight = weight[channel].max(0.0);
                sum[channel] += color[channel] * weight;
                weights[channel] += weight;
            }
        }
        std::array::from_fn(|channel| sum[channel] / weights[channel])
    }

    /// Part of the picture that the vignette keeps, in a square view.
    fn kept(&self, [u, v]: [f64; 2]) -> f64 {
        let it = &self.vignette;
        let from = bevy_math::DVec2::new(u, v) - it.center.as_dvec2();
        let d = (from / bevy_math::DVec2::new(1.0, f64::from(it.roundness))).length();
        let inside = 1.0 - (d / f64::from(it.radius)).powi(2);
        let share = 1.0 - inside.max(0.0).powf(f64::from(it.smoothness));
        1.0 - share * f64::from(it.intensity)
    }
}

/// Texture coordinates of the middle of a pixel.
fn uv(x: usize, y: usize) -> [f64; 2] {
    [x, y].map(|pixel| (pixel as f64 + 0.5) / f64::from(SIDE))
}

#[test]
#[ignore = "needs a device"]
fn lens_effects_follow_their_formulas() {
    let reference = Reference {
        aberration: ChromaticAberration {
            intensity: 0.4,
            ..ChromaticAberration::default()
        },
        distortion: LensDistortion {
            intensity: -0.6,
            scale: 1.25,
            multiplier: Vec2::new(1.0, 0.5),
            center: Vec2::new(0.45, 0.6),
            edge_curvature: 0.5,
        },
        vignette: Vignette {
            intensity: 0.8,
            smoothness: 2.0,
            roundness: 0.8,
            center: Vec2::new(0.4, 0.55),
            ..Vignette::default()
        },
    };
    let plain = half_plane(0.3, ()).exact_rows();
    let effects = (
        reference.aberration.clone(),
        reference.distortion.clone(),
        reference.vignette.clone(),
    );
    for is_hdr in [false, true] {
        let mut rig = match is_hdr {
            true => half_plane(0.3, (effects.clone(), Hdr)),
            false => half_plane(0.3, effects.clone()),
        };
        let rows = rig.exact_rows();
        let mut largest: f64 = 0.0;
        for (y, row) in rows.iter().enumerate() {
            for (x, texel) in row.iter().enumerate() {
                let at = reference.distorted(uv(x, y));
                let color = reference.aberrated(&plain, at);
                for channel in 0..3 {
                    let expected = color[channel] * reference.kept(uv(x, y));
                    let off = (f64::from(texel[channel]) - expected).abs();
                    largest = largest.max(off);
                }
            }
        }
        // Texture units have 8 bits of position within a texel.
        assert!(largest < 6e-3, "Hdr {is_hdr}: {largest}");
    }
}

#[test]
#[ignore = "needs a device"]
fn vignette_is_before_tone_mapping_with_hdr_and_after_it_without() {
    for is_hdr in [false, true] {
        let mut rig = Rig::new(SIDE, SIDE);
        rig.start();
        let world = rig.app.world_mut();
        let eye = camera(world, 0, 1.0, Msaa::Off);
        let settings = (Tonemapping::Reinhard, DebandDither::Disabled);
        world
            .entity_mut(eye)
            .insert((settings, Vignette::default()));
        if is_hdr {
            world.entity_mut(eye).insert(Hdr);
        }
        let reference = Reference {
            aberration: ChromaticAberration::default(),
            distortion: LensDistortion::default(),
            vignette: Vignette::default(),
        };
        let rows = rig.exact_rows();
        for (x, y) in [(16, 16), (4, 9), (30, 20)] {
            let kept = reference.kept(uv(x, y));
            let expected = match is_hdr {
                true => kept / (1.0 + kept),
                false => 0.5 * kept,
            };
            let found = f64::from(rows[y][x][0]);
            assert!(
                (found - expected).abs() < 3e-3,
                "Hdr {is_hdr}: {found}, not {expected}"
            );
        }
        let intensity_0 = Vignette {
            intensity: 0.0,
            ..Vignette::default()
        };
        rig.app.world_mut().entity_mut(eye).insert(intensity_0);
        rig.update(2);
        assert_eq!(
            rig.app.world().resource::<SceneColors>().len(),
            1,
            "it costs an image"
        );
        assert!((rig.exactly(0, 0)[0] - 0.5).abs() < 2e-3);
    }
}

#[test]
#[ignore = "needs a device"]
fn fringes_have_the_colors_of_the_lut() {
    let strongest = |rig: &mut Rig| {
        let rows = rig.exact_rows();
        let mut fringe = [0.0_f32; 3];
        for [red, green, blue, _] in rows.into_iter().flatten() {
            fringe[0] = fringe[0].max((red - green).abs());
            fringe[1] = fringe[1].max((green - blue).abs());
            fringe[2] = fringe[2].max((blue - red).abs());
        }
        fringe
    };
    let aberration = ChromaticAberration {
        intensity: 0.4,
        ..ChromaticAberration::default()
    };
    let mut rig = half_plane(0.0, aberration.clone());
    let [red_green, green_blue, blue_red] = strongest(&mut rig);
    assert!(red_green > 0.05 && green_blue > 0.05 && blue_red > 0.1);
    // Yellow, then blue: red and green are the same.
    let lut = Image::new(
        Extent3d {
            width: 2,
            height: 1,
            depth_or_array_layers: 1,
        },
        TextureDimension::D2,
        vec![255, 255, 0, 255, 0, 0, 255, 255],
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    let lut = rig.app.world_mut().resource_mut::<Assets<Image>>().add(lut);
    let mut eyes = rig.app.world_mut().query::<&mut ChromaticAberration>();
    for mut aberration in eyes.iter_mut(rig.app.world_mut()) {
        aberration.color_lut = Some(lut.clone());
    }
    let [red_green, green_blue, _] = strongest(&mut rig);
    assert!(
        red_green < 1e-3 && green_blue > 0.1,
        "{red_green}, {green_blue}"
    );
}

#[test]
#[ignore = "needs a device"]
fn lens_effects_with_numbers_that_are_not_finite_have_a_warning() {
    crate::common::log::collect();
    let vignette = Vignette {
        radius: f32::NAN,
        ..Vignette::default()
    };
    let distortion = LensDistortion {
        center: Vec2::new(f32::INFINITY, 0.0),
        ..LensDistortion::default()
    };
    let plain = half_plane(0.3, ()).exact_rows();
    crate::common::log::take();
    for (effect, value) in [(0, "radius"), (1, "center")] {
        let mut rig = match effect {
            0 => half_plane(0.3, vignette.clone()),
            _ => half_plane(0.3, distortion.clone()),
        };
        assert!(rig.exact_rows() == plain, "{value} changes the picture");
        let lines = crate::common::log::take();
        let is_warning = |line: &String| line.contains("lens effect") && line.contains(value);
        assert!(lines.iter().any(is_warning), "{lines:#?}");
    }
}
