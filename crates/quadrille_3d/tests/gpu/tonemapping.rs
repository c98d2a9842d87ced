//! Tone mapping, color grading and dither against formulas in double precision.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::{CompressedImageFormats, Image, ImageSampler, ImageType};
use bevy_light::GlobalAmbientLight;
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig};

/// Scene-referred colors, dark to bright, saturated and gray.
pub(crate) const COLORS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [0.1875, 0.1875, 0.1875],
    [0.5, 0.25, 0.0625],
    [4.0, 2.0, 0.5],
    [0.03125, 0.875, 0.25],
    [30.0, 1.0, 1.0],
    [0.5, 0.375, 0.4375],
    [0.0625, 0.0625, 0.5],
];

/// A camera that sees a column of pixels of each color.
fn rig() -> (Rig, Entity) {
    let mut rig = Rig::new(8, 8);
    let world = rig.app.world_mut();
    world.insert_resource(GlobalAmbientLight::NONE);
    let mesh = world
        .resource_mut::<Assets<Mesh>>()
        .add(Rectangle::new(1.0, 8.0));
    for (at, [r, g, b]) in (0u8..).zip(COLORS) {
        let material = StandardMaterial {
            unlit: true,
            ..StandardMaterial::from(Color::linear_rgb(r, g, b))
        };
        let material = world
            .resource_mut::<Assets<StandardMaterial>>()
            .add(material);
        let place = Transform::from_xyz(f32::from(at) - 3.5, 0.0, 0.0);
        world.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(material), place));
    }
    let camera = world
        .spawn((
            Camera3d::default(),
            RenderTarget::TextureView(EXACT),
            Projection::from(OrthographicProjection::default_3d()),
            DebandDither::Disabled,
            Msaa::Off,
            Transform::from_xyz(0.0, 0.0, 10.0),
        ))
        .id();
    rig.start();
    (rig, camera)
}

fn shown(rig: &mut Rig, camera: Entity, components: impl Bundle) -> Vec<[f32; 4]> {
    rig.app.world_mut().entity_mut(camera).insert(components);
    rig.exact_row(4)
}

fn expect(found: &[[f32; 4]], what: &str, wanted: impl Fn([f64; 3]) -> [f64; 3]) {
    for (found, color) in found.iter().zip(COLORS) {
        let wanted = wanted(color.map(f64::from));
        for (found, wanted) in found.iter().zip(wanted) {
            let off = (f64::from(*found) - wanted).abs();
            assert!(
                off <= 1.5e-3 * wanted.abs().max(1.0),
                "{what} of {color:?}: {found}, not {wanted}"
            );
        }
    }
}

fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn times(rows: [[f64; 3]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    rows.map(|[a, b, c]| a * x + b * y + c * z)
}

fn aces(color: [f64; 3]) -> [f64; 3] {
    const IN: [[f64; 3]; 3] = [
        [0.59719, 0.35458, 0.04823],
        [0.076, 0.90834, 0.01566],
        [0.0284, 0.13383, 0.83777],
    ];
    const OUT: [[f64; 3]; 3] = [
        [1.60475, -0.53108, -0.07367],
        [-0.10208, 1.10813, -0.00605],
        [-0.00327, -0.07276, 1.07602],
    ];
    let curve =
        |v: f64| (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.432951) + 0.238081);
    times(OUT, times(IN, color).map(curve)).map(|channel| channel.clamp(0.0, 1.0))
}

fn somewhat_boring(color: [f64; 3]) -> [f64; 3] {
    let [luma, blue, red] = times(
        [
            [0.2126, 0.7152, 0.0722],
            [-0.1146, -0.3854, 0.5],
            [0.5, -0.4542, -0.0458],
        ],
        color,
    );
    let curve = |v: f64| 1.0 - (-v).exp();
    let vivid = curve(blue.hypot(red) * 2.4);
    let fade = ((vivid - 0.7) * 0.8).max(0.0).powi(2);
    color.map(|channel| {
        let by_luminance = channel * curve(luma) / luma.max(1e-5);
        let by_channel = curve(channel + (luma - channel) * fade);
        (by_luminance + (by_channel - by_luminance) * vivid * vivid) * 0.97
    })
}

/// Khronos' PBR Neutral, by the text of its specification.
fn khronos(color: [f64; 3]) -> [f64; 3] {
    const START: f64 = 0.8 - 0.04;
    let least = color.into_iter().fold(f64::MAX, f64::min);
    let offset = if least < 0.08 {
        least - 6.25 * least * least
    } else {
        0.04
    };
    let lifted = color.map(|channel| channel - offset);
    let peak = lifted.into_iter().fold(0.0, f64::max);
    if peak < START {
        return lifted;
    }
    let new = 1.0 - (1.0 - START).powi(2) / (peak + 1.0 - 2.0 * START);
    let grey = 1.0 - 1.0 / (0.15 * (peak - new) + 1.0);
    lifted.map(|channel| channel * new / peak * (1.0 - grey) + new * grey)
}

#[test]
#[ignore = "needs a device"]
fn analytic_tone_mapping_matches_formulas() {
    type Method = fn([f64; 3]) -> [f64; 3];
    let (mut rig, camera) = rig();
    let methods: [(Tonemapping, Method); 7] = [
        (Tonemapping::None, |color| color),
        (Tonemapping::Linear, |color| color),
        (Tonemapping::Reinhard, |color| color.map(|c| c / (1.0 + c))),
        (Tonemapping::ReinhardLuminance, |color| {
            color.map(|channel| channel / (1.0 + luminance(color)))
        }),
        (Tonemapping::AcesFitted, aces),
        (Tonemapping::SomewhatBoringDisplayTransform, somewhat_boring),
        (Tonemapping::KhronosPbrNeutral, khronos),
    ];
    for (method, wanted) in methods {
        let found = shown(&mut rig, camera, method);
        expect(&found, &format!("{method:?}"), wanted);
    }
}

/// The LUT of a file: its side length and its colors.
struct Table(usize, Vec<[f64; 3]>);

impl Table {
    fn new(bytes: &[u8]) -> Self {
        let image = Image::from_buffer(
            bytes,
            ImageType::Extension("ktx2"),
            CompressedImageFormats::NONE,
            false,
            ImageSampler::linear(),
            RenderAssetUsages::default(),
        )
        .expect("the file is whole");
        let side = image.texture_descriptor.size.width as usize;
        let data = image.data.expect("there are texels");
        let texels = match data.len() / (side * side * side) {
            4 => data.chunks(4).map(shared_exponent).collect(),
            _ => data.chunks(8).map(halves).collect(),
        };
        Self(side, texels)
    }

    /// Interpolated from the eight neighbors of a position between 0 and 1.
    fn at(&self, place: [f64; 3]) -> [f64; 3] {
        let Self(side, texels) = self;
        let place = place.map(|part| part.clamp(0.0, 1.0) * (*side - 1) as f64);
        let mut sum = [0.0; 3];
        for corner in 0..8usize {
            let (mut index, mut weight) = (0, 1.0);
            for axis in [2, 1, 0] {
                let low = place[axis].floor();
                let part = place[axis] - low;
                let high = corner >> axis & 1;
                index = index * side + (low as usize + high).min(side - 1);
                weight *= if high == 1 { part } else { 1.0 - part };
            }
            for (sum, channel) in sum.iter_mut().zip(texels[index]) {
                *sum += weight * channel;
            }
        }
        sum
    }
}

fn shared_exponent(bytes: &[u8]) -> [f64; 3] {
    let bits = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    let scale = f64::from((bits >> 27) as i32 - 24).exp2();
    [0, 9, 18].map(|shift| f64::from(bits >> shift & 511) * scale)
}

fn halves(bytes: &[u8]) -> [f64; 3] {
    [0, 2, 4].map(|at| {
        let bits = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
        match exponent {
            0 => fraction * (-14f64).exp2(),
            _ => (1.0 + fraction) * f64::from(exponent - 15).exp2(),
        }
    })
}

fn stops(color: [f64; 3], least: f64, most: f64) -> [f64; 3] {
    color.map(|channel| {
        let lifted = channel
            + if channel < 1.0 / 32768.0 {
                1.0 / 65536.0
            } else {
                0.0
            };
        (((lifted / 0.18).log2() - least) / (most - least)).clamp(0.0, 1.0)
    })
}

#[test]
#[ignore = "needs a device"]
fn lut_tone_mapping_interpolates_trilinearly() {
    let (mut rig, camera) = rig();
    let [tony, agx, blender] = [
        &include_bytes!("../../../../assets/tonemapping/tony_mc_mapface.ktx2")[..],
        include_bytes!("../../../../assets/tonemapping/agx.ktx2"),
        include_bytes!("../../../../assets/tonemapping/blender_filmic.ktx2"),
    ]
    .map(Table::new);
    let found = shown(&mut rig, camera, Tonemapping::TonyMcMapface);
    expect(&found, "Tony", |color| {
        tony.at(color.map(|c| c / (1.0 + c)))
    });
    let [r, g, b, _] = found[1];
    assert!(
        (r - g).abs().max((r - b).abs()) < 2e-3,
        "grey is grey: {r} {g} {b}"
    );
    let found = shown(&mut rig, camera, Tonemapping::AgX);
    expect(&found, "AgX", |color| {
        let mix = [
            [0.84247906, 0.0784336, 0.07922375],
            [0.04232824, 0.87846864, 0.07916613],
            [0.04237565, 0.0784336, 0.87914297],
        ];
        agx.at(stops(times(mix, color), -10.0, 6.5))
    });
    let found = shown(&mut rig, camera, Tonemapping::BlenderFilmic);
    expect(&found, "Blender's", |color| {
        blender.at(stops(color, -11.0, 12.0))
    });
}

fn section(change: impl FnOnce(&mut ColorGradingSection)) -> ColorGradingSection {
    let mut section = ColorGradingSection::default();
    change(&mut section);
    section
}

fn global(change: impl FnOnce(&mut ColorGradingGlobal)) -> ColorGrading {
    let mut grading = ColorGrading::default();
    change(&mut grading.global);
    grading
}

#[test]
#[ignore = "needs a device"]
fn color_grading_fields_apply() {
    let (mut rig, camera) = rig();
    let mut graded =
        |grading: ColorGrading| shown(&mut rig, camera, (Tonemapping::Linear, grading));
    let found = graded(global(|it| it.exposure = 1.0));
    expect(&found, "a stop", |color| color.map(|channel| 2.0 * channel));
    let found = graded(global(|it| it.post_saturation = 0.5));
    expect(&found, "saturation", |color| {
        color.map(|channel| (channel + luminance(color)) / 2.0)
    });
    let found = graded(global(|it| it.hue = 2.0 * std::f32::consts::FRAC_PI_3));
    expect(&found, "a third of a turn", |[r, g, b]| [b, r, g]);
    // No color lies in the blend from midtones to highlights.
    let sections = ColorGrading {
        shadows: section(|it| it.lift = 0.25),
        midtones: section(|it| (it.contrast, it.saturation) = (1.5, 0.5)),
        highlights: section(|it| (it.gain, it.gamma) = (0.5, 2.0)),
        ..global(|it| it.midtones_range = 0.31..0.8)
    };
    let found = graded(sections);
    expect(&found, "sections", |color| {
        let luma = luminance(color);
        color.map(|channel| match color.iter().sum::<f64>() / 3.0 {
            level if level < 0.21 => channel + 0.25,
            level if level > 0.9 => (channel * 0.5).sqrt(),
            // From 0.21 to 0.41, shadows blend linearly into midtones.
            level => {
                let part = ((level - 0.31) / 0.2 + 0.5).min(1.0);
                let grey = luma + (1.0 - 0.5 * part) * (channel - luma);
                let spread = 0.5 + (grey - 0.5) * (1.0 + 0.5 * part);
                let lifted = spread + 0.25 * (1.0 - part);
                lifted.max(0.0)
            }
        })
    });
    let found = shown(
        &mut rig,
        camera,
        (Tonemapping::None, global(|it| it.exposure = 1.0)),
    );
    expect(&found, "nothing", |color| color);
}

/// Cone responses to a color in CIE 1931 xy of luminance 1, by the matrix of CAM16.
fn responses(x: f64, y: f64) -> [f64; 3] {
    let rows = [
        [0.401288, 0.650173, -0.051461],
        [-0.250268, 1.204414, 0.045854],
        [-0.002079, 0.048952, 0.953127],
    ];
    times(rows, [x / y, 1.0, (1.0 - x - y) / y])
}

/// The linear sRGB color of cone responses (white is 1 each), with bevy's constants.
fn srgb_of(responses: [f64; 3]) -> [f64; 3] {
    let rows = [
        [4.06305, -2.93241, -0.130646],
        [-0.40791, 1.40437, 0.0035363],
        [-0.0118812, -0.0486532, 1.0605344],
    ];
    times(rows, responses)
}

#[test]
#[ignore = "needs a device"]
fn white_balance_maps_white_point_to_grey() {
    let (mut rig, camera) = rig();
    let [white, usual] =
        [(-0.03, 0.02), (0.0, 0.0)].map(|(x, y)| responses(0.31272 + x, 0.32903 + y));
    let white = srgb_of([0, 1, 2].map(|cone| white[cone] / usual[cone]));
    let [r, g, b] = white.map(|channel| channel as f32);
    let world = rig.app.world_mut();
    for (_, material) in world.resource_mut::<Assets<StandardMaterial>>().iter_mut() {
        material.base_color = Color::linear_rgb(r, g, b);
    }
    let grading = global(|it| (it.temperature, it.tint) = (0.03, 0.02));
    let [r, g, b, _] = shown(&mut rig, camera, (Tonemapping::Linear, grading))[4];
    let most = (r - 1.0).abs().max((g - 1.0).abs()).max((b - 1.0).abs());
    assert!(most < 0.01, "{r} {g} {b} of {white:?}");
}

#[test]
#[ignore = "needs a device"]
fn dither_is_below_one_step() {
    let (mut rig, camera) = rig();
    let components = (Tonemapping::Linear, DebandDither::Enabled);
    let found = shown(&mut rig, camera, components);
    let mut most = 0.0f64;
    for (found, color) in found.iter().zip(COLORS).skip(1) {
        for (found, color) in found.iter().zip(color) {
            let seen = |channel: f32| f64::from(channel).powf(1.0 / 2.2);
            most = most.max((seen(*found) - seen(color)).abs());
        }
    }
    // Half floats of colors above 1 have a larger rounding error.
    assert!(most < 0.6 / 255.0 && most > 0.2 / 255.0, "{}", most * 255.0);
    let found = shown(&mut rig, camera, (Tonemapping::None, DebandDither::Enabled));
    expect(&found, "nothing", |color| color);
}
