//! The beam over the place to fly to: cyan for a parcel to take, orange for its receiver.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_camera::visibility::NoFrustumCulling;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
    SpecializedMeshPipelineError,
};
use wgpu_types::CompareFunction;

use crate::delivery::{Phase, REACHED};
use crate::game::Game;
use crate::player::play;

/// Color of the beam at a parcel to take.
pub(crate) const TAKE: LinearRgba = LinearRgba::rgb(0.1, 0.75, 1.0);
/// Color of the beam at a receiver.
pub(crate) const GIVE: LinearRgba = LinearRgba::rgb(1.0, 0.42, 0.06);

/// Light that is added to what lies behind.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
#[bind_group_data(BeamKey)]
struct Beam {
    #[uniform(0)]
    color: LinearRgba,
    /// Whether it is visible through buildings.
    shows_through: bool,
}

/// Key of a pipeline of beams.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct BeamKey {
    shows_through: bool,
}

impl From<&Beam> for BeamKey {
    fn from(beam: &Beam) -> Self {
        Self {
            shows_through: beam.shows_through,
        }
    }
}

/// Strength of a beam behind buildings.
const THROUGH: f32 = 0.3;

impl Beam {
    /// The beam as it is seen directly, and its part that shows through buildings.
    fn both(color: LinearRgba) -> [Self; 2] {
        [
            Self {
                color,
                shows_through: false,
            },
            Self {
                color: color * THROUGH,
                shows_through: true,
            },
        ]
    }
}

impl Material for Beam {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Add
    }

    fn enable_shadows() -> bool {
        false
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if let Some(depth) = &mut descriptor.depth_stencil
            && key.bind_group_data.shows_through
        {
            depth.depth_compare = Some(CompareFunction::Always);
        }
        Ok(())
    }
}

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de004");

/// Materials of the beam by purpose.
#[derive(Resource)]
struct Beams {
    take: [Handle<Beam>; 2],
    give: [Handle<Beam>; 2],
}

/// Beam and lamp at the target.
#[derive(Component, Clone)]
struct Marker;

/// Index of a material in [`Beams`].
#[derive(Component, Clone)]
struct Part(usize);

/// The column over the target.
#[derive(Component)]
struct Column;

/// Adds the beam.
pub(crate) struct MarkerPlugin;

impl Plugin for MarkerPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Beam>::default())
            .add_systems(Startup, spawn)
            .add_systems(Update, place.after(play));
    }
}

fn spawn(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Beam>>,
) -> Result {
    let source = include_str!("marker.wesl");
    shaders.insert(SHADER.id(), Shader::from_wesl(source, "marker.wesl"))?;
    let [take, give] = [TAKE, GIVE].map(|color| Beam::both(color).map(|it| materials.add(it)));
    let column = Cylinder::new(REACHED * 0.31, 320.0).mesh().resolution(24);
    let column = meshes.add(column.without_caps().build().translated_by(Vec3::Y * 156.0));
    // Around the place itself, so that its height shows.
    let ring = meshes.add(Torus::new(REACHED * 0.55, REACHED * 0.61));
    for (part, beam) in take.iter().enumerate() {
        let look = (
            Marker,
            Part(part),
            MeshMaterial3d(beam.clone()),
            NotShadowCaster,
            NoFrustumCulling,
        );
        commands.spawn((look.clone(), Column, Mesh3d(column.clone())));
        commands.spawn((look, Mesh3d(ring.clone())));
    }
    commands.spawn((
        Marker,
        PointLight {
            intensity: 1_500_000.0,
            range: 40.0,
            ..PointLight::default()
        },
        Transform::default(),
    ));
    commands.insert_resource(Beams { take, give });
    Ok(())
}

fn place(
    game: Res<Game>,
    beams: Res<Beams>,
    mut markers: Query<(&mut Transform, &mut Visibility, Has<Column>), With<Marker>>,
    mut materials: Query<(&Part, &mut MeshMaterial3d<Beam>)>,
    mut light: Single<&mut PointLight, With<Marker>>,
) {
    let rules = &game.rules;
    let is_shown = matches!(rules.phase, Phase::Play | Phase::Paused);
    // Far away it stays some pixels wide.
    let width = 1.0 + game.chase.eye.distance(rules.target) / 140.0;
    for (mut place, mut visibility, is_column) in &mut markers {
        place.translation = rules.target;
        if is_column {
            place.scale = Vec3::new(width, 1.0, width);
        }
        visibility.set_if_neq(match is_shown {
            true => Visibility::Inherited,
            false => Visibility::Hidden,
        });
    }
    let (color, beam) = match rules.is_carrying {
        true => (GIVE, &beams.give),
        false => (TAKE, &beams.take),
    };
    for (part, mut material) in &mut materials {
        if material.0 != beam[part.0] {
            material.0 = beam[part.0].clone();
        }
    }
    light.color = color.into();
}
