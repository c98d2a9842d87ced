//! Sources of the shaders.

/// Both stages of a mesh that is moved by its material, and shows its color.
pub(crate) const MOVED: &str = "
import bevy_pbr::render::{
    forward_io::{Vertex, VertexOutput},
    mesh_functions::{
        get_visibility_range_dither_level, get_world_from_local, mesh_position_local_to_world,
        mesh_normal_local_to_world,
    },
    mesh_view_bindings::view,
};
@if(VISIBILITY_RANGE_DITHER)
import bevy_pbr::render::pbr_functions::visibility_range_dither;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let world_from_local = get_world_from_local(vertex.instance_index);
    let position = vertex.position + value.xyz;
    out.world_position = mesh_position_local_to_world(world_from_local, vec4f(position, 1.0));
    out.position = view.clip_from_world * out.world_position;
    out.world_normal = mesh_normal_local_to_world(vertex.normal, vertex.instance_index);
    out.uv = vertex.uv;
    out.instance_index = vertex.instance_index;
    @if(VISIBILITY_RANGE_DITHER)
    out.visibility_range_dither = get_visibility_range_dither_level(
        vertex.instance_index, world_from_local[3]);
    return out;
}

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    @if(VISIBILITY_RANGE_DITHER)
    visibility_range_dither(mesh.position, mesh.visibility_range_dither);
    return vec4f(abs(value.xyz), value.w);
}
";

/// Both stages of a shadow: moved by the material, without what lies left of the middle of the mesh.
pub(super) const SHADOW: &str = "
import bevy_pbr::prepass::io::{Vertex, VertexOutput};
import bevy_pbr::render::mesh_functions::{get_world_from_local, mesh_position_local_to_clip};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@vertex
fn vertex(vertex: Vertex) -> VertexOutput {
    var out: VertexOutput;
    let position = vec4f(vertex.position + value.xyz, 1.0);
    out.position = mesh_position_local_to_clip(get_world_from_local(vertex.instance_index), position);
    out.uv = vertex.uv;
    return out;
}

@fragment
fn fragment(mesh: VertexOutput) {
    if mesh.uv.x < value.w {
        discard;
    }
}
";

/// The view and the tag, as a color.
pub(super) const VIEWED: &str = "
import bevy_pbr::render::{
    forward_io::VertexOutput, mesh_functions::get_tag, mesh_view_bindings::{globals, view},
    view_transformations::{frag_coord_to_uv, position_world_to_view},
};

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let tag = f32(get_tag(mesh.instance_index));
    let depth = position_world_to_view(mesh.world_position.xyz).z;
    let time = f32(globals.frame_count > 0u);
    if mesh.position.x < 16.0 {
        return vec4f(view.world_position.z / 8.0, -depth / 8.0, tag / 8.0, 1.0);
    }
    return vec4f(frag_coord_to_uv(mesh.position.xy).x, view.viewport.z / 64.0, time, 1.0);
}
";

/// The color of the material, through the display transform of the view.
pub(super) const MAPPED: &str = "
import bevy_pbr::render::{
    forward_io::VertexOutput, pbr_functions::main_pass_post_lighting_processing, pbr_types::pbr_input_new,
};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return main_pass_post_lighting_processing(pbr_input_new(), value);
}
";

/// The position in the viewport, as a color.
pub(super) const FRAMED: &str = "
import bevy_pbr::render::{forward_io::VertexOutput, view_transformations::frag_coord_to_uv};

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return vec4f(frag_coord_to_uv(mesh.position.xy), 0.0, 1.0);
}
";

/// The base color of the inputs of lighting, scaled.
pub(super) const BASE: &str = "
import bevy_pbr::render::{forward_io::VertexOutput, pbr_fragment::pbr_input_from_vertex_output};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@fragment
fn fragment(mesh: VertexOutput, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let pbr_input = pbr_input_from_vertex_output(mesh, is_front, false);
    return vec4f(pbr_input.material.base_color.rgb * value.w, 1.0);
}
";
