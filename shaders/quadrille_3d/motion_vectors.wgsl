// Motion since the previous frame, as a difference of texture coordinates: see `prepass_3d`.

import quadrille_3d::mesh_types::Instance;
import quadrille_3d::view_transforms::ViewTransforms;

struct PreviousInstance {
    // Rows of the affine matrix from the mesh's space to the world's.
    world_from_local: array<vec4f, 3>,
    // Number of the frame in which the instance moved from there; in others it rests.
    stamp: u32,
    unused: u32,
    unused_pair: vec2u,
}

// Prepasses have no lights: these numbers are those of shadow maps in `scene.wgsl`.
@group(0) @binding(6) var<storage, read> previous_instances: array<PreviousInstance>;
// Positions of deformed vertices, and the number of the frame in which they were overwritten.
@group(0) @binding(7) var<storage, read> previous_positions: array<vec4u>;
@group(0) @binding(8) var<uniform> motion_view: ViewTransforms;

// Motion of surfaces that were behind the eye: out of the picture.
const OUTSIDE: vec2f = vec2f(2.0);

fn frame_stamp() -> u32 {
    return motion_view.frame_count + 1u;
}

// Rows of an instance's transform in the previous frame. `current`: those of this frame.
fn previous_world_from_local(instance: u32, current: Instance) -> array<vec4f, 3> {
    if instance < arrayLength(&previous_instances) && previous_instances[instance].stamp == frame_stamp() {
        return previous_instances[instance].world_from_local;
    }
    return current.world_from_local;
}

// Position of a vertex in its mesh in the previous frame: another one if it is skinned or morphed. `vertex` is
// `@builtin(vertex_index)`.
fn previous_local_position(vertex: u32, current: vec3f) -> vec3f {
    let first = motion_view.first_deformed_vertex;
    if vertex >= first && vertex - first < arrayLength(&previous_positions) {
        let saved = previous_positions[vertex - first];
        if saved.w == frame_stamp() {
            return bitcast<vec3f>(saved.xyz);
        }
    }
    return current;
}

// World position in the previous frame of a vertex.
fn previous_world_position(instance: u32, current: Instance, vertex: u32, position: vec3f) -> vec4f {
    let rows = previous_world_from_local(instance, current);
    let local = vec4f(previous_local_position(vertex, position), 1.0);
    return vec4f(dot(rows[0], local), dot(rows[1], local), dot(rows[2], local), 1.0);
}

// World position in the previous frame of a point that is fixed to an instance.
fn previous_rigid_position(instance: u32, current: Instance, world_position: vec3f) -> vec4f {
    let rows = current.world_from_local;
    let cofactor_x = cross(rows[1].xyz, rows[2].xyz);
    let cofactor_y = cross(rows[2].xyz, rows[0].xyz);
    let cofactor_z = cross(rows[0].xyz, rows[1].xyz);
    let determinant = dot(rows[0].xyz, cofactor_x);
    let moved = previous_world_from_local(instance, current);
    if determinant == 0.0 || all(moved[0] == rows[0]) && all(moved[1] == rows[1]) && all(moved[2] == rows[2]) {
        return vec4f(world_position, 1.0);
    }
    let relative = world_position - vec3f(rows[0].w, rows[1].w, rows[2].w);
    let local = (cofactor_x * relative.x + cofactor_y * relative.y + cofactor_z * relative.z) / determinant;
    return vec4f(dot(moved[0], vec4f(local, 1.0)), dot(moved[1], vec4f(local, 1.0)), dot(moved[2], vec4f(local, 1.0)), 1.0);
}

// Motion of a point in texture coordinates, positive towards the right and bottom. Jitter is no motion. Vertex shaders that
// do not write the previous position leave zeros: then only the camera moves.
fn motion_vector(world_position: vec4f, previous_position: vec4f) -> vec2f {
    let position = motion_view.unjittered_clip_from_world * world_position;
    let start = select(previous_position, world_position, previous_position.w == 0.0);
    let previous = motion_view.previous_clip_from_world * start;
    if previous.w <= 0.0 {
        return OUTSIDE;
    }
    return (position.xy / position.w - previous.xy / previous.w) * vec2f(0.5, -0.5);
}
