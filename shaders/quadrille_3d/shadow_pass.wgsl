// The view of `shadow_3d`: a shadow map.

import quadrille_3d::scene::shadow_views;

struct Push {
    row: u32,
    // Casters before the near plane are drawn on it.
    clamps_depth: u32,
}

var<immediate> push: Push;

fn clip_from_world() -> mat4x4f {
    return shadow_views[push.row].clip_from_world;
}

// Position of a vertex of a caster.
fn caster_position(clip_position: vec4f) -> vec4f {
    var clip = clip_position;
    if push.clamps_depth != 0u {
        clip.z = min(clip.z, clip.w);
    }
    return clip;
}
