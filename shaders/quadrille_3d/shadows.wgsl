// How much of a light arrives: shadow maps, filtered.

import quadrille_3d::scene::{
    DIRECTIONAL, Light, POINT, SPOT, View, face_shadows, flat_shadows, shadow_sampler, shadow_views,
};

// Where light meets a mesh.
struct Place {
    world: vec3f,
    // Of the mesh, whatever images say.
    normal: vec3f,
    // In the picture.
    pixel: vec2f,
}

// How much of a light arrives. There is one call of `filtered`, which is most of this.
fn shadow(place: Place, view: View, light: Light, to_light: vec3f) -> f32 {
    let count = (light.bits >> 2u) & 15u;
    let kind = light.bits & 3u;
    let is_cascaded = kind == DIRECTIONAL;
    let nearer = place.world + light.depth_bias * to_light;
    let way = place.world - light.place;
    var moved = nearer;
    var row = light.bits >> 8u;
    var end = row + count;
    if kind == SPOT {
        moved += place.normal * (light.normal_bias * dot(light.axis, way));
    } else if !is_cascaded && count != 0u {
        let sides = abs(way);
        let farthest = max(sides.x, max(sides.y, sides.z));
        moved += place.normal * (light.normal_bias * farthest);
        row += face_of(moved - light.place);
        end = row + 1u;
    }
    let depth = dot(view.forward, place.world - view.position);
    var arrives = 1.0;
    // How much the cascade before has left to this one.
    var part = 1.0;
    for (; row < end; row++) {
        let far = shadow_views[row].far;
        if is_cascaded {
            if depth > far {
                continue;
            }
            moved = nearer + place.normal * (light.normal_bias * shadow_views[row].texel);
        }
        arrives = mix(arrives, filtered(kind == POINT, row, moved, place, view), part);
        let blend = shadow_views[row].blend;
        if row + 1u == end || depth <= blend || part < 1.0 {
            break;
        }
        part = (depth - blend) / (far - blend);
    }
    return arrives;
}

// Place in a shadow map, and depth there; the map has nothing to say where it is not in 0 to 1.
fn shadow_place(row: u32, world: vec3f) -> vec3f {
    let clip = shadow_views[row].clip_from_world * vec4f(world, 1.0);
    if clip.w <= 0.0 {
        return vec3f(-1.0);
    }
    let place = clip.xyz / clip.w;
    return vec3f(place.x * 0.5 + 0.5, 0.5 - place.y * 0.5, place.z);
}

fn is_in_map(place: vec3f) -> bool {
    return all(place.xy >= vec2f(0.0)) && all(place.xy <= vec2f(1.0)) && place.z >= 0.0;
}

// In the order of `ShadowFilteringMethod`; the third one is a spiral.
const HARDWARE: u32 = 0u;
const GAUSSIAN: u32 = 1u;

// How much of the light of a shadow map arrives, by the view's method: three comparisons at a time, which do
// not wait for each other.
fn filtered(is_face: bool, row: u32, world: vec3f, place: Place, view: View) -> f32 {
    let at = shadow_place(row, world);
    let tile = shadow_views[row].tile;
    if !is_in_map(at) || tile.z == 0.0 {
        return 1.0;
    }
    var size = vec2f(textureDimensions(flat_shadows));
    if is_face {
        size = vec2f(textureDimensions(face_shadows));
    }
    // Other tiles have nothing to say.
    let least = tile.xy + 0.5 / size;
    let most = tile.xy + tile.zw - 0.5 / size;
    let middle = (tile.xy + at.xy * tile.zw) * size;
    let taps = Taps(view.shadow_filter, middle, bell_at(middle), 6.2831853 * noise(place.pixel));
    let lines = select(3u, 1u, view.shadow_filter == HARDWARE);
    var sum = 0.0;
    for (var line = 0u; line < lines; line++) {
        let a = tap_at(taps, 0u, line);
        let b = tap_at(taps, 1u, line);
        let c = tap_at(taps, 2u, line);
        let at_a = clamp(a.xy / size, least, most);
        let at_b = clamp(b.xy / size, least, most);
        let at_c = clamp(c.xy / size, least, most);
        var arrives: vec3f;
        if is_face {
            arrives.x = textureSampleCompareLevel(face_shadows, shadow_sampler, at_a, at.z);
            arrives.y = textureSampleCompareLevel(face_shadows, shadow_sampler, at_b, at.z);
            arrives.z = textureSampleCompareLevel(face_shadows, shadow_sampler, at_c, at.z);
        } else {
            arrives.x = textureSampleCompareLevel(flat_shadows, shadow_sampler, at_a, at.z);
            arrives.y = textureSampleCompareLevel(flat_shadows, shadow_sampler, at_b, at.z);
            arrives.z = textureSampleCompareLevel(flat_shadows, shadow_sampler, at_c, at.z);
        }
        sum += dot(arrives, vec3f(a.z, b.z, c.z));
    }
    return sum;
}

// What the comparisons around a place of a shadow map depend on.
struct Taps {
    shadow_filter: u32,
    middle: vec2f,
    bell: Bell,
    turn: f32,
}

// The place of one of three times three comparisons, and its weight.
fn tap_at(taps: Taps, column: u32, line: u32) -> vec3f {
    if taps.shadow_filter == GAUSSIAN {
        let bell = taps.bell;
        let tap = vec2f(part_of(bell.x, column), part_of(bell.y, line));
        return vec3f(tap, part_of(bell.x_weight, column) * part_of(bell.y_weight, line) / 144.0);
    }
    let step = line * 3u + column;
    if taps.shadow_filter == HARDWARE {
        return vec3f(taps.middle, select(0.0, 1.0, step == 0u));
    }
    return vec3f(spiral(taps.middle, step, taps.turn), select(0.0, 0.125, step < 8u));
}

// A part of a vector. Devices keep vectors in memory that shaders index by variables.
fn part_of(numbers: vec3f, at: u32) -> f32 {
    return select(select(numbers.z, numbers.y, at == 1u), numbers.x, at == 0u);
}

// Places and weights of three comparisons along each axis.
struct Bell {
    x: vec3f,
    y: vec3f,
    x_weight: vec3f,
    y_weight: vec3f,
}

// Nine comparisons of four texels each, at places between texels that give five by five of them the weights
// of a bell (I. Castaño, "Shadow Mapping Summary", 2013); their sum is 144.
fn bell_at(middle: vec2f) -> Bell {
    let corner = floor(middle + 0.5);
    let part = middle + 0.5 - corner;
    let low = 4.0 - 3.0 * part;
    let high = 1.0 + 3.0 * part;
    let before = corner - 0.5 + (3.0 - 2.0 * part) / low - 2.0;
    let between = corner - 0.5 + (3.0 + part) / 7.0;
    let after = corner - 0.5 + part / high + 2.0;
    return Bell(
        vec3f(before.x, between.x, after.x),
        vec3f(before.y, between.y, after.y),
        vec3f(low.x, 7.0, high.x),
        vec3f(low.y, 7.0, high.y),
    );
}

// One of eight comparisons on a spiral that is turned from pixel to pixel (J. Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014). Frames do not differ: nothing joins them yet.
fn spiral(middle: vec2f, step: u32, turn: f32) -> vec2f {
    // The golden angle, and a radius that gives each step the same area: two texels at most.
    let angle = turn + f32(step) * 2.3999632;
    let radius = 2.0 * sqrt((f32(step) + 0.5) / 8.0);
    return middle + radius * vec2f(cos(angle), sin(angle));
}

// From 0 to 1, otherwise in each pixel, with neighbours that differ much.
fn noise(pixel: vec2f) -> f32 {
    return fract(52.9829189 * fract(dot(floor(pixel), vec2f(0.06711056, 0.00583715))));
}

// Which of the six directions +x, -x, +y, -y, -z, +z is closest.
fn face_of(way: vec3f) -> u32 {
    let sides = abs(way);
    if sides.x >= sides.y && sides.x >= sides.z {
        return select(1u, 0u, way.x > 0.0);
    }
    if sides.y >= sides.z {
        return select(3u, 2u, way.y > 0.0);
    }
    return select(4u, 5u, way.z > 0.0);
}

