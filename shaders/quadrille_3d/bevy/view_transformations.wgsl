// Transforms of the view, by bevy's names: `bevy_pbr::render::view_transformations`.

import quadrille_3d::scene::camera;

fn position_world_to_clip(world_pos: vec3f) -> vec4f {
    return camera.clip_from_world * vec4f(world_pos, 1.0);
}

fn direction_world_to_clip(world_dir: vec3f) -> vec4f {
    return camera.clip_from_world * vec4f(world_dir, 0.0);
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
