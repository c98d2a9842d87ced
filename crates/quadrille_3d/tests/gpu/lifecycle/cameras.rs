//! Components of cameras and planets.

use bevy_ecs::prelude::*;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::{Atmosphere, ShadowFilteringMethod, VolumetricFog};
use quadrille_3d::prelude::*;
use quadrille_3d::{AtmosphereMode, AtmosphereSettings, MipBias, TemporalJitter};

use super::assets::sky;
use super::effects::{self, Wide, remove_effect};
use super::lights::SURROUNDINGS;
use super::parts::{color, layers};
use crate::common::lifecycle::{Library, Part, part, remove, reset};

pub(super) const CAMERA_PARTS: &[Part] = &[
    effects::DEPTH_PREPASS,
    CAMERA,
    part!("projection", reset::<Projection>, |world, random| {
        match random.one_in(2) {
            true => Projection::from(PerspectiveProjection {
                fov: random.between(0.3, 1.5),
                ..PerspectiveProjection::default()
            }),
            false => Projection::from(OrthographicProjection {
                scale: random.between(0.05, 0.2),
                ..OrthographicProjection::default_3d()
            }),
        }
    }),
    part!(
        "resolution",
        remove::<MainPassResolutionOverride>,
        |world, random| MainPassResolutionOverride(UVec2::new(
            16 + random.below(15) as u32,
            16 + random.below(10) as u32,
        ))
    ),
    VOLUMETRIC_FOG,
    ATMOSPHERE_SETTINGS,
    part!("jitter", remove::<TemporalJitter>, |world, random| {
        TemporalJitter {
            offset: Vec2::new(random.between(-0.5, 0.5), random.between(-0.5, 0.5)),
        }
    }),
    part!("mip bias", remove::<MipBias>, |world, random| MipBias(
        random.between(-2.0, 2.0)
    )),
    part!("layers", remove::<RenderLayers>, |world, random| layers(
        random
    )),
    part!("fog", remove::<DistanceFog>, |world, random| DistanceFog {
        color: color(random),
        falloff: random.pick(&[
            FogFalloff::Linear {
                start: 4.0,
                end: 12.0
            },
            FogFalloff::Exponential { density: 0.1 },
            FogFalloff::ExponentialSquared { density: 0.1 },
        ]),
        ..DistanceFog::default()
    }),
    part!("tone mapping", reset::<Tonemapping>, |world, random| random
        .pick(&[
            Tonemapping::None,
            Tonemapping::Reinhard,
            Tonemapping::AcesFitted,
            Tonemapping::TonyMcMapface,
        ])),
    part!("grading", reset::<ColorGrading>, |world, random| {
        ColorGrading {
            global: ColorGradingGlobal {
                exposure: random.between(-1.0, 1.0),
                hue: random.between(-1.0, 1.0),
                ..ColorGradingGlobal::default()
            },
            ..ColorGrading::default()
        }
    }),
    part!("dither", reset_dither, |world, random| {
        random.pick(&[DebandDither::Enabled, DebandDither::Disabled])
    }),
    part!("exposure", reset::<Exposure>, |world, random| Exposure {
        ev100: random.between(7.0, 11.0),
    }),
    part!("ambient light", remove::<AmbientLight>, |world, random| {
        AmbientLight {
            color: color(random),
            brightness: random.between(0.0, 3000.0),
            ..AmbientLight::default()
        }
    }),
    part!("msaa", reset::<Msaa>, |world, random| random
        .pick(&[Msaa::Off, Msaa::Sample4])),
    part!(
        "occlusion culling",
        remove::<OcclusionCulling>,
        |world, _random| OcclusionCulling
    ),
    part!(
        "occlusion culling again",
        remove::<OcclusionCulling>,
        |world, _random| OcclusionCulling
    ),
    part!("hdr", remove_effect::<Wide>, |world, _random| Wide),
    part!("skybox", remove::<Skybox>, |world, random| Skybox {
        image: Some(sky(world, random)),
        brightness: random.between(100.0, 2000.0),
        ..Skybox::default()
    }),
    SURROUNDINGS,
    part!(
        "shadow filter",
        reset::<ShadowFilteringMethod>,
        |world, random| {
            random.pick(&[
                ShadowFilteringMethod::Hardware2x2,
                ShadowFilteringMethod::Gaussian,
            ])
        }
    ),
];

/// A color that is kept would be that of an earlier frame.
pub(super) const CAMERA: Part = part!("camera", reset::<Camera>, |world, random| Camera {
    viewport: random.one_in(2).then(|| Viewport {
        physical_position: UVec2::new(random.below(20) as u32, random.below(30) as u32),
        physical_size: UVec2::new(40, 30),
        ..Viewport::default()
    }),
    clear_color: random.pick(&[
        ClearColorConfig::Default,
        ClearColorConfig::Custom(Color::srgba(0.5, 0.1, 0.2, 0.5)),
    ]),
    invert_culling: random.one_in(3),
    ..Camera::default()
});

/// Jitter of its steps would differ from frame to frame.
pub(super) const VOLUMETRIC_FOG: Part = part!(
    "volumetric fog",
    remove::<VolumetricFog>,
    |world, random| {
        VolumetricFog {
            ambient_color: color(random),
            ambient_intensity: random.between(0.0, 1.0),
            jitter: 0.0,
            step_count: random.pick(&[4, 16]),
        }
    }
);

pub(super) const ATMOSPHERE_SETTINGS: Part = part!(
    "atmosphere settings",
    remove_effect::<AtmosphereSettings>,
    |world, random| AtmosphereSettings {
        transmittance_lut_size: UVec2::new(32, 16),
        multiscattering_lut_size: UVec2::splat(random.pick(&[4, 8])),
        sky_view_lut_size: UVec2::new(random.pick(&[24, 32]), 16),
        aerial_view_lut_size: UVec3::splat(random.pick(&[4, 8])),
        multiscattering_lut_dirs: 16,
        rendering_method: random.pick(&[
            AtmosphereMode::LookupTexture,
            AtmosphereMode::LookupTexture,
            AtmosphereMode::Raymarched,
        ]),
        ..AtmosphereSettings::default()
    }
);

pub(super) const PLANET_PARTS: &[Part] = &[part!(
    "atmosphere",
    remove::<Atmosphere>,
    |world, random| {
        let medium = Library::<ScatteringMedium>::pick(world, random);
        let planet = random.pick(&[Atmosphere::earth, Atmosphere::mars])(medium);
        // Without a `Transform`, in whose place bevy puts the radius of the first planet.
        let center = Vec3::NEG_Y * (planet.inner_radius + random.pick(&[0.0, 500.0]));
        (planet, GlobalTransform::from_translation(center))
    }
)];

/// 3D cameras have it, which is not the default.
fn reset_dither(world: &mut World, entity: Entity) {
    world.entity_mut(entity).insert(DebandDither::Enabled);
}
