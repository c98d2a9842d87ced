// Transforms of the view, by bevy's names: `bevy_pbr::render::view_transformations`.

import package::render::mesh_view_bindings::view;
@if(QUADRILLE_SHADOW_PASS) import quadrille_3d::shadow_pass;
@if(!QUADRILLE_SHADOW_PASS) import quadrille_3d::scene::camera;

// The view, or the shadow map.
fn clip_from_world() -> mat4x4f {
    @if(QUADRILLE_SHADOW_PASS) return shadow_pass::clip_from_world();
    @else return camera.clip_from_world;
}

fn position_world_to_clip(world_pos: vec3f) -> vec4f {
    return clip_from_world() * vec4f(world_pos, 1.0);
}

fn direction_world_to_clip(world_dir: vec3f) -> vec4f {
    return clip_from_world() * vec4f(world_dir, 0.0);
}

fn position_view_to_clip(view_pos: vec3f) -> vec4f {
    return view.clip_from_view * vec4f(view_pos, 1.0);
}

fn direction_view_to_clip(view_dir: vec3f) -> vec4f {
    return view.clip_from_view * vec4f(view_dir, 0.0);
}

fn position_view_to_world(view_pos: vec3f) -> vec3f {
    return (view.world_from_view * vec4f(view_pos, 1.0)).xyz;
}

fn direction_view_to_world(view_dir: vec3f) -> vec3f {
    return (view.world_from_view * vec4f(view_dir, 0.0)).xyz;
}

fn position_clip_to_world(clip_pos: vec4f) -> vec3f {
    return (view.world_from_clip * clip_pos).xyz;
}

fn direction_clip_to_world(clip_dir: vec4f) -> vec3f {
    return (view.world_from_clip * clip_dir).xyz;
}

fn position_ndc_to_world(ndc_pos: vec3f) -> vec3f {
    let world = view.world_from_clip * vec4f(ndc_pos, 1.0);
    return world.xyz / world.w;
}

fn position_world_to_view(world_pos: vec3f) -> vec3f {
    return (view.view_from_world * vec4f(world_pos, 1.0)).xyz;
}

fn direction_world_to_view(world_dir: vec3f) -> vec3f {
    return (view.view_from_world * vec4f(world_dir, 0.0)).xyz;
}

fn position_clip_to_view(clip_pos: vec4f) -> vec3f {
    return (view.view_from_clip * clip_pos).xyz;
}

fn direction_clip_to_view(clip_dir: vec4f) -> vec3f {
    return (view.view_from_clip * clip_dir).xyz;
}

fn position_ndc_to_view(ndc_pos: vec3f) -> vec3f {
    let from_view = view.view_from_clip * vec4f(ndc_pos, 1.0);
    return from_view.xyz / from_view.w;
}

fn position_view_to_ndc(view_pos: vec3f) -> vec3f {
    let clip = position_view_to_clip(view_pos);
    return clip.xyz / clip.w;
}

// Distance along the axis of the view, negative in front of it.
fn depth_ndc_to_view_z(ndc_depth: f32) -> f32 {
    return position_ndc_to_view(vec3f(0.0, 0.0, ndc_depth)).z;
}

fn view_z_to_depth_ndc(view_z: f32) -> f32 {
    return position_view_to_ndc(vec3f(0.0, 0.0, view_z)).z;
}

fn perspective_camera_near() -> f32 {
    return view.clip_from_view[3][2];
}

// Position of a pixel in the viewport, from 0 to 1.
fn frag_coord_to_uv(frag_coord: vec2f) -> vec2f {
    return (frag_coord - view.viewport.xy) / view.viewport.zw;
}

fn frag_coord_to_ndc(frag_coord: vec4f) -> vec3f {
    return vec3f(uv_to_ndc(frag_coord_to_uv(frag_coord.xy)), frag_coord.z);
}

fn ndc_to_frag_coord(ndc: vec2f) -> vec2f {
    return ndc_to_uv(ndc) * view.viewport.zw;
}

// Normalized device coordinates: y up, depth 1 at the near plane.
fn position_world_to_ndc(world_pos: vec3f) -> vec3f {
    let clip = position_world_to_clip(world_pos);
    return clip.xyz / clip.w;
}

fn ndc_to_uv(ndc: vec2f) -> vec2f {
    return ndc * vec2f(0.5, -0.5) + 0.5;
}

fn uv_to_ndc(uv: vec2f) -> vec2f {
    return uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
}
