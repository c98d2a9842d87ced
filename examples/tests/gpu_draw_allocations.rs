//! Allocations of frames of passes that draw, in the steady state.
//! `cargo test -p examples --test gpu_draw_allocations -- --ignored`; without a device it fails.

use bevy_app::{App, ScheduleRunnerPlugin, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use quadrille::ecs::{AccessKind, AnyAccess, RecordOn, RenderErrorHandler, Renderer, declared};
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::DepthState;
use quadrille::vulkan::resources::View;
use quadrille_bench::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const FRAMES: u64 = 20;

const SHADER: &str = "
    var<immediate> color: vec4f;
    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.5, 1.0);
    }
    @fragment fn fragment_main() -> @location(0) vec4f { return color; }";

#[derive(Resource)]
struct Paint(GraphicsPipeline);

/// Draws over one image, with depth.
fn paint(mut recorder: Recorder, color: AnyAccess, depth: AnyAccess, paint: Res<Paint>) {
    let depth = depth.view(View::WHOLE).clear_depth(1.0);
    let mut rendering = recorder.render((color.clear([0.0; 4]), depth));
    rendering
        .pipeline(&paint.0)
        .push(&[1.0_f32; 4])
        .draw(0..3, 0..1);
}

/// An app with so many passes, each of which draws to images of its own.
fn app(passes: usize) -> App {
    let mut app = App::new();
    app.add_plugins((
        TaskPoolPlugin::default(),
        ScheduleRunnerPlugin::default(),
        QuadrillePlugin {
            record_on: RecordOn::OneThread,
            ..QuadrillePlugin::default()
        },
    ));
    app.insert_resource(RenderErrorHandler(|error, _| panic!("{error}")));
    let gpu = app.world().get_resource::<GpuDevice>().cloned();
    let gpu = gpu.expect("this test needs a device");
    let shader = GpuShader::wgsl("paint.wgsl", SHADER).expect("it is right");
    let desc = GraphicsPipelineDesc {
        depth: Some(DepthState::LESS),
        ..GraphicsPipelineDesc::of("paint", &shader)
    };
    let pipeline = gpu.graphics_pipeline(&desc).expect("it compiles");
    app.insert_resource(Paint(pipeline));
    for pass in 0..passes {
        let color = format!("color {pass}");
        let color = ImageDesc::color_target(color, [4, 4], Format::R8G8B8A8_UNORM);
        let color = gpu.create_image(&color).expect("there is memory");
        let depth = ImageDesc::depth(format!("depth {pass}"), [4, 4], Format::D32_SFLOAT);
        let depth = gpu.create_image(&depth).expect("there is memory");
        let parameters = (
            ParamBuilder,
            declared(AccessKind::ColorTarget, &color),
            declared(AccessKind::DepthTarget, &depth),
            ParamBuilder,
        );
        app.add_systems(Render, parameters.build_system(paint));
    }
    app.finish();
    app.cleanup();
    app
}

/// Allocations of a frame of so many passes, rounded down.
fn allocations(passes: usize) -> u64 {
    let mut app = app(passes);
    (0..10).for_each(|_| app.update());
    let before = CountingAllocator::count();
    (0..FRAMES).for_each(|_| app.update());
    let frame = (CountingAllocator::count() - before) / FRAMES;
    let report = app.world().resource::<Renderer>().report();
    assert_eq!(report["frames"], 10 + FRAMES);
    frame
}

/// One test, since the counter is that of the process.
#[test]
#[ignore = "needs a Vulkan device"]
fn no_allocation_per_pass_that_draws() {
    let [few, many] = [10, 60].map(allocations);
    println!("{few} allocations a frame of 10 passes, {many} of 60");
    assert!(
        many < few + 10,
        "{many} allocations a frame of 60 passes, {few} of 10"
    );
}
