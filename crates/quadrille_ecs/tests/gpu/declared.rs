//! Accesses that change at run time, behind passes that were written for others: what a pass
//! records is held against what the frame declares.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::common_conditions::run_once;
use quadrille_ecs::*;
use quadrille_sync::range::SubRange;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::IndexType;
use quadrille_vulkan::pipeline::{GraphicsPipeline, GraphicsPipelineDesc, VertexLayout};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage, Memory,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Numbers, Rig, Squares, add, read, square};

/// Resources of a triangle that is drawn and copied.
#[derive(Resource, Deref)]
struct Picture(GpuImage);
#[derive(Resource, Deref)]
struct Corners(GpuBuffer);
#[derive(Resource, Deref)]
struct Order(GpuBuffer);
#[derive(Resource, Deref)]
struct Arguments(GpuBuffer);
#[derive(Resource, Deref)]
struct Texels(GpuBuffer);
#[derive(Resource, Deref)]
struct Shared(GpuBuffer);
#[derive(Resource)]
struct Triangle(GraphicsPipeline);

const TRIANGLE: &str = "
    @vertex
    fn place(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
    @fragment
    fn color() -> @location(0) vec4f { return vec4f(1.0); }";

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::TRANSFER_SRC | ImageUsage::SAMPLED;
    let format = Format::R8G8B8A8_UNORM;
    let desc = ImageDesc::sampled("picture", [16, 16], format).with_usage(usage);
    commands.insert_resource(Picture(gpu.create_image(&desc)?));
    let mut filled = |name, usage: BufferUsage, words: &[u32]| -> Result<GpuBuffer, BevyError> {
        let bytes = bytemuck::cast_slice(words);
        let usage = usage | BufferUsage::TRANSFER_DST;
        let buffer = gpu.create_buffer(&BufferDesc::new(name, bytes.len() as u64, usage))?;
        uploads.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    };
    let corners: Vec<u32> = [-1.0_f32, -1.0, 3.0, -1.0, -1.0, 3.0]
        .map(f32::to_bits)
        .into();
    let arguments = [3, 1, 0, 0, 0];
    commands.insert_resource(Corners(filled("corners", BufferUsage::VERTEX, &corners)?));
    commands.insert_resource(Order(filled("order", BufferUsage::INDEX, &[0, 1, 2, 0])?));
    commands.insert_resource(Arguments(filled(
        "arguments",
        BufferUsage::INDIRECT,
        &arguments,
    )?));
    let texels = BufferDesc::storage("texels", 16 * 16 * 4).with_usage(BufferUsage::TRANSFER_DST);
    commands.insert_resource(Texels(gpu.create_buffer(&texels)?));
    let shared = BufferDesc::storage("shared", 16).in_memory(Memory::Readback);
    commands.insert_resource(Shared(gpu.create_buffer(&shared)?));
    let shader = GpuShader::wgsl("triangle", TRIANGLE)?;
    let mut desc = GraphicsPipelineDesc::of("triangle", &shader);
    desc.vertex_buffers = vec![VertexLayout::packed(0, &[Format::R32G32_SFLOAT])];
    commands.insert_resource(Triangle(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

fn draw(
    mut recorder: Recorder,
    picture: ColorTarget<Picture>,
    corners: VertexRead<Corners>,
    order: IndexRead<Order>,
    arguments: IndirectRead<Arguments>,
    pipeline: Res<Triangle>,
) {
    let mut rendering = recorder.render(picture.clear([0.0; 4]));
    rendering
        .pipeline(&pipeline.0)
        .vertices(0, &corners, 0)
        .indices(&order, 0, IndexType::U32)
        .draw_indexed(0..3, 0, 0..1)
        .draw_indexed_indirect(&arguments, 0, 1);
}

fn copy(mut recorder: Recorder, from: TransferRead<Picture>, to: TransferWrite<Texels>) {
    recorder.transfer().copy_image_to_buffer(&from, &to, 0);
}

fn fill(mut recorder: Recorder, to: TransferWrite<Texels>) {
    recorder.transfer().fill_buffer(&to, 0, 256, 7);
}

fn write_on_host(mut recorder: Recorder, shared: HostReadWrite<Shared>) {
    let memory = shared.memory();
    recorder.host(move |host| Ok(memory.write(host, 0, &[1_u32; 4])?));
}

/// An app with these passes that has run for long enough to repeat itself.
fn running<M>(passes: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) -> Rig {
    let mut rig = Rig::new();
    rig.app.add_systems(RenderStartup, setup);
    rig.app.add_systems(Render, passes);
    rig.update(5);
    rig.expect_no_errors();
    rig
}

/// Has the access of a resource by the only pass that there is be another; what it was before.
fn declare<T: Named>(rig: &mut Rig, access: DeclaredAccess) -> DeclaredAccess {
    let world = rig.app.world_mut();
    let resource = resource_entity::<T>(world);
    let mut accesses = world.query::<(Entity, &AccessTo, &DeclaredAccess)>();
    let mut accesses = accesses.iter(world);
    let found = accesses.find(|(_, to, _)| to.0 == resource);
    let (entity, _, &before) = found.expect("the pass has an access of it");
    world.entity_mut(entity).insert(access);
    before
}

/// The same of all of the resource, by a kind.
fn declare_as<T: Named>(rig: &mut Rig, kind: AccessKind) -> DeclaredAccess {
    declare::<T>(rig, DeclaredAccess::new(kind))
}

/// Declares these bytes as the only part.
fn declare_bytes<T: Named>(rig: &mut Rig, kind: AccessKind, offset: u64, size: u64) {
    let range = SubRange::Bytes { offset, size };
    let access = DeclaredAccess {
        range,
        ..DeclaredAccess::new(kind)
    };
    declare::<T>(rig, access);
}

/// The next two frames are refused with one error each, which has these words.
#[track_caller]
fn expect_refused(rig: &mut Rig, words: &[&str]) {
    rig.update(2);
    let mut errors = rig.app.world_mut().resource_mut::<Errors>();
    let errors = std::mem::take(&mut errors.0);
    assert_eq!(errors.len(), 2, "one each frame: {errors:#?}");
    for (error, word) in errors
        .iter()
        .flat_map(|error| words.iter().map(move |word| (error, word)))
    {
        assert!(error.contains(word), "no {word:?} in {error}");
    }
}

#[test]
#[ignore = "needs a device"]
fn a_weaker_access_is_refused_until_it_is_strong_enough() {
    let mut rig = running(add);
    let before = declare_as::<Numbers>(&mut rig, AccessKind::StorageRead);
    let words = [
        "the pass `add` is recorded wrongly",
        "`numbers` as binding 0 (`numbers`) of the pipeline `add`",
        "StorageWriteCompute of all, while it declares StorageReadCompute of all",
        "insert a `DeclaredAccess`",
    ];
    expect_refused(&mut rig, &words);
    declare::<Numbers>(&mut rig, before);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    rig.expect_no_errors();
    assert!(numbers[0] >= 6, "the pass goes on: {}", numbers[0]);
}

#[test]
#[ignore = "needs a device"]
fn a_smaller_range_is_refused() {
    let mut rig = running(add);
    declare_bytes::<Numbers>(&mut rig, AccessKind::StorageReadWrite, 0, 512);
    let reported =
        "StorageWriteCompute of all, while it declares StorageReadWriteCompute of bytes 0..512";
    expect_refused(&mut rig, &["`add`", "`numbers`", reported]);
    declare_bytes::<Numbers>(&mut rig, AccessKind::StorageReadWrite, 0, 1024);
    rig.update(2);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn other_stages_are_refused() {
    let mut rig = running(add);
    let access = DeclaredAccess {
        stages: StageScope::Fragment,
        ..DeclaredAccess::new(AccessKind::StorageReadWrite)
    };
    declare::<Numbers>(&mut rig, access);
    let reported = "StorageWriteCompute of all, while it declares StorageReadWriteFragment of all";
    expect_refused(&mut rig, &["`add`", "`numbers`", reported]);
}

#[test]
#[ignore = "needs a device"]
fn a_stronger_access_is_allowed() {
    let mut rig = running(square);
    declare_as::<Numbers>(&mut rig, AccessKind::StorageReadWrite);
    declare_as::<Squares>(&mut rig, AccessKind::StorageReadWrite);
    rig.update(3);
    rig.expect_no_errors();
    // A write is taken at its word: WGSL has no other way to say it.
    declare_as::<Squares>(&mut rig, AccessKind::StorageWrite);
    declare_as::<Numbers>(
        &mut rig,
        AccessKind::Exactly(quadrille_sync::access::Access::StorageReadAny),
    );
    rig.update(3);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn several_accesses_may_cover_one_recorded_use() {
    let mut rig = running(square);
    declare_bytes::<Numbers>(&mut rig, AccessKind::StorageRead, 0, 512);
    expect_refused(&mut rig, &["StorageReadCompute of bytes 0..512"]);
    let world = rig.app.world_mut();
    let numbers = resource_entity::<Numbers>(world);
    let mut passes = world.query_filtered::<Entity, With<Pass>>();
    let pass = passes.single(world).expect("there is one pass");
    let rest = DeclaredAccess {
        range: SubRange::Bytes {
            offset: 512,
            size: 512,
        },
        ..DeclaredAccess::new(AccessKind::StorageRead)
    };
    world.spawn((AccessOf(pass), AccessTo(numbers), rest));
    rig.update(3);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn attachments_are_checked_against_the_declaration() {
    let mut rig = running(draw);
    declare_as::<Picture>(&mut rig, AccessKind::Sampled);
    let reported = "ColorAttachmentWrite of all, while it declares SampledGraphics of all";
    expect_refused(
        &mut rig,
        &["`draw`", "`picture` as a color attachment", reported],
    );
}

#[test]
#[ignore = "needs a device"]
fn vertices_indices_and_arguments_are_checked_against_the_declaration() {
    let mut rig = running(draw);
    declare_bytes::<Corners>(&mut rig, AccessKind::Vertex, 0, 8);
    expect_refused(
        &mut rig,
        &["`corners` as vertex buffer 0", "VertexRead of bytes 0..8"],
    );
    declare_as::<Corners>(&mut rig, AccessKind::Vertex);

    declare_bytes::<Order>(&mut rig, AccessKind::Index, 0, 8);
    let words = [
        "`order` as the index buffer",
        "IndexRead of bytes 0..12, while",
    ];
    // The indirect draw may read all of it.
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert!(
        errors
            .iter()
            .any(|error| words.iter().all(|word| error.contains(word))),
        "{errors:#?}"
    );
    declare_as::<Order>(&mut rig, AccessKind::Index);

    declare_bytes::<Arguments>(&mut rig, AccessKind::Indirect, 0, 16);
    let words = [
        "`arguments` as the arguments of draws",
        "IndirectRead of bytes 0..16",
    ];
    expect_refused(&mut rig, &words);
    declare_as::<Arguments>(&mut rig, AccessKind::Indirect);
    rig.update(2);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn copies_are_checked_against_the_declaration() {
    let mut rig = running((draw, copy.after(draw)));
    declare_bytes::<Texels>(&mut rig, AccessKind::TransferWrite, 0, 16);
    let reported = "CopyWrite of bytes 0..1024, while it declares TransferWrite of bytes 0..16";
    expect_refused(&mut rig, &["`copy`", "`texels` as the target", reported]);
    let copied = AccessKind::Exactly(quadrille_sync::access::Access::CopyWrite);
    declare_as::<Texels>(&mut rig, copied);
    rig.update(2);
    rig.expect_no_errors();

    let mut rig = running(fill);
    declare_bytes::<Texels>(&mut rig, AccessKind::TransferWrite, 0, 256);
    rig.update(2);
    rig.expect_no_errors();
    declare_as::<Texels>(&mut rig, copied);
    expect_refused(
        &mut rig,
        &[
            "`fill`",
            "Clear of bytes 0..256, while it declares CopyWrite",
        ],
    );
}

#[test]
#[ignore = "needs a device"]
fn host_parameters_are_checked_against_the_declaration() {
    let mut rig = Rig::new();
    rig.app.add_systems(RenderStartup, setup);
    rig.app.add_systems(Render, write_on_host);
    rig.update(1);
    rig.app.world_mut().resource_mut::<Errors>().0.clear();
    declare_as::<Shared>(&mut rig, AccessKind::HostWrite);
    let reported = "HostReadWrite of all, while it declares HostWrite of all";
    expect_refused(&mut rig, &["`write_on_host`", "`shared`", reported]);
}

#[test]
#[ignore = "needs a device"]
fn resources_swapped_after_a_pass_are_refused() {
    fn change_places(mut numbers: ResMut<Numbers>, mut squares: ResMut<Squares>) {
        std::mem::swap(&mut numbers.0, &mut squares.0);
    }
    let mut rig = Rig::new();
    rig.update(1);
    let world = rig.app.world_mut();
    let squares = world.resource::<Squares>().0.clone();
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_buffer(&squares, 0, &[0; 1024]);
    // Before the pass records, that is what it records with.
    let before = change_places.before(square).run_if(run_once);
    rig.app.add_systems(Render, (square, before));
    rig.update(3);
    rig.expect_no_errors();

    let mut rig = Rig::new();
    rig.app
        .add_systems(Render, (square, change_places.after(square)));
    let words = [
        "the pass `square` is recorded wrongly",
        "put nothing else in the place of a resource while passes run",
    ];
    rig.update(2);
    let errors = &rig.app.world().resource::<Errors>().0;
    for word in words {
        assert!(
            errors.iter().all(|error| error.contains(word)) && !errors.is_empty(),
            "no {word:?} in {errors:#?}"
        );
    }
}
