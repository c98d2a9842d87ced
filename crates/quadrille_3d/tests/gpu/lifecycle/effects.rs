//! Effects of cameras without a history.
//!
//! `tests/lifecycle_exceptions.txt` names those with a history.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    AtmosphereSettings, Bloom, BloomCompositeMode, ChromaticAberration, ContactShadows,
    ContrastAdaptiveSharpening, DepthOfField, DepthOfFieldMode, Fxaa, LensDistortion,
    OrderIndependentTransparencySettings, ScreenSpaceAmbientOcclusion,
    ScreenSpaceAmbientOcclusionQualityLevel, ScreenSpaceReflections, ScreenSpaceTransmission, Smaa,
    SmaaPreset, UnweightedBloom, Vignette,
};

use super::assets::plain;
use super::cameras::{ATMOSPHERE_SETTINGS, CAMERA, VOLUMETRIC_FOG};
use super::lights::SURROUNDINGS;
use super::parts::color;
use crate::common::lifecycle::{Part, part, remove, reset};

/// Requests `Hdr` by itself, also while no effect requires it.
#[derive(Component, Clone, Copy, Default)]
#[require(Hdr)]
pub(super) struct Wide;

/// Requests a prepass by itself.
#[derive(Component, Clone, Copy, Default)]
#[require(DepthPrepass)]
pub(super) struct Depth;

/// As [`Depth`].
#[derive(Component, Clone, Copy, Default)]
#[require(NormalPrepass)]
struct Normals;

/// As [`Depth`].
#[derive(Component, Clone, Copy, Default)]
#[require(DeferredPrepass)]
struct Deferred;

pub(super) const DEPTH_PREPASS: Part =
    part!("depth prepass", remove_effect::<Depth>, |world, _random| {
        Depth
    });

/// Removes an effect, and what no other one requires.
pub(super) fn remove_effect<C: Component>(world: &mut World, camera: Entity) {
    remove::<C>(world, camera);
    remove::<(Hdr, DepthPrepass, NormalPrepass, DeferredPrepass)>(world, camera);
    insert_again::<Wide>(world, camera);
    insert_again::<Depth>(world, camera);
    insert_again::<Normals>(world, camera);
    insert_again::<Deferred>(world, camera);
    insert_again::<AtmosphereSettings>(world, camera);
    insert_again::<Bloom>(world, camera);
    insert_again::<ContactShadows>(world, camera);
    insert_again::<ScreenSpaceAmbientOcclusion>(world, camera);
    insert_again::<ScreenSpaceReflections>(world, camera);
}

/// Inserts a component again, with all that it requires.
fn insert_again<C: Component + Clone>(world: &mut World, camera: Entity) {
    if let Some(component) = world.get::<C>(camera).cloned() {
        world.entity_mut(camera).insert(component);
    }
}

pub(super) const EFFECT_PARTS: &[Part] = &[
    CAMERA,
    part!("msaa", reset::<Msaa>, |world, random| random.pick(&[
        Msaa::Off,
        Msaa::Off,
        Msaa::Sample4
    ])),
    part!("hdr", remove_effect::<Wide>, |world, _random| Wide),
    part!("tone mapping", reset::<Tonemapping>, |world, random| random
        .pick(&[Tonemapping::None, Tonemapping::TonyMcMapface])),
    DEPTH_PREPASS,
    part!(
        "normal prepass",
        remove_effect::<Normals>,
        |world, _random| { Normals }
    ),
    part!("deferred", remove_effect::<Deferred>, |world, _random| {
        Deferred
    }),
    VOLUMETRIC_FOG,
    ATMOSPHERE_SETTINGS,
    SURROUNDINGS,
    part!(
        "contact shadows",
        remove_effect::<ContactShadows>,
        |world, random| {
            ContactShadows {
                length: random.between(0.1, 1.0),
                ..ContactShadows::default()
            }
        }
    ),
    part!(
        "ambient occlusion",
        remove_effect::<ScreenSpaceAmbientOcclusion>,
        |world, random| ScreenSpaceAmbientOcclusion {
            quality_level: random.pick(&[
                ScreenSpaceAmbientOcclusionQualityLevel::Low,
                ScreenSpaceAmbientOcclusionQualityLevel::High,
            ]),
            ..ScreenSpaceAmbientOcclusion::default()
        }
    ),
    part!(
        "reflections",
        remove_effect::<ScreenSpaceReflections>,
        |world, random| ScreenSpaceReflections {
            thickness: random.between(0.1, 1.0),
            ..ScreenSpaceReflections::default()
        }
    ),
    part!(
        "transmission",
        remove::<ScreenSpaceTransmission>,
        |world, random| ScreenSpaceTransmission {
            steps: random.below(3),
            ..ScreenSpaceTransmission::default()
        }
    ),
    part!(
        "order-independent transparency",
        remove::<OrderIndependentTransparencySettings>,
        |world, random| OrderIndependentTransparencySettings {
            sorted_fragment_max_count: random.pick(&[2, 8]),
            ..OrderIndependentTransparencySettings::default()
        }
    ),
    part!("bloom", remove_effect::<Bloom>, |world, random| Bloom {
        intensity: random.between(0.1, 0.8),
        composite_mode: random.pick(&[
            BloomCompositeMode::EnergyConserving,
            BloomCompositeMode::Additive,
        ]),
        max_mip_dimension: random.pick(&[32, 64]),
        ..Bloom::NATURAL
    }),
    part!(
        "unweighted bloom",
        remove::<UnweightedBloom>,
        |world, _random| UnweightedBloom
    ),
    part!("depth of field", remove::<DepthOfField>, |world, random| {
        DepthOfField {
            mode: random.pick(&[DepthOfFieldMode::Gaussian, DepthOfFieldMode::Bokeh]),
            focal_distance: random.between(3.0, 8.0),
            aperture_f_stops: 0.05,
            max_circle_of_confusion_diameter: 8.0,
            ..DepthOfField::default()
        }
    }),
    part!(
        "chromatic aberration",
        remove::<ChromaticAberration>,
        |world, random| ChromaticAberration {
            color_lut: random.one_in(2).then(|| plain(world, random)),
            intensity: random.between(0.02, 0.2),
            ..ChromaticAberration::default()
        }
    ),
    part!("distortion", remove::<LensDistortion>, |world, random| {
        LensDistortion {
            intensity: random.between(-0.5, 0.5),
            ..LensDistortion::default()
        }
    }),
    part!("vignette", remove::<Vignette>, |world, random| Vignette {
        intensity: random.unit(),
        color: color(random),
        ..Vignette::default()
    }),
    part!("fxaa", remove::<Fxaa>, |world, random| Fxaa {
        enabled: !random.one_in(4),
        ..Fxaa::default()
    }),
    part!("smaa", remove::<Smaa>, |world, random| Smaa {
        preset: random.pick(&[SmaaPreset::Low, SmaaPreset::Ultra]),
    }),
    part!(
        "sharpening",
        remove::<ContrastAdaptiveSharpening>,
        |world, random| ContrastAdaptiveSharpening {
            sharpening_strength: random.unit(),
            ..ContrastAdaptiveSharpening::default()
        }
    ),
    part!(
        "occlusion culling",
        remove::<OcclusionCulling>,
        |world, _random| OcclusionCulling
    ),
];
