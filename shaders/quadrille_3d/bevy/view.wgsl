// A view, by bevy's names: `bevy_render::view`.

// Grading of a view, for `tone_mapping`, which applies it; shaders have no values of it.
struct ColorGrading {
    unused: vec4f,
}

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
    // Left, top, width and height in pixels of the view's image, as positions of fragments: the first two are 0.
    viewport: vec4f,
    main_pass_viewport: vec4f,
    // Half spaces whose normals point inwards: left, right, top, bottom, near, far.
    frustum: array<vec4f, 6>,
    lod_view_world_position: vec3f,
    mip_bias: f32,
    color_grading: ColorGrading,
    frame_count: u32,
    unused: u32,
    unused_pair: vec2u,
    padding: array<vec4u, 8>,
}
