//! Lights, probes, fog volumes and clustered decals.

use bevy_camera::primitives::CubemapLayout;
use bevy_ecs::prelude::*;
use bevy_light::{
    AtmosphereEnvironmentMapLight, ClusteredDecal, FogVolume, SunDisk, VolumetricLight,
};
use quadrille_3d::prelude::*;

use super::assets::{cube, plain, sky, volume};
use super::parts::color;
use crate::common::lifecycle::{Part, Random, part, remove, reset};

/// A light, sometimes with components that require the light: they come and go together.
macro_rules! lamp {
    ($name:literal, ($light:ty, $($more:ty),+), |$world:ident, $random:ident| $value:expr) => {
        Part {
            name: $name,
            insert: |$world, entity, $random| {
                let (light, more) = $value;
                let has_more = $random.one_in(2);
                let mut entity = $world.entity_mut(entity);
                entity.insert(light);
                if has_more {
                    entity.insert(more);
                } else {
                    entity.remove::<($($more,)+)>();
                }
            },
            remove: remove::<($light, $($more),+)>,
            is_related: false,
        }
    };
}

/// Disks of suns are not reflected.
pub(super) const DIRECTIONAL_LIGHT: Part = Part {
    is_related: true,
    ..lamp!(
        "directional light",
        (DirectionalLight, DirectionalLightTexture, SunDisk),
        |world, random| (
            DirectionalLight {
                color: color(random),
                illuminance: random.between(500.0, 8000.0),
                shadow_maps_enabled: random.one_in(2),
                contact_shadows_enabled: random.one_in(2),
                ..DirectionalLight::default()
            },
            (
                DirectionalLightTexture {
                    image: plain(world, random),
                    tiled: random.one_in(2),
                },
                SunDisk {
                    angular_size: random.between(0.01, 0.3),
                    intensity: random.between(0.5, 2.0),
                }
            )
        )
    )
};

pub(super) const POINT_LIGHT: Part = lamp!(
    "point light",
    (PointLight, PointLightTexture),
    |world, random| (
        PointLight {
            color: color(random),
            intensity: random.between(1e4, 1e6),
            shadow_maps_enabled: random.one_in(2),
            contact_shadows_enabled: random.one_in(2),
            ..PointLight::default()
        },
        PointLightTexture {
            image: plain(world, random),
            cubemap_layout: random.pick(&[
                CubemapLayout::CrossVertical,
                CubemapLayout::SequenceHorizontal,
            ]),
        }
    )
);

pub(super) const SPOT_LIGHT: Part = lamp!(
    "spot light",
    (SpotLight, SpotLightTexture),
    |world, random| (
        SpotLight {
            color: color(random),
            intensity: random.between(1e4, 1e6),
            shadow_maps_enabled: random.one_in(2),
            contact_shadows_enabled: random.one_in(2),
            outer_angle: random.between(0.3, 1.2),
            ..SpotLight::default()
        },
        SpotLightTexture {
            image: plain(world, random),
        }
    )
);

pub(super) const RECT_LIGHT: Part = part!(
    "rectangle of light",
    remove::<RectLight>,
    |world, random| RectLight {
        color: color(random),
        intensity: random.between(1e4, 1e6),
        width: random.between(0.1, 2.0),
        ..RectLight::default()
    }
);

pub(super) const VOLUMETRIC_LIGHT: Part = part!(
    "volumetric light",
    remove::<VolumetricLight>,
    |world, _random| VolumetricLight
);

/// Environments of a probe or a camera: one of the three kinds.
type AnyEnvironment = (
    EnvironmentMapLight,
    GeneratedEnvironmentMapLight,
    AtmosphereEnvironmentMapLight,
);

/// Skies of atmospheres are not reflected.
pub(super) const REFLECTION_PROBE: Part = Part {
    name: "reflection probe",
    insert: |world, entity, random| {
        insert_environment(world, entity, random);
        let falloff = Vec3::splat(random.pick(&[0.0, 0.4]));
        world.entity_mut(entity).insert(LightProbe { falloff });
    },
    remove: |world, entity| {
        remove::<AnyEnvironment>(world, entity);
        // The falloff is that of the reflection probe.
        match world.get::<IrradianceVolume>(entity).is_none() {
            true => remove::<LightProbe>(world, entity),
            false => reset::<LightProbe>(world, entity),
        }
    },
    is_related: true,
};

pub(super) const SURROUNDINGS: Part = Part {
    name: "surroundings",
    insert: insert_environment,
    remove: remove::<AnyEnvironment>,
    is_related: false,
};

/// Inserts one kind, and sometimes another one that counts less.
fn insert_environment(world: &mut World, entity: Entity, random: &mut Random) {
    let kind = random.below(5);
    let prefiltered = EnvironmentMapLight {
        diffuse_map: cube(world, random),
        specular_map: cube(world, random),
        intensity: random.between(200.0, 2000.0),
        ..EnvironmentMapLight::default()
    };
    let generated = GeneratedEnvironmentMapLight {
        environment_map: sky(world, random),
        intensity: random.between(200.0, 2000.0),
        ..GeneratedEnvironmentMapLight::default()
    };
    let atmosphere = AtmosphereEnvironmentMapLight {
        intensity: random.between(0.5, 2.0),
        size: UVec2::splat(64),
        ..AtmosphereEnvironmentMapLight::default()
    };
    let mut entity = world.entity_mut(entity);
    entity.remove::<AnyEnvironment>();
    if kind < 2 {
        entity.insert(prefiltered);
    }
    if (1..4).contains(&kind) {
        entity.insert(generated);
    }
    if kind > 2 {
        entity.insert(atmosphere);
    }
}

pub(super) const IRRADIANCE_VOLUME: Part = part!(
    "irradiance volume",
    |world, entity| {
        remove::<IrradianceVolume>(world, entity);
        let entity = world.entity(entity);
        let has_environment = entity.contains::<EnvironmentMapLight>()
            || entity.contains::<GeneratedEnvironmentMapLight>()
            || entity.contains::<AtmosphereEnvironmentMapLight>();
        if !has_environment {
            let entity = entity.id();
            remove::<LightProbe>(world, entity);
        }
    },
    |world, random| IrradianceVolume {
        voxels: volume(world),
        intensity: random.between(200.0, 2000.0),
        ..IrradianceVolume::default()
    }
);

pub(super) const PARALLAX_CORRECTION: Part = part!(
    "parallax correction",
    remove::<ParallaxCorrection>,
    |world, random| random.pick(&[
        ParallaxCorrection::None,
        ParallaxCorrection::Auto,
        ParallaxCorrection::Custom(Vec3::new(0.4, 0.8, 0.6)),
    ])
);

pub(super) const FOG_VOLUME: Part = part!("fog volume", remove::<FogVolume>, |world, random| {
    FogVolume {
        fog_color: color(random),
        density_factor: random.between(0.1, 1.0),
        density_texture: random.one_in(3).then(|| volume(world)),
        scattering_asymmetry: random.pick(&[0.0, 0.5]),
        light_intensity: random.between(0.0, 2.0),
        ..FogVolume::default()
    }
});

pub(super) const CLUSTERED_DECAL: Part = part!(
    "clustered decal",
    remove::<ClusteredDecal>,
    |world, random| {
        let image = |random: &mut Random| random.one_in(2).then(|| plain(world, random));
        ClusteredDecal {
            base_color_texture: image(random),
            normal_map_texture: image(random),
            metallic_roughness_texture: image(random),
            emissive_texture: image(random),
            tag: random.next() as u32,
        }
    }
);
