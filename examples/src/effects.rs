//! Effects of 3D cameras, switched by a flag and by keys.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_light::{
    DirectionalLight, FogVolume, PointLight, SpotLight, VolumetricFog, VolumetricLight,
};
use bevy_math::Vec3;
use clap::{Args, ValueEnum};
use quadrille_3d::auto_exposure::{AutoExposure, AutoExposurePlugin};
use quadrille_3d::prelude::{Camera3d, Transform};
use quadrille_3d::{
    Bloom, ChromaticAberration, ContrastAdaptiveSharpening, DepthOfField, Fxaa, LensDistortion,
    Vignette,
};

/// The effects that are on at the start. F1 to F8 and F12 switch them in this order.
#[derive(Args, Clone, Debug, Default)]
pub struct EffectArgs {
    /// Effects of the camera, separated by commas; F1 to F8 and F12 switch them
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    effects: Vec<Effect>,
}

/// An effect, with bevy's default settings but for the wide aperture of depth of field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Effect {
    Bloom,
    Fxaa,
    Sharpening,
    Aberration,
    Distortion,
    Vignette,
    DepthOfField,
    AutoExposure,
    VolumetricFog,
}

const KEYS: [(KeyCode, Effect); 9] = [
    (KeyCode::F1, Effect::Bloom),
    (KeyCode::F2, Effect::Fxaa),
    (KeyCode::F3, Effect::Sharpening),
    (KeyCode::F4, Effect::Aberration),
    (KeyCode::F5, Effect::Distortion),
    (KeyCode::F6, Effect::Vignette),
    (KeyCode::F7, Effect::DepthOfField),
    (KeyCode::F8, Effect::AutoExposure),
    (KeyCode::F12, Effect::VolumetricFog),
];

/// Effects that are on.
#[derive(Resource)]
struct ShownEffects(Vec<Effect>);

impl Plugin for EffectArgs {
    fn build(&self, app: &mut App) {
        app.add_plugins(AutoExposurePlugin)
            .insert_resource(ShownEffects(self.effects.clone()))
            .add_systems(
                Update,
                (switch_effects, apply_effects, fill_with_fog).chain(),
            );
    }
}

/// Toggles effects by keys.
fn switch_effects(keys: Option<Res<ButtonInput<KeyCode>>>, mut shown: ResMut<ShownEffects>) {
    let Some(keys) = keys else { return };
    for (key, effect) in KEYS {
        if !keys.just_pressed(key) {
            continue;
        }
        match shown.0.iter().position(|it| *it == effect) {
            Some(at) => {
                shown.0.remove(at);
            }
            None => shown.0.push(effect),
        }
    }
}

/// Adds components of effects to 3D cameras, and removes them.
fn apply_effects(
    mut commands: Commands,
    shown: Res<ShownEffects>,
    cameras: Query<Entity, With<Camera3d>>,
    added: Query<(), Added<Camera3d>>,
) {
    if !shown.is_changed() && added.is_empty() {
        return;
    }
    for camera in &cameras {
        let mut camera = commands.entity(camera);
        camera.remove::<(Bloom, Fxaa, ContrastAdaptiveSharpening)>();
        camera.remove::<(ChromaticAberration, LensDistortion, Vignette)>();
        camera.remove::<(DepthOfField, AutoExposure, VolumetricFog)>();
        for effect in &shown.0 {
            match effect {
                Effect::Bloom => camera.insert(Bloom::default()),
                Effect::Fxaa => camera.insert(Fxaa::default()),
                Effect::Sharpening => camera.insert(ContrastAdaptiveSharpening::default()),
                Effect::Aberration => camera.insert(ChromaticAberration::default()),
                Effect::Distortion => camera.insert(LensDistortion::default()),
                Effect::Vignette => camera.insert(Vignette::default()),
                Effect::DepthOfField => camera.insert(DepthOfField {
                    aperture_f_stops: 0.05,
                    ..DepthOfField::default()
                }),
                Effect::AutoExposure => camera.insert(AutoExposure::default()),
                Effect::VolumetricFog => camera.insert(VolumetricFog {
                    ambient_intensity: 0.0,
                    ..VolumetricFog::default()
                }),
            };
        }
    }
}

/// Lights of fog.
type Lights = Or<(With<DirectionalLight>, With<PointLight>, With<SpotLight>)>;

/// Side of the box of fog, in meters.
const FOG_SIDE: f32 = 60.0;

/// Fills a box around the origin with fog that all lights shine through, if the effect is on.
fn fill_with_fog(
    mut commands: Commands,
    shown: Res<ShownEffects>,
    lights: Query<Entity, (Lights, Without<VolumetricLight>)>,
    volumes: Query<(), With<FogVolume>>,
) {
    if !shown.0.contains(&Effect::VolumetricFog) {
        return;
    }
    for light in &lights {
        commands.entity(light).insert(VolumetricLight);
    }
    if volumes.is_empty() {
        let volume = FogVolume {
            density_factor: 0.05,
            ..FogVolume::default()
        };
        commands.spawn((volume, Transform::from_scale(Vec3::splat(FOG_SIDE))));
    }
}
