//! Shaders and pipelines.

use quadrille_ecs::*;
use quadrille_vulkan::vk::FrontFace;

use super::Told;

const COMPUTE: &str = "@compute @workgroup_size(1) fn main() {}";
const DRAW: &str = "
    @vertex fn place(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
    @fragment fn color() -> @location(0) vec4f { return vec4f(1.0); }";

pub(super) fn add(told: &mut Told, gpu: &GpuDevice) {
    sources(told);
    compute(told, gpu);
    graphics(told, gpu);
    names(told, gpu);
}

fn wgsl(source: &str) -> Result<GpuShader, ShaderError> {
    GpuShader::wgsl("wrong.wgsl", source)
}

/// A pipeline with names that passes are going to bind by.
fn names(told: &mut Told, gpu: &GpuDevice) {
    let source = "@group(0) @binding(0) var<storage, read_write> heights: array<f32>;
        @compute @workgroup_size(1) fn main() { heights[0] = 1.0; }";
    let shader = wgsl(source).expect("it is right");
    let made = |name| {
        let desc = ComputePipelineDesc::of("waves", &shader).binds("heights");
        gpu.compute_pipeline(&desc.binds(name)).map(drop)
    };
    told.made("a pipeline that has no such variable", made("heigths"));
    told.made("a pipeline that has nothing like it", made("moons"));
}

fn sources(told: &mut Told) {
    let main = |body: &str| format!("@compute @workgroup_size(1) fn main() {{ {body} }}");
    told.made("a shader with a typo", wgsl(&main("let a = 1 +;")));
    told.made(
        "a shader with an unknown name",
        wgsl(&main("let a = speed;")),
    );
    let types = main("var a: f32 = 1u;");
    told.made("a shader with a wrong type", wgsl(&types));
    let group = "@group(1) @binding(0) var<storage, read_write> cells: array<u32>;";
    let group = format!("{group} {}", main("cells[0] = 1u;"));
    told.made("a shader with another group", wgsl(&group));
    let binding = group.replace("group(1) @binding(0)", "group(0) @binding(40)");
    told.made("a shader with a high binding", wgsl(&binding));
    let array = |place: &str| {
        let head = "enable wgpu_binding_array;";
        let body = main("let a = textureLoad(maps[0], vec2i(0), 0);");
        wgsl(&format!(
            "{head} {place} var maps: binding_array<texture_2d<f32>>; {body}"
        ))
    };
    told.made(
        "a shader with a table in a high group",
        array("@group(4) @binding(1)"),
    );
    told.made(
        "a shader with a table's images at another binding",
        array("@group(1) @binding(0)"),
    );
    told.made(
        "a shader with an array of images in group 0",
        array("@group(0) @binding(1)"),
    );
    let large = format!(
        "var<immediate> it: array<vec4f, 9>; {}",
        main("let a = it[0];")
    );
    told.made("a shader with large push constants", wgsl(&large));
    told.made(
        "a shader file that is not there",
        GpuShader::load("/no/such.wgsl"),
    );
    told.made(
        "a shader file of no language",
        GpuShader::load("Cargo.toml"),
    );
    told.made(
        "an import of a module that nobody publishes",
        wgsl("import waves::noise::fbm;"),
    );
    told.made(
        "an import from the folder of no file",
        wgsl("import super::noise::fbm;"),
    );
    told.made(
        "an import of a file that is not there",
        GpuShader::load("tests/gpu/told/lost.wgsl"),
    );
    let math =
        "fn twice(it: f32) -> f32 { return it + it; }\nfn half(it: f32) -> u32 { return it; }";
    let published = ShaderModule::new("told::math", &math.replace("u32", "f32")).publish();
    published.expect("nobody has this name");
    told.made(
        "an import with a typo",
        wgsl("import told::math::{half, twize};"),
    );
    told.made(
        "another module of the same path",
        ShaderModule::new("told::math", math).publish(),
    );
    let broken = ShaderModule::new("told::broken", math).publish();
    broken.expect("nobody has this name");
    let imports = format!("import told::broken::twice;\n{}", main("_ = twice(1.0);"));
    told.made("a wrong type in a module that is imported", wgsl(&imports));
    told.made(
        "a module without its crate",
        ShaderModule::new("math", math).publish(),
    );
    let spirv = GpuShader::spirv("wrong.spv", &[1, 2, 3]);
    told.made("SPIR-V that is none", spirv);
    let spirv = GpuShader::spirv_bytes("wrong.spv", &[1, 2, 3]);
    told.made("SPIR-V that is cut off", spirv);
}

fn compute(told: &mut Told, gpu: &GpuDevice) {
    let shader = wgsl(COMPUTE).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &shader).entry("mian");
    told.made("an entry point with a typo", gpu.compute_pipeline(&desc));
    let draw = wgsl(DRAW).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &draw);
    told.made(
        "a compute pipeline of no compute shader",
        gpu.compute_pipeline(&desc),
    );
    let two = format!("{COMPUTE} {}", COMPUTE.replace("main", "other"));
    let two = wgsl(&two).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &two);
    told.made(
        "a compute pipeline of two shaders",
        gpu.compute_pipeline(&desc),
    );
    let sized = "override SIZE: u32; override SCALE = 1.0; var<private> scale: f32 = SCALE;"
        .to_owned()
        + &COMPUTE.replace("(1)", "(SIZE)");
    let sized = wgsl(&sized).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &sized);
    told.made("a constant without a value", gpu.compute_pipeline(&desc));
    let with = desc.clone().constant("SIZE", 8);
    told.made("a constant of another type", gpu.compute_pipeline(&with));
    let with = desc.clone().constant("SIZE", 8_u32).constant("SCAL", 2.0);
    told.made("a constant with a typo", gpu.compute_pipeline(&with));
    let with = desc.constant("SIZE", 0_u32);
    told.made("a constant that is too small", gpu.compute_pipeline(&with));
    let large = COMPUTE.replace("(1)", "(4096, 4096)");
    let made =
        wgsl(&large).and_then(|it| gpu.compute_pipeline(&ComputePipelineDesc::of("step", &it)));
    told.made("a large workgroup", made);
}

fn graphics(told: &mut Told, gpu: &GpuDevice) {
    let compute = wgsl(COMPUTE).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &compute);
    told.made(
        "a graphics pipeline of a compute shader",
        gpu.graphics_pipeline(&desc),
    );
    let draw = wgsl(DRAW).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &draw);
    told.made(
        "a vertex input without a buffer",
        gpu.graphics_pipeline(&desc),
    );
    let with = |layout: VertexLayout| GraphicsPipelineDesc {
        vertex_buffers: vec![layout],
        ..GraphicsPipelineDesc::of("draw", &draw)
    };
    let desc = with(VertexLayout::packed(0, &[Format::R32G32_UINT]));
    told.made(
        "a vertex input of another kind",
        gpu.graphics_pipeline(&desc),
    );
    let depth = VertexLayout::packed(0, &[Format::D32_SFLOAT]);
    told.made(
        "a vertex of a depth format",
        gpu.graphics_pipeline(&with(depth)),
    );
    let place = "@vertex fn place() -> @builtin(position) vec4f { return vec4f(0.0); }";
    let rgb =
        format!("{place} @fragment fn color() -> @location(0) vec3f {{ return vec3f(1.0); }}");
    let rgb = wgsl(&rgb).expect("it is valid");
    let state = PipelineState {
        alpha_to_coverage: true,
        ..PipelineState::default()
    };
    let desc = GraphicsPipelineDesc {
        state,
        ..GraphicsPipelineDesc::of("draw", &rgb)
    };
    told.made(
        "alpha to coverage without alpha",
        gpu.graphics_pipeline(&desc),
    );
    let state = PipelineState {
        front_face: FrontFace::from_raw(7),
        ..PipelineState::default()
    };
    let desc = GraphicsPipelineDesc { state, ..desc };
    told.made("odd values of state", gpu.graphics_pipeline(&desc));
    let other = "
        @vertex fn place() -> @builtin(position) vec4f { return vec4f(0.0); }
        @fragment fn color(@location(3) shade: f32) -> @location(0) vec4f { return vec4f(shade); }";
    let other = wgsl(other).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &other);
    told.made(
        "a fragment input that nobody writes",
        gpu.graphics_pipeline(&desc),
    );
}
