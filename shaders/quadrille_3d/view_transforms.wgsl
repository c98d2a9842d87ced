// Matrices of views with effects or motion vectors. Clip space has reversed depth: 1 is near, 0 infinitely far.

// Rows of `ViewTransforms3d`, with the names of bevy's `View`.
struct ViewTransforms {
    clip_from_world: mat4x4f,
    // `clip_from_world` without its jitter.
    unjittered_clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    view_from_world: mat4x4f,
    world_from_view: mat4x4f,
    clip_from_view: mat4x4f,
    view_from_clip: mat4x4f,
    // `clip_from_world` of the previous frame without its jitter, or of this one without a valid history.
    previous_clip_from_world: mat4x4f,
    // Left, top, width and height in pixels of the target.
    viewport: vec4f,
    world_position: vec3f,
    exposure: f32,
    // Offset of the sample positions in pixels (`TemporalJitter`), towards the right and bottom.
    jitter: vec2f,
    // Number of submitted frames, modulo 2^32.
    frame_count: u32,
    // 1 if the previous frame is the history of this one, else 0.
    history_is_valid: u32,
    // First vertex with a row in `previous_positions`.
    first_deformed_vertex: u32,
    unused: u32,
    unused_pair: vec2u,
    padding: array<vec4u, 12>,
}

// Clip space position of a pixel of the view with this depth, before division by w.
fn clip_position(pixel: vec2f, depth: f32, view: ViewTransforms) -> vec4f {
    let uv = pixel / view.viewport.zw;
    return vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, depth, 1.0);
}

// World position of a pixel of the view with this depth. Depth 0 is infinitely far: use `w` of the product instead.
fn world_position(pixel: vec2f, depth: f32, view: ViewTransforms) -> vec3f {
    let position = view.world_from_clip * clip_position(pixel, depth, view);
    return position.xyz / position.w;
}

// Motion of a pixel since the previous frame in texture coordinates, positive towards the right and bottom, if the
// surface did not move itself. Jitter is no motion.
fn camera_motion(pixel: vec2f, depth: f32, view: ViewTransforms) -> vec2f {
    let position = view.world_from_clip * clip_position(pixel, depth, view);
    let previous = view.previous_clip_from_world * position;
    let previous_uv = previous.xy / previous.w * vec2f(0.5, -0.5) + 0.5;
    return (pixel + view.jitter) / view.viewport.zw - previous_uv;
}
