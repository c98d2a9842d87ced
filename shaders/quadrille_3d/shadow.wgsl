// The depth of meshes as a light sees them: see `shadow_3d`.

import quadrille_3d::rows::{Instance, ShadowView, to_world};

struct Push {
    row: u32,
    // What lies before the map's nearest depth is drawn there.
    clamps_depth: u32,
}

@group(0) @binding(0) var<storage, read> instances: array<Instance>;
@group(0) @binding(1) var<storage, read> seen: array<u32>;
@group(0) @binding(2) var<storage, read> shadow_views: array<ShadowView>;

var<immediate> push: Push;

@vertex
fn vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    let world = to_world(instances[seen[index]], position);
    var clip = shadow_views[push.row].clip_from_world * vec4f(world, 1.0);
    if push.clamps_depth != 0u {
        clip.z = min(clip.z, clip.w);
    }
    return clip;
}
