//! Tables of images and of buffers.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{
    BufferDesc, BufferTable, BufferTableDesc, ImageDesc, ImageTable, ImageTableDesc, ImageUsage,
    TableIndex,
};
use quadrille_vulkan::shader::GpuShader;

use super::DiagnosticCatalog;
use crate::common::{Numbers, Rig};

pub(super) fn described(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    const RGBA: Format = Format::R8G8B8A8_UNORM;
    let small = ImageTableDesc::d2("textures", 1);
    diagnostics.made(
        "a table without room",
        gpu.image_table(&ImageTableDesc::d2("textures", 0)),
    );
    diagnostics.made(
        "a table larger than the device's",
        gpu.image_table(&ImageTableDesc::d2("textures", u32::MAX)),
    );
    let mut table = gpu.image_table(&small).expect("it is right");
    let image = |desc: ImageDesc| gpu.create_image(&desc).expect("it is right");
    let map = image(ImageDesc::sampled("map", [8, 8], RGBA));
    diagnostics.made("an entry that is not there", table.remove(TableIndex(7)));
    diagnostics.made(
        "an image in the place of none",
        table.replace(TableIndex(0), &map),
    );
    table.insert(&map).expect("it fits");
    diagnostics.made("an image too many in a table", table.insert(&map));
    let index = TableIndex(0);
    let layers = image(ImageDesc::sampled("layers", [8, 8], RGBA).with_layers(2));
    diagnostics.made(
        "an image of another dimension in a table",
        table.replace(index, &layers),
    );
    let counts = image(ImageDesc::sampled("counts", [8, 8], Format::R32_UINT));
    diagnostics.made(
        "an image of other texels in a table",
        table.replace(index, &counts),
    );
    let drawn = image(ImageDesc::new(
        "drawn",
        [8, 8],
        RGBA,
        ImageUsage::TRANSFER_SRC,
    ));
    diagnostics.made(
        "an image that is not sampled in a table",
        table.replace(index, &drawn),
    );
    let brief = image(ImageDesc::sampled("brief", [8, 8], RGBA).transient());
    diagnostics.made("a transient image in a table", table.replace(index, &brief));
    described_of_buffers(diagnostics, gpu);
}

fn described_of_buffers(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    diagnostics.made(
        "a table of buffers larger than the device's",
        gpu.buffer_table(&BufferTableDesc::new("rows", u32::MAX)),
    );
    let table = gpu.buffer_table(&BufferTableDesc::new("rows", 1));
    let mut table = table.expect("it is right");
    let buffer = |desc: BufferDesc| gpu.create_buffer(&desc).expect("it is right");
    diagnostics.made("a buffer that is not there", table.remove(TableIndex(7)));
    let corners = buffer(BufferDesc::vertex("corners", 64));
    diagnostics.made(
        "a buffer that is no storage buffer in a table",
        table.insert(&corners),
    );
    let brief = buffer(BufferDesc::storage("brief", 64).transient());
    diagnostics.made("a transient buffer in a table", table.insert(&brief));
    let row = buffer(BufferDesc::storage("row", 64));
    table.insert(&row).expect("it fits");
    diagnostics.made("a buffer too many in a table", table.insert(&row));
    let written = "
        enable wgpu_binding_array;
        struct Row { value: u32 }
        @group(1) @binding(0) var<storage, read_write> rows: binding_array<Row>;
        @compute @workgroup_size(1) fn main() { rows[0].value = 1u; }";
    diagnostics.made(
        "a shader that writes a table",
        GpuShader::wgsl("written", written),
    );
    let mixed = "
        enable wgpu_binding_array;
        struct Row { value: u32 }
        @group(0) @binding(0) var<storage, read_write> to: array<u32>;
        @group(1) @binding(0) var<storage, read> rows: binding_array<Row>;
        @group(1) @binding(1) var maps: binding_array<texture_2d<u32>>;
        @compute @workgroup_size(1) fn main() {
            to[0] = rows[0].value + textureLoad(maps[0], vec2i(0), 0).x;
        }";
    let mixed = GpuShader::wgsl("mixed", mixed).expect("it is right");
    diagnostics.made(
        "a group of two tables",
        gpu.compute_pipeline(&ComputePipelineDesc::of("mixed", &mixed)),
    );
}

#[derive(Resource, Deref)]
struct Textures(ImageTable);

#[derive(Resource, Deref)]
struct Rows(BufferTable);

#[derive(Resource)]
struct Load(ComputePipeline);

/// A table of one image, and a pipeline that loads from one of this kind.
fn with_table(
    diagnostics: &mut DiagnosticCatalog,
    program: &str,
    kind: &str,
    change: impl FnOnce(&mut Rig),
) {
    diagnostics.app(program, |rig| {
        let source = format!(
            "enable wgpu_binding_array;
            @group(0) @binding(0) var<storage, read_write> to: array<u32>;
            @group(1) @binding(1) var maps: binding_array<texture_2d<{kind}>>;
            @compute @workgroup_size(1) fn main() {{ to[0] = u32(textureLoad(maps[0], vec2i(0), 0).x); }}"
        );
        let gpu = rig.app.world().resource::<GpuDevice>();
        let shader = GpuShader::wgsl("load", &source).expect("it is right");
        let load = gpu.compute_pipeline(&ComputePipelineDesc::of("load", &shader));
        let table = gpu.image_table(&ImageTableDesc::d2("textures", 1));
        let (load, table) = (load.expect("it is right"), table.expect("it is right"));
        let world = rig.app.world_mut();
        world.insert_resource(Load(load));
        world.insert_resource(Textures(table));
        change(rig);
    });
}

pub(super) fn recorded(diagnostics: &mut DiagnosticCatalog) {
    fn bare(mut recorder: Recorder, to: StorageReadWrite<Numbers>, load: Res<Load>) {
        recorder.compute(&load.0).bind(0, &to).dispatch([1, 1, 1]);
    }
    fn load(
        mut recorder: Recorder,
        to: StorageReadWrite<Numbers>,
        textures: Table<Textures>,
        load: Res<Load>,
    ) {
        let mut compute = recorder.compute(&load.0);
        compute.bind(0, &to).table(1, &textures).dispatch([1, 1, 1]);
    }
    fn high(
        mut recorder: Recorder,
        to: StorageReadWrite<Numbers>,
        textures: Table<Textures>,
        load: Res<Load>,
    ) {
        let mut compute = recorder.compute(&load.0);
        compute.bind(0, &to).table(0, &textures).dispatch([1, 1, 1]);
    }
    with_table(diagnostics, "no table is bound", "f32", |rig| {
        rig.app.add_systems(Render, bare);
    });
    with_table(
        diagnostics,
        "a table of other texels is bound",
        "u32",
        |rig| {
            rig.app.add_systems(Render, load);
        },
    );
    fn load_rows(
        mut recorder: Recorder,
        to: StorageReadWrite<Numbers>,
        rows: Table<Rows>,
        load: Res<Load>,
    ) {
        let mut compute = recorder.compute(&load.0);
        compute.bind(0, &to).table(1, &rows).dispatch([1, 1, 1]);
    }
    with_table(
        diagnostics,
        "a table of buffers is bound for images",
        "f32",
        |rig| {
            let gpu = rig.app.world().resource::<GpuDevice>();
            let table = gpu.buffer_table(&BufferTableDesc::new("rows", 1));
            let table = table.expect("it is right");
            rig.app.world_mut().insert_resource(Rows(table));
            rig.app.add_systems(Render, load_rows);
        },
    );
    with_table(diagnostics, "a table is bound to group 0", "f32", |rig| {
        rig.app.add_systems(Render, high);
    });
    fn bound(
        mut recorder: Recorder,
        to: StorageReadWrite<Numbers>,
        textures: Table<Textures>,
        load: Res<Load>,
    ) {
        let mut compute = recorder.compute(&load.0);
        compute.bind("maps", &to).table("to", &textures);
        compute.table("map", &textures).dispatch([1, 1, 1]);
    }
    with_table(
        diagnostics,
        "names of tables and buffers mixed up",
        "f32",
        |rig| {
            rig.app.add_systems(Render, bound);
        },
    );
    with_table(diagnostics, "a table that is not there", "f32", |rig| {
        rig.app.world_mut().remove_resource::<Textures>();
        rig.app.add_systems(Render, load);
    });
    fn replace(world: &mut World) {
        let gpu = world.resource::<GpuDevice>();
        let table = gpu.image_table(&ImageTableDesc::d2("others", 1));
        world.insert_resource(Textures(table.expect("it is right")));
    }
    with_table(
        diagnostics,
        "a table that is replaced while passes run",
        "f32",
        |rig| {
            rig.app.add_systems(Render, (load, replace).chain());
        },
    );
}
