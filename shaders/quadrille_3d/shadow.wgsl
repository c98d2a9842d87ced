// The depth of meshes as a light sees them: see `shadow_3d`.

struct Instance {
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
    material: u32,
    flags: u32,
    unused: vec2u,
}

struct ShadowView {
    clip_from_world: mat4x4f,
    tile: vec4f,
    far: f32,
    blend: f32,
    texel: f32,
    unused: f32,
}

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
    let instance = instances[seen[index]];
    let local = vec4f(position, 1.0);
    let world = vec3f(
        dot(instance.row_x, local),
        dot(instance.row_y, local),
        dot(instance.row_z, local),
    );
    var clip = shadow_views[push.row].clip_from_world * vec4f(world, 1.0);
    if push.clamps_depth != 0u {
        clip.z = min(clip.z, clip.w);
    }
    return clip;
}
