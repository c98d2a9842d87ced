// How much of a light arrives: shadow maps, filtered.

import quadrille_3d::scene::{
    DIRECTIONAL, Light, SPOT, View, face_shadows, flat_shadows, shadow_sampler, shadow_views,
};

// Where light meets a mesh.
struct Place {
    world: vec3f,
    // Of the mesh, whatever images say.
    normal: vec3f,
    // In the picture.
    pixel: vec2f,
}

// How much of a light arrives.
fn shadow(place: Place, view: View, light: Light, to_light: vec3f) -> f32 {
    let count = (light.bits >> 2u) & 15u;
    let first = light.bits >> 8u;
    if count == 0u {
        return 1.0;
    }
    let nearer = place.world + light.depth_bias * to_light;
    let kind = light.bits & 3u;
    if kind == DIRECTIONAL {
        return cascade_shadow(place, view, light, nearer, first, count);
    }
    let way = place.world - light.place;
    if kind == SPOT {
        let offset = place.normal * (light.normal_bias * dot(light.axis, way));
        return filtered(flat_shadows, first, nearer + offset, place, view);
    }
    let sides = abs(way);
    let farthest = max(sides.x, max(sides.y, sides.z));
    let moved = nearer + place.normal * (light.normal_bias * farthest);
    let face = first + face_of(moved - light.place);
    return filtered(face_shadows, face, moved, place, view);
}

fn cascade_shadow(
    place: Place,
    view: View,
    light: Light,
    nearer: vec3f,
    first: u32,
    count: u32,
) -> f32 {
    let depth = dot(view.forward, place.world - view.position);
    let bias = place.normal * light.normal_bias;
    var arrives = 1.0;
    // How much the cascade before has left to this one.
    var part = 1.0;
    for (var row = first; row < first + count; row++) {
        let far = shadow_views[row].far;
        if depth > far {
            continue;
        }
        let here = filtered(flat_shadows, row, nearer + bias * shadow_views[row].texel, place, view);
        arrives = mix(arrives, here, part);
        let blend = shadow_views[row].blend;
        if row + 1u == first + count || depth <= blend || part < 1.0 {
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

// How much of the light of a shadow map arrives, by the view's method. There is one comparison in a loop,
// since all of this stands several times in each shader that is lit.
fn filtered(map: texture_depth_2d, row: u32, world: vec3f, place: Place, view: View) -> f32 {
    let at = shadow_place(row, world);
    let tile = shadow_views[row].tile;
    if !is_in_map(at) || tile.z == 0.0 {
        return 1.0;
    }
    let size = vec2f(textureDimensions(map));
    // Other tiles have nothing to say.
    let least = tile.xy + 0.5 / size;
    let most = tile.xy + tile.zw - 0.5 / size;
    let middle = (tile.xy + at.xy * tile.zw) * size;
    let turn = 6.2831853 * noise(place.pixel);
    var count = 1u;
    if view.shadow_filter != HARDWARE {
        count = select(8u, 9u, view.shadow_filter == GAUSSIAN);
    }
    var sum = 0.0;
    for (var step = 0u; step < count; step++) {
        var tap = vec3f(middle, 1.0);
        if view.shadow_filter == GAUSSIAN {
            tap = bell(middle, step);
        } else if view.shadow_filter != HARDWARE {
            tap = spiral(middle, step, turn);
        }
        let texel = clamp(tap.xy / size, least, most);
        sum += tap.z * textureSampleCompareLevel(map, shadow_sampler, texel, at.z);
    }
    return sum;
}

// One of nine comparisons of four texels each, as place and weight: at places between texels that give five
// by five of them the weights of a bell (I. Castaño, "Shadow Mapping Summary", 2013).
fn bell(middle: vec2f, step: u32) -> vec3f {
    let corner = floor(middle + 0.5);
    let part = middle + 0.5 - corner;
    let x = bell_along(part.x, step % 3u);
    let y = bell_along(part.y, step / 3u);
    return vec3f(corner - 0.5 + vec2f(x.x, y.x), x.y * y.y / 144.0);
}

// Place and weight along one axis.
fn bell_along(part: f32, step: u32) -> vec2f {
    if step == 0u {
        let weight = 4.0 - 3.0 * part;
        return vec2f((3.0 - 2.0 * part) / weight - 2.0, weight);
    }
    if step == 1u {
        return vec2f((3.0 + part) / 7.0, 7.0);
    }
    let weight = 1.0 + 3.0 * part;
    return vec2f(part / weight + 2.0, weight);
}

// One of eight comparisons on a spiral that is turned from pixel to pixel (J. Jimenez, "Next Generation Post
// Processing in Call of Duty: Advanced Warfare", 2014). Frames do not differ: nothing joins them yet.
fn spiral(middle: vec2f, step: u32, turn: f32) -> vec3f {
    // The golden angle, and a radius that gives each step the same area: two texels at most.
    let angle = turn + f32(step) * 2.3999632;
    let radius = 2.0 * sqrt((f32(step) + 0.5) / 8.0);
    return vec3f(middle + radius * vec2f(cos(angle), sin(angle)), 0.125);
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

