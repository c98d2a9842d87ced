// Where the eye meets a surface that lies deeper than its mesh says.

enable wgpu_binding_array;

import quadrille_3d::scene::{Material, first_level};


// The texture coordinates of that. `down` is the eye's ray by tangent, its right angle and normal, and goes
// below the surface.
fn moved_in(uv: vec2f, down: vec3f, material: Material) -> vec2f {
    let layers = material.parallax.y;
    let steepness = abs(down.z);
    if layers < 1.0 || steepness < 1e-4 {
        return uv;
    }
    // More layers for rays along the surface, which go further.
    let count = mix(layers, 1.0, steepness);
    var depth_step = 1.0 / count;
    var way = down.xy * vec2f(1.0, -1.0) * (material.parallax.x * depth_step / steepness);
    var place = uv;
    var depth = 0.0;
    var found = depth_at(place, material);
    for (var layer = 0u; layer <= u32(count) && found > depth; layer++) {
        depth += depth_step;
        place += way;
        found = depth_at(place, material);
    }
    if depth == 0.0 {
        return uv;
    }
    let halvings = u32(material.parallax.z);
    if halvings == 0u {
        // As if the surface were straight between the last two layers.
        let before = depth_at(place - way, material) - (depth - depth_step);
        let behind = found - depth;
        let part = behind / min(behind - before, -1e-6);
        return place - way * saturate(part);
    }
    // Halfway between them, a quarter of the way, and so on.
    for (var halving = 0u; halving < halvings; halving++) {
        way *= 0.5;
        depth_step *= 0.5;
        if depth_at(place - way, material) <= depth - depth_step {
            place -= way;
            depth -= depth_step;
        }
    }
    return place;
}

fn depth_at(uv: vec2f, material: Material) -> f32 {
    return first_level(material.last_textures.w, uv).r;
}
