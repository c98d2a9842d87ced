// Filtered shadow maps: the visibility of a light.

import quadrille_3d::constants::{ANY_FILTER, DIRECTIONAL, GAUSSIAN, HARDWARE_2X2, MAX_CASCADES, POINT, SPIRAL, SPOT};
import quadrille_3d::scene::{Light, View, clamped_sampler, point_shadow_faces, shadow_atlas, shadow_sampler, shadow_views};

// Shadow receiver: a point of a mesh.
struct ShadowReceiver {
    world_position: vec3f,
    // Normal of the mesh, without normal map.
    normal: vec3f,
    // Pixel of the picture.
    pixel: vec2f,
}

// Radius of the taps of spot lights and cascades, for `spiral_radius`: the texel that bevy assumes for spot lights.
const SPOT_TEXEL_SIZE: f32 = 0.0134277345;
// Radius of the taps of point lights at distance 1, as in bevy.
const POINT_TAP_RADIUS: f32 = 0.003;

// `ShadowFilteringMethod` of all views, or `ANY_FILTER`: then that of the view.
override SHADOW_FILTER: u32 = ANY_FILTER;

// Whether lights have soft shadows.
override HAS_SOFT_SHADOWS: bool = false;

// Size of a light for soft shadows; 0 without them. They have the taps of a spiral, whatever the filter.
fn soft_size_of(row: u32) -> f32 {
    if HAS_SOFT_SHADOWS {
        return shadow_views[row].soft_size;
    }
    return 0.0;
}

fn filter_of(view: View) -> u32 {
    if SHADOW_FILTER == ANY_FILTER {
        return view.shadow_filter;
    }
    return SHADOW_FILTER;
}

// Visibility of a light of a kind. A single call of `sample_shadow_map`, which is most of this, keeps the code small.
fn fetch_shadow(receiver: ShadowReceiver, view: View, light: Light, kind: u32, to_light: vec3f) -> f32 {
    let count = (light.bits >> 2u) & MAX_CASCADES;
    if kind == POINT {
        if count == 0u {
            return 1.0;
        }
        return fetch_point_shadow(receiver, view, light, to_light);
    }
    let is_cascaded = kind == DIRECTIONAL;
    let depth_biased_position = receiver.world_position + light.depth_bias * to_light;
    var biased_position = depth_biased_position;
    let first_row = light.bits >> 8u;
    let end = first_row + count;
    if kind == SPOT {
        let light_to_world = receiver.world_position - light.position_or_direction;
        biased_position += receiver.normal * (light.normal_bias * dot(light.axis, light_to_world));
    }
    let depth = dot(view.forward, receiver.world_position - view.position);
    var visibility = 1.0;
    // Weight that the cascade before has left to this one.
    var part = 1.0;
    for (var row = first_row; row < end; row++) {
        let far = shadow_views[row].far;
        var texel_size = SPOT_TEXEL_SIZE;
        if is_cascaded {
            if depth > far {
                continue;
            }
            texel_size = shadow_views[row].texel_size;
            biased_position = depth_biased_position + receiver.normal * (light.normal_bias * texel_size);
        }
        visibility = mix(visibility, sample_shadow_map(row, biased_position, receiver, view, texel_size), part);
        let blend = shadow_views[row].blend;
        if row + 1u == end || depth <= blend || part < 1.0 {
            break;
        }
        part = (depth - blend) / (far - blend);
    }
    return visibility;
}

// Visibility of a point light: comparisons in directions around that to the receiver, by bevy's method. The pattern lies
// in the plane across the direction; all taps compare the receiver's own depth.
fn fetch_point_shadow(receiver: ShadowReceiver, view: View, light: Light, to_light: vec3f) -> f32 {
    let light_to_world = receiver.world_position - light.position_or_direction;
    let sides = abs(light_to_world);
    let farthest = max(sides.x, max(sides.y, sides.z));
    let direction = light_to_world + light.depth_bias * to_light + receiver.normal * (light.normal_bias * farthest);
    let first_row = light.bits >> 8u;
    let depth = shadow_map_coord(first_row + cube_face(direction), light.position_or_direction + direction).z;
    let plane = cube_tap_plane(normalize(direction));
    let rotation = noise_angle(moved_pixel(receiver.pixel, view));
    let soft_size = soft_size_of(first_row);
    var shadow_filter = filter_of(view);
    var tap_radius = POINT_TAP_RADIUS * farthest;
    if soft_size > 0.0 {
        shadow_filter = SPIRAL;
        var blockers = vec2f(0.0);
        for (var step = 0u; step < 8u; step++) {
            let offset = plane * gaussian_tap(step).xy * (soft_size * farthest);
            blockers += blocker_in_direction(first_row, light.position_or_direction, direction + offset, depth);
        }
        tap_radius *= penumbra_scale(blockers, depth, soft_size);
    }
    let taps = select(8u, 1u, shadow_filter == HARDWARE_2X2);
    var sum = 0.0;
    for (var step = 0u; step < taps; step++) {
        var tap = vec3f(0.0, 0.0, 1.0);
        if shadow_filter == GAUSSIAN {
            tap = gaussian_tap(step);
        } else if shadow_filter != HARDWARE_2X2 {
            tap = vec3f(0.5 * spiral_tap(step, rotation), 0.125);
        }
        let offset = plane * tap.xy * tap_radius;
        sum += tap.z * compare_point_depth(first_row, light.position_or_direction, direction + offset, depth);
    }
    return sum;
}

// Coordinates in the maps of point lights for a direction; negative without data. Within half a texel of a face's edge the
// texels of that face alone count.
fn point_map_coord(first_row: u32, light_position: vec3f, direction: vec3f) -> vec2f {
    let row = first_row + cube_face(direction);
    let tile = shadow_views[row].tile;
    if tile.z == 0.0 {
        return vec2f(-1.0);
    }
    let coord = shadow_map_coord(row, light_position + direction);
    let half_texel = 0.5 / vec2f(textureDimensions(point_shadow_faces));
    return clamp(tile.xy + coord.xy * tile.zw, tile.xy + half_texel, tile.xy + tile.zw - half_texel);
}

// Compares a depth with the map of a point light in a direction.
fn compare_point_depth(first_row: u32, light_position: vec3f, direction: vec3f, depth: f32) -> f32 {
    let uv = point_map_coord(first_row, light_position, direction);
    if uv.x < 0.0 {
        return 1.0;
    }
    return textureSampleCompareLevel(point_shadow_faces, shadow_sampler, uv, depth);
}

// Depth and number of blockers of a point light in a direction: one or none.
fn blocker_in_direction(first_row: u32, light_position: vec3f, direction: vec3f, depth: f32) -> vec2f {
    let uv = point_map_coord(first_row, light_position, direction);
    if uv.x < 0.0 {
        return vec2f(0.0);
    }
    return blocker_of(textureSampleLevel(point_shadow_faces, clamped_sampler, uv, 0), depth);
}

// Depth and number of blockers of a receiver: one or none.
fn blocker_of(map_depth: f32, depth: f32) -> vec2f {
    return select(vec2f(0.0), vec2f(map_depth, 1.0), map_depth >= depth);
}

// Factor of the radius of taps by the mean depth of blockers (R. Fernando, "Percentage-Closer Soft Shadows", 2005). As in
// bevy, depths are those of the map and the factor is at least a half, without which edges alias.
fn penumbra_scale(blockers: vec2f, depth: f32, soft_size: f32) -> f32 {
    let blocker = blockers.x / max(blockers.y, 1.0);
    return max((blocker - depth) * soft_size / max(depth, 1e-6), 0.5);
}

// Two vectors across a unit vector (T. Duff et al., "Building an Orthonormal Basis, Revisited", 2017), built in the
// left-handed coordinates of cube maps, as in bevy: the pattern of taps is not the same when mirrored.
fn cube_tap_plane(direction: vec3f) -> mat2x3f {
    let z = -direction.z;
    let side = select(-1.0, 1.0, z > 0.0);
    let a = -1.0 / (side + z);
    let b = direction.x * direction.y * a;
    return mat2x3f(
        vec3f(1.0 + side * direction.x * direction.x * a, side * b, side * direction.x),
        vec3f(b, side + direction.y * direction.y * a, direction.y),
    );
}

// Position and weight of one of eight taps: the sample positions of Direct3D's 8x multisampling, in units of half a pixel,
// weighted by a bell of variance 1. Positions are eighths; each has four bits of a word, plus 8.
fn gaussian_tap(step: u32) -> vec3f {
    let eighths = (vec2u(0xfb135d79u, 0x1f7d39b5u) >> vec2u(step * 4u)) & vec2u(15u);
    let position = (vec2f(eighths) - 8.0) / 8.0;
    // The weights' sum is 1.
    return vec3f(position, 0.16987879 * exp(-0.5 * dot(position, position)));
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

// Filters the map of a cascade or spot light (PCF) by the view's method: three taps at a time, which do
// not wait for each other.
fn sample_shadow_map(row: u32, world_position: vec3f, receiver: ShadowReceiver, view: View, texel_size: f32) -> f32 {
    let at = shadow_map_coord(row, world_position);
    let tile = shadow_views[row].tile;
    if !is_in_map(at) || tile.z == 0.0 {
        return 1.0;
    }
    let size = vec2f(textureDimensions(shadow_atlas));
    // Keeps taps within the tile.
    let min_uv = tile.xy + 0.5 / size;
    let max_uv = tile.xy + tile.zw - 0.5 / size;
    let middle = (tile.xy + at.xy * tile.zw) * size;
    let soft_size = soft_size_of(row);
    var shadow_filter = filter_of(view);
    var radius = spiral_radius(texel_size);
    if soft_size > 0.0 {
        shadow_filter = SPIRAL;
        var blockers = vec2f(0.0);
        for (var step = 0u; step < 8u; step++) {
            let place = middle + gaussian_tap(step).xy * (soft_size / texel_size);
            let map_depth = textureSampleLevel(shadow_atlas, clamped_sampler, clamp(place / size, min_uv, max_uv), 0);
            blockers += blocker_of(map_depth, at.z);
        }
        radius *= penumbra_scale(blockers, at.z, soft_size);
    }
    let rotation = noise_angle(moved_pixel(receiver.pixel, view));
    let taps = Taps(shadow_filter, middle, castano_kernel(middle), rotation, radius);
    let lines = select(3u, 1u, shadow_filter == HARDWARE_2X2);
    var sum = 0.0;
    for (var line = 0u; line < lines; line++) {
        let a = tap_at(taps, 0u, line);
        let b = tap_at(taps, 1u, line);
        let c = tap_at(taps, 2u, line);
        let visibility = vec3f(
            textureSampleCompareLevel(shadow_atlas, shadow_sampler, clamp(a.xy / size, min_uv, max_uv), at.z),
            textureSampleCompareLevel(shadow_atlas, shadow_sampler, clamp(b.xy / size, min_uv, max_uv), at.z),
            textureSampleCompareLevel(shadow_atlas, shadow_sampler, clamp(c.xy / size, min_uv, max_uv), at.z),
        );
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
    // Radius of the spiral in texels.
    radius: f32,
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
    let tap = taps.middle + taps.radius * spiral_tap(step, taps.rotation);
    return vec3f(tap, select(0.0, 0.125, step < 8u));
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

// One of eight taps on a spiral of radius 1 that is rotated per pixel (J. Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014), with bevy's turns of three eighths and radii in eighths.
fn spiral_tap(step: u32, rotation: f32) -> vec2f {
    let angle = f32(step + 1u) * 2.3561945 - rotation;
    let radius = 1.0 - f32(step) / 8.0;
    return radius * vec2f(cos(angle), sin(angle));
}

// Radius of the spiral in texels, which bevy chose by eye for texels of different size in the world.
fn spiral_radius(texel_size: f32) -> f32 {
    return mix(0.015, 0.035, (texel_size - 0.00390625) / 0.019042969) / texel_size;
}

// Pixel for the noise of a frame: another in each of 64 frames in views with `TemporalJitter`, which accumulate frames.
fn moved_pixel(pixel: vec2f, view: View) -> vec2f {
    return pixel + 5.588238 * f32(view.noise_frame % 64u);
}

// Angle from 0 to a full turn by interleaved gradient noise: neighbouring pixels differ much (Jimenez 2014).
fn noise_angle(pixel: vec2f) -> f32 {
    return 6.2831853 * fract(52.9829189 * fract(dot(pixel, vec2f(0.06711056, 0.00583715))));
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

