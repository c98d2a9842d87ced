// Depth, normals and motion of meshes with standard materials: see `prepass_3d`. The vertex shader is that of pbr.wgsl, so
// that depths are those of later passes.

import quadrille_3d::constants::{DOUBLE_SIDED, FOG_ENABLED, METALLIC_IN_GREEN, NO_TEXTURE, SHADOW_RECEIVER, UNLIT};
import quadrille_3d::gbuffer::{
    GBufferSurface, HAS_FOG_ENABLED, IS_SURFACE, IS_UNLIT, RECEIVES_SHADOWS, pack_gbuffer,
};
import quadrille_3d::material_textures::TextureCoordinates;
import quadrille_3d::mesh_types::{Vertex, is_mirrored};
import quadrille_3d::motion_vectors::{motion_vector, previous_world_position};
import quadrille_3d::pbr::{
    HAS_ALPHA_MASK, HAS_ALPHA_TO_COVERAGE, HAS_TEXTURES, VertexOutput, base_color_texture, geometric_normal,
    parallax_uv, sample_or_white, shading_normal, to_view_of, transform_vertex,
};
import quadrille_3d::scene::{Material, camera, instances, materials, visible_instances};
import quadrille_3d::visibility_range::{is_dithered_out, visibility_range_dither_level};

fn material_of(vertex_output: VertexOutput) -> Material {
    return materials[instances[vertex_output.instance].material];
}

// Only double-sided materials turn normals; mirrored transforms turn the winding.
fn is_front_side(vertex_output: VertexOutput, material: Material, front_facing: bool) -> bool {
    return (material.flags & DOUBLE_SIDED) == 0u || front_facing != is_mirrored(instances[vertex_output.instance]);
}

// Whether `opaque_3d` discards a fragment. Alpha to coverage is a mask here: multisampled views draw it without prepass.
fn is_masked_out(vertex_output: VertexOutput, material: Material, at: TextureCoordinates) -> bool {
    let instance = instances[vertex_output.instance];
    if is_dithered_out(visibility_range_dither_level(instance, camera.position), vertex_output.position.xy) {
        return true;
    }
    let alpha = material.base_color.a * vertex_output.color.a * base_color_texture(material, at).a;
    let threshold = select(material.alpha, 0.5, HAS_ALPHA_TO_COVERAGE);
    return threshold >= 0.0 && threshold <= 1.0 && alpha < threshold;
}

@fragment
fn mask_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) {
    let material = material_of(vertex_output);
    let is_front = is_front_side(vertex_output, material, front_facing);
    let at = parallax_uv(vertex_output, camera, material, is_front);
    if is_masked_out(vertex_output, material, at) {
        discard;
    }
}

@fragment
fn normal_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) -> @location(0) vec4f {
    return prepass_normal(vertex_output, front_facing);
}

// Discards fragments that `opaque_3d` discards.
fn prepass_normal(vertex_output: VertexOutput, front_facing: bool) -> vec4f {
    let material = material_of(vertex_output);
    let is_front = is_front_side(vertex_output, material, front_facing);
    let at = parallax_uv(vertex_output, camera, material, is_front);
    if HAS_ALPHA_MASK && is_masked_out(vertex_output, material, at) {
        discard;
    }
    let geometric = geometric_normal(vertex_output, to_view_of(vertex_output, camera), is_front);
    let normal = normalize(shading_normal(vertex_output, material, at, geometric, is_front));
    return vec4f(normal * 0.5 + 0.5, 1.0);
}

// `VertexOutput` with the position in the previous frame.
struct MotionVertexOutput {
    @invariant @builtin(position) position: vec4f,
    @location(0) world_position: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) @interpolate(flat) instance: u32,
    @location(4) uvs: vec4f,
    @location(5) tangent: vec4f,
    @location(6) previous_position: vec4f,
}

struct NormalAndMotion {
    @location(0) normal: vec4f,
    @location(1) motion: vec2f,
}

@vertex
fn motion_vertex_main(
    @builtin(instance_index) index: u32,
    @builtin(vertex_index) vertex_index: u32,
    vertex: Vertex,
) -> MotionVertexOutput {
    let instance = visible_instances[index];
    let surface = transform_vertex(instance, vertex);
    return MotionVertexOutput(
        surface.position,
        surface.world_position,
        surface.normal,
        surface.color,
        surface.instance,
        surface.uvs,
        surface.tangent,
        previous_world_position(instance, instances[instance], vertex_index, vertex.position),
    );
}

fn vertex_output_of(in: MotionVertexOutput) -> VertexOutput {
    return VertexOutput(
        in.position,
        in.world_position,
        in.normal,
        in.color,
        in.instance,
        in.uvs,
        in.tangent,
    );
}

fn motion_of(in: MotionVertexOutput) -> vec2f {
    return motion_vector(vec4f(in.world_position, 1.0), in.previous_position);
}

@fragment
fn motion_main(in: MotionVertexOutput, @builtin(front_facing) front_facing: bool) -> @location(0) vec2f {
    if HAS_ALPHA_MASK {
        let surface = vertex_output_of(in);
        let material = material_of(surface);
        let at = parallax_uv(surface, camera, material, is_front_side(surface, material, front_facing));
        if is_masked_out(surface, material, at) {
            discard;
        }
    }
    return motion_of(in);
}

@fragment
fn normal_motion_main(in: MotionVertexOutput, @builtin(front_facing) front_facing: bool) -> NormalAndMotion {
    return NormalAndMotion(prepass_normal(vertex_output_of(in), front_facing), motion_of(in));
}

// Outputs of surfaces in the G-buffer, for each set of the other images.
struct NormalAndGBuffer {
    @location(0) normal: vec4f,
    @location(1) gbuffer: vec4u,
}

struct MotionAndGBuffer {
    @location(0) motion: vec2f,
    @location(1) gbuffer: vec4u,
}

struct NormalMotionAndGBuffer {
    @location(0) normal: vec4f,
    @location(1) motion: vec2f,
    @location(2) gbuffer: vec4u,
}

// Texel of the G-buffer. `normal`: output of `prepass_normal`.
fn gbuffer_texel(vertex_output: VertexOutput, front_facing: bool, normal: vec4f) -> vec4u {
    let material = material_of(vertex_output);
    let is_front = is_front_side(vertex_output, material, front_facing);
    let at = parallax_uv(vertex_output, camera, material, is_front);
    let base = (material.base_color * vertex_output.color * base_color_texture(material, at)).rgb;
    var surface: GBufferSurface;
    surface.flags = IS_SURFACE;
    surface.normal = normalize(normal.xyz * 2.0 - 1.0);
    if (material.flags & FOG_ENABLED) != 0u {
        surface.flags |= HAS_FOG_ENABLED;
    }
    if (material.flags & UNLIT) != 0u {
        surface.flags |= IS_UNLIT;
        surface.emissive = base;
        return pack_gbuffer(surface);
    }
    if (instances[vertex_output.instance].flags & SHADOW_RECEIVER) != 0u {
        surface.flags |= RECEIVES_SHADOWS;
    }
    surface.base = base;
    let texel = sample_or_white(material.textures[0].z, at);
    let metallic_roughness = select(texel.bg, texel.gr, (material.flags & METALLIC_IN_GREEN) != 0u);
    surface.metallic = material.metallic * metallic_roughness.x;
    surface.perceptual_roughness = material.perceptual_roughness * metallic_roughness.y;
    surface.occlusion = sample_or_white(material.textures[0].w, at).r;
    surface.reflectance = material.reflectance.x;
    if HAS_TEXTURES && material.textures[1].y != NO_TEXTURE {
        surface.reflectance *= 0.5 * sample_or_white(material.textures[1].y, at).a;
    }
    let emissive = material.emissive.rgb * sample_or_white(material.textures[0].y, at).rgb;
    surface.emissive = emissive * mix(1.0, camera.exposure, material.emissive.a);
    return pack_gbuffer(surface);
}

@fragment
fn deferred_main(vertex_output: VertexOutput, @builtin(front_facing) front_facing: bool) -> @location(0) vec4u {
    return gbuffer_texel(vertex_output, front_facing, prepass_normal(vertex_output, front_facing));
}

@fragment
fn normal_deferred_main(
    vertex_output: VertexOutput,
    @builtin(front_facing) front_facing: bool,
) -> NormalAndGBuffer {
    let normal = prepass_normal(vertex_output, front_facing);
    return NormalAndGBuffer(normal, gbuffer_texel(vertex_output, front_facing, normal));
}

@fragment
fn motion_deferred_main(in: MotionVertexOutput, @builtin(front_facing) front_facing: bool) -> MotionAndGBuffer {
    let surface = vertex_output_of(in);
    let normal = prepass_normal(surface, front_facing);
    return MotionAndGBuffer(motion_of(in), gbuffer_texel(surface, front_facing, normal));
}

@fragment
fn normal_motion_deferred_main(
    in: MotionVertexOutput,
    @builtin(front_facing) front_facing: bool,
) -> NormalMotionAndGBuffer {
    let surface = vertex_output_of(in);
    let normal = prepass_normal(surface, front_facing);
    return NormalMotionAndGBuffer(normal, motion_of(in), gbuffer_texel(surface, front_facing, normal));
}
