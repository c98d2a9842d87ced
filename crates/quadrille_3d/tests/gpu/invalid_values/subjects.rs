//! Entities and cameras with each component that has numbers.

use bevy_camera::primitives::Sphere;
use bevy_camera::{MainPassResolutionOverride, SubCameraView};
use bevy_light::{
    Atmosphere, AtmosphereEnvironmentMapLight, ClusteredDecal, SunDisk, VolumetricLight,
};
use quadrille_3d::auto_exposure::AutoExposure;
use quadrille_3d::{
    AtmosphereSettings, Bloom, CameraCut, ChromaticAberration, ContactShadows,
    ContrastAdaptiveSharpening, DepthOfField, FilmGrain, ForwardDecal, ForwardDecalMaterial,
    ForwardDecalMaterialExt, LensDistortion, MipBias, MotionBlur,
    OrderIndependentTransparencySettings, ScreenSpaceAmbientOcclusion, ScreenSpaceReflections,
    TemporalAntiAliasing, TemporalJitter, TemporalUpscaling, Vignette,
};

use super::numbers::medium;
use super::*;

/// An entity or a camera with components whose numbers become invalid.
pub(super) struct Subject {
    pub(super) name: &'static str,
    /// Whether they belong to cameras.
    pub(super) is_camera: bool,
    /// Inserts components with valid numbers.
    pub(super) insert: fn(&mut World, Entity),
}

/// A subject with components that need the [`AssetPool`] or nothing.
macro_rules! subject {
    ($name:literal, $is_camera:literal, |$pool:ident| $components:expr) => {
        Subject {
            name: $name,
            is_camera: $is_camera,
            insert: |world, entity| {
                let $pool = world.resource::<AssetPool>();
                let components = $components;
                world.entity_mut(entity).insert(components);
            },
        }
    };
}

/// Effects of cameras.
pub(super) const EFFECTS: &[Subject] = &[
    subject!("auto exposure", true, |_pool| AutoExposure::default()),
    subject!("bloom", true, |_pool| Bloom::default()),
    subject!("chromatic aberration", true, |_pool| {
        ChromaticAberration::default()
    }),
    subject!("contact shadows", true, |_pool| ContactShadows::default()),
    subject!("sharpening", true, |_pool| {
        ContrastAdaptiveSharpening::default()
    }),
    subject!("depth of field", true, |_pool| DepthOfField::default()),
    subject!("film grain", true, |_pool| FilmGrain::default()),
    subject!("lens distortion", true, |_pool| LensDistortion::default()),
    subject!("motion blur", true, |_pool| MotionBlur::default()),
    subject!("oit", true, |_pool| {
        OrderIndependentTransparencySettings::default()
    }),
    subject!("ssao", true, |_pool| ScreenSpaceAmbientOcclusion::default()),
    subject!("ssr", true, |_pool| ScreenSpaceReflections::default()),
    subject!("taa", true, |_pool| (
        TemporalAntiAliasing::default(),
        MipBias::default(),
        TemporalJitter::default()
    )),
    subject!("upscaling", true, |_pool| TemporalUpscaling::default()),
    subject!("jitter", true, |_pool| (
        MipBias::default(),
        TemporalJitter::default()
    )),
    subject!("vignette", true, |_pool| Vignette::default()),
    subject!("volumetric fog", true, |_pool| VolumetricFog::default()),
    subject!("atmosphere settings", true, |_pool| small_atmosphere()),
    subject!("atmosphere light", true, |_pool| (
        small_atmosphere(),
        AtmosphereEnvironmentMapLight {
            size: UVec2::splat(16),
            ..AtmosphereEnvironmentMapLight::default()
        }
    )),
];

/// Other components of cameras.
pub(super) const CAMERAS: &[Subject] = &[
    subject!("transform", true, |_pool| ()),
    subject!("camera", true, |_pool| (
        DistanceFog::default(),
        AmbientLight::default(),
        ColorGrading::default(),
        Exposure::default(),
        ClusterConfig::default(),
        CameraCut::default(),
    )),
    subject!("resolution", true, |_pool| MainPassResolutionOverride(
        UVec2::new(8, 16)
    )),
    subject!("orthographic", true, |_pool| Projection::from(
        OrthographicProjection::default_3d()
    )),
    subject!("skybox", true, |pool| (
        Skybox {
            image: Some(pool.cube.clone()),
            ..Skybox::default()
        },
        environment(pool)
    )),
    subject!("generated environment", true, |pool| {
        GeneratedEnvironmentMapLight {
            environment_map: pool.cube.clone(),
            ..GeneratedEnvironmentMapLight::default()
        }
    }),
    Subject {
        name: "part of a camera",
        is_camera: true,
        insert: |world, entity| {
            if let Some(mut camera) = world.get_mut::<Camera>(entity) {
                camera.sub_camera_view = Some(SubCameraView::default());
            }
        },
    },
];

/// Components of entities.
pub(super) const ENTITIES: &[Subject] = &[
    mesh(|world, entity| {
        insert_mesh(world, entity);
        world.entity_mut(entity).insert((
            VisibilityRange::abrupt(0.0, 9.0),
            Sphere::default(),
            Aabb::default(),
        ));
    }),
    mesh(|world, entity| {
        insert_mesh(world, entity);
        let image = world.resource::<AssetPool>().image.clone();
        world.entity_mut(entity).insert((
            Wireframe,
            WireframeColor::default(),
            WireframeLineWidth::default(),
            Lightmap {
                image,
                ..Lightmap::default()
            },
            MeshMorphWeights::Value {
                weights: vec![0.0; 2],
            },
        ));
    }),
    subject!("point light", false, |_pool| PointLight {
        shadow_maps_enabled: true,
        ..PointLight::default()
    }),
    subject!("spot light", false, |_pool| SpotLight {
        shadow_maps_enabled: true,
        ..SpotLight::default()
    }),
    subject!("directional light", false, |pool| (
        DirectionalLight {
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        SunDisk::EARTH,
        VolumetricLight,
        DirectionalLightTexture {
            image: pool.image.clone(),
            tiled: true,
        },
    )),
    subject!("rectangle of light", false, |_pool| RectLight::default()),
    subject!("reflection probe", false, |pool| (
        LightProbe::default(),
        environment(pool),
        ParallaxCorrection::default(),
    )),
    subject!("irradiance volume", false, |pool| (
        LightProbe::default(),
        IrradianceVolume {
            voxels: pool.image.clone(),
            ..IrradianceVolume::default()
        },
    )),
    subject!("generated probe", false, |pool| (
        LightProbe::default(),
        GeneratedEnvironmentMapLight {
            environment_map: pool.cube.clone(),
            ..GeneratedEnvironmentMapLight::default()
        },
    )),
    subject!("probe of the sky", false, |_pool| (
        LightProbe::default(),
        AtmosphereEnvironmentMapLight {
            size: UVec2::splat(16),
            ..AtmosphereEnvironmentMapLight::default()
        },
    )),
    subject!("fog volume", false, |pool| FogVolume {
        density_texture: Some(pool.image.clone()),
        ..FogVolume::default()
    }),
    subject!("clustered decal", false, |pool| ClusteredDecal {
        base_color_texture: Some(pool.image.clone()),
        normal_map_texture: Some(pool.image.clone()),
        ..ClusteredDecal::default()
    }),
    Subject {
        name: "planet",
        is_camera: false,
        insert: |world, entity| {
            let planet = Atmosphere::earth(medium(world));
            world.entity_mut(entity).insert(planet);
        },
    },
    Subject {
        name: "forward decal",
        is_camera: false,
        insert: |world, entity| {
            let material = ForwardDecalMaterial {
                base: world.resource::<AssetPool>().materials[1].clone(),
                extension: ForwardDecalMaterialExt {
                    depth_fade_factor: 2.0,
                },
            };
            let material = world
                .resource_mut::<Assets<ForwardDecalMaterial<StandardMaterial>>>()
                .add(material);
            let decal = (ForwardDecal, MeshMaterial3d(material));
            world.entity_mut(entity).insert(decal);
        },
    },
    Subject {
        name: "gizmo",
        is_camera: false,
        insert: |world, entity| {
            let mut lines = GizmoAsset::new();
            lines.line(Vec3::ZERO, Vec3::ONE, Color::WHITE);
            let handle = world.resource_mut::<Assets<GizmoAsset>>().add(lines);
            world.entity_mut(entity).insert(Gizmo {
                handle,
                ..Gizmo::default()
            });
        },
    },
];

/// Inserts a mesh with a material of its own.
fn insert_mesh(world: &mut World, entity: Entity) {
    let pool = world.resource::<AssetPool>();
    let (mesh, material) = (Mesh3d(pool.mesh.clone()), pool.materials[0].clone());
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let material = MeshMaterial3d(assets.add(material));
    world.entity_mut(entity).insert((mesh, material));
}

/// A mesh with other components.
const fn mesh(insert: fn(&mut World, Entity)) -> Subject {
    Subject {
        name: "mesh",
        is_camera: false,
        insert,
    }
}

/// LUTs of few texels.
pub(super) fn small_atmosphere() -> AtmosphereSettings {
    AtmosphereSettings {
        transmittance_lut_size: UVec2::new(16, 8),
        multiscattering_lut_size: UVec2::splat(4),
        sky_view_lut_size: UVec2::new(16, 8),
        aerial_view_lut_size: UVec3::splat(4),
        ..AtmosphereSettings::default()
    }
}

fn environment(pool: &AssetPool) -> EnvironmentMapLight {
    EnvironmentMapLight {
        diffuse_map: pool.cube.clone(),
        specular_map: pool.cube.clone(),
        ..EnvironmentMapLight::default()
    }
}

/// Inserts some effects, which the camera may not have together: some are not drawn.
pub(super) fn add_effects(world: &mut World, camera: Entity, random: &mut Random) {
    for effect in EFFECTS {
        if random.one_in(6) {
            (effect.insert)(world, camera);
        }
    }
}
