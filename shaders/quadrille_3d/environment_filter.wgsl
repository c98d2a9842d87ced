// Environment filtering: cubes from images, irradiance and prefiltered radiance. See `filter_env_3d`.
//
// alpha: squared perceptual roughness
// n_dot_h, theta_h: cosine and angle between normal and half vector

import quadrille_3d::constants::{MAX_RADIANCE, PI};
import quadrille_3d::cube_faces::{cube_direction, texel_to_face_uv};

struct Push {
    // For `convert_to_cube`: 1 if the image is equirectangular, not a cube.
    // For `generate_radiance_map`: number of samples.
    kind: u32,
    // For `generate_radiance_map`: squared perceptual roughness.
    alpha: f32,
}

@group(0) @binding(0) var source: texture_2d_array<f32>;
@group(0) @binding(1) var destination: texture_storage_2d_array<rgba16float, write>;
@group(0) @binding(2) var source_cube: texture_cube<f32>;
@group(0) @binding(3) var linear: sampler;

var<immediate> push: Push;

// Level 0 of a cube from an image, with as many samples as image texels per texel.
@compute @workgroup_size(8, 8)
fn convert_to_cube(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(destination).x;
    if any(id.xy >= vec2u(side)) {
        return;
    }
    let size = textureDimensions(source);
    let covered = select(size.x, size.x / 4u, push.kind == 1u);
    let steps = clamp((covered + side - 1u) / side, 1u, 8u);
    var sum = vec3f(0.0);
    for (var y = 0u; y < steps; y++) {
        for (var x = 0u; x < steps; x++) {
            let part = (vec2f(f32(x), f32(y)) + 0.5) / f32(steps);
            let face_uv = texel_to_face_uv(vec2f(id.xy) + part, side);
            if push.kind == 1u {
                sum += sample_equirectangular(normalize(cube_direction(face_uv, id.z)), size);
            } else {
                sum += sample_face(face_uv, id.z, size);
            }
        }
    }
    textureStore(destination, id.xy, id.z, vec4f(sum / f32(steps * steps), 1.0));
}

fn texel(at: vec2i, layer: u32) -> vec3f {
    return clamp(textureLoad(source, at, layer, 0).rgb, vec3f(0.0), vec3f(MAX_RADIANCE));
}

fn sample_face(face_uv: vec2f, face: u32, size: vec2u) -> vec3f {
    let most = vec2i(size) - 1;
    let at = (face_uv * 0.5 + 0.5) * vec2f(size) - 0.5;
    let first = vec2i(floor(at));
    let part = at - floor(at);
    let low = clamp(first, vec2i(0), most);
    let high = clamp(first + 1, vec2i(0), most);
    let top = mix(texel(low, face), texel(vec2i(high.x, low.y), face), part.x);
    let bottom = mix(texel(vec2i(low.x, high.y), face), texel(high, face), part.x);
    return mix(top, bottom, part.y);
}

// The center of an equirectangular image is -z in the world, its right half has +x.
fn sample_equirectangular(sample_direction: vec3f, size: vec2u) -> vec3f {
    // Cubes are left-handed: their z is the world's negated.
    let longitude = 0.5 + atan2(sample_direction.x, sample_direction.z) / (2.0 * PI);
    let latitude = acos(clamp(sample_direction.y, -1.0, 1.0)) / PI;
    let at = vec2f(longitude, latitude) * vec2f(size) - 0.5;
    let first = vec2i(floor(at));
    let part = at - floor(at);
    let width = i32(size.x);
    let rows = clamp(vec2i(first.y, first.y + 1), vec2i(0), vec2i(i32(size.y) - 1));
    let columns = (vec2i(first.x, first.x + 1) + width) % width;
    let top = mix(texel(vec2i(columns.x, rows.x), 0u), texel(vec2i(columns.y, rows.x), 0u), part.x);
    let bottom = mix(texel(vec2i(columns.x, rows.y), 0u), texel(vec2i(columns.y, rows.y), 0u), part.x);
    return mix(top, bottom, part.y);
}

// Mip level from the one before: the mean of four texels.
@compute @workgroup_size(8, 8)
fn downsample(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= textureDimensions(destination)) {
        return;
    }
    let at = vec2i(id.xy) * 2;
    let top = texel(at, id.z) + texel(at + vec2i(1, 0), id.z);
    let bottom = texel(at + vec2i(0, 1), id.z) + texel(at + vec2i(1, 1), id.z);
    textureStore(destination, id.xy, id.z, vec4f((top + bottom) / 4.0, 1.0));
}

// Irradiance divided by pi: the cosine-weighted mean of all texels of the bound level.
@compute @workgroup_size(8, 8)
fn generate_irradiance_map(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(destination).x;
    if any(id.xy >= vec2u(side)) {
        return;
    }
    let normal = normalize(cube_direction(texel_to_face_uv(vec2f(id.xy) + 0.5, side), id.z));
    let texels = textureDimensions(source).x;
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var face = 0u; face < 6u; face++) {
        for (var y = 0u; y < texels; y++) {
            for (var x = 0u; x < texels; x++) {
                let sample_direction = cube_direction(texel_to_face_uv(vec2f(vec2u(x, y)) + 0.5, texels), face);
                // The solid angle of a texel is proportional to 1 / length³ of `sample_direction`.
                let square = dot(sample_direction, sample_direction);
                let weight = max(dot(normal, sample_direction), 0.0) / (square * square);
                if weight > 0.0 {
                    sum += weight * texel(vec2i(vec2u(x, y)), face);
                    weights += weight;
                }
            }
        }
    }
    textureStore(destination, id.xy, id.z, vec4f(sum / weights, 1.0));
}

// Prefiltered radiance for a view along the normal: the mean weighted by the GGX lobe and the cosine.
// Directions are importance sampled, each from the mip level whose texels are about as large as its
// part of the sphere ("GPU-Based Importance Sampling", GPU Gems 3, chapter 20).
@compute @workgroup_size(8, 8)
fn generate_radiance_map(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(destination).x;
    if any(id.xy >= vec2u(side)) {
        return;
    }
    let normal = normalize(cube_direction(texel_to_face_uv(vec2f(id.xy) + 0.5, side), id.z));
    if push.alpha == 0.0 {
        let radiance = textureSampleLevel(source_cube, linear, normal, 0.0).rgb;
        textureStore(destination, id.xy, id.z, vec4f(radiance, 1.0));
        return;
    }
    let up = select(vec3f(0.0, 0.0, 1.0), vec3f(1.0, 0.0, 0.0), abs(normal.z) > 0.9);
    let along = normalize(cross(up, normal));
    let across = cross(normal, along);
    let square = push.alpha * push.alpha;
    let texels = 6.0 * f32(textureDimensions(source_cube).x) * f32(textureDimensions(source_cube).x);
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var number = 0u; number < push.kind; number++) {
        let turn = 2.0 * PI * (f32(number) + 0.5) / f32(push.kind);
        let v = f32(reverseBits(number)) / 4294967296.0;
        let n_dot_h = sqrt((1.0 - v) / (1.0 + (square - 1.0) * v));
        let sin_theta_h = sqrt(max(1.0 - n_dot_h * n_dot_h, 0.0));
        let half_vector = sin_theta_h * (cos(turn) * along + sin(turn) * across) + n_dot_h * normal;
        let cosine = 2.0 * n_dot_h * n_dot_h - 1.0;
        if cosine <= 0.0 {
            continue;
        }
        let spread = n_dot_h * n_dot_h * (square - 1.0) + 1.0;
        let density = square / (4.0 * PI * spread * spread);
        let covered = texels / (f32(push.kind) * density * 4.0 * PI);
        let level = max(0.5 * log2(covered), 0.0);
        let sample_direction = 2.0 * n_dot_h * half_vector - normal;
        sum += cosine * textureSampleLevel(source_cube, linear, sample_direction, level).rgb;
        weights += cosine;
    }
    textureStore(destination, id.xy, id.z, vec4f(sum / weights, 1.0));
}
