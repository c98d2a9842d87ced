//! Extended materials beside standard ones, while features of the lighting and of their base come and go.

use std::sync::atomic::{AtomicU32, Ordering};

use bevy_ecs::prelude::*;
use bevy_mesh::MeshVertexBufferLayoutRef;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, RenderPipelineDescriptor, ScreenSpaceTransmission,
    SpecializedMeshPipelineError,
};

use crate::common::{Picture, Rig, log};
use crate::environment::{camera, environment, image};
use crate::material_shaders::{MOVED, add_shader, assert_color, rig_with, shader_ref, square};
use crate::material_variants::{HALVED, Halved, Unchanged};

/// A material that is a standard one, perhaps with more.
trait Based: Asset {
    fn new(base: StandardMaterial) -> Self;
    fn base(&mut self) -> &mut StandardMaterial;
}

impl Based for StandardMaterial {
    fn new(base: StandardMaterial) -> Self {
        base
    }

    fn base(&mut self) -> &mut StandardMaterial {
        self
    }
}

impl Based for ExtendedMaterial<StandardMaterial, Unchanged> {
    fn new(base: StandardMaterial) -> Self {
        let extension = Unchanged {};
        Self { base, extension }
    }

    fn base(&mut self) -> &mut StandardMaterial {
        &mut self.base
    }
}

impl Based for ExtendedMaterial<StandardMaterial, Halved> {
    fn new(base: StandardMaterial) -> Self {
        let extension = Halved { factor: 1.0 };
        Self { base, extension }
    }

    fn base(&mut self) -> &mut StandardMaterial {
        &mut self.base
    }
}

/// A change of the scene, which is there in all later pictures.
type Step = (&'static str, fn(&mut World, &mut StandardMaterial));

const STEPS: &[Step] = &[
    ("directional light", |world, _| {
        let light = DirectionalLight {
            illuminance: 700.0,
            ..DirectionalLight::default()
        };
        world.spawn((light, towards_floor(Vec3::new(0.6, 0.3, 1.0))));
    }),
    ("shadows", |world, _| {
        let mut lights = world.query::<&mut DirectionalLight>();
        for mut light in lights.iter_mut(world) {
            light.shadow_maps_enabled = true;
        }
    }),
    ("spot light", |world, _| {
        let light = SpotLight {
            intensity: 8000.0,
            radius: 0.3,
            outer_angle: 0.7,
            shadow_maps_enabled: true,
            ..SpotLight::default()
        };
        world.spawn((light, towards_floor(Vec3::new(0.0, 0.0, 0.8))));
    }),
    #[cfg(feature = "experimental_pbr_pcss")]
    ("soft shadows", |world, _| {
        let mut lights = world.query::<&mut SpotLight>();
        for mut light in lights.iter_mut(world) {
            light.soft_shadows_enabled = true;
        }
    }),
    ("fog", |world, _| {
        let fog = DistanceFog {
            color: Color::srgb(0.2, 0.3, 0.7),
            falloff: FogFalloff::Linear {
                start: 0.0,
                end: 12.0,
            },
            ..DistanceFog::default()
        };
        camera(world).insert(fog);
    }),
    ("environment map", |world, _| {
        let map = image([2, 2, 6], |[x, _, face]| {
            [0.2 + 0.1 * face as f32, x as f32, 0.5]
        });
        let light = environment(world, map, 600.0);
        camera(world).insert(light);
    }),
    ("base color texture", |world, base| {
        let texels = image([4, 4, 1], |[x, y, _]| {
            [1.0, 0.3 + 0.2 * ((x + y) % 2) as f32, 0.5]
        });
        base.base_color_texture = Some(world.resource_mut::<Assets<Image>>().add(texels));
    }),
    ("roughness texture", |world, base| {
        let texels = image([4, 4, 1], |[x, ..]| [1.0, 0.3 + 0.2 * x as f32, 0.4]);
        base.metallic_roughness_texture = Some(world.resource_mut::<Assets<Image>>().add(texels));
    }),
    ("clearcoat", |_, base| base.clearcoat = 1.0),
    ("diffuse transmission", |_, base| {
        base.diffuse_transmission = 0.5;
        base.thickness = 0.2;
        base.attenuation_color = Color::srgb(0.5, 0.9, 0.7);
        base.attenuation_distance = 0.3;
    }),
    ("specular transmission", |world, base| {
        base.specular_transmission = 0.6;
        base.ior = 1.3;
        let transmission = ScreenSpaceTransmission::default();
        camera(world).insert(transmission);
    }),
    ("alpha mask", |_, base| {
        base.base_color.set_alpha(0.2);
        base.alpha_mode = AlphaMode::Mask(0.5);
    }),
    ("no lights", |world, base| {
        *base = floor();
        let mut lights =
            world.query_filtered::<Entity, Or<(With<DirectionalLight>, With<SpotLight>)>>();
        let lights: Vec<_> = lights.iter(world).collect();
        lights.into_iter().for_each(|light| {
            world.despawn(light);
        });
        camera(world).remove::<(DistanceFog, EnvironmentMapLight)>();
    }),
];

fn towards_floor(from: Vec3) -> Transform {
    Transform::from_translation(from).looking_at(Vec3::NEG_Z, Vec3::Y)
}

fn floor() -> StandardMaterial {
    StandardMaterial {
        perceptual_roughness: 0.5,
        metallic: 0.5,
        ..StandardMaterial::from(Color::linear_rgb(0.7, 0.5, 0.3))
    }
}

/// Pictures of a floor with a material after each of [`STEPS`], the one before them first.
fn pictures<M: Based>() -> Vec<Picture> {
    let mut rig: Rig = rig_with(Tonemapping::None, false, |app| {
        app.add_plugins((
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, Halved>>::default(),
            MaterialPlugin::<ExtendedMaterial<StandardMaterial, Unchanged>>::default(),
        ));
        add_shader(app, 6, HALVED);
    });
    let world = rig.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(2.0, 2.0));
    let material = world.resource_mut::<Assets<M>>().add(M::new(floor()));
    let behind = Transform::from_xyz(0.0, 0.0, -1.0);
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material.clone()), behind));
    let caster = world.resource_mut::<Assets<Mesh>>();
    let caster = caster.into_inner().add(Rectangle::new(0.3, 0.3));
    let white = world.resource_mut::<Assets<StandardMaterial>>();
    let white = white.into_inner().add(StandardMaterial::default());
    let before = Transform::from_xyz(0.1, 0.1, 0.0);
    world.spawn((Mesh3d(caster), MeshMaterial3d(white), before));
    let mut pictures = vec![rig.picture()];
    for (_, step) in STEPS {
        let world = rig.app.world_mut();
        world.resource_scope(|world, mut materials: Mut<Assets<M>>| {
            let mut material = materials.get_mut(&material).expect("it is there");
            step(world, material.base());
        });
        pictures.push(rig.picture());
    }
    pictures
}

#[test]
#[ignore = "needs a device"]
fn extended_materials_follow_the_lighting_as_standard_ones() {
    log::collect();
    let wanted = pictures::<StandardMaterial>();
    let extended = pictures::<ExtendedMaterial<StandardMaterial, Unchanged>>();
    let with_shader = pictures::<ExtendedMaterial<StandardMaterial, Halved>>();
    let names = ["nothing"].into_iter().chain(STEPS.iter().map(|it| it.0));
    for (step, name) in names.enumerate() {
        if let Some(before) = step.checked_sub(1) {
            let pairs = wanted[step].pixels.iter().zip(&wanted[before].pixels);
            let count = pairs.filter(|(a, b)| a != b).count();
            assert!(count >= 20, "{count} pixels differ by {name}");
        }
        for (found, kind) in [
            (&extended, "without a shader"),
            (&with_shader, "with a shader"),
        ] {
            for (at, (a, b)) in found[step]
                .pixels
                .iter()
                .zip(&wanted[step].pixels)
                .enumerate()
            {
                let is_near = a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
                assert!(is_near, "{name}, {kind}, pixel {at}: {a:?} for {b:?}");
            }
        }
    }
    assert_eq!(
        wanted.first().map(|it| &it.pixels),
        wanted.last().map(|it| &it.pixels)
    );
    assert!(log::take().is_empty());
}

/// Calls of [`Counted::specialize`].
static SPECIALIZED: AtomicU32 = AtomicU32::new(0);

/// A material that counts how often it is specialized, and is not drawn if its key says so.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(Culls)]
struct Counted {
    #[uniform(0)]
    color: Vec4,
    culls: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Culls(bool);

impl From<&Counted> for Culls {
    fn from(material: &Counted) -> Self {
        Self(material.culls)
    }
}

impl Material for Counted {
    fn fragment_shader() -> ShaderRef {
        shader_ref(1)
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        SPECIALIZED.fetch_add(1, Ordering::Relaxed);
        if key.bind_group_data.0 {
            descriptor.primitive.cull_mode = Some(wgpu_types::Face::Front);
        }
        Ok(())
    }
}

#[test]
#[ignore = "needs a device"]
fn materials_are_specialized_again_when_their_key_changes() {
    log::collect();
    let mut rig = rig_with(Tonemapping::None, false, |app| {
        app.add_plugins(MaterialPlugin::<Counted>::default());
        add_shader(app, 1, MOVED);
    });
    let material = Counted {
        color: Vec4::new(0.0, 0.5, -1.0, 1.0),
        culls: false,
    };
    let entity = square(&mut rig, Vec3::ZERO, 1.0, material);
    let middle = |rig: &mut Rig| rig.picture().at(16, 16);
    assert_color(middle(&mut rig), [0.0, 0.5, 1.0], "at first");
    let first = SPECIALIZED.load(Ordering::Relaxed);
    assert!(first > 0);
    let change = |rig: &mut Rig, change: fn(&mut Counted)| {
        let world = rig.app.world_mut();
        let handle = world
            .get::<MeshMaterial3d<Counted>>(entity)
            .expect("it is there")
            .0
            .clone();
        let mut materials = world.resource_mut::<Assets<Counted>>();
        change(&mut materials.get_mut(&handle).expect("it is there"));
    };
    for _ in 0..3 {
        change(&mut rig, |material| material.color.y = 0.25);
        assert_color(middle(&mut rig), [0.0, 0.25, 1.0], "other values");
    }
    assert_eq!(SPECIALIZED.load(Ordering::Relaxed), first, "values alone");
    change(&mut rig, |material| material.culls = true);
    assert_color(middle(&mut rig), [0.0; 3], "another key");
    assert_eq!(SPECIALIZED.load(Ordering::Relaxed), first + 1);
    change(&mut rig, |material| material.culls = false);
    assert_color(middle(&mut rig), [0.0, 0.25, 1.0], "the first key");
    assert!(log::take().is_empty());
}
