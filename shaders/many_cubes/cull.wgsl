// Culls cubes for the camera and the light: instance indices, and a draw for each group of cubes.

import many_cubes::constants::{CASCADES, CORNERS, WORKGROUP};

struct Views {
    camera: mat4x4<f32>,
    lights: array<mat4x4<f32>, CASCADES>,
    towards_light: vec3<f32>,
}

// The arguments of an indexed draw.
struct Draw {
    indices: u32,
    instances: u32,
    first_index: u32,
    base_vertex: i32,
    first_instance: u32,
}

struct Draws {
    count: atomic<u32>,
    all: array<Draw>,
}

// Half the diagonal of a cube of size 1.
const RADIUS: f32 = 0.87;

@group(0) @binding(0) var<uniform> views: Views;
@group(0) @binding(1) var<storage, read> cubes: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> camera_draws: Draws;
@group(0) @binding(3) var<storage, read_write> camera_visible: array<u32>;
@group(0) @binding(4) var<storage, read_write> light_draws: Draws;
@group(0) @binding(5) var<storage, read_write> light_visible: array<u32>;

// Visible cubes of the group.
var<workgroup> by_camera: atomic<u32>;
var<workgroup> by_light: atomic<u32>;

// Whether a sphere lies wholly behind one of a view's planes.
fn is_outside(view: mat4x4<f32>, sphere: vec4<f32>) -> bool {
    let rows = transpose(view);
    var planes = array<vec4<f32>, 6>(
        rows[3] + rows[0], rows[3] - rows[0],
        rows[3] + rows[1], rows[3] - rows[1],
        rows[2], rows[3] - rows[2],
    );
    var outside = false;
    for (var at = 0; at < 6; at++) {
        let plane = planes[at];
        let distance = dot(plane, vec4<f32>(sphere.xyz, 1.0));
        outside = outside || distance < -sphere.w * length(plane.xyz);
    }
    return outside;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let first = group.x * WORKGROUP;
    if id.x < arrayLength(&cubes) {
        let cube = cubes[id.x];
        let sphere = vec4<f32>(cube.xyz, cube.w * RADIUS);
        if !is_outside(views.camera, sphere) {
            camera_visible[first + atomicAdd(&by_camera, 1u)] = id.x;
        }
        // The last cascade has everything that the others have.
        if !is_outside(views.lights[1], sphere) {
            light_visible[first + atomicAdd(&by_light, 1u)] = id.x;
        }
    }
    workgroupBarrier();
    if index > 0u {
        return;
    }
    let seen = atomicLoad(&by_camera);
    if seen > 0u {
        let place = atomicAdd(&camera_draws.count, 1u);
        camera_draws.all[place] = Draw(CORNERS, seen, 0u, 0, first);
    }
    let lit = atomicLoad(&by_light);
    if lit > 0u {
        let place = atomicAdd(&light_draws.count, 1u);
        light_draws.all[place] = Draw(CORNERS, lit, 0u, 0, first);
    }
}
