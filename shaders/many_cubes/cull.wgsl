// Which cubes the camera and the light see: their numbers, and how many they are.

struct Views {
    camera: mat4x4<f32>,
    light: mat4x4<f32>,
}

// The arguments of an indirect draw.
struct Draw {
    vertices: u32,
    instances: atomic<u32>,
    first_vertex: u32,
    first_instance: u32,
}

// Half the diagonal of a cube of size 1.
const RADIUS: f32 = 0.87;

var<immediate> views: Views;
@group(0) @binding(0) var<storage, read> cubes: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> camera_draw: Draw;
@group(0) @binding(2) var<storage, read_write> camera_visible: array<u32>;
@group(0) @binding(3) var<storage, read_write> light_draw: Draw;
@group(0) @binding(4) var<storage, read_write> light_visible: array<u32>;

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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&cubes) {
        return;
    }
    let cube = cubes[id.x];
    let sphere = vec4<f32>(cube.xyz, cube.w * RADIUS);
    if !is_outside(views.camera, sphere) {
        camera_visible[atomicAdd(&camera_draw.instances, 1u)] = id.x;
    }
    if !is_outside(views.light, sphere) {
        light_visible[atomicAdd(&light_draw.instances, 1u)] = id.x;
    }
}
