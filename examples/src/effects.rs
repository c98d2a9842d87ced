//! Effects of 3D cameras, switched by a flag and by keys.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{
    Atmosphere, DirectionalLight, FogVolume, PointLight, SpotLight, VolumetricFog, VolumetricLight,
};
use bevy_math::Vec3;
use clap::{Args, ValueEnum};
use quadrille_3d::auto_exposure::{AutoExposure, AutoExposurePlugin};
use quadrille_3d::prelude::{
    Assets, Camera3d, DefaultOpaqueRendererMethod, DeferredPrepass, DepthPrepass, Msaa,
    NormalPrepass, Transform,
};
use quadrille_3d::{
    AtmosphereSettings, Bloom, ChromaticAberration, ContactShadows, ContrastAdaptiveSharpening,
    DepthOfField, FilmGrain, Fxaa, LensDistortion, MipBias, MotionBlur, MotionVectorPrepass,
    OrderIndependentTransparencySettings, ScreenSpaceAmbientOcclusion, ScreenSpaceReflections,
    Smaa, TemporalAntiAliasing, Vignette,
};

/// The effects that are on at the start. F1 to F12, V, O, B, G, C, L and R switch them in this order.
#[derive(Args, Clone, Debug, Default)]
pub struct EffectArgs {
    /// Effects of the camera, separated by commas; F1 to F12, V, O, B, G, C, L and R switch them
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    effects: Vec<Effect>,
}

/// An effect, with bevy's default settings but for the wide aperture of depth of field, and a longer motion blur.
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
    MotionBlur,
    Taa,
    AmbientOcclusion,
    Smaa,
    VolumetricFog,
    OrderIndependent,
    Atmosphere,
    FilmGrain,
    ContactShadows,
    Deferred,
    Reflections,
}

const KEYS: [(KeyCode, Effect); 19] = [
    (KeyCode::F1, Effect::Bloom),
    (KeyCode::F2, Effect::Fxaa),
    (KeyCode::F3, Effect::Sharpening),
    (KeyCode::F4, Effect::Aberration),
    (KeyCode::F5, Effect::Distortion),
    (KeyCode::F6, Effect::Vignette),
    (KeyCode::F7, Effect::DepthOfField),
    (KeyCode::F8, Effect::AutoExposure),
    (KeyCode::F9, Effect::MotionBlur),
    (KeyCode::F10, Effect::Taa),
    (KeyCode::F11, Effect::AmbientOcclusion),
    (KeyCode::F12, Effect::Smaa),
    (KeyCode::KeyV, Effect::VolumetricFog),
    (KeyCode::KeyO, Effect::OrderIndependent),
    (KeyCode::KeyB, Effect::Atmosphere),
    (KeyCode::KeyG, Effect::FilmGrain),
    (KeyCode::KeyC, Effect::ContactShadows),
    (KeyCode::KeyL, Effect::Deferred),
    (KeyCode::KeyR, Effect::Reflections),
];

/// Effects that are on.
#[derive(Resource)]
struct ShownEffects(Vec<Effect>);

impl Plugin for EffectArgs {
    fn build(&self, app: &mut App) {
        app.add_plugins(AutoExposurePlugin)
            .insert_resource(ShownEffects(self.effects.clone()))
            // Concerns cameras with `DeferredPrepass` alone.
            .insert_resource(DefaultOpaqueRendererMethod::deferred())
            .add_systems(
                Update,
                (
                    switch_effects,
                    apply_effects,
                    (fill_with_fog, add_planet, cast_contact_shadows),
                )
                    .chain(),
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

/// Effects of a camera that need one sample per pixel.
type SingleSampled = (
    Has<TemporalAntiAliasing>,
    Has<ScreenSpaceAmbientOcclusion>,
    Has<OrderIndependentTransparencySettings>,
    Has<ContactShadows>,
    Has<DeferredPrepass>,
);

/// Adds components of effects to 3D cameras, and removes them.
fn apply_effects(
    mut commands: Commands,
    shown: Res<ShownEffects>,
    cameras: Query<(Entity, SingleSampled), With<Camera3d>>,
    added: Query<(), Added<Camera3d>>,
) {
    if !shown.is_changed() && added.is_empty() {
        return;
    }
    for (camera, (has_taa, has_occlusion, has_lists, has_contacts, is_deferred)) in &cameras {
        let mut camera = commands.entity(camera);
        if has_taa || has_occlusion || has_lists || has_contacts || is_deferred {
            camera.insert(Msaa::default());
        }
        camera.remove::<(Bloom, Fxaa, Smaa, ContrastAdaptiveSharpening)>();
        camera.remove::<(ChromaticAberration, LensDistortion, Vignette)>();
        camera.remove::<(DepthOfField, AutoExposure, VolumetricFog)>();
        camera.remove::<(AtmosphereSettings, FilmGrain, ContactShadows)>();
        camera.remove::<(MotionBlur, TemporalAntiAliasing, MipBias)>();
        camera.remove::<OrderIndependentTransparencySettings>();
        // The prepasses come with the effects.
        camera.remove::<(ScreenSpaceAmbientOcclusion, ScreenSpaceReflections)>();
        camera.remove::<NormalPrepass>();
        camera.remove::<(DepthPrepass, MotionVectorPrepass, DeferredPrepass)>();
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
                Effect::MotionBlur => camera.insert(MotionBlur {
                    shutter_angle: 1.0,
                    samples: 8,
                }),
                Effect::Taa => camera.insert((TemporalAntiAliasing::default(), Msaa::Off)),
                Effect::Smaa => camera.insert(Smaa::default()),
                Effect::AmbientOcclusion => {
                    camera.insert((ScreenSpaceAmbientOcclusion::default(), Msaa::Off))
                }
                Effect::OrderIndependent => {
                    camera.insert((OrderIndependentTransparencySettings::default(), Msaa::Off))
                }
                Effect::VolumetricFog => camera.insert(VolumetricFog {
                    ambient_intensity: 0.0,
                    ..VolumetricFog::default()
                }),
                Effect::Atmosphere => camera.insert(AtmosphereSettings::default()),
                Effect::FilmGrain => camera.insert(FilmGrain::default()),
                Effect::ContactShadows => camera.insert((ContactShadows::default(), Msaa::Off)),
                Effect::Deferred => camera.insert((DeferredPrepass, Msaa::Off)),
                // Deferred as well.
                Effect::Reflections => {
                    camera.insert((ScreenSpaceReflections::default(), Msaa::Off))
                }
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

/// Lights all lamps and suns with contact shadows, if the effect is on.
fn cast_contact_shadows(
    shown: Res<ShownEffects>,
    mut suns: Query<&mut DirectionalLight>,
    mut lamps: Query<&mut PointLight>,
    mut spots: Query<&mut SpotLight>,
) {
    if !shown.0.contains(&Effect::ContactShadows) {
        return;
    }
    let suns = suns
        .iter_mut()
        .map(|it| it.map_unchanged(|it| &mut it.contact_shadows_enabled));
    let lamps = lamps
        .iter_mut()
        .map(|it| it.map_unchanged(|it| &mut it.contact_shadows_enabled));
    let spots = spots
        .iter_mut()
        .map(|it| it.map_unchanged(|it| &mut it.contact_shadows_enabled));
    for mut light in suns.chain(lamps).chain(spots) {
        light.set_if_neq(true);
    }
}

/// Adds a planet like earth below the origin, if the effect is on.
fn add_planet(
    mut commands: Commands,
    shown: Res<ShownEffects>,
    planets: Query<(), With<Atmosphere>>,
    media: Option<ResMut<Assets<ScatteringMedium>>>,
) {
    let is_shown = shown.0.contains(&Effect::Atmosphere);
    if let Some(mut media) = media.filter(|_| is_shown && planets.is_empty()) {
        commands.spawn(Atmosphere::earth(media.add(ScatteringMedium::default())));
    }
}
