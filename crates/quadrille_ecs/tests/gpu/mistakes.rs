//! Mistakes of programs are reported once, by name, and cost no more than their frames.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, DepthState, GraphicsPipeline, GraphicsPipelineDesc,
};
use quadrille_vulkan::resources::{BufferDesc, BufferUsage, GpuBuffer, ImageDesc, ImageUsage};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Add, Errors, Numbers, Rig, Squares, add, read, square};

/// Takes the errors since the last call.
fn errors(rig: &mut Rig) -> Vec<String> {
    let mut errors = rig.app.world_mut().resource_mut::<Errors>();
    std::mem::take(&mut errors.0)
}

#[track_caller]
fn expect_one(rig: &mut Rig, words: &[&str]) {
    let errors = errors(rig);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    for words in words {
        assert!(errors[0].contains(words), "no {words:?} in {errors:#?}");
    }
}

/// The access entities of a pass.
fn accesses(world: &mut World, pass: &str) -> Vec<Entity> {
    let mut passes = world.query_filtered::<(&Name, &Accesses), With<Pass>>();
    let mut passes = passes.iter(world);
    let found = passes.find(|(name, _)| name.as_str() == pass);
    found.expect("there is this pass").1.iter().collect()
}

/// Another pass keeps the resource in the frame, or none does: a recorded command needs the
/// declaration of its own pass.
fn an_access_that_is_dropped_is_missed(is_declared_elsewhere: bool) {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    if is_declared_elsewhere {
        rig.app.add_systems(Render, square.after(add));
    }
    rig.update(4);
    rig.expect_no_errors();
    let numbers = resource_entity::<Numbers>(rig.app.world_mut());
    let world = rig.app.world_mut();
    let dropped = accesses(world, "add");
    let pass = world.get::<AccessOf>(dropped[0]).copied();
    for access in dropped {
        world.despawn(access);
    }
    rig.update(1);
    expect_one(
        &mut rig,
        &[
            "the pass `add`",
            "at `bind`",
            "`numbers` is used",
            "declare it",
        ],
    );

    let access = DeclaredAccess::new(AccessKind::StorageReadWrite);
    let pass = pass.expect("an access has a pass");
    rig.app.world_mut().spawn((pass, AccessTo(numbers), access));
    rig.update(1);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    rig.expect_no_errors();
    assert!(numbers[0] >= 5, "the pass goes on: {}", numbers[0]);
}

#[test]
#[ignore = "needs a device"]
fn pass_cannot_use_a_despawned_access() {
    an_access_that_is_dropped_is_missed(false);
}

#[test]
#[ignore = "needs a device"]
fn pass_cannot_use_an_access_of_another_pass() {
    an_access_that_is_dropped_is_missed(true);
}

#[test]
#[ignore = "needs a device"]
fn resource_replaced_after_its_pass_is_named() {
    fn replace(mut commands: Commands, gpu: Res<GpuDevice>, mut done: Local<bool>) -> Result {
        if !*done {
            let other = gpu.create_buffer(&BufferDesc::storage("other squares", 1024))?;
            commands.insert_resource(Squares(other));
            *done = true;
        }
        Ok(())
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, (square, replace.after(square)));
    rig.update(1);
    expect_one(&mut rig, &["the pass `square`", "`squares` is used"]);
}

#[test]
#[ignore = "needs a device"]
fn wrong_binding_is_reported_once_with_available_ones() {
    let mut rig = Rig::new();
    let beyond = |mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, add: Res<Add>| {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).bind(5, &numbers);
        compute.push(&1_u32).dispatch([4, 1, 1]);
    };
    rig.app.add_systems(Render, beyond);
    rig.update(1);
    expect_one(&mut rig, &["no binding 5 for `numbers`", "0 (`numbers`)"]);

    let mut rig = Rig::new();
    let weak = |mut recorder: Recorder, numbers: StorageRead<Numbers>, add: Res<Add>| {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    };
    rig.app.add_systems(Render, weak);
    rig.update(1);
    expect_one(&mut rig, &["`numbers` is declared as storage read"]);
}

#[test]
#[ignore = "needs a device"]
fn pass_outside_of_the_schedule_is_reported() {
    let mut rig = Rig::new();
    rig.app.add_systems(Update, square).add_systems(Render, add);
    rig.update(2);
    let reported = errors(&mut rig);
    assert_eq!(reported.len(), 2, "one each frame: {reported:#?}");
    assert!(reported[0].contains("square` records a pass outside of the `Render` schedule"));
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert!(numbers[0] >= 2, "the others go on: {}", numbers[0]);
}

#[test]
#[ignore = "needs a device"]
fn repeated_system_is_reported_with_its_order() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, (add, add));
    rig.update(1);
    expect_one(&mut rig, &["`(add, add).chain()`"]);
}

#[test]
#[ignore = "needs a device"]
fn a_resource_that_is_gone_is_missed_by_name() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, square);
    rig.update(1);
    rig.app.world_mut().remove_resource::<Squares>();
    rig.update(1);
    expect_one(&mut rig, &["`Squares` does not exist", "insert_resource"]);
}

#[test]
#[ignore = "needs a device"]
fn buffer_without_transfer_usage_is_not_read_back() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, square);
    rig.update(1);
    let world = rig.app.world_mut();
    let gpu = world.resource::<GpuDevice>();
    let desc = BufferDesc::new("fixed", 4, BufferUsage::STORAGE);
    let fixed = gpu.create_buffer(&desc).expect("buffers can be made");
    let asked = ask(&mut rig, Readback::buffer(&fixed));
    rig.update(1);
    expect_no_readback(&mut rig, asked, &["fixed", "TRANSFER_SRC"]);
}

#[test]
#[ignore = "needs a device"]
fn buffer_smaller_than_the_shader_type_is_reported() {
    #[derive(Resource, bevy_derive::Deref)]
    struct Small(GpuBuffer);
    #[derive(Resource)]
    struct Scale(ComputePipeline);
    const SCALE: &str = "
        struct Counted { scale: vec4f, count: u32, places: array<vec2f> }
        @group(0) @binding(0) var<storage, read_write> counted: Counted;
        @compute @workgroup_size(1) fn scale() { counted.places[0] *= counted.scale.xy; }";
    fn scale(mut recorder: Recorder, small: StorageWrite<Small>, scale: Res<Scale>) {
        let mut compute = recorder.compute(&scale.0);
        compute.bind(0, &small).dispatch([1, 1, 1]);
    }
    let setup = |bytes: u64| {
        move |mut commands: Commands, gpu: Res<GpuDevice>| -> Result {
            let small = gpu.create_buffer(&BufferDesc::storage("small", bytes))?;
            commands.insert_resource(Small(small));
            let shader = GpuShader::wgsl("scale", SCALE)?;
            let desc = ComputePipelineDesc::of("scale", &shader);
            commands.insert_resource(Scale(gpu.compute_pipeline(&desc)?));
            Ok(())
        }
    };
    // 16 bytes of scale, 4 of a count, 4 of padding, and one place of 8.
    for bytes in [16, 28, 32] {
        let mut rig = Rig::new();
        rig.app.add_systems(RenderStartup, setup(bytes));
        rig.app.add_systems(Render, scale);
        rig.update(1);
        let given = format!("`small` is bound there with {bytes};");
        match bytes {
            32 => rig.expect_no_errors(),
            _ => expect_one(
                &mut rig,
                &[
                    "the pass `scale`",
                    "at least 32 bytes at @binding(0) `counted`",
                    &given,
                ],
            ),
        }
    }
}

/// Reported readbacks that failed.
#[derive(Resource, Default)]
struct Failed(Vec<(Entity, String)>);

/// Asks for something.
fn ask(rig: &mut Rig, readback: Readback) -> Entity {
    let world = rig.app.world_mut();
    world.init_resource::<Failed>();
    let note = |failed: On<ReadbackFailed>, mut all: ResMut<Failed>| {
        all.0.push((failed.entity, failed.problem.clone()));
    };
    world.spawn(readback).observe(note).id()
}

/// Expects that a readback failed, was reported once with these words, and cost no frame.
#[track_caller]
fn expect_no_readback(rig: &mut Rig, asked: Entity, words: &[&str]) {
    let failed = &rig.app.world().resource::<Failed>().0;
    let reported: Vec<_> = failed
        .iter()
        .filter(|(entity, _)| *entity == asked)
        .collect();
    assert_eq!(reported.len(), 1, "{failed:#?}");
    for words in words {
        assert!(
            reported[0].1.contains(words),
            "no {words:?} in {reported:#?}"
        );
    }
    assert!(rig.app.world().get_entity(asked).is_err(), "it is gone");
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn unwritten_resource_is_not_read_back_and_costs_no_frame() {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(2);
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = ImageDesc::sampled("blank", [8, 8], Format::R8G8B8A8_UNORM);
    let blank = gpu.create_image(&desc.with_usage(ImageUsage::TRANSFER_SRC));
    let blank = blank.expect("images can be made");
    let [squares, numbers] = [
        rig.app.world().resource::<Squares>().0.clone(),
        rig.app.world().resource::<Numbers>().0.clone(),
    ];
    let asked = [
        ask(&mut rig, Readback::buffer(&squares)),
        ask(&mut rig, Readback::image(&blank)),
        ask(&mut rig, Readback::buffer(&squares)),
    ];
    let good = ask(&mut rig, Readback::buffer(&numbers));
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    assert!(numbers[0] >= 3, "no frame is lost: {}", numbers[0]);
    for (asked, name) in asked.into_iter().zip(["squares", "blank", "squares"]) {
        let words = [name, "is not read back", "undefined, not zero", "`Uploads`"];
        expect_no_readback(&mut rig, asked, &words);
    }
    rig.update(4);
    assert_eq!(rig.app.world().resource::<Failed>().0.len(), 3);
    assert!(
        rig.app.world().get_entity(good).is_err(),
        "the others are read"
    );
}

#[test]
#[ignore = "needs a device"]
fn part_use_beyond_its_parameter_is_reported_once() {
    let mut rig = Rig::new();
    let parts = |mut recorder: Recorder, numbers: StorageRead<Numbers>| {
        for _ in 0..3 {
            recorder.pass("part", &[numbers.any().writes()]);
        }
    };
    rig.app.add_systems(Render, parts);
    rig.update(1);
    let words = [
        "`recorder.pass(\"part\", ..)` is given `numbers` as storage write",
        "the parameter declares it as storage read",
        "`.as_declared()`",
    ];
    expect_one(&mut rig, &words);
}

#[test]
#[ignore = "needs a device"]
fn undeclared_shader_stage_is_reported() {
    let mut rig = Rig::new();
    let right = |mut recorder: Recorder,
                 numbers: StorageReadWrite<Numbers, stage::Compute>,
                 add: Res<Add>| {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    };
    rig.app.add_systems(Render, right);
    rig.update(1);
    rig.expect_no_errors();

    let mut rig = Rig::new();
    let other = |mut recorder: Recorder,
                 numbers: StorageReadWrite<Numbers, stage::Fragment>,
                 add: Res<Add>| {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    };
    rig.app.add_systems(Render, other);
    rig.update(1);
    let words = [
        "`numbers` is declared for the fragment shader",
        "used in the compute shader",
    ];
    expect_one(&mut rig, &words);
}

#[test]
#[ignore = "needs a device"]
fn reading_unwritten_contents_explains_initial_contents() {
    #[derive(Resource, bevy_derive::Deref)]
    struct Fresh(GpuBuffer);
    let mut rig = Rig::new();
    let setup = |mut commands: Commands, gpu: Res<GpuDevice>| -> Result {
        let fresh = gpu.create_buffer(&BufferDesc::storage("fresh", 1024))?;
        commands.insert_resource(Fresh(fresh));
        Ok(())
    };
    let read = |mut recorder: Recorder, fresh: StorageReadWrite<Fresh>, add: Res<Add>| {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &fresh).push(&1_u32).dispatch([4, 1, 1]);
    };
    rig.app.add_systems(RenderStartup, setup);
    rig.app.add_systems(Render, read);
    rig.update(1);
    let words = [
        "no earlier pass of this frame",
        "undefined, not zero",
        "`Uploads`",
    ];
    expect_one(&mut rig, &words);
}

/// A pass that draws where there is no depth, with a pipeline that tests depth.
#[test]
#[ignore = "needs a device"]
fn depth_test_without_depth_is_reported() {
    #[derive(Resource)]
    struct Far(GraphicsPipeline);
    fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
        let source = "
            @vertex fn place() -> @builtin(position) vec4f { return vec4f(0.0, 0.0, 0.0, 1.0); }
            @fragment fn color() -> @location(0) vec4f { return vec4f(1.0); }";
        let shader = GpuShader::wgsl("far.wgsl", source)?;
        let desc = GraphicsPipelineDesc {
            depth: Some(DepthState::LESS),
            ..GraphicsPipelineDesc::of("far", &shader)
        };
        commands.insert_resource(Far(gpu.graphics_pipeline(&desc)?));
        Ok(())
    }
    fn draw(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>, far: Res<Far>) {
        let mut rendering = recorder.render(window.clear([0.0; 4]));
        rendering.pipeline(&far.0).draw(0..3, 0..1);
    }
    let mut rig = Rig::new();
    rig.app
        .add_systems(RenderStartup, setup)
        .add_systems(Render, draw);
    rig.update(1);
    expect_one(
        &mut rig,
        &["the pass `draw`", "`far`", "`DepthState`", "DepthTarget"],
    );
}

/// An array of a shader needs at least one element, or the device reads zeros.
#[test]
#[ignore = "needs a device"]
fn array_shorter_than_one_element_is_reported() {
    #[derive(Resource)]
    struct Move(ComputePipeline);
    #[derive(Resource, bevy_derive::Deref)]
    struct Birds(GpuBuffer);
    fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
        let source = "
            struct Bird { at: vec3f, speed: vec3f }
            @group(0) @binding(0) var<storage, read_write> birds: array<Bird>;
            @compute @workgroup_size(1) fn main() { birds[0] = Bird(); }";
        let shader = GpuShader::wgsl("birds.wgsl", source)?;
        let desc = ComputePipelineDesc::of("fly", &shader);
        commands.insert_resource(Move(gpu.compute_pipeline(&desc)?));
        // As packed vectors are laid out, which those of WGSL are not.
        commands.insert_resource(Birds(gpu.create_buffer(&BufferDesc::storage("birds", 24))?));
        Ok(())
    }
    fn fly(mut recorder: Recorder, birds: StorageWrite<Birds>, pass: Res<Move>) {
        recorder
            .compute(&pass.0)
            .bind(0, &birds)
            .dispatch([1, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.app
        .add_systems(RenderStartup, setup)
        .add_systems(Render, fly);
    rig.update(1);
    let words = [
        "the pass `fly`",
        "at `dispatch`",
        "pipeline `fly`",
        "`birds`",
        "28 bytes",
        "24",
    ];
    expect_one(&mut rig, &words);
}
