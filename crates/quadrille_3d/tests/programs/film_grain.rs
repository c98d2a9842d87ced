use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille::prelude::*;
use quadrille_3d::{CameraEffect, CameraEffectPlugin, EffectFrame, EffectViews, PostProcess};

/// Film grain, and a vignette that darkens the corners, in the picture of a camera.
#[derive(Component, Clone, Copy)]
pub struct FilmGrain {
    pub grain: f32,
    pub vignette: f32,
}

#[derive(ShaderType)]
pub struct Params { grain: f32, vignette: f32, seed: u32 }

impl CameraEffect for FilmGrain {
    type Uniform = Params;

    fn uniform(&self, frame: &EffectFrame) -> Params {
        Params { grain: self.grain, vignette: self.vignette, seed: frame.index }
    }
}

#[derive(Resource)]
struct Pipeline(GraphicsPipeline);

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/film_grain.wgsl");
    let shader = GpuShader::wgsl("film_grain.wgsl", &std::fs::read_to_string(file)?)?.with_file(file);
    let desc = GraphicsPipelineDesc::of("film grain", &shader);
    commands.insert_resource(Pipeline(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn film_grain(
    mut recorder: Recorder,
    (effects, pipeline): (EffectViews<FilmGrain>, Res<Pipeline>),
    mut post_process: PostProcess,
) {
    for view in effects.iter() {
        let Some(color) = post_process.write(&view) else { continue };
        let uses = [color.source, color.destination, effects.uniforms().any()];
        let uses = uses.map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "film grain", &uses);
        pass.render(color.destination.discard())
            .pipeline(&pipeline.0)
            .bind("scene", &color.source)
            .bind_bytes("params", effects.uniforms(), view.uniform_bytes())
            .draw(0..3, 0..1);
    }
}

pub fn add(app: &mut App) {
    app.add_plugins(CameraEffectPlugin::<FilmGrain>::default())
        .add_systems(RenderStartup, make)
        .add_systems(Render, film_grain.in_set(FilmGrain::STAGE));
}
