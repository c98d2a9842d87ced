//! Invalid numbers in every number of every component that 3D draws: no panic, no failed frame, and valid entities are
//! drawn as before.
//!
//! `QUADRILLE_ODD=SEED,ENTITIES,BATCH` sets the seed, the total number of entities, and the number of entities at a
//! time; the default is 7, 10,000 and 1,000, which takes about 4 s on lavapipe.

#[path = "invalid_values/fields.rs"]
mod fields;
#[path = "invalid_values/numbers.rs"]
mod numbers;
#[path = "invalid_values/registered.rs"]
mod registered;
#[path = "invalid_values/subjects.rs"]
mod subjects;

use bevy_camera::primitives::{Aabb, CubemapLayout};
use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::cluster::ClusterConfig;
use bevy_light::{
    DirectionalLightShadowMap, FogVolume, PointLightShadowMap, VolumetricFog, VolumetricLight,
};
use bevy_mesh::morph::MeshMorphWeights;
use bevy_mesh::skinning::SkinnedMesh;
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::auto_exposure::AutoExposurePlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::{Wireframe, WireframeColor, WireframeLineWidth, WireframePlugin};

use crate::common::lifecycle::Random;
use crate::common::{Picture, Rig};
use numbers::{INVALID_VALUES, NUMBERED};

/// Assets of entities and lights.
#[derive(Resource)]
struct AssetPool {
    mesh: Handle<Mesh>,
    /// Copied to entities, whose numbers become invalid.
    materials: Vec<StandardMaterial>,
    cube: Handle<Image>,
    image: Handle<Image>,
}

/// Valid entities, drawn in the right half by a separate camera.
const VALID: usize = 1;
const SIZE: [u32; 2] = [64, 32];

fn setup(world: &mut World) {
    world.insert_resource(DirectionalLightShadowMap { size: 32 });
    world.insert_resource(PointLightShadowMap { size: 16 });
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Cuboid::default());
    let materials: Vec<_> = [AlphaMode::Opaque, AlphaMode::Blend, AlphaMode::Mask(0.5)]
        .map(|alpha_mode| StandardMaterial {
            alpha_mode,
            ..StandardMaterial::from(Color::srgba(0.9, 0.5, 0.2, 0.8))
        })
        .into();
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let valid_material = assets.add(materials[0].clone());
    let mut images = world.resource_mut::<Assets<Image>>();
    let cube = images.add(crate::environment::image([2, 2, 6], |_| [0.5; 3]));
    let image = images.add(crate::environment::image([2, 2, 1], |_| [0.5; 3]));
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    let good = RenderLayers::layer(VALID);
    world.spawn((
        Camera3d::default(),
        Camera {
            order: 1000,
            clear_color: ClearColorConfig::Custom(Color::srgb(0.1, 0.2, 0.3)),
            viewport: Some(Viewport {
                physical_position: UVec2::new(SIZE[0] / 2, 0),
                physical_size: UVec2::new(SIZE[0] / 2, SIZE[1]),
                ..Viewport::default()
            }),
            ..Camera::default()
        },
        AmbientLight::default(),
        eye,
        good.clone(),
    ));
    world.spawn((DirectionalLight::default(), eye, good.clone()));
    world.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(valid_material), good));
    world.insert_resource(AssetPool {
        mesh,
        materials,
        cube,
        image,
    });
}

/// An entity of a random kind with valid numbers.
fn spawn(world: &mut World, random: &mut Random) -> Entity {
    let material = random.pick(&world.resource::<AssetPool>().materials);
    let mut assets = world.resource_mut::<Assets<StandardMaterial>>();
    let material = MeshMaterial3d(assets.add(material));
    let shelf = world.resource::<AssetPool>();
    let (mesh, cube, image) = (
        Mesh3d(shelf.mesh.clone()),
        shelf.cube.clone(),
        shelf.image.clone(),
    );
    let mut flag = || random.one_in(2);
    let shadow_maps_enabled = flag();
    let (is_mesh, has_texture) = (flag(), flag());
    let mut entity = world.spawn(Transform::from_xyz(random.unit(), random.unit(), 0.0));
    let point = PointLight {
        shadow_maps_enabled,
        ..PointLight::default()
    };
    let environment = EnvironmentMapLight {
        diffuse_map: cube.clone(),
        specular_map: cube.clone(),
        ..EnvironmentMapLight::default()
    };
    match random.below(12) {
        0 => entity.insert((
            mesh.clone(),
            material.clone(),
            VisibilityRange::abrupt(0.0, 9.0),
        )),
        1 => entity.insert((
            mesh.clone(),
            material.clone(),
            Wireframe,
            WireframeColor::default(),
            WireframeLineWidth::default(),
            Lightmap {
                image: image.clone(),
                ..Lightmap::default()
            },
        )),
        2 | 3 => entity.insert(point),
        4 => entity.insert(SpotLight {
            shadow_maps_enabled,
            ..SpotLight::default()
        }),
        5 | 6 => entity.insert(DirectionalLight {
            shadow_maps_enabled,
            ..DirectionalLight::default()
        }),
        7 => entity.insert(RectLight::default()),
        8 => entity.insert((LightProbe::default(), environment)),
        9 => entity.insert((
            LightProbe::default(),
            IrradianceVolume {
                voxels: image.clone(),
                ..IrradianceVolume::default()
            },
        )),
        10 => entity.insert((FogVolume::default(), VolumetricLight)),
        _ => entity.insert((
            mesh.clone(),
            material.clone(),
            Aabb::default(),
            MeshMorphWeights::Value {
                weights: vec![0.0; 2],
            },
            SkinnedMesh::default(),
        )),
    };
    if is_mesh {
        entity.insert((mesh, material));
    }
    if has_texture && entity.contains::<SpotLight>() {
        entity.insert(SpotLightTexture { image });
    } else if has_texture && entity.contains::<PointLight>() {
        entity.insert(PointLightTexture {
            image,
            cubemap_layout: CubemapLayout::CrossHorizontal,
        });
    } else if has_texture && entity.contains::<DirectionalLight>() {
        entity.insert(DirectionalLightTexture {
            image,
            tiled: shadow_maps_enabled,
        });
    }
    entity.id()
}

/// A camera of the left half with all camera components.
fn spawn_camera(world: &mut World, order: isize, random: &mut Random) -> Entity {
    let cube = world.resource::<AssetPool>().cube.clone();
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    let mut camera = world.spawn((
        Camera3d::default(),
        Camera {
            order,
            viewport: Some(Viewport {
                physical_size: UVec2::new(SIZE[0] / 2, SIZE[1]),
                ..Viewport::default()
            }),
            ..Camera::default()
        },
        eye,
        DistanceFog::default(),
        AmbientLight::default(),
        ColorGrading::default(),
        Exposure::default(),
        ClusterConfig::default(),
        Skybox {
            image: Some(cube.clone()),
            ..Skybox::default()
        },
        EnvironmentMapLight {
            diffuse_map: cube.clone(),
            specular_map: cube,
            ..EnvironmentMapLight::default()
        },
    ));
    match random.below(4) {
        0 => camera.insert(Projection::from(OrthographicProjection::default_3d())),
        1 => camera.insert((OcclusionCulling, Msaa::Off)),
        2 => camera.insert(VolumetricFog::default()),
        _ => &mut camera,
    };
    let camera = camera.id();
    subjects::add_effects(world, camera, random);
    camera
}

/// The half with valid entities.
fn valid_half(picture: &Picture) -> Vec<[u8; 4]> {
    let [width, height] = SIZE;
    let places = (0..height).flat_map(|y| (width / 2..width).map(move |x| (x, y)));
    places.map(|(x, y)| picture.at(x, y)).collect()
}

fn lines(mut gizmos: Gizmos, mut random: Local<Option<Random>>) {
    let random = random.get_or_insert_with(|| Random::new(1));
    let point = |random: &mut Random| {
        Vec3::from_array([(); 3].map(|()| {
            if random.one_in(2) {
                random.pick(&INVALID_VALUES)
            } else {
                random.unit()
            }
        }))
    };
    for _ in 0..20 {
        let (from, to) = (point(random), point(random));
        gizmos.line(
            from,
            to,
            Color::srgb(random.pick(&INVALID_VALUES), 0.0, 1.0),
        );
    }
}

fn rig_with_plugins([width, height]: [u32; 2]) -> Rig {
    let plugins = (
        Quadrille3dPlugin::default(),
        WireframePlugin {},
        AutoExposurePlugin,
        GizmoPlugin,
    );
    Rig::with(width, height, plugins)
}

fn fuzz_settings() -> [u64; 3] {
    let given = std::env::var("QUADRILLE_ODD").unwrap_or_default();
    let mut numbers = given.split(',').filter(|part| !part.is_empty());
    [7, 10_000, 1_000].map(|default| {
        let number = numbers.next().map(str::parse);
        number.map_or(default, |number| {
            number.expect("QUADRILLE_ODD=SEED,ENTITIES,BATCH")
        })
    })
}

#[test]
#[ignore = "needs a device"]
fn frames_survive_invalid_values() {
    let [seed, count, early_view_count] = fuzz_settings();
    let [width, height] = SIZE;
    let mut rig = rig_with_plugins([width, height]);
    rig.app.add_systems(bevy_app::Update, lines);
    setup(rig.app.world_mut());
    rig.start();
    let wanted = valid_half(&rig.picture());
    assert!(
        wanted.iter().any(|pixel| *pixel != wanted[0]),
        "there is something to see"
    );
    let mut random = Random::new(seed);
    for batch in 0..count.div_ceil(early_view_count) {
        let begin = std::time::Instant::now();
        let world = rig.app.world_mut();
        let mut odd: Vec<_> = (0..early_view_count)
            .map(|_| spawn(world, &mut random))
            .collect();
        odd.extend((0..4).map(|order| spawn_camera(world, order, &mut random)));
        for &entity in &odd {
            for numbered in NUMBERED {
                numbered.make_invalid(world, entity, &mut random);
            }
        }
        let found = valid_half(&rig.picture());
        let differ = found.iter().zip(&wanted).filter(|(a, b)| a != b).count();
        assert_eq!(
            differ, 0,
            "seed {seed}, batch {batch}: pixels of what has nothing wrong"
        );
        for entity in odd {
            rig.app.world_mut().despawn(entity);
        }
        println!("batch {batch}: {:.1?}", begin.elapsed());
    }
    assert_eq!(valid_half(&rig.picture()), wanted);
}

/// Single cases that once panicked: each kind of light under a transform without directions.
#[test]
#[ignore = "needs a device"]
fn lights_without_direction_are_skipped() {
    let mut rig = Rig::new(SIZE[0], SIZE[1]);
    setup(rig.app.world_mut());
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    rig.app.world_mut().spawn((Camera3d::default(), eye));
    rig.start();
    let wanted = rig.picture();
    let place = Transform::from_xyz(0.0, 0.0, 2.0);
    for scale in [
        Vec3::ZERO,
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::NAN,
        Vec3::splat(1e-30),
    ] {
        for shadow_maps_enabled in [false, true] {
            let world = rig.app.world_mut();
            let place = place.with_scale(scale);
            let sun = DirectionalLight {
                shadow_maps_enabled,
                ..DirectionalLight::default()
            };
            let spot = SpotLight {
                shadow_maps_enabled,
                ..SpotLight::default()
            };
            let lights = [
                world.spawn((sun, place)).id(),
                world.spawn((spot, place)).id(),
            ];
            let same = rig.picture() == wanted;
            assert!(same, "scale {scale}, shadows {shadow_maps_enabled}");
            for light in lights {
                rig.app.world_mut().despawn(light);
            }
        }
    }
    // A point light needs no direction: it shines as under any other scale.
    let material = rig.app.world().resource::<AssetPool>().materials[0].clone();
    let mut assets = rig
        .app
        .world_mut()
        .resource_mut::<Assets<StandardMaterial>>();
    let material = MeshMaterial3d(assets.add(material));
    let mesh = Mesh3d(rig.app.world().resource::<AssetPool>().mesh.clone());
    rig.app.world_mut().spawn((mesh, material));
    let mut lit = |scale| {
        let light = PointLight {
            shadow_maps_enabled: true,
            ..PointLight::default()
        };
        let light = rig
            .app
            .world_mut()
            .spawn((light, place.with_scale(scale)))
            .id();
        let picture = rig.picture();
        rig.app.world_mut().despawn(light);
        picture
    };
    let whole = lit(Vec3::ONE);
    assert!(whole != wanted);
    assert!(lit(Vec3::ZERO) == whole, "under scale 0");
}
