// Motion of the background, which is infinitely far, or on the far plane: see `prepass_3d`.

import quadrille_3d::motion_vectors::{motion_vector, motion_view};
import quadrille_3d::view_transforms::clip_position;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    // Depth 0.
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn background_motion(pixel: vec2f) -> vec2f {
    let direction = motion_view.world_from_clip * clip_position(pixel, 0.0, motion_view);
    return motion_vector(direction, direction);
}

@fragment
fn motion_main(@builtin(position) position: vec4f) -> @location(0) vec2f {
    return background_motion(position.xy);
}

@fragment
fn motion_after_normal_main(@builtin(position) position: vec4f) -> @location(1) vec2f {
    return background_motion(position.xy);
}
