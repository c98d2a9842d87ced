// The depth of meshes as a light sees them: see `shadow_3d`.

enable wgpu_binding_array;

import quadrille_3d::images::{coordinates_of, texel};
import quadrille_3d::rows::to_world;
import quadrille_3d::scene::{instances, materials, seen, shadow_views};

struct Push {
    row: u32,
    // What lies before the map's nearest depth is drawn there.
    clamps_depth: u32,
}

var<immediate> push: Push;

// Light falls through what is thinner, where alpha says how much covers.
const THINNEST: f32 = 0.05;

@vertex
fn vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    return seen_by_light(seen[index], position);
}

fn seen_by_light(place: u32, position: vec3f) -> vec4f {
    let world = to_world(instances[place], position);
    var clip = shadow_views[push.row].clip_from_world * vec4f(world, 1.0);
    if push.clamps_depth != 0u {
        clip.z = min(clip.z, clip.w);
    }
    return clip;
}

struct Holed {
    @builtin(position) position: vec4f,
    @location(0) alpha: f32,
    @location(1) uvs: vec4f,
    @location(2) @interpolate(flat) material: u32,
}

@vertex
fn holed_vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
    @location(2) color: vec4f,
    @location(3) uvs: vec4f,
) -> Holed {
    let place = seen[index];
    return Holed(seen_by_light(place, position), color.a, uvs, instances[place].material);
}

@fragment
fn holed_fragment_main(holed: Holed) {
    let material = materials[holed.material];
    let at = coordinates_of(holed.uvs, material);
    let alpha = material.base_color.a * holed.alpha * texel(material.textures.x, at).a;
    // The alpha of a mask is at most 1; other modes have numbers above.
    if alpha < select(THINNEST, material.alpha, material.alpha <= 1.0) {
        discard;
    }
}
