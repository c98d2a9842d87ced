// How much of a light arrives: shadow maps, filtered.

import quadrille_3d::scene::{
    DIRECTIONAL, Light, SPOT, View, face_shadows, flat_shadows, shadow_sampler, shadow_views,
};

// Where light meets a mesh.
struct Place {
    world: vec3f,
    // Of the mesh, whatever images say.
    normal: vec3f,
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
        return filtered(flat_shadows, first, nearer + offset);
    }
    let sides = abs(way);
    let farthest = max(sides.x, max(sides.y, sides.z));
    let moved = nearer + place.normal * (light.normal_bias * farthest);
    return filtered(face_shadows, first + face_of(moved - light.place), moved);
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
    for (var at = 0u; at < count; at++) {
        let row = first + at;
        let far = shadow_views[row].far;
        if depth > far {
            continue;
        }
        let bias = place.normal * light.normal_bias;
        let here = filtered(flat_shadows, row, nearer + bias * shadow_views[row].texel);
        let blend = shadow_views[row].blend;
        if at + 1u == count || depth <= blend {
            return here;
        }
        let next = row + 1u;
        let beyond = filtered(flat_shadows, next, nearer + bias * shadow_views[next].texel);
        return mix(here, beyond, (depth - blend) / (far - blend));
    }
    return 1.0;
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

// Nine comparisons of four texels each, the middle ones counting more.
fn filtered(map: texture_depth_2d, row: u32, world: vec3f) -> f32 {
    let place = shadow_place(row, world);
    let tile = shadow_views[row].tile;
    if !is_in_map(place) || tile.z == 0.0 {
        return 1.0;
    }
    let texel = 1.0 / vec2f(textureDimensions(map));
    let middle = tile.xy + place.xy * tile.zw;
    // Other tiles have nothing to say.
    let least = tile.xy + 0.5 * texel;
    let most = tile.xy + tile.zw - 0.5 * texel;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y)));
            let at = clamp(middle + vec2f(vec2i(x, y)) * texel, least, most);
            sum += weight * textureSampleCompareLevel(map, shadow_sampler, at, place.z);
        }
    }
    return sum / 16.0;
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

