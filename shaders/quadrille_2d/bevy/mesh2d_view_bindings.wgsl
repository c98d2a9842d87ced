// The view and the time, by bevy's names: `bevy_sprite_render::mesh2d::view_bindings`.

import bevy_render::globals::Globals;

struct View {
    clip_from_world: mat4x4f,
    // Nothing jitters: the same matrix.
    unjittered_clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    world_from_view: mat4x4f,
    view_from_world: mat4x4f,
    clip_from_view: mat4x4f,
    view_from_clip: mat4x4f,
    world_position: vec3f,
    exposure: f32,
    // Left, top, width and height in pixels of the target, as positions of fragments.
    viewport: vec4f,
    main_pass_viewport: vec4f,
    // Half spaces whose normals point inwards: left, right, top, bottom, near, far.
    frustum: array<vec4f, 6>,
    lod_view_world_position: vec3f,
    mip_bias: f32,
    frame_count: u32,
    unused: u32,
    unused_pair: vec2u,
    padding: array<vec4u, 9>,
}

@group(0) @binding(4) var<uniform> globals: Globals;
@group(0) @binding(5) var<uniform> view: View;
