//! Draws that read what earlier draws of their rendering wrote.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{DepthState, GraphicsPipeline, GraphicsPipelineDesc};
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageUsage};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, ShaderError};

use crate::common::{Errors, Rig, read_image};

const COLOR: Format = Format::R8G8B8A8_UNORM;
const DEPTH: Format = Format::D32_SFLOAT;

#[derive(Resource, Deref)]
struct Surface(GpuImage);

#[derive(Resource, Deref)]
struct Depth(GpuImage);

#[derive(Resource, Deref)]
struct Lit(GpuImage);

#[derive(Resource)]
struct Deferred {
    draw: GraphicsPipeline,
    draw_nearer: GraphicsPipeline,
    light: GraphicsPipeline,
}

/// Draws triangles over everything; only the first attachment is written.
const SHADER: &str = "
    override RED: f32 = 0.2;
    override DEPTH: f32 = 0.6;
    @vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, DEPTH, 1.0);
    }
    @fragment fn surface() -> @location(0) vec4f { return vec4f(RED, 0.0, 0.0, 1.0); }";

/// One instruction.
fn op(words: &mut Vec<u32>, code: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | code);
    words.extend(operands);
}

/// Returns SPIR-V as a GLSL compiler produces it from
/// ```glsl
/// layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput surface;
/// layout(set = 0, binding = 1) uniform subpassInput depth;
/// layout(location = 1) out vec4 lit;
/// void main() {
///     vec4 color = subpassLoad(surface);
///     lit = vec4(color.r, subpassLoad(depth).r, color.b, color.a);
/// }
/// ```
/// Numbers are those of the SPIR-V specification.
pub(crate) fn light() -> Vec<u32> {
    let [main, surface, depth, lit, void, function] = [1, 2, 3, 4, 5, 6];
    let [float, vec4, int, ivec2, image, to_image, to_vec4] = [7, 8, 9, 10, 11, 12, 13];
    let [zero, here, label] = [14, 15, 16];
    let [loaded, color, near, far, mixed] = [17, 18, 19, 20, 21];
    let [red, blue, alpha, distance] = [22, 23, 24, 25];
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 26, 0];
    let all = &mut words;
    op(all, 17, &[1]); // Capability Shader
    op(all, 17, &[40]); // Capability InputAttachment
    op(all, 14, &[0, 1]); // MemoryModel Logical GLSL450
    let name = u32::from_le_bytes(*b"main");
    op(all, 15, &[4, main, name, 0, lit]); // EntryPoint Fragment
    op(all, 16, &[main, 7]); // ExecutionMode OriginUpperLeft
    op(all, 5, &[surface, u32::from_le_bytes(*b"surf"), 0]); // Name
    op(
        all,
        5,
        &[depth, u32::from_le_bytes(*b"dept"), u32::from(b'h')],
    );
    op(all, 71, &[surface, 34, 0]); // Decorate DescriptorSet
    op(all, 71, &[surface, 33, 0]); // Decorate Binding
    op(all, 71, &[surface, 43, 0]); // Decorate InputAttachmentIndex
    op(all, 71, &[depth, 34, 0]);
    op(all, 71, &[depth, 33, 1]);
    op(all, 71, &[lit, 30, 1]); // Decorate Location
    op(all, 19, &[void]);
    op(all, 33, &[function, void]);
    op(all, 22, &[float, 32]);
    op(all, 23, &[vec4, float, 4]);
    op(all, 21, &[int, 32, 1]);
    op(all, 23, &[ivec2, int, 2]);
    op(all, 25, &[image, float, 6, 0, 0, 0, 2, 0]); // TypeImage SubpassData
    op(all, 32, &[to_image, 0, image]); // TypePointer UniformConstant
    op(all, 32, &[to_vec4, 3, vec4]); // TypePointer Output
    op(all, 59, &[to_image, surface, 0]); // Variable
    op(all, 59, &[to_image, depth, 0]);
    op(all, 59, &[to_vec4, lit, 3]);
    op(all, 43, &[int, zero, 0]); // Constant
    op(all, 44, &[ivec2, here, zero, zero]); // ConstantComposite
    op(all, 54, &[void, main, 0, function]); // Function
    op(all, 248, &[label]);
    op(all, 61, &[image, loaded, surface]); // Load
    op(all, 98, &[vec4, color, loaded, here]); // ImageRead
    op(all, 61, &[image, near, depth]);
    op(all, 98, &[vec4, far, near, here]);
    op(all, 81, &[float, red, color, 0]); // CompositeExtract
    op(all, 81, &[float, blue, color, 2]);
    op(all, 81, &[float, alpha, color, 3]);
    op(all, 81, &[float, distance, far, 0]);
    op(all, 80, &[vec4, mixed, red, distance, blue, alpha]); // CompositeConstruct
    op(all, 62, &[lit, mixed]); // Store
    op(all, 253, &[]); // Return
    op(all, 56, &[]); // FunctionEnd
    words
}

/// Draws, reads, draws nearer in the left half, and reads there again.
fn deferred(
    mut recorder: Recorder,
    surface: ColorLocalRead<Surface>,
    depth: DepthLocalRead<Depth>,
    lit: ColorTarget<Lit>,
    deferred: Res<Deferred>,
) {
    let colors = [surface.clear([0.0, 0.0, 0.4, 1.0]), lit.clear([0.0; 4])];
    let mut rendering = recorder.render((colors, depth.clear_depth(1.0)));
    let (whole, left) = ([0, 0, 8, 8], [0, 0, 4, 8]);
    let draws = [
        (&deferred.draw, whole),
        (&deferred.light, whole),
        (&deferred.draw_nearer, left),
        (&deferred.light, left),
    ];
    for (pipeline, area) in draws {
        rendering.pipeline(pipeline).scissor(area).draw(0..3, 0..1);
    }
}

/// The pipelines, or what the device says that it lacks.
fn pipelines(gpu: &GpuDevice) -> Result<Deferred, ShaderError> {
    let shader = GpuShader::wgsl("surface.wgsl", SHADER).expect("the shader is right");
    let light = GpuShader::spirv("light.spv", &light()).expect("the module is right");
    let draw = |constants: &[(&str, f32)]| {
        let mut desc = GraphicsPipelineDesc::new("draw", (&shader, "corner"), (&shader, "surface"));
        for &(name, value) in constants {
            desc = desc.constant(name, value);
        }
        desc.depth = Some(DepthState::LESS);
        gpu.graphics_pipeline(&desc)
    };
    let light = GraphicsPipelineDesc::new("light", (&shader, "corner"), (&light, "main"));
    Ok(Deferred {
        draw: draw(&[])?,
        draw_nearer: draw(&[("RED", 0.8), ("DEPTH", 0.3)])?,
        light: gpu.graphics_pipeline(&light)?,
    })
}

/// An app with the images, of which `surface` has these usages; none if the device has no local reads,
/// which it says then.
fn rig(usage: ImageUsage) -> Option<Rig> {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let pipelines = match pipelines(&gpu) {
        Ok(pipelines) => pipelines,
        Err(error) => {
            let feature = "dynamicRenderingLocalRead of VK_KHR_dynamic_rendering_local_read";
            assert!(error.line().contains(feature), "{error}");
            return None;
        }
    };
    let image = |desc: ImageDesc| gpu.create_image(&desc).expect("images can be made");
    let input = ImageUsage::INPUT_ATTACHMENT;
    rig.app.insert_resource(Surface(image(
        ImageDesc::color_target("surface", [8, 8], COLOR).with_usage(usage),
    )));
    let depth = ImageDesc::depth("depth", [8, 8], DEPTH).with_usage(input);
    rig.app.insert_resource(Depth(image(depth)));
    let lit = ImageDesc::color_target("lit", [8, 8], COLOR);
    rig.app.insert_resource(Lit(image(lit)));
    rig.app.insert_resource(pipelines);
    Some(rig)
}

#[test]
#[ignore = "needs a device"]
fn draws_read_output_of_earlier_draws_in_their_rendering() {
    let Some(mut rig) = rig(ImageUsage::INPUT_ATTACHMENT) else {
        return;
    };
    rig.app.add_systems(Render, deferred);
    rig.update(4);
    rig.expect_no_errors();
    let lit = GpuImage::clone(&rig.app.world().resource::<Lit>().0);
    let texels = read_image(&mut rig, &lit);
    for (at, texel) in texels.chunks(4).enumerate() {
        let [red, depth] = if at % 8 < 4 { [204, 77] } else { [51, 153] };
        let wanted = [red, depth, 0, 255];
        let is_near = texel
            .iter()
            .zip(wanted)
            .all(|(&it, wanted)| it.abs_diff(wanted) <= 1);
        assert!(is_near, "texel {at}: {texel:?}, not {wanted:?}");
    }
}

/// Returns the errors of a wrong pass.
fn reported<M>(
    usage: ImageUsage,
    pass: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
) -> Vec<String> {
    let Some(mut rig) = rig(usage) else {
        return Vec::new();
    };
    rig.app.add_systems(Render, pass);
    rig.update(1);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert!(!errors.is_empty(), "it is wrong");
    errors
}

fn not_local(
    mut recorder: Recorder,
    surface: ColorTarget<Surface>,
    depth: DepthLocalRead<Depth>,
    lit: ColorTarget<Lit>,
    deferred: Res<Deferred>,
) {
    let colors = [surface.clear([0.0; 4]), lit.clear([0.0; 4])];
    let mut rendering = recorder.render((colors, depth.clear_depth(1.0)));
    rendering.pipeline(&deferred.light).draw(0..3, 0..1);
}

#[test]
#[ignore = "needs a device"]
fn an_attachment_that_is_read_is_declared_so_and_has_the_usage() {
    let errors = reported(ImageUsage::INPUT_ATTACHMENT, not_local);
    for error in &errors {
        assert!(error.contains("`ColorLocalRead<..>`"), "{error}");
        assert!(error.contains("color attachment 0"), "{error}");
    }
    let errors = reported(ImageUsage::empty(), deferred);
    for error in &errors {
        assert!(error.contains("INPUT_ATTACHMENT"), "{error}");
        assert!(error.contains("`surface`"), "{error}");
    }
}
