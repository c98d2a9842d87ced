// Filtered shadow maps: the visibility of a light.

import quadrille_3d::constants::{DIRECTIONAL, GAUSSIAN, HARDWARE_2X2, MAX_CASCADES, POINT, SPOT};
import quadrille_3d::scene::{Light, View, point_shadow_faces, shadow_atlas, shadow_sampler, shadow_views};

// Shadow receiver: a point of a mesh.
struct ShadowReceiver {
    world_position: vec3f,
    // Normal of the mesh, without normal map.
    normal: vec3f,
    // Pixel of the picture.
    pixel: vec2f,
}

// Visibility of a light. A single call of `sample_shadow_map`, which is most of this, keeps the code small.
fn fetch_shadow(receiver: ShadowReceiver, view: View, light: Light, to_light: vec3f) -> f32 {
    let count = (light.bits >> 2u) & MAX_CASCADES;
    let kind = light.bits & 3u;
    let is_cascaded = kind == DIRECTIONAL;
    let depth_biased_position = receiver.world_position + light.depth_bias * to_light;
    let light_to_world = receiver.world_position - light.position_or_direction;
    var biased_position = depth_biased_position;
    var row = light.bits >> 8u;
    var end = row + count;
    if kind == SPOT {
        biased_position += receiver.normal * (light.normal_bias * dot(light.axis, light_to_world));
    } else if !is_cascaded && count != 0u {
        let sides = abs(light_to_world);
        let farthest = max(sides.x, max(sides.y, sides.z));
        biased_position += receiver.normal * (light.normal_bias * farthest);
        row += cube_face(biased_position - light.position_or_direction);
        end = row + 1u;
    }
    let depth = dot(view.forward, receiver.world_position - view.position);
    var visibility = 1.0;
    // Weight that the cascade before has left to this one.
    var part = 1.0;
    for (; row < end; row++) {
        let far = shadow_views[row].far;
        if is_cascaded {
            if depth > far {
                continue;
            }
            biased_position = depth_biased_position + receiver.normal * (light.normal_bias * shadow_views[row].texel_size);
        }
        visibility = mix(visibility, sample_shadow_map(kind == POINT, row, biased_position, receiver, view), part);
        let blend = shadow_views[row].blend;
        if row + 1u == end || depth <= blend || part < 1.0 {
            break;
        }
        part = (depth - blend) / (far - blend);
    }
    return visibility;
}

// Coordinates in a shadow map, and depth; without data outside of 0 to 1.
fn shadow_map_coord(row: u32, world_position: vec3f) -> vec3f {
    let clip = shadow_views[row].clip_from_world * vec4f(world_position, 1.0);
    if clip.w <= 0.0 {
        return vec3f(-1.0);
    }
    let ndc = clip.xyz / clip.w;
    return vec3f(ndc.x * 0.5 + 0.5, 0.5 - ndc.y * 0.5, ndc.z);
}

fn is_in_map(coord: vec3f) -> bool {
    return all(coord.xy >= vec2f(0.0)) && all(coord.xy <= vec2f(1.0)) && coord.z >= 0.0;
}

// Filters a shadow map (PCF) by the view's method: three taps at a time, which do
// not wait for each other.
fn sample_shadow_map(is_face: bool, row: u32, world_position: vec3f, receiver: ShadowReceiver, view: View) -> f32 {
    let at = shadow_map_coord(row, world_position);
    let tile = shadow_views[row].tile;
    if !is_in_map(at) || tile.z == 0.0 {
        return 1.0;
    }
    var size = vec2f(textureDimensions(shadow_atlas));
    if is_face {
        size = vec2f(textureDimensions(point_shadow_faces));
    }
    // Keeps taps within the tile.
    let min_uv = tile.xy + 0.5 / size;
    let max_uv = tile.xy + tile.zw - 0.5 / size;
    let middle = (tile.xy + at.xy * tile.zw) * size;
    let taps = Taps(view.shadow_filter, middle, castano_kernel(middle), 6.2831853 * interleaved_gradient_noise(receiver.pixel));
    let lines = select(3u, 1u, view.shadow_filter == HARDWARE_2X2);
    var sum = 0.0;
    for (var line = 0u; line < lines; line++) {
        let a = tap_at(taps, 0u, line);
        let b = tap_at(taps, 1u, line);
        let c = tap_at(taps, 2u, line);
        let at_a = clamp(a.xy / size, min_uv, max_uv);
        let at_b = clamp(b.xy / size, min_uv, max_uv);
        let at_c = clamp(c.xy / size, min_uv, max_uv);
        var visibility: vec3f;
        if is_face {
            visibility.x = textureSampleCompareLevel(point_shadow_faces, shadow_sampler, at_a, at.z);
            visibility.y = textureSampleCompareLevel(point_shadow_faces, shadow_sampler, at_b, at.z);
            visibility.z = textureSampleCompareLevel(point_shadow_faces, shadow_sampler, at_c, at.z);
        } else {
            visibility.x = textureSampleCompareLevel(shadow_atlas, shadow_sampler, at_a, at.z);
            visibility.y = textureSampleCompareLevel(shadow_atlas, shadow_sampler, at_b, at.z);
            visibility.z = textureSampleCompareLevel(shadow_atlas, shadow_sampler, at_c, at.z);
        }
        sum += dot(visibility, vec3f(a.z, b.z, c.z));
    }
    return sum;
}

// Parameters of the taps around a point of a shadow map.
struct Taps {
    shadow_filter: u32,
    middle: vec2f,
    kernel: CastanoKernel,
    rotation: f32,
}

// Position and weight of one of three times three taps.
fn tap_at(taps: Taps, column: u32, line: u32) -> vec3f {
    if taps.shadow_filter == GAUSSIAN {
        let kernel = taps.kernel;
        let tap = vec2f(component(kernel.x, column), component(kernel.y, line));
        return vec3f(tap, component(kernel.x_weight, column) * component(kernel.y_weight, line) / 144.0);
    }
    let step = line * 3u + column;
    if taps.shadow_filter == HARDWARE_2X2 {
        return vec3f(taps.middle, select(0.0, 1.0, step == 0u));
    }
    return vec3f(spiral_tap(taps.middle, step, taps.rotation), select(0.0, 0.125, step < 8u));
}

// Component of a vector. Devices keep vectors in memory that shaders index by variables.
fn component(numbers: vec3f, at: u32) -> f32 {
    return select(select(numbers.z, numbers.y, at == 1u), numbers.x, at == 0u);
}

// Positions and weights of three taps along each axis.
struct CastanoKernel {
    x: vec3f,
    y: vec3f,
    x_weight: vec3f,
    y_weight: vec3f,
}

// Nine taps of four texels each, at positions between texels that give five by five of them the weights
// of a bell (I. Castaño, "Shadow Mapping Summary", 2013); their sum is 144.
fn castano_kernel(middle: vec2f) -> CastanoKernel {
    let corner = floor(middle + 0.5);
    let part = middle + 0.5 - corner;
    let low = 4.0 - 3.0 * part;
    let high = 1.0 + 3.0 * part;
    let before = corner - 0.5 + (3.0 - 2.0 * part) / low - 2.0;
    let between = corner - 0.5 + (3.0 + part) / 7.0;
    let after = corner - 0.5 + part / high + 2.0;
    return CastanoKernel(
        vec3f(before.x, between.x, after.x),
        vec3f(before.y, between.y, after.y),
        vec3f(low.x, 7.0, high.x),
        vec3f(low.y, 7.0, high.y),
    );
}

// One of eight taps on a spiral that is rotated per pixel (J. Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014). The same in all frames: nothing accumulates them yet.
fn spiral_tap(middle: vec2f, step: u32, rotation: f32) -> vec2f {
    // The golden angle, and a radius that gives each step the same area: two texels at most.
    let angle = rotation + f32(step) * 2.3999632;
    let radius = 2.0 * sqrt((f32(step) + 0.5) / 8.0);
    return middle + radius * vec2f(cos(angle), sin(angle));
}

// Interleaved gradient noise, from 0 to 1: neighbouring pixels differ much (Jimenez 2014).
fn interleaved_gradient_noise(pixel: vec2f) -> f32 {
    return fract(52.9829189 * fract(dot(floor(pixel), vec2f(0.06711056, 0.00583715))));
}

// Index of the closest of the six directions +x, -x, +y, -y, -z, +z.
fn cube_face(direction: vec3f) -> u32 {
    let sides = abs(direction);
    if sides.x >= sides.y && sides.x >= sides.z {
        return select(1u, 0u, direction.x > 0.0);
    }
    if sides.y >= sides.z {
        return select(3u, 2u, direction.y > 0.0);
    }
    return select(4u, 5u, direction.z > 0.0);
}

