//! Rain on bevy's renderer: the game's shaders, with a buffer that is an asset and a compute pass in the render graph.

use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::binding_types::storage_buffer;
use bevy::render::render_resource::*;
use bevy::render::renderer::{RenderContext, RenderDevice, RenderGraph};
use bevy::render::storage::{GpuShaderBuffer, ShaderBuffer, ShaderBufferData};
use bevy::render::{RenderApp, RenderStartup};

use crate::game::Game;
use crate::player::play;
use crate::prelude::*;
use crate::quality::Quality;
use crate::streaks::{STREAK, show, streaks};
use crate::{MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef};

/// Invocations of a workgroup of `rain.wgsl`.
const GROUP: u32 = 64;

/// Streaks of rain at the drops of a buffer.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Rain {
    #[storage(0, read_only)]
    drops: Handle<ShaderBuffer>,
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

const FALL: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de006");

/// Values of a frame, and the buffer.
#[derive(Resource, Clone, ExtractResource)]
#[extract_app(RenderApp)]
struct Moment {
    eye: Vec3,
    /// In seconds.
    time: f32,
    drops: u32,
    buffer: Handle<ShaderBuffer>,
}

#[derive(Resource)]
struct Fall {
    layout: BindGroupLayoutDescriptor,
    pipeline: CachedComputePipelineId,
}

/// Adds the rain.
pub(crate) struct WeatherPlugin;

impl Plugin for WeatherPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Rain>::default())
            .add_plugins(ExtractResourcePlugin::<Moment>::default())
            .add_systems(Startup, spawn)
            .add_systems(Update, (show, note_moment).after(play));
        if let Some(render) = app.get_sub_app_mut(RenderApp) {
            render
                .add_systems(RenderStartup, make)
                .add_systems(RenderGraph, fall);
        }
    }
}

fn make(mut commands: Commands, pipelines: Res<PipelineCache>) {
    let entries =
        BindGroupLayoutEntries::single(ShaderStages::COMPUTE, storage_buffer::<Vec<Vec4>>(false));
    let layout = BindGroupLayoutDescriptor::new("rain", &entries);
    let pipeline = pipelines.queue_compute_pipeline(ComputePipelineDescriptor {
        label: Some("rain".into()),
        layout: vec![layout.clone()],
        immediate_size: 16,
        shader: FALL,
        ..default()
    });
    commands.insert_resource(Fall { layout, pipeline });
}

fn spawn(
    mut commands: Commands,
    mut shaders: ResMut<Assets<Shader>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut buffers: ResMut<Assets<ShaderBuffer>>,
    mut materials: ResMut<Assets<Rain>>,
    quality: Res<Quality>,
) -> Result {
    let source = include_str!("../../rain.wgsl");
    shaders.insert(FALL.id(), Shader::from_wgsl(source, "rain.wgsl"))?;
    let drops = quality.drops();
    let buffer = buffers.add(ShaderBuffer {
        data: ShaderBufferData::Uninitialized(u64::from(drops) * 16),
        ..default()
    });
    let streaks = streaks(drops, &mut shaders, &mut meshes)?;
    let material = materials.add(Rain {
        drops: buffer.clone(),
    });
    commands.spawn((streaks, MeshMaterial3d(material)));
    commands.insert_resource(Moment {
        eye: Vec3::ZERO,
        time: 0.0,
        drops,
        buffer,
    });
    Ok(())
}

fn note_moment(game: Res<Game>, mut moment: ResMut<Moment>) {
    (moment.eye, moment.time) = (game.chase.eye, game.time);
}

/// Lets the drops fall around the camera, before the graphs of cameras, which run in a later set.
fn fall(
    mut context: RenderContext,
    device: Res<RenderDevice>,
    pipelines: Res<PipelineCache>,
    fall: Res<Fall>,
    moment: Res<Moment>,
    buffers: Res<RenderAssets<GpuShaderBuffer>>,
    mut group: Local<Option<BindGroup>>,
) {
    let (Some(pipeline), Some(buffer)) = (
        pipelines.get_compute_pipeline(fall.pipeline),
        buffers.get(&moment.buffer),
    ) else {
        return;
    };
    let group = group.get_or_insert_with(|| {
        let layout = pipelines.get_bind_group_layout(&fall.layout);
        let entries = BindGroupEntries::single(buffer.buffer.as_entire_buffer_binding());
        device.create_bind_group("rain", &layout, &entries)
    });
    let mut bytes = [0; 16];
    let values = [moment.eye.x, moment.eye.y, moment.eye.z, moment.time];
    for (part, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(values) {
        *part = value.to_le_bytes();
    }
    let desc = ComputePassDescriptor {
        label: Some("rain"),
        ..default()
    };
    let mut pass = context.command_encoder().begin_compute_pass(&desc);
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &*group, &[]);
    pass.set_immediates(0, &bytes);
    pass.dispatch_workgroups(moment.drops.div_ceil(GROUP), 1, 1);
}
