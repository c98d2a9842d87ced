// A sea of computed heights under a drawn sky.

import accesses::constants::HEIGHTS;

@group(0) @binding(0) var<storage, read_write> heights: array<f32>;
@group(0) @binding(1) var<storage, read> sea: array<f32>;
@group(0) @binding(2) var backdrop: texture_2d<f32>;
// Seconds of the animation.
var<immediate> time: f32;

struct Corner {
    @builtin(position) position: vec4f,
    // From (0, 0) top left to (1, 1) bottom right.
    @location(0) uv: vec2f,
}

@compute @workgroup_size(64)
fn waves(@builtin(global_invocation_id) id: vec3u) {
    let x = f32(id.x) / f32(HEIGHTS);
    heights[id.x] = 0.6 + 0.05 * sin(20.0 * x + 2.0 * time) + 0.02 * sin(51.0 * x - 3.0 * time);
}

// A triangle that covers the picture.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    return Corner(vec4f(corner * 4.0 - 1.0, 0.0, 1.0), vec2f(corner.x * 2.0, 1.0 - corner.y * 2.0));
}

@fragment
fn sky(corner: Corner) -> @location(0) vec4f {
    let sun = smoothstep(0.09, 0.08, distance(corner.uv * vec2f(1.78, 1.0), vec2f(1.3, 0.3)));
    return vec4f(mix(mix(vec3f(0.1, 0.2, 0.5), vec3f(0.9, 0.6, 0.4), corner.uv.y), vec3f(1.0, 0.9, 0.6), sun), 1.0);
}

@fragment
fn show(corner: Corner) -> @location(0) vec4f {
    let height = sea[min(u32(corner.uv.x * f32(HEIGHTS)), HEIGHTS - 1u)];
    if corner.uv.y > height {
        return vec4f(mix(vec3f(0.1, 0.35, 0.45), vec3f(0.02, 0.05, 0.12), (corner.uv.y - height) * 2.5), 1.0);
    }
    let size = vec2f(textureDimensions(backdrop));
    return textureLoad(backdrop, vec2u(min(corner.uv * size, size - 1.0)), 0);
}
