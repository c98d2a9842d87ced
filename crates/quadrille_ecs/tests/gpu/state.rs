//! The fixed state of pipelines and samplers, by what is drawn and sampled with it.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{
    Blend, BlendEquation, ColorState, ComputePipeline, ComputePipelineDesc, Cull, DepthBias,
    DepthState, GraphicsPipeline, GraphicsPipelineDesc, PipelineState, StencilState,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageRegion, ImageUsage, Sampler,
    SamplerDesc,
};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, vk};

use crate::common::{Errors, Rig, read_back, read_image};

const COLOR: Format = Format::R8G8B8A8_UNORM;

#[derive(Resource, Deref)]
struct First(GpuImage);

#[derive(Resource, Deref)]
struct Second(GpuImage);

#[derive(Resource, Deref)]
struct Depths(GpuImage);

/// The pipelines that draw one after the other, each to an area.
#[derive(Resource)]
struct Draws(Vec<(GraphicsPipeline, [u32; 4])>);

/// Draws a triangle over everything, with constants for what it is.
const SHADER: &str = "
    override DEPTH: f32 = 0.5;
    override RED: f32 = 1.0;
    override ALPHA: f32 = 1.0;
    struct Out { @location(0) first: vec4f, @location(1) second: vec4f }
    @vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, DEPTH, 1.0);
    }
    // Smaller than the target: its edges lie inside.
    @vertex fn inside(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 1.5 - 0.75, f32(i >> 1u) * 1.5 - 0.75, DEPTH, 1.0);
    }
    @fragment fn one() -> @location(0) vec4f { return vec4f(RED, 0.4, 0.2, ALPHA); }
    @fragment fn both() -> Out { return Out(vec4f(RED, 0.4, 0.2, ALPHA), vec4f(0.2)); }
    @fragment fn three() -> @location(0) vec3f { return vec3f(1.0); }";

const WHOLE: [u32; 4] = [0, 0, 8, 8];
const LEFT: [u32; 4] = [0, 0, 4, 8];

struct Bench {
    rig: Rig,
    gpu: GpuDevice,
    shader: GpuShader,
}

impl Bench {
    fn new(samples: u32) -> Self {
        let mut rig = Rig::new();
        let gpu = rig.app.world().resource::<GpuDevice>().clone();
        let image = |name| {
            let desc = ImageDesc::color_target(name, [8, 8], COLOR);
            let desc = desc.with_usage(ImageUsage::TRANSFER_SRC);
            gpu.create_image(&desc).expect("images can be made")
        };
        let depths = ImageDesc {
            samples,
            ..ImageDesc::depth("depths", [8, 8], Format::D32_SFLOAT_S8_UINT)
        };
        let depths = gpu.create_image(&depths).expect("images can be made");
        rig.app
            .insert_resource(First(image("first")))
            .insert_resource(Second(image("second")))
            .insert_resource(Depths(depths));
        let shader =
            GpuShader::wgsl("state.wgsl", SHADER).unwrap_or_else(|error| panic!("{error}"));
        Self { rig, gpu, shader }
    }

    fn desc(&self, fragment: &'static str, state: PipelineState) -> GraphicsPipelineDesc<'_> {
        let shader = &self.shader;
        GraphicsPipelineDesc {
            state,
            ..GraphicsPipelineDesc::new("state", (shader, "corner"), (shader, fragment))
        }
    }

    /// A pipeline; none if the device lacks a feature, which is hidden then, and named.
    fn pipeline(&self, desc: &GraphicsPipelineDesc<'_>, feature: &str) -> Option<GraphicsPipeline> {
        match self.gpu.graphics_pipeline(desc) {
            Ok(pipeline) => Some(pipeline),
            Err(error) => {
                let line = error.line();
                let device = &self.gpu.info().name;
                let ending =
                    format!("takes the feature {feature}, which the device `{device}` lacks");
                assert!(line.ends_with(&ending), "{line}");
                None
            }
        }
    }

    /// The texels of the first image after a pass.
    fn run<M>(
        mut self,
        draws: Vec<(GraphicsPipeline, [u32; 4])>,
        pass: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
    ) -> (Vec<[u8; 4]>, Rig) {
        self.rig.app.insert_resource(Draws(draws));
        self.rig.app.add_systems(Render, pass);
        self.rig.update(3);
        self.rig.expect_no_errors();
        let texels = texels::<First>(&mut self.rig);
        (texels, self.rig)
    }
}

fn texels<T: Resource + std::ops::Deref<Target = GpuImage>>(rig: &mut Rig) -> Vec<[u8; 4]> {
    let image = GpuImage::clone(rig.app.world().resource::<T>());
    let texels = read_image(rig, &image);
    texels
        .chunks(4)
        .map(|it| [it[0], it[1], it[2], it[3]])
        .collect()
}

fn record(rendering: &mut Rendering<'_>, draws: &Draws) {
    for (pipeline, area) in &draws.0 {
        rendering.pipeline(pipeline).scissor(*area).draw(0..3, 0..1);
    }
}

fn one(mut recorder: Recorder, first: ColorTarget<First>, draws: Res<Draws>) {
    record(
        &mut recorder.render(first.clear([0.0, 0.0, 0.6, 0.4])),
        &draws,
    );
}

fn two(
    mut recorder: Recorder,
    (first, second): (ColorTarget<First>, ColorTarget<Second>),
    draws: Res<Draws>,
) {
    let targets = [first.clear([0.0, 0.0, 0.6, 0.4]), second.clear([0.6; 4])];
    record(&mut recorder.render(targets), &draws);
}

fn with_depths(
    mut recorder: Recorder,
    first: ColorTarget<First>,
    depths: DepthTarget<Depths>,
    draws: Res<Draws>,
) {
    let depths = depths.clear_depth(0.5).clear_stencil(3);
    record(
        &mut recorder.render((first.clear([0.0; 4]), depths)),
        &draws,
    );
}

/// Returns for each texel of the image whether it has red.
fn red(texels: &[[u8; 4]]) -> Vec<bool> {
    texels.iter().map(|it| it[0] != 0).collect()
}

fn in_area([x, y, width, height]: [u32; 4]) -> Vec<bool> {
    let inside =
        |at: u32| (x..x + width).contains(&(at % 8)) && (y..y + height).contains(&(at / 8));
    (0..64).map(inside).collect()
}

#[test]
#[ignore = "needs a device"]
fn attachments_blend_and_are_masked_one_by_one() {
    let bench = Bench::new(1);
    let most = BlendEquation {
        op: vk::BlendOp::MAX,
        ..BlendEquation::sum(vk::BlendFactor::ONE, vk::BlendFactor::ONE)
    };
    let mask = vk::ColorComponentFlags::R | vk::ColorComponentFlags::A;
    let state = PipelineState {
        colors: vec![
            ColorState::new(Blend::Opaque).with_mask(mask),
            ColorState::new(Blend::Custom {
                color: most,
                alpha: most,
            }),
        ],
        ..PipelineState::default()
    };
    let Some(pipeline) = bench.pipeline(&bench.desc("both", state), "independentBlend") else {
        return;
    };
    let formats = quadrille_vulkan::pipeline::Formats::of(
        &[
            bench.rig.app.world().resource::<First>(),
            bench.rig.app.world().resource::<Second>(),
        ],
        None,
    );
    if let Err(error) = pipeline.wait(&formats) {
        assert!(error.line().contains("independentBlend"), "{error}");
        return;
    }
    let (first, mut rig) = bench.run(vec![(pipeline, WHOLE)], two);
    assert_eq!(first, [[255, 0, 153, 255]; 64], "red and alpha are written");
    assert_eq!(
        texels::<Second>(&mut rig),
        [[153; 4]; 64],
        "the greater stays"
    );
}

#[test]
#[ignore = "needs a device"]
fn bits_are_combined() {
    let bench = Bench::new(1);
    let state = PipelineState {
        logic: Some(vk::LogicOp::XOR),
        ..PipelineState::default()
    };
    if let Some(pipeline) = bench.pipeline(&bench.desc("one", state), "logicOp") {
        let (texels, _) = bench.run(vec![(pipeline, WHOLE)], one);
        assert_eq!(texels, [[255, 102, 51 ^ 153, 255 ^ 102]; 64]);
    }
}

#[test]
#[ignore = "needs a device"]
fn edges_are_drawn_alone() {
    let bench = Bench::new(1);
    let lines = PipelineState {
        polygon: vk::PolygonMode::LINE,
        ..PipelineState::default()
    };
    let mut desc = bench.desc("one", lines);
    desc.vertex.1 = "inside";
    if let Some(pipeline) = bench.pipeline(&desc, "fillModeNonSolid") {
        let (texels, _) = bench.run(vec![(pipeline, WHOLE)], one);
        let (drawn, at) = (red(&texels), |x: usize, y: usize| y * 8 + x);
        assert!(
            drawn[at(0, 4)] || drawn[at(1, 4)],
            "the left edge: {drawn:?}"
        );
        assert!(!drawn[at(2, 5)], "what is inside: {drawn:?}");
        assert!(!drawn[at(6, 1)], "what is outside: {drawn:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn faces_are_turned() {
    let bench = Bench::new(1);
    let drawn = |front_face| {
        let state = PipelineState {
            front_face,
            ..PipelineState::default()
        };
        let mut desc = bench.desc("one", state);
        desc.cull = Cull::Back;
        bench.pipeline(&desc, "").expect("all devices have it")
    };
    let draws = vec![
        (drawn(vk::FrontFace::COUNTER_CLOCKWISE), LEFT),
        (drawn(vk::FrontFace::CLOCKWISE), [4, 0, 4, 8]),
    ];
    let (texels, _) = bench.run(draws, one);
    assert_eq!(red(&texels), in_area(LEFT));
}

#[test]
#[ignore = "needs a device"]
fn stencil_is_written_and_tested() {
    let bench = Bench::new(1);
    let with = |stencil| PipelineState {
        stencil: Some(stencil),
        colors: vec![ColorState::new(Blend::Opaque)],
        ..PipelineState::default()
    };
    let mut write = with(StencilState::write(9));
    write.colors[0].mask = vk::ColorComponentFlags::empty();
    let make = |state| {
        bench
            .pipeline(&bench.desc("one", state), "")
            .expect("all devices have it")
    };
    let write = make(write);
    let equal = make(with(StencilState::test(9, vk::CompareOp::EQUAL)));
    // Elsewhere the stencil value is 3; of that only one bit is compared.
    let bits = StencilState {
        read_mask: 2,
        ..StencilState::test(2, vk::CompareOp::EQUAL)
    };
    let bits = make(with(bits));
    let draws = vec![(write, LEFT), (equal, [0, 0, 8, 4]), (bits, [0, 6, 8, 2])];
    let (texels, _) = bench.run(draws, with_depths);
    let mut expected = in_area([0, 0, 4, 4]);
    let others = in_area([4, 6, 4, 2]);
    expected
        .iter_mut()
        .zip(others)
        .for_each(|(it, other)| *it |= other);
    assert_eq!(red(&texels), expected);
}

#[test]
#[ignore = "needs a device"]
fn stencil_is_kept_and_only_read() {
    fn mark(mut recorder: Recorder, depths: DepthTarget<Depths>, draws: Res<Draws>) {
        let mut rendering = recorder.render(depths.clear_depth(0.5).clear_stencil(0));
        let (pipeline, area) = &draws.0[0];
        rendering.pipeline(pipeline).scissor(*area).draw(0..3, 0..1);
    }
    fn clear_depth(mut recorder: Recorder, depths: DepthTarget<Depths>) {
        recorder.render(depths.clear_depth(0.25).keep_stencil());
    }
    fn show(
        mut recorder: Recorder,
        first: ColorTarget<First>,
        depths: DepthRead<Depths>,
        draws: Res<Draws>,
    ) {
        let mut rendering = recorder.render((first.clear([0.0; 4]), depths.keep_depth()));
        let (pipeline, area) = &draws.0[1];
        rendering.pipeline(pipeline).scissor(*area).draw(0..3, 0..1);
    }
    let bench = Bench::new(1);
    let with = |stencil| PipelineState {
        stencil: Some(stencil),
        ..PipelineState::default()
    };
    let mut mark_desc = bench.desc("one", with(StencilState::write(1)));
    mark_desc.fragment = None;
    let marks = bench.pipeline(&mark_desc, "").expect("all devices have it");
    let test = StencilState::test(1, vk::CompareOp::EQUAL);
    let shows = bench
        .pipeline(&bench.desc("one", with(test)), "")
        .expect("all devices have it");
    let draws = vec![(marks.clone(), LEFT), (shows, WHOLE)];
    let passes = (mark, clear_depth, show).chain();
    let (texels, mut rig) = bench.run(draws, passes);
    assert_eq!(red(&texels), in_area(LEFT));
    // A pipeline that writes it has no place there.
    rig.app.world_mut().resource_mut::<Draws>().0[1].0 = marks;
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    let said = errors.join("; ");
    assert!(
        said.contains("writes stencil, which the pass only reads"),
        "{said}"
    );
}

#[test]
#[ignore = "needs a device"]
fn depth_is_clamped_and_biased() {
    let bench = Bench::new(1);
    let make = |depth: f32, state: PipelineState, feature| {
        let mut desc = bench.desc("one", state).constant("DEPTH", depth);
        desc.depth = Some(DepthState {
            compare: vk::CompareOp::LESS,
            write: false,
        });
        bench.pipeline(&desc, feature)
    };
    let biased = |constant| PipelineState {
        depth_bias: Some(DepthBias {
            constant,
            ..DepthBias::default()
        }),
        ..PipelineState::default()
    };
    let clamped = PipelineState {
        depth_clamp: true,
        ..PipelineState::default()
    };
    // The depth is 0.5; nothing is in front of the near plane, unless depth is clamped to it.
    let mut expected = in_area([0, 2, 8, 2]);
    let all = [
        (make(0.5, biased(0.0), ""), [0, 0, 8, 2]),
        (make(0.5, biased(-1e5), ""), [0, 2, 8, 2]),
        (make(-0.5, PipelineState::default(), ""), [0, 4, 8, 2]),
        (make(-0.5, clamped, "depthClamp"), [0, 6, 8, 2]),
    ];
    if all[3].0.is_some() {
        let clamped = in_area([0, 6, 8, 2]);
        expected
            .iter_mut()
            .zip(clamped)
            .for_each(|(it, other)| *it |= other);
    }
    let draws = all
        .into_iter()
        .filter_map(|(pipeline, area)| Some((pipeline?, area)));
    let draws = draws.collect();
    let (texels, _) = bench.run(draws, with_depths);
    assert_eq!(red(&texels), expected);
}

#[derive(Resource, Deref)]
struct Samples(GpuImage);

#[test]
#[ignore = "needs a device"]
fn alpha_covers_samples() {
    fn pass(
        mut recorder: Recorder,
        samples: ColorTarget<Samples>,
        first: ColorTarget<First>,
        draws: Res<Draws>,
    ) {
        let target = samples.clear([0.0; 4]).resolve_to(&first);
        record(&mut recorder.render(target), &draws);
    }
    let mut bench = Bench::new(4);
    let samples = ImageDesc {
        samples: 4,
        ..ImageDesc::color_target("samples", [8, 8], COLOR)
    };
    let samples = bench
        .gpu
        .create_image(&samples)
        .expect("images can be made");
    bench.rig.app.insert_resource(Samples(samples));
    let state = PipelineState {
        alpha_to_coverage: true,
        ..PipelineState::default()
    };
    let make = |alpha: f32, state: PipelineState, feature| {
        bench.pipeline(&bench.desc("one", state).constant("ALPHA", alpha), feature)
    };
    let half = make(0.5, state.clone(), "").expect("all devices have it");
    let none = make(0.0, state.clone(), "").expect("all devices have it");
    let mut draws = vec![(half, LEFT), (none, [4, 0, 4, 4])];
    let each = PipelineState {
        sample_shading: Some(1.0),
        ..PipelineState::default()
    };
    let each = make(1.0, each, "sampleRateShading");
    let has_each = each.is_some();
    draws.extend(each.map(|pipeline| (pipeline, [4, 4, 4, 4])));
    let error = bench
        .gpu
        .graphics_pipeline(&bench.desc("three", state))
        .unwrap_err()
        .line();
    assert!(
        error.ends_with("an output @location(0) with alpha, a vec4"),
        "{error}"
    );
    let (texels, _) = bench.run(draws, pass);
    let red = |x: usize, y: usize| texels[y * 8 + x][0];
    assert!(
        (32..=224).contains(&red(1, 1)),
        "some of the samples: {}",
        red(1, 1)
    );
    assert_eq!(red(6, 1), 0, "none of the samples");
    assert_eq!(red(6, 6), if has_each { 255 } else { 0 }, "all samples");
}

#[test]
#[ignore = "needs a device"]
fn invalid_state_is_reported() {
    let bench = Bench::new(1);
    let said = |state: PipelineState| {
        let made = bench.gpu.graphics_pipeline(&bench.desc("one", state));
        made.expect_err("it is odd").line()
    };
    let factor = BlendEquation::sum(vk::BlendFactor::SRC1_COLOR, vk::BlendFactor::ONE);
    let odd = ColorState::new(Blend::Custom {
        color: factor,
        alpha: factor,
    });
    let colors = PipelineState {
        colors: vec![odd],
        ..PipelineState::default()
    };
    assert!(said(colors).contains("SRC1_COLOR"));
    let bias = DepthBias {
        slope: f32::NAN,
        ..DepthBias::default()
    };
    let bias = PipelineState {
        depth_bias: Some(bias),
        ..PipelineState::default()
    };
    assert!(said(bias).contains("its values must be finite"));
    let stencil = PipelineState {
        stencil: Some(StencilState::test(0, vk::CompareOp::from_raw(77))),
        ..PipelineState::default()
    };
    assert!(said(stencil.clone()).contains("its comparison is 77, which is no value of Vulkan"));
    // Without an attachment that has stencil.
    let stencil = PipelineState {
        stencil: Some(StencilState::write(1)),
        ..stencil
    };
    let pipeline = bench
        .pipeline(&bench.desc("one", stencil), "")
        .expect("all devices have it");
    let formats =
        quadrille_vulkan::pipeline::Formats::of(&[bench.rig.app.world().resource::<First>()], None);
    let line = pipeline
        .wait(&formats)
        .expect_err("there is no stencil")
        .line();
    assert!(line.contains("it has a stencil test"), "{line}");
}

#[derive(Resource, Deref)]
struct Map(GpuImage);

#[derive(Resource, Deref)]
struct Found(GpuBuffer);

#[derive(Resource)]
struct Probe(ComputePipeline, [Sampler; 3]);

const PROBE: &str = "
    @group(0) @binding(0) var map: texture_2d<f32>;
    @group(0) @binding(1) var mixed: sampler;
    @group(0) @binding(2) var level: sampler;
    @group(0) @binding(3) var most: sampler;
    @group(0) @binding(4) var<storage, read_write> found: array<f32>;
    @compute @workgroup_size(1) fn probe() {
        // The left texel is 0.25, the right one 1.
        found[0] = textureSampleLevel(map, mixed, vec2f(1.25, 0.5), 0.0).r;
        found[1] = textureSampleLevel(map, mixed, vec2f(0.25, 1.5), 0.0).r;
        found[2] = textureSampleLevel(map, level, vec2f(0.25, 0.5), 1.0).r;
        found[3] = textureSampleLevel(map, most, vec2f(0.5, 0.5), 0.0).r;
    }";

#[test]
#[ignore = "needs a device"]
fn samplers_have_all_of_their_state() {
    fn probe(
        mut recorder: Recorder,
        map: Sampled<Map>,
        found: StorageWrite<Found>,
        probe: Res<Probe>,
    ) {
        let [mixed, level, most] = &probe.1;
        let mut compute = recorder.compute(&probe.0);
        compute.bind(0, &map).sampler(1, mixed).sampler(2, level);
        compute.sampler(3, most).bind(4, &found).dispatch([1, 1, 1]);
    }
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let map = ImageDesc::sampled("map", [2, 1], Format::R32_SFLOAT).with_mips(2);
    let map = gpu.create_image(&map).expect("images can be made");
    let storage = BufferUsage::STORAGE | BufferUsage::TRANSFER_SRC;
    let found = gpu.create_buffer(&BufferDesc::new("found", 16, storage));
    let found = found.expect("buffers can be made");
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    let bytes = |values: &[f32]| {
        values
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let level = ImageRegion::mip(&map, 1);
    uploads.write_image(&map, &bytes(&[0.25, 1.0]));
    uploads.write_image_region(&map, level, &bytes(&[8.0]));
    let [repeat, border, edge] = [
        vk::SamplerAddressMode::REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
        vk::SamplerAddressMode::CLAMP_TO_EDGE,
    ];
    let mixed = SamplerDesc {
        addresses: Some([repeat, border, edge]),
        border: vk::BorderColor::FLOAT_OPAQUE_WHITE,
        ..SamplerDesc::nearest()
    };
    // The level that is asked for, 1, is biased above the greatest there is, and clamped to the first.
    let level = SamplerDesc {
        bias: 1.0,
        levels: [0.0, 0.0],
        ..SamplerDesc::nearest()
    };
    let most = SamplerDesc {
        reduction: vk::SamplerReductionMode::MAX,
        ..SamplerDesc::linear()
    };
    let make = |desc: &SamplerDesc| gpu.create_sampler(desc);
    let most = make(&most).or_else(|error| {
        let line = error.to_string();
        assert!(line.contains("samplerFilterMinmax"), "{line}");
        make(&SamplerDesc::nearest())
    });
    let [mixed, level] = [&mixed, &level].map(|desc| make(desc).expect("samplers can be made"));
    let shader = GpuShader::wgsl("probe.wgsl", PROBE).unwrap_or_else(|error| panic!("{error}"));
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("probe", &shader));
    let pipeline = pipeline.expect("pipelines can be made");
    rig.app
        .insert_resource(Map(map))
        .insert_resource(Found(found.clone()))
        .insert_resource(Probe(
            pipeline,
            [mixed, level, most.expect("it can be made")],
        ))
        .add_systems(Render, probe);
    rig.update(3);
    rig.expect_no_errors();
    let found: Vec<f32> = read_back(&mut rig, Readback::buffer(&found))
        .expect("it is read back")
        .chunks(4)
        .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]))
        .collect();
    assert_eq!(found, [0.25, 1.0, 0.25, 1.0]);
    let said = |desc: SamplerDesc| make(&desc).expect_err("it is odd").to_string();
    let bias = SamplerDesc {
        bias: 1e9,
        ..SamplerDesc::linear()
    };
    assert!(said(bias).contains("its bias is 1000000000; the device takes from -"));
    let levels = SamplerDesc {
        levels: [2.0, 1.0],
        ..SamplerDesc::linear()
    };
    assert!(said(levels).contains("its levels of detail are 2 to 1"));
}
