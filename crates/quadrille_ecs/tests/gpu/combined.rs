//! Images and samplers that shaders have as one: `sampler2D` of GLSL.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{GpuImage, ImageDesc, Sampler, SamplerDesc};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Rig, Squares, read};

#[derive(Resource, Deref)]
struct Picture(GpuImage);

#[derive(Resource)]
struct Look {
    pipeline: ComputePipeline,
    sampler: Sampler,
}

/// One instruction.
fn op(words: &mut Vec<u32>, code: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | code);
    words.extend(operands);
}

/// Returns SPIR-V as a GLSL compiler produces it from
/// ```glsl
/// layout(set = 0, binding = 0) uniform sampler2D picture;
/// layout(set = 0, binding = 1, std430) buffer Out { vec4 color; };
/// void main() { color = textureLod(picture, vec2(0.5, 0.5), 0.0); }
/// ```
/// which WGSL cannot express. Numbers are those of the SPIR-V specification.
fn module() -> Vec<u32> {
    let [main, picture, out, void, function] = [1, 2, 3, 4, 5];
    let [float, vec2, vec4, int] = [6, 7, 8, 9];
    let [image, sampled, to_sampled, block, to_block, to_vec4] = [10, 11, 12, 13, 14, 15];
    let [zero, half, none, label, loaded, place, color, target] = [16, 17, 18, 19, 20, 21, 22, 23];
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 24, 0];
    let all = &mut words;
    op(all, 17, &[1]); // Capability Shader
    op(all, 14, &[0, 1]); // MemoryModel Logical GLSL450
    op(all, 15, &[5, main, u32::from_le_bytes(*b"main"), 0]); // EntryPoint GLCompute
    op(all, 16, &[main, 17, 1, 1, 1]); // ExecutionMode LocalSize
    op(all, 71, &[picture, 34, 0]); // Decorate DescriptorSet
    op(all, 71, &[picture, 33, 0]); // Decorate Binding
    op(all, 71, &[out, 34, 0]);
    op(all, 71, &[out, 33, 1]);
    op(all, 71, &[block, 2]); // Decorate Block
    op(all, 72, &[block, 0, 35, 0]); // MemberDecorate Offset
    op(all, 19, &[void]);
    op(all, 33, &[function, void]);
    op(all, 22, &[float, 32]);
    op(all, 23, &[vec2, float, 2]);
    op(all, 23, &[vec4, float, 4]);
    op(all, 21, &[int, 32, 1]);
    op(all, 25, &[image, float, 1, 0, 0, 0, 1, 0]); // TypeImage 2D, sampled
    op(all, 27, &[sampled, image]); // TypeSampledImage
    op(all, 32, &[to_sampled, 0, sampled]); // TypePointer UniformConstant
    op(all, 30, &[block, vec4]);
    op(all, 32, &[to_block, 12, block]); // TypePointer StorageBuffer
    op(all, 32, &[to_vec4, 12, vec4]);
    op(all, 59, &[to_sampled, picture, 0]); // Variable
    op(all, 59, &[to_block, out, 12]);
    op(all, 43, &[float, zero, 0]); // Constant
    op(all, 43, &[float, half, 0.5_f32.to_bits()]);
    op(all, 43, &[int, none, 0]);
    op(all, 54, &[void, main, 0, function]); // Function
    op(all, 248, &[label]);
    op(all, 61, &[sampled, loaded, picture]); // Load
    op(all, 80, &[vec2, place, half, half]); // CompositeConstruct
    op(all, 88, &[vec4, color, loaded, place, 2, zero]); // ImageSampleExplicitLod, Lod
    op(all, 65, &[to_vec4, target, out, none]); // AccessChain
    op(all, 62, &[target, color]); // Store
    op(all, 253, &[]); // Return
    op(all, 56, &[]); // FunctionEnd
    words
}

fn paint(mut recorder: Recorder, picture: TransferWrite<Picture>) {
    recorder
        .transfer()
        .clear_image(&picture, [0.25, 0.5, 0.75, 1.0]);
}

fn look(
    mut recorder: Recorder,
    picture: Sampled<Picture>,
    out: StorageWrite<Squares>,
    look: Res<Look>,
) {
    let mut compute = recorder.compute(&look.pipeline);
    compute.bind(0, &picture).sampler(0, &look.sampler);
    compute.bind(1, &out).dispatch([1, 1, 1]);
}

#[test]
#[ignore = "needs a device"]
fn an_image_and_its_sampler_are_bound_to_one_number() {
    let mut rig = Rig::new();
    let world = rig.app.world_mut();
    let gpu = world.resource::<GpuDevice>().clone();
    let shader = GpuShader::spirv("combined.spv", &module()).expect("the module is right");
    let desc = ComputePipelineDesc::of("look", &shader);
    let pipeline = gpu.compute_pipeline(&desc).expect("it compiles");
    let sampler = gpu.create_sampler(&SamplerDesc::linear());
    let sampler = sampler.expect("every device has this sampler");
    let desc = ImageDesc::sampled("picture", [4, 4], Format::R8G8B8A8_UNORM);
    let picture = gpu.create_image(&desc).expect("there is memory");
    world.insert_resource(Look { pipeline, sampler });
    world.insert_resource(Picture(picture));
    rig.app.add_systems(Render, (paint, look));
    rig.update(2);
    rig.expect_no_errors();
    let words = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    let color = [0, 1, 2, 3].map(|at| (f32::from_bits(words[at]) * 255.0).round() as u32);
    // Conversions to 8 bits may be off by one ("Conversion From Floating-Point to Normalized").
    let wanted: [u32; 4] = [64, 128, 191, 255];
    let is_near = |(color, wanted): (&u32, &u32)| color.abs_diff(*wanted) <= 1;
    assert!(color.iter().zip(&wanted).all(is_near), "{color:?}");
}
