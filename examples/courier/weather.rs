//! Rain in some levels: a compute pass of the program writes the drops of this frame to a buffer, and the vertex shader
//! of a material reads them. Nobody says that one waits for the other: the plan does.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::{
    MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, Pass3dSystems,
    RenderPipelineDescriptor, SpecializedMeshPipelineError,
};

use crate::game::Game;
use crate::player::play;
use crate::quality::Quality;
use crate::streaks::{STREAK, show, streaks};

/// Streaks of rain at the drops of a buffer.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Rain {
    #[storage(0, read_only, buffer)]
    drops: GpuBuffer,
}

impl Material for Rain {
    fn vertex_shader() -> ShaderRef {
        STREAK.into()
    }

    fn fragment_shader() -> ShaderRef {
        STREAK.into()
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
        _: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        descriptor.primitive.cull_mode = None;
        Ok(())
    }
}

const MATERIAL: Handle<Rain> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de006");

/// Positions of the drops in the world.
#[derive(Resource, Deref)]
struct Drops(GpuBuffer);

#[derive(Resource)]
struct Fall(ComputePipeline);

/// Constants of `rain.wgsl`.
#[derive(ShaderType)]
struct Moment {
    eye: Vec3,
    /// In seconds.
    time: f32,
}

/// Adds the rain.
pub(crate) struct WeatherPlugin;

impl Plugin for WeatherPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Rain>::default())
            .add_systems(RenderStartup, make)
            .add_systems(Startup, spawn)
            .add_systems(Update, show.after(play))
            .add_systems(Render, fall.before(Pass3dSystems::Shadow));
    }
}

/// Creates the buffer and its pipeline; again after a lost device, with a new buffer in the material.
fn make(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    quality: Res<Quality>,
    mut materials: ResMut<Assets<Rain>>,
) -> Result {
    let shader = GpuShader::wgsl("rain.wgsl", include_str!("rain.wgsl"))?;
    let desc = ComputePipelineDesc::of("rain", &shader);
    commands.insert_resource(Fall(gpu.compute_pipeline(&desc)?));
    let bytes = u64::from(quality.drops()) * 16;
    let drops = gpu.create_buffer(&BufferDesc::storage("rain drops", bytes))?;
    commands.insert_resource(Drops(drops.clone()));
    materials.insert(MATERIAL.id(), Rain { drops })?;
    Ok(())
}

fn spawn(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    quality: Res<Quality>,
) -> Result {
    let streaks = streaks(quality.drops(), &mut shaders, &mut meshes)?;
    commands.spawn((streaks, MeshMaterial3d(MATERIAL)));
    Ok(())
}

/// Lets the drops fall around the camera; in dry levels as well, for a pass may read only what was written.
fn fall(
    mut recorder: Recorder,
    drops: StorageWrite<Drops>,
    fall: Res<Fall>,
    game: Res<Game>,
    quality: Res<Quality>,
) {
    recorder
        .compute(&fall.0)
        .bind("drops", &drops)
        .push(&Moment {
            eye: game.chase.eye,
            time: game.time,
        })
        .dispatch_invocations([quality.drops(), 1, 1]);
}
