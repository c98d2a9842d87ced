//! Shaders and pipelines.

use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{
    ComputePipelineDesc, GraphicsPipelineDesc, PipelineState, VertexLayout,
};
use quadrille_vulkan::shader::{GpuShader, ShaderModule};
use quadrille_vulkan::vk::FrontFace;
use quadrille_vulkan::{Format, ShaderError};

use super::DiagnosticCatalog;

const COMPUTE: &str = "@compute @workgroup_size(1) fn main() {}";
const DRAW: &str = "
    @vertex fn place(@location(0) at: vec2f) -> @builtin(position) vec4f { return vec4f(at, 0.0, 1.0); }
    @fragment fn color() -> @location(0) vec4f { return vec4f(1.0); }";

pub(super) fn add(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    sources(diagnostics);
    compute(diagnostics, gpu);
    graphics(diagnostics, gpu);
    names(diagnostics, gpu);
}

fn wgsl(source: &str) -> Result<GpuShader, ShaderError> {
    GpuShader::wgsl("wrong.wgsl", source)
}

/// A pipeline with names that passes are going to bind by.
fn names(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    let source = "@group(0) @binding(0) var<storage, read_write> heights: array<f32>;
        @compute @workgroup_size(1) fn main() { heights[0] = 1.0; }";
    let shader = wgsl(source).expect("it is right");
    let made = |name| {
        let desc = ComputePipelineDesc::of("waves", &shader).binds("heights");
        gpu.compute_pipeline(&desc.binds(name)).map(drop)
    };
    diagnostics.made("a pipeline that has no such variable", made("heigths"));
    diagnostics.made("a pipeline that has nothing like it", made("moons"));
}

fn sources(diagnostics: &mut DiagnosticCatalog) {
    let main = |body: &str| format!("@compute @workgroup_size(1) fn main() {{ {body} }}");
    diagnostics.made("a shader with a typo", wgsl(&main("let a = 1 +;")));
    diagnostics.made(
        "a shader with an unknown name",
        wgsl(&main("let a = speed;")),
    );
    let types = main("var a: f32 = 1u;");
    diagnostics.made("a shader with a wrong type", wgsl(&types));
    let group = "@group(1) @binding(0) var<storage, read_write> cells: array<u32>;";
    let group = format!("{group} {}", main("cells[0] = 1u;"));
    diagnostics.made("a shader with another group", wgsl(&group));
    let binding = group.replace("group(1) @binding(0)", "group(0) @binding(40)");
    diagnostics.made("a shader with a high binding", wgsl(&binding));
    let array = |place: &str| {
        let head = "enable wgpu_binding_array;";
        let body = main("let a = textureLoad(maps[0], vec2i(0), 0);");
        wgsl(&format!(
            "{head} {place} var maps: binding_array<texture_2d<f32>>; {body}"
        ))
    };
    diagnostics.made(
        "a shader with a table in a high group",
        array("@group(4) @binding(1)"),
    );
    diagnostics.made(
        "a shader with a table's images at another binding",
        array("@group(1) @binding(0)"),
    );
    diagnostics.made(
        "a shader with an array of images in group 0",
        array("@group(0) @binding(1)"),
    );
    let large = format!(
        "var<immediate> it: array<vec4f, 9>; {}",
        main("let a = it[0];")
    );
    diagnostics.made("a shader with large push constants", wgsl(&large));
    diagnostics.made(
        "a shader file that is not there",
        GpuShader::load("/no/such.wgsl"),
    );
    diagnostics.made(
        "a shader file of no language",
        GpuShader::load("Cargo.toml"),
    );
    diagnostics.made(
        "an import of a module that nobody publishes",
        wgsl("import waves::noise::fbm;"),
    );
    diagnostics.made(
        "an import from the folder of no file",
        wgsl("import super::noise::fbm;"),
    );
    diagnostics.made(
        "an import of a file that is not there",
        GpuShader::load("tests/gpu/diagnostics/lost.wgsl"),
    );
    let math =
        "fn twice(it: f32) -> f32 { return it + it; }\nfn half(it: f32) -> u32 { return it; }";
    let published = ShaderModule::new("catalog::math", &math.replace("u32", "f32")).publish();
    published.expect("nobody has this name");
    diagnostics.made(
        "an import with a typo",
        wgsl("import catalog::math::{half, twize};"),
    );
    diagnostics.made(
        "another module of the same path",
        ShaderModule::new("catalog::math", math).publish(),
    );
    let broken = ShaderModule::new("catalog::broken", math).publish();
    broken.expect("nobody has this name");
    let imports = format!(
        "import catalog::broken::{{half, twice}};\n{}",
        main("_ = twice(1.0); _ = half(1.0);")
    );
    diagnostics.made("a wrong type in a module that is imported", wgsl(&imports));
    diagnostics.made(
        "a module without its crate",
        ShaderModule::new("math", math).publish(),
    );
    let spirv = GpuShader::spirv("wrong.spv", &[1, 2, 3]);
    diagnostics.made("SPIR-V that is none", spirv);
    let spirv = GpuShader::spirv_bytes("wrong.spv", &[1, 2, 3]);
    diagnostics.made("SPIR-V that is cut off", spirv);
}

fn compute(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    let shader = wgsl(COMPUTE).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &shader).entry("mian");
    diagnostics.made("an entry point with a typo", gpu.compute_pipeline(&desc));
    let draw = wgsl(DRAW).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &draw);
    diagnostics.made(
        "a compute pipeline of no compute shader",
        gpu.compute_pipeline(&desc),
    );
    let two = format!("{COMPUTE} {}", COMPUTE.replace("main", "other"));
    let two = wgsl(&two).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &two);
    diagnostics.made(
        "a compute pipeline of two shaders",
        gpu.compute_pipeline(&desc),
    );
    let sized = "override SIZE: u32; override SCALE = 1.0; var<private> scale: f32 = SCALE;"
        .to_owned()
        + &COMPUTE.replace("(1)", "(SIZE)");
    let sized = wgsl(&sized).expect("it is valid");
    let desc = ComputePipelineDesc::of("step", &sized);
    diagnostics.made("a constant without a value", gpu.compute_pipeline(&desc));
    let with = desc.clone().constant("SIZE", 8);
    diagnostics.made("a constant of another type", gpu.compute_pipeline(&with));
    let with = desc.clone().constant("SIZE", 8_u32).constant("SCAL", 2.0);
    diagnostics.made("a constant with a typo", gpu.compute_pipeline(&with));
    let with = desc.constant("SIZE", 0_u32);
    diagnostics.made("a constant that is too small", gpu.compute_pipeline(&with));
    let large = COMPUTE.replace("(1)", "(4096, 4096)");
    let made =
        wgsl(&large).and_then(|it| gpu.compute_pipeline(&ComputePipelineDesc::of("step", &it)));
    diagnostics.made("a large workgroup", made);
}

fn graphics(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    let compute = wgsl(COMPUTE).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &compute);
    diagnostics.made(
        "a graphics pipeline of a compute shader",
        gpu.graphics_pipeline(&desc),
    );
    let draw = wgsl(DRAW).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &draw);
    diagnostics.made(
        "a vertex input without a buffer",
        gpu.graphics_pipeline(&desc),
    );
    let with = |layout: VertexLayout| GraphicsPipelineDesc {
        vertex_buffers: vec![layout],
        ..GraphicsPipelineDesc::of("draw", &draw)
    };
    let desc = with(VertexLayout::packed(0, &[Format::R32G32_UINT]));
    diagnostics.made(
        "a vertex input of another kind",
        gpu.graphics_pipeline(&desc),
    );
    let depth = VertexLayout::packed(0, &[Format::D32_SFLOAT]);
    diagnostics.made(
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
    diagnostics.made(
        "alpha to coverage without alpha",
        gpu.graphics_pipeline(&desc),
    );
    let state = PipelineState {
        front_face: FrontFace::from_raw(7),
        ..PipelineState::default()
    };
    let desc = GraphicsPipelineDesc { state, ..desc };
    diagnostics.made("odd values of state", gpu.graphics_pipeline(&desc));
    let other = "
        @vertex fn place() -> @builtin(position) vec4f { return vec4f(0.0); }
        @fragment fn color(@location(3) shade: f32) -> @location(0) vec4f { return vec4f(shade); }";
    let other = wgsl(other).expect("it is valid");
    let desc = GraphicsPipelineDesc::of("draw", &other);
    diagnostics.made(
        "a fragment input that nobody writes",
        gpu.graphics_pipeline(&desc),
    );
}
