// Gradient from the horizon to the zenith, an afterglow, stars, a moon.

import bevy_pbr::render::{forward_io::VertexOutput, mesh_view_bindings::view};

struct Sky {
    horizon: vec4f,
    night: f32,
}
@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> sky: Sky;

fn hash(cell: vec3f) -> f32 {
    let p = fract(cell * vec3f(0.1031, 0.1030, 0.0973));
    let q = p + dot(p, p.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let direction = normalize(mesh.world_position.xyz - view.world_position);
    let height = max(direction.y, 0.0);
    let zenith = mix(vec3f(0.012, 0.02, 0.07), vec3f(0.002, 0.004, 0.014), sky.night);
    var color = mix(sky.horizon.rgb, zenith, 1.0 - exp(-5.0 * height));
    // The sun has set in the direction -z.
    let west = pow(max(dot(direction, normalize(vec3f(0.3, 0.02, -1.0))), 0.0), 5.0);
    color += (1.0 - sky.night) * west * exp(-9.0 * height) * vec3f(0.42, 0.13, 0.06);
    color += (1.0 - 0.4 * sky.night) * exp(-7.0 * height) * vec3f(0.02, 0.012, 0.012);

    let star = direction * 170.0;
    let cell = floor(star);
    let chance = hash(cell);
    let spot = 1.0 - smoothstep(0.05, 0.3, length(star - cell - 0.5));
    color += step(0.992, chance) * spot * (0.25 + 0.9 * sky.night) * smoothstep(0.05, 0.35, height)
        * mix(vec3f(1.0, 0.8, 0.6), vec3f(0.7, 0.85, 1.0), fract(chance * 991.0));

    let moon = normalize(vec3f(-0.45, 0.42, -0.75));
    let near = dot(direction, moon);
    color += smoothstep(0.99945, 0.9996, near) * vec3f(1.6, 1.55, 1.4);
    color += pow(max(near, 0.0), 250.0) * vec3f(0.06, 0.07, 0.10);
    return vec4f(color, 1.0);
}
