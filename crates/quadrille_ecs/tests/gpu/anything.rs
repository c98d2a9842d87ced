//! Frames of random commands are refused with an error or right: the validation layer never has
//! anything to say.
//!
//! `QUADRILLE_ANYTHING_SEED` and `QUADRILLE_ANYTHING_FRAMES` choose other frames and more of them.

#![expect(unsafe_code, reason = "Vulkan's own commands are unsafe")]

#[path = "anything/local.rs"]
mod local;

use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::{IndexType, RawCommand, ResolveMode};
use quadrille_vulkan::instance::validation_messages;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, DepthState, GraphicsPipeline, GraphicsPipelineDesc,
    PipelineState, StencilState, VertexLayout,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferTable, BufferTableDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc,
    ImageTable, ImageTableDesc, ImageUsage, QuerySet, QuerySetDesc, Sampler, SamplerDesc,
    TableIndex, View,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig};

const COLOR: Format = Format::R8G8B8A8_UNORM;
const DEPTH: Format = Format::D32_SFLOAT;

/// Defines resources that passes declare by name.
macro_rules! named {
    ($($name:ident($handle:ty)),* $(,)?) => { $(
        #[derive(Resource, Deref)]
        struct $name($handle);
    )* };
}

named! {
    Bytes(GpuBuffer),
    MoreBytes(GpuBuffer),
    Arguments(GpuBuffer),
    Pyramid(GpuImage),
    Plain(GpuImage),
    Odd(GpuImage),
    Solid(GpuImage),
    Samples(GpuImage),
    Whole(GpuImage),
    Halves(GpuImage),
    Depth(GpuImage),
    Sheets(GpuImage),
    Deep(GpuImage),
    Flat(GpuImage),
    Counted(QuerySet),
    Flags(GpuBuffer),
}

/// Images of which `work` samples one after another.
#[derive(Resource, Deref, DerefMut)]
struct Textures(ImageTable);

/// Buffers of which `work` reads one after another.
#[derive(Resource, Deref, DerefMut)]
struct Rows(BufferTable);

/// The pipelines, and numbers that decide what passes do.
#[derive(Resource)]
struct Tools {
    compute: ComputePipeline,
    fill: GraphicsPipeline,
    mesh: GraphicsPipeline,
    shadow: GraphicsPipeline,
    solid: GraphicsPipeline,
    mark: GraphicsPipeline,
    sampler: Sampler,
    seed: u64,
}

/// Numbers from a seed.
struct Dice(fastrand::Rng);

impl Dice {
    /// Returns the numbers of a pass; each frame belongs to one of five.
    fn of(tools: &Tools, pass: u64) -> Option<Self> {
        let is_its = tools.seed % 5 == pass;
        is_its.then(|| Self(fastrand::Rng::with_seed(tools.seed)))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.u64(..limit)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.usize(..of.len())]
    }

    /// An offset or a size in bytes: mostly sensible, sometimes not.
    fn bytes(&mut self) -> u64 {
        match self.below(6) {
            0 => self.pick(&[1, 2, 1020, 1024, 4096, u64::MAX]),
            _ => self.pick(&[0, 0, 4, 16, 64, 256]),
        }
    }

    /// A count of vertices or the like.
    fn count(&mut self) -> u32 {
        self.pick(&[0, 1, 3, 3, 6, 6, 64])
    }

    /// Whole numbers in order, or out of it.
    fn range(&mut self) -> std::ops::Range<u32> {
        let start = self.pick(&[0, 0, 0, 1, 7, u32::MAX]);
        let count = self.count();
        if self.one_in(12) {
            return start..start / 2;
        }
        start..start.saturating_add(count)
    }

    /// A part of an image.
    fn view(&mut self) -> View {
        let mip = |dice: &mut Self| dice.pick(&[0, 0, 0, 0, 1, 1, 2, 3, 255]);
        let layer = |dice: &mut Self| dice.pick(&[0, 0, 0, 0, 0, 1, 1, 2, u16::MAX]);
        match self.below(9) {
            0..4 => View::WHOLE,
            4 | 5 => View::WHOLE.mip(mip(self)),
            6 | 7 => View::WHOLE.layer(layer(self)),
            _ => View {
                base_mip: mip(self),
                mip_count: self.pick(&[0, 1, 2, 200]),
                base_layer: layer(self),
                layer_count: self.pick(&[0, 1, 2, u16::MAX]),
            },
        }
    }

    /// Views that are drawn to at once.
    fn mask(&mut self) -> u32 {
        self.pick(&[0, 1, 2, 3, 3, 3, 4, 1 << 31, u32::MAX])
    }

    fn mode(&mut self) -> ResolveMode {
        self.pick(&ResolveMode::ALL)
    }

    fn color(&mut self) -> [f32; 4] {
        [(); 4].map(|()| self.pick(&[0.0, 0.25, 1.0, 1.0, -1.0, f32::INFINITY]))
    }
}

const SHADER: &str = "
    enable wgpu_binding_array;
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    @group(0) @binding(1) var above: texture_2d<f32>;
    @group(0) @binding(2) var below: texture_storage_2d<rgba8unorm, write>;
    @group(0) @binding(3) var linear: sampler;
    @group(1) @binding(0) var nearest: sampler;
    @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
    struct Row { numbers: array<u32> }
    @group(2) @binding(0) var<storage, read> rows: binding_array<Row>;
    var<immediate> add: vec2u;

    @compute @workgroup_size(8)
    fn work(@builtin(global_invocation_id) id: vec3u) {
        let color = textureSampleLevel(above, linear, vec2f(id.xy) / 8.0, f32(add.y));
        let texel = textureSampleLevel(textures[id.x & 3u], nearest, vec2f(id.xy) / 8.0, 0.0);
        textureStore(below, id.xy, color + texel);
        if id.x < arrayLength(&numbers) {
            numbers[id.x] += add.x + rows[id.y & 3u].numbers[id.x];
        }
    }

    @vertex
    fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
        let at = array(vec2f(-1, -1), vec2f(3, -1), vec2f(-1, 3))[index % 3u];
        return vec4f(at, 0.5, 1.0);
    }

    @vertex
    fn vertex(@location(0) at: vec2f, @location(1) size: f32) -> @builtin(position) vec4f {
        return vec4f(at * size, 0.5, 1.0);
    }

    @fragment
    fn paint(@builtin(position) at: vec4f) -> @location(0) vec4f {
        return textureSampleLevel(above, linear, at.xy, f32(add.y));
    }

    @fragment
    fn plain() -> @location(0) vec4f {
        return vec4f(1.0, 0.5, 0.25, 1.0);
    }";

fn make(world: &mut World) -> Result {
    let gpu = world.resource::<GpuDevice>().clone();
    let all = BufferUsage::TRANSFER_SRC
        | BufferUsage::TRANSFER_DST
        | BufferUsage::UNIFORM
        | BufferUsage::STORAGE
        | BufferUsage::VERTEX
        | BufferUsage::INDEX
        | BufferUsage::INDIRECT;
    let buffer = |name: &str, bytes| gpu.create_buffer(&BufferDesc::new(name, bytes, all));
    // Devices without conditional rendering refuse what takes it.
    let flags = |usage| {
        let desc = BufferDesc::new("flags", 64, usage | BufferUsage::TRANSFER_DST);
        gpu.create_buffer(&desc)
    };
    let flags = flags(BufferUsage::CONDITION).or_else(|_| flags(BufferUsage::STORAGE));
    world.insert_resource(Flags(flags?));
    let counted = QuerySetDesc::occlusion("counted", 4);
    world.insert_resource(Counted(gpu.query_set(&counted)?));
    let nearest = gpu.create_sampler(&SamplerDesc::nearest())?;
    let textures = ImageTableDesc::d2("textures", 4).with_sampler(&nearest);
    world.insert_resource(Textures(gpu.image_table(&textures)?));
    world.insert_resource(Rows(gpu.buffer_table(&BufferTableDesc::new("rows", 4))?));
    let copies = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let draws = copies | ImageUsage::COLOR_ATTACHMENT;
    let usage = draws | ImageUsage::SAMPLED | ImageUsage::STORAGE;
    let desc = |name: &str, width, height| ImageDesc::new(name, [width, height], COLOR, usage);
    let samples = ImageDesc {
        samples: 4,
        ..ImageDesc::new("samples", [16, 16], COLOR, draws | ImageUsage::SAMPLED)
    };
    let solid = ImageDesc {
        extent: [8, 8, 4],
        ..ImageDesc::sampled("solid", [8, 8], COLOR)
    };
    world.insert_resource(Bytes(buffer("bytes", 1024)?));
    world.insert_resource(MoreBytes(buffer("more bytes", 4096)?));
    world.insert_resource(Arguments(buffer("arguments", 256)?));
    let pyramid = desc("pyramid", 16, 16).with_mips(3).with_layers(2);
    world.insert_resource(Pyramid(gpu.create_image(&pyramid)?));
    world.insert_resource(Plain(gpu.create_image(&desc("plain", 16, 16))?));
    world.insert_resource(Odd(gpu.create_image(&desc("odd", 7, 5))?));
    world.insert_resource(Solid(gpu.create_image(&solid)?));
    world.insert_resource(Samples(gpu.create_image(&samples)?));
    let other = |name, format| ImageDesc {
        format,
        ..desc(name, 16, 16)
    };
    let whole = other("whole", Format::R32_UINT);
    let halves = other("halves", Format::R16G16B16A16_SFLOAT);
    world.insert_resource(Whole(gpu.create_image(&whole)?));
    world.insert_resource(Halves(gpu.create_image(&halves)?));
    let depth = ImageDesc::depth("depth", [16, 16], DEPTH).with_usage(copies | ImageUsage::SAMPLED);
    world.insert_resource(Depth(gpu.create_image(&depth)?));
    let sheets = desc("sheets", 16, 16).with_layers(2);
    world.insert_resource(Sheets(gpu.create_image(&sheets)?));
    let flat = ImageDesc::depth("flat", [16, 16], Format::D32_SFLOAT_S8_UINT);
    world.insert_resource(Flat(gpu.create_image(&flat)?));
    let deep = ImageDesc {
        samples: 4,
        name: "deep".to_owned(),
        ..flat
    };
    world.insert_resource(Deep(gpu.create_image(&deep)?));
    let shader = GpuShader::wgsl("anything.wgsl", SHADER)?;
    let fill = GraphicsPipelineDesc::new("fill", (&shader, "corner"), (&shader, "paint"));
    let mut mesh = GraphicsPipelineDesc::new("mesh", (&shader, "vertex"), (&shader, "plain"));
    mesh.vertex_buffers = vec![
        VertexLayout::packed(0, &[Format::R32G32_SFLOAT]),
        VertexLayout::packed(1, &[Format::R32_SFLOAT]).per_instance(),
    ];
    mesh.depth = Some(DepthState::LESS);
    let tools = Tools {
        compute: gpu.compute_pipeline(&ComputePipelineDesc::of("work", &shader))?,
        fill: gpu.graphics_pipeline(&fill)?,
        mesh: gpu.graphics_pipeline(&mesh)?,
        shadow: gpu.graphics_pipeline(&GraphicsPipelineDesc {
            fragment: None,
            ..mesh.clone()
        })?,
        solid: gpu.graphics_pipeline(&GraphicsPipelineDesc::new(
            "solid",
            (&shader, "corner"),
            (&shader, "plain"),
        ))?,
        mark: gpu.graphics_pipeline(&GraphicsPipelineDesc {
            depth: Some(DepthState::LESS),
            state: PipelineState {
                stencil: Some(StencilState::write(1)),
                ..PipelineState::default()
            },
            fragment: None,
            ..fill
        })?,
        sampler: gpu.create_sampler(&SamplerDesc::nearest())?,
        seed: 0,
    };
    world.insert_resource(tools);
    Ok(())
}

/// Changes what is in the tables, rightly or not.
fn change_tables(
    (mut textures, mut rows): (ResMut<Textures>, ResMut<Rows>),
    (odd, pyramid, samples): (Res<Odd>, Res<Pyramid>, Res<Samples>),
    (more, arguments, flags): (Res<MoreBytes>, Res<Arguments>, Res<Flags>),
    tools: Res<Tools>,
) {
    let mut dice = Dice(fastrand::Rng::with_seed(!tools.seed));
    let image = dice.pick(&[&**odd, &**odd, &**odd, &**pyramid, &**samples]);
    let index = TableIndex(dice.pick(&[0, 1, 2, 3, 4]));
    // An error here is fine: frames go on with the former members.
    let _ = match dice.below(4) {
        0 => textures.insert(image).map(drop),
        1 => textures.replace(index, image).map(drop),
        2 => textures.remove(index).map(drop),
        _ => Ok(()),
    };
    let buffer = dice.pick(&[&**more, &**arguments, &**flags]);
    let index = TableIndex(dice.pick(&[0, 1, 2, 3, 4]));
    let _ = match dice.below(4) {
        0 => rows.insert(buffer).map(drop),
        1 => rows.replace(index, buffer).map(drop),
        2 => rows.remove(index).map(drop),
        _ => Ok(()),
    };
}

/// Gives everything contents, each time: a refused frame must not make the next one read nothing.
fn begin(
    mut recorder: Recorder,
    (pyramid, plain): (TransferWrite<Pyramid>, TransferWrite<Plain>),
    (odd, solid): (TransferWrite<Odd>, TransferWrite<Solid>),
    (whole, halves): (TransferWrite<Whole>, TransferWrite<Halves>),
    (bytes, more): (TransferWrite<Bytes>, TransferWrite<MoreBytes>),
    (arguments, flags): (TransferWrite<Arguments>, TransferWrite<Flags>),
) {
    let mut transfer = recorder.transfer();
    for level in 0..3 {
        transfer.clear_image(&pyramid.mip(level), [0.5; 4]);
    }
    transfer
        .clear_image(&plain, [0.5; 4])
        .clear_image(&odd, [0.5; 4])
        .clear_image(&solid, [0.5; 4])
        .clear_image(&whole, [7.0; 4])
        .clear_image(&halves, [0.5; 4])
        .fill_buffer(&bytes, 0, 1024, 0)
        .fill_buffer(&more, 0, 4096, 0)
        // No draw by arguments draws much.
        .fill_buffer(&arguments, 0, 256, 1)
        .fill_buffer(&flags, 0, 32, 0)
        .fill_buffer(&flags, 32, 32, 1);
}

fn begin_targets(
    mut recorder: Recorder,
    (samples, sheets): (ColorTarget<Samples>, ColorTarget<Sheets>),
    (depth, deep, flat): (DepthTarget<Depth>, DepthTarget<Deep>, DepthTarget<Flat>),
) {
    recorder.render(samples.clear([0.0; 4]));
    for layer in 0..2 {
        recorder.render(sheets.layer(layer).clear([0.0; 4]));
    }
    recorder.render(depth.clear_depth(1.0));
    recorder.render(deep.clear_depth(1.0).clear_stencil(0));
    recorder.render(flat.clear_depth(1.0).clear_stencil(0));
}

/// Copies of all kinds.
fn copies(
    mut recorder: Recorder,
    bytes: TransferRead<Bytes>,
    more: TransferWrite<MoreBytes>,
    pyramid: TransferRead<Pyramid>,
    (plain, odd, solid): (
        TransferWrite<Plain>,
        TransferWrite<Odd>,
        TransferWrite<Solid>,
    ),
    (samples, depth): (TransferRead<Samples>, TransferWrite<Depth>),
    tools: Res<Tools>,
) {
    let Some(mut dice) = Dice::of(&tools, 0) else {
        return;
    };
    let mut transfer = recorder.transfer();
    let read = [pyramid.any(), bytes.any(), samples.any()];
    let written = [plain.any(), odd.any(), solid.any(), more.any(), depth.any()];
    // Commands of one pass are in no order among themselves: one is enough.
    let from = match dice.below(16) {
        0 => dice.pick(&written),
        1..5 => dice.pick(&read),
        _ => read[0],
    };
    let to = match dice.below(16) {
        0 => dice.pick(&read),
        1..5 => dice.pick(&written),
        _ => written[dice.below(3) as usize],
    };
    let (from, to) = (from.view(dice.view()), to.view(dice.view()));
    match dice.below(7) {
        0 => {
            let [a, b, c] = [(); 3].map(|()| dice.bytes());
            transfer.copy_buffer(&bytes, a, &more, b, c)
        }
        1 => transfer.copy_image(&from, &to),
        2 => transfer.copy_image_to_buffer(&from, &more, dice.bytes()),
        3 => transfer.copy_buffer_to_image(&bytes, dice.bytes(), &to),
        4 => transfer.blit_image(&from, &to),
        5 => transfer.fill_buffer(&more, dice.bytes(), dice.bytes(), 7),
        _ => transfer.clear_image(&to, dice.color()),
    };
}

fn work(
    mut recorder: Recorder,
    bytes: StorageReadWrite<Bytes>,
    (pyramid, whole): (Sampled<Pyramid>, Sampled<Whole>),
    (solid, samples, depth): (Sampled<Solid>, Sampled<Samples>, Sampled<Depth>),
    (plain, halves): (StorageWrite<Plain>, StorageWrite<Halves>),
    (arguments, flags): (IndirectRead<Arguments>, ConditionRead<Flags>),
    (textures, rows, tools): (Table<Textures>, Table<Rows>, Res<Tools>),
) {
    let Some(mut dice) = Dice::of(&tools, 1) else {
        return;
    };
    let mut compute = recorder.compute(&tools.compute);
    if !dice.one_in(32) {
        compute.bind(0, &bytes);
    }
    if dice.one_in(16) {
        compute.bind(dice.pick(&[0, 1, 2, 3, 9]), &plain.view(dice.view()));
    }
    let above = pyramid.view(dice.pick(&[View::WHOLE.layer(1), View::WHOLE]));
    let others = [whole.any(), solid.any(), samples.any(), depth.any()];
    match dice.below(12) {
        0 => compute.bind(1, &pyramid.view(dice.view())),
        1 | 2 => compute.bind(1, &dice.pick(&others)),
        _ => compute.bind(1, &above),
    };
    let below = dice.pick(&[plain.any(), plain.any(), plain.any(), halves.any()]);
    compute.bind(2, &below).sampler(3, &tools.sampler);
    match dice.below(24) {
        0 => compute.push(&1_u32),
        1 => compute.push(&[1_u32; 40]),
        2 => &mut compute,
        _ => compute.push(&[1_u32, dice.count()]),
    };
    match dice.below(24) {
        0 => &mut compute,
        1 => compute.table(dice.pick(&[0, 2, 3, 4]), &textures),
        2 => compute.table("above", &textures),
        3 => compute.table("textures", &rows),
        _ => compute.table("textures", &textures),
    };
    match dice.below(24) {
        0 => &mut compute,
        1 => compute.table("rows", &textures),
        _ => compute.table("rows", &rows),
    };
    let groups = [
        dice.count(),
        dice.count(),
        dice.pick(&[0, 1, 1, 1, 1, 99_999]),
    ];
    let (offset, indirect) = (dice.bytes(), dice.one_in(3));
    let dispatch = |compute: &mut Compute<'_>| {
        if indirect {
            compute.dispatch_indirect(&arguments, offset);
        } else {
            compute.dispatch(groups);
        }
    };
    match dice.below(6) {
        0 => {
            compute.when(&flags, dice.bytes(), dispatch);
        }
        1 => {
            compute.unless(&flags, dice.bytes(), dispatch);
        }
        _ => dispatch(&mut compute),
    }
}

fn draw(
    mut recorder: Recorder,
    (plain, odd, samples): (ColorTarget<Plain>, ColorTarget<Odd>, ColorTarget<Samples>),
    (depth, pyramid): (DepthTarget<Depth>, Sampled<Pyramid>),
    (bytes, arguments): (VertexRead<MoreBytes>, IndirectRead<Arguments>),
    (indices, flags): (IndexRead<Bytes>, ConditionRead<Flags>),
    counted: QueryWrite<Counted>,
    tools: Res<Tools>,
) {
    let Some(mut dice) = Dice::of(&tools, 2) else {
        return;
    };
    let attachments = dice.below(8);
    let mut rendering = match attachments {
        0 => recorder.render([plain.keep(), odd.keep()]),
        1 => recorder.render(plain.view(dice.view()).clear(dice.color())),
        2 => recorder.render(samples.clear(dice.color()).resolve_to(&plain)),
        3 => recorder.render(samples.keep().resolve_to(&odd)),
        4 => recorder.render((samples.keep(), depth.keep_depth())),
        5 => recorder.render(depth.clear_depth(dice.color()[0])),
        6 => recorder.render(odd.discard()),
        _ => recorder.render((plain.clear([0.0; 4]), depth.clear_depth(1.0))),
    };
    for _ in 0..1 + dice.below(3) {
        match dice.below(12) {
            0 => &mut rendering,
            // Colors that nothing takes are a warning.
            _ if attachments == 5 => rendering.pipeline(&tools.shadow),
            1..6 => rendering
                .pipeline(&tools.fill)
                .bind(
                    1,
                    &pyramid.view(dice.pick(&[View::WHOLE.layer(0), View::WHOLE])),
                )
                .sampler(3, &tools.sampler)
                .push(&[0_u32; 2]),
            _ => rendering.pipeline(&tools.mesh),
        };
        if dice.one_in(4) {
            let area = [(); 4].map(|()| dice.pick(&[0.0, 1.0, 16.0, 7.0, -4.0, 1e9, f32::NAN]));
            rendering.viewport(area);
        }
        if dice.one_in(4) {
            let area = [(); 4].map(|()| dice.pick(&[0, 1, 4, 16, 99, u32::MAX]));
            rendering.scissor(area);
        }
        if !dice.one_in(12) {
            let slot = dice.pick(&[0, 0, 0, 0, 1, 1, 1, 2, 500]);
            rendering.vertices(0, &bytes, dice.pick(&[0, 0, 4, 3000]));
            rendering
                .vertices(1, &bytes, 0)
                .vertices(slot, &bytes, dice.bytes());
        }
        if !dice.one_in(8) {
            let kind = dice.pick(&[IndexType::U16, IndexType::U32]);
            rendering.indices(&indices, dice.pick(&[0, 0, 0, 0, 2, 512, 1023, 9999]), kind);
        }
        let (query, offset, around) =
            (dice.pick(&[0, 1, 2, 3, 3, 4]), dice.bytes(), dice.below(12));
        let draw = |rendering: &mut Rendering<'_>| match dice.below(7) {
            0 => {
                rendering.draw(dice.range(), dice.range());
            }
            1 => {
                rendering.draw_indexed(dice.range(), dice.pick(&[0, 1, -1]), dice.range());
            }
            2 => {
                rendering.draw_indirect(&arguments, dice.bytes(), dice.count());
            }
            3 => {
                let (from, counts) = ((&arguments, dice.bytes()), (&arguments, dice.bytes()));
                rendering.draw_indirect_count(from, counts, dice.count());
            }
            4 => {
                let (from, counts) = ((&arguments, dice.bytes()), (&arguments, dice.bytes()));
                rendering.draw_indexed_indirect_count(from, counts, dice.count());
            }
            5 => {
                let [vertices, instances] = [(); 2].map(|()| dice.count());
                let commands: RawCommand = Box::new(move |device, buffer| {
                    // SAFETY: it draws with what is bound, and changes no state.
                    unsafe { device.cmd_draw(buffer, vertices, instances, 0, 0) };
                });
                // SAFETY: as above; the pass declares all that it binds.
                unsafe { rendering.draw_raw(commands) };
            }
            _ => {
                rendering.draw_indexed_indirect(&arguments, dice.bytes(), dice.count());
            }
        };
        match around {
            0 | 1 => {
                rendering.query(&counted, query, draw);
            }
            2 => {
                rendering.when(&flags, offset, draw);
            }
            3 => {
                rendering.unless(&flags, offset, |rendering| {
                    rendering.query(&counted, query, draw);
                });
            }
            4 => {
                rendering.query(&counted, query, |rendering| {
                    rendering.query(&counted, 0, draw);
                });
            }
            _ => {
                let mut draw = draw;
                draw(&mut rendering);
            }
        }
    }
}

/// Several views at once, what resolves, and stencil.
fn layers(
    mut recorder: Recorder,
    (sheets, samples): (ColorTarget<Sheets>, ColorTarget<Samples>),
    (deep, flat): (DepthTarget<Deep>, DepthTarget<Flat>),
    (plain, counted): (ColorTarget<Plain>, QueryWrite<Counted>),
    tools: Res<Tools>,
) {
    let Some(mut dice) = Dice::of(&tools, 3) else {
        return;
    };
    let attachments = dice.below(8);
    let mut rendering = match attachments {
        0 => recorder.render(flat.clear_depth(0.5).keep_stencil()),
        1 => {
            let deep = deep.clear_depth(0.5).clear_stencil(3);
            recorder.render(deep.resolve_depth_to(&flat, dice.mode()))
        }
        2 => {
            let deep = deep.keep_depth().keep_stencil();
            let deep = deep.resolve_stencil_to(&flat, dice.mode());
            recorder.render(deep.resolve_depth_to(&flat.view(dice.view()), dice.mode()))
        }
        3 => {
            let deep = deep.keep_depth().resolve_depth_to(&flat, dice.mode());
            let targets = (samples.keep().resolve_to(&plain), deep);
            recorder.render(targets.view_mask(dice.pick(&[0, 0, 0, 1, 3])))
        }
        4 => recorder.render((sheets.keep(), flat.keep_depth()).view_mask(dice.mask())),
        5 => recorder.render([sheets.keep(), plain.keep()].view_mask(dice.mask())),
        _ => {
            let sheets = sheets.view(dice.view()).clear(dice.color());
            recorder.render(sheets.view_mask(dice.mask()))
        }
    };
    for _ in 0..1 + dice.below(3) {
        match dice.below(12) {
            0 => &mut rendering,
            // Colors that nothing takes are a warning.
            _ if attachments < 3 => rendering.pipeline(&tools.mark),
            1..4 => rendering.pipeline(&tools.mark),
            _ => rendering.pipeline(&tools.solid),
        };
        if dice.one_in(if attachments < 3 { 2 } else { 8 }) {
            rendering.stencil_reference(dice.pick(&[0, 1, 255]));
        }
        match dice.below(8) {
            0 => rendering.clear_color(dice.pick(&[0, 1]), [0, 0, 4, 99], dice.color()),
            1 => rendering.clear_depth([0, 0, 4, 99], 0.5),
            _ => &mut rendering,
        };
        let query = dice.pick(&[0, 1, 2, 3, 4]);
        let (vertices, instances) = (dice.range(), dice.range());
        if dice.one_in(4) {
            rendering.query(&counted, query, |rendering| {
                rendering.draw(vertices, instances);
            });
        } else {
            rendering.draw(vertices, instances);
        }
    }
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().expect("a number is given"))
}

#[test]
#[ignore = "needs a device"]
fn whatever_passes_record_is_refused_or_right() {
    let mut rig = Rig::new();
    make(rig.app.world_mut()).expect("all of it can be made");
    rig.app
        .add_systems(Render, change_tables.in_set(RenderSystems::Declare))
        .add_systems(
            Render,
            (begin, begin_targets, copies, work, draw, layers).chain(),
        );
    if local::make(rig.app.world_mut()).expect("all of it can be made") {
        rig.app.add_systems(Render, local::local.after(layers));
    }
    let is_judged = std::env::var_os("QUADRILLE_VALIDATED").is_some();
    let gpu = rig.app.world().resource::<GpuDevice>();
    assert!(
        !is_judged || gpu.info().validation.is_some(),
        "the validation layer is not active"
    );
    let first = from_environment("QUADRILLE_ANYTHING_SEED", 1);
    let frames = from_environment("QUADRILLE_ANYTHING_FRAMES", 150);
    let (mut refused, mut right) = (0, 0);
    for seed in first..first + frames {
        rig.app.world_mut().resource_mut::<Tools>().seed = seed;
        let before = validation_messages();
        rig.update(1);
        let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
        let new = validation_messages() - before;
        assert_eq!(
            new, 0,
            "the frame of seed {seed} has messages; its errors: {errors:#?}"
        );
        if std::env::var_os("QUADRILLE_ANYTHING_VERBOSE").is_some() {
            eprintln!("{seed}: {errors:#?}");
        }
        *(if errors.is_empty() {
            &mut right
        } else {
            &mut refused
        }) += 1;
    }
    assert!(
        right > frames / 20 && refused > 0,
        "{right} right, {refused} refused"
    );
    eprintln!("{right} frames were right, {refused} were refused");
}

/// Returns the error that refuses a pass.
fn refusal<M>(
    mut rig: Rig,
    pass: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
) -> String {
    rig.app.add_systems(Render, pass);
    rig.update(1);
    rig.app.world().resource::<Errors>().0.join("; ")
}

#[test]
#[ignore = "needs a device"]
fn refused_passes_name_the_reason() {
    fn other_kind(mut recorder: Recorder, image: TransferRead<Plain>, to: TransferWrite<Bytes>) {
        recorder.transfer().copy_buffer(&image, 0, &to, 0, 4);
    }
    let mut rig = Rig::new();
    make(rig.app.world_mut()).expect("all of it can be made");
    let message = refusal(rig, other_kind);
    let expected = "`copy_buffer` needs a buffer, and `plain` is an image";
    assert!(message.contains(expected), "{message}");

    #[derive(Resource, Deref)]
    struct Unusable(GpuImage);
    fn unusable(mut recorder: Recorder, image: TransferWrite<Unusable>) {
        recorder.transfer().clear_image(&image, [0.0; 4]);
    }
    fn add(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
        let desc = ImageDesc::new("unusable", [4, 4], COLOR, ImageUsage::SAMPLED);
        commands.insert_resource(Unusable(gpu.create_image(&desc)?));
        Ok(())
    }
    let rig = Rig::with_more(
        |_| {},
        |app| {
            app.add_systems(bevy_app::Startup, add);
        },
    );
    let message = refusal(rig, unusable);
    assert!(
        message.contains("the pass `unusable`") && message.contains("TRANSFER_DST"),
        "{message}"
    );
}
