//! A pass of one's own between the scene and the window, with a switch.
//!
//! `scene` draws to an image of the window's size, whatever size that is; `lens` reads the image and
//! draws to the window. Space turns the
//! lens off: then `plain` copies the image instead. With `--runtime` the lens is the same pass,
//! declared with a handle that is known only at run time. With `--watch` the shaders are loaded
//! again whenever their files are saved.

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleCleanupPolicy;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use bevy_input::{ButtonInput, keyboard::KeyCode};
use clap::Parser;
use examples::constants::{Effect, Scene};
use examples::{CommonArgs, args};
use quadrille::ecs::{AccessKind, AnyAccess, Declared, declared};
use quadrille::prelude::*;
use quadrille::vulkan::Format;

/// Draws a moving scene through a cheap lens. Space turns the lens on and off.
#[derive(Parser, Resource, Clone)]
#[command(after_help = args::EXAMPLES)]
struct Args {
    /// Start without the lens
    #[arg(long)]
    plain: bool,
    /// Declare the lens with handles known only at run time
    #[arg(long)]
    runtime: bool,
    /// Load shaders/post_process/*.wgsl again when they change
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// The image between scene and window, of the window's size.
#[derive(Resource, Deref)]
struct SceneColor(GpuImage);

#[derive(Resource)]
struct Pipelines {
    scene: GraphicsPipeline,
    effect: GraphicsPipeline,
    sampler: Sampler,
}

/// Whether the lens is on.
#[derive(Resource)]
struct Lens(bool);

/// Frames since the start; the scene moves by frames, so that pictures can be compared.
#[derive(Resource, Default)]
struct Clock(u32);

/// Where the shaders are edited.
const SHADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shaders/post_process/");
const SIZE: [u32; 2] = [960, 540];

fn main() -> AppExit {
    let args: Args = args::parse();
    let mut app = App::new();
    app.add_plugins((
        args.common.plugins("Post process", SIZE),
        args.common.clone(),
    ))
    .insert_resource(args.clone())
    .insert_resource(Lens(!args.plain))
    .init_resource::<Clock>()
    .add_systems(RenderStartup, setup)
    .add_systems(Update, control)
    .add_systems(Render, (scene, plain.after(scene).run_if(not(lens_on))));
    if args.watch {
        app.add_plugins(ShaderReloadPlugin::default());
    }
    if args.runtime {
        app.add_systems(RenderStartup, add_lens.after(setup));
    } else {
        app.add_systems(Render, lens.after(scene).run_if(lens_on));
    }
    app.run()
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, args: Res<Args>) -> Result {
    let [width, height] = SIZE;
    // Each frame redraws it.
    let color =
        ImageDesc::color_target("scene color", [width, height], Format::R16G16B16A16_SFLOAT)
            .transient();
    if args.runtime {
        // A pass that is built for this very image keeps it.
        commands.insert_resource(SceneColor(gpu.create_image(&color)?));
    } else {
        commands.queue(WindowSized::new(SceneColor, color));
    }
    let pipeline = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?.with_file(format!("{SHADERS}{name}"));
        Ok(gpu.graphics_pipeline(&GraphicsPipelineDesc::of(name, &shader))?)
    };
    commands.insert_resource(Pipelines {
        scene: pipeline(
            "scene.wgsl",
            include_str!("../shaders/post_process/scene.wgsl"),
        )?,
        effect: pipeline(
            "effect.wgsl",
            include_str!("../shaders/post_process/effect.wgsl"),
        )?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    Ok(())
}

fn control(keys: Res<ButtonInput<KeyCode>>, mut lens: ResMut<Lens>, mut clock: ResMut<Clock>) {
    lens.0 ^= keys.just_pressed(KeyCode::Space);
    clock.0 += 1;
}

fn lens_on(lens: Res<Lens>) -> bool {
    lens.0
}

fn scene(
    mut recorder: Recorder,
    color: ColorTarget<SceneColor>,
    pipelines: Res<Pipelines>,
    clock: Res<Clock>,
) {
    let time = clock.0 as f32 / 60.0;
    let aspect = aspect(&color);
    let mut rendering = recorder.render(color.discard());
    rendering
        .pipeline(&pipelines.scene)
        .push(&Scene { aspect, time })
        .draw(0..3, 0..1);
}

/// Width by height.
fn aspect(image: &GpuImage) -> f32 {
    let [width, height, _] = image.extent();
    width as f32 / height as f32
}

fn lens(
    mut recorder: Recorder,
    scene: Sampled<SceneColor>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    look(&mut recorder, &scene, &window, &pipelines, 1.0);
}

fn plain(
    mut recorder: Recorder,
    scene: Sampled<SceneColor>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    look(&mut recorder, &scene, &window, &pipelines, 0.0);
}

/// Draws the scene to the window through a lens of some strength.
fn look(
    recorder: &mut Recorder,
    scene: &impl Declared,
    window: &ColorTarget<PrimaryWindowImage>,
    pipelines: &Pipelines,
    strength: f32,
) {
    let aspect = aspect(window);
    let mut rendering = recorder.render(window.discard());
    rendering
        .pipeline(&pipelines.effect)
        .bind("scene", scene)
        .sampler("scene_sampler", &pipelines.sampler);
    rendering
        .push(&Effect { aspect, strength })
        .draw(0..3, 0..1);
}

/// The lens that is declared at run time.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RuntimeLens;

/// Adds the lens for an image that the program has only now, in place of the one for the image of
/// a device that was lost.
fn add_lens(world: &mut World) {
    let image = world.resource::<SceneColor>().0.clone();
    let parameters = (
        ParamBuilder,
        declared(AccessKind::Sampled, &image),
        ParamBuilder,
        ParamBuilder,
    );
    let lens = parameters.build_system(runtime_lens);
    world.schedule_scope(Render, |world, schedule| {
        // The first time there is none to remove.
        let policy = ScheduleCleanupPolicy::RemoveSystemsOnly;
        let _ = schedule.remove_systems_in_set(RuntimeLens, world, policy);
        schedule.add_systems(lens.after(scene).run_if(lens_on).in_set(RuntimeLens));
    });
}

fn runtime_lens(
    mut recorder: Recorder,
    scene: AnyAccess,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
) {
    look(&mut recorder, &scene, &window, &pipelines, 1.0);
}
