// Parallax mapping: intersection of the view ray with the depth map of a material.

enable wgpu_binding_array;

import quadrille_3d::scene::{Material, sample_base_level};

// Returns the texture coordinates of the intersection. `to_surface` is the view ray in tangent space, and goes
// below the surface.
fn parallaxed_uv(uv: vec2f, to_surface: vec3f, material: Material) -> vec2f {
    let max_layer_count = material.parallax.y;
    let steepness = abs(to_surface.z);
    if max_layer_count < 1.0 || steepness < 1e-4 {
        return uv;
    }
    // More layers for rays along the surface, which go further.
    let count = mix(max_layer_count, 1.0, steepness);
    var depth_step = 1.0 / count;
    var uv_step = to_surface.xy * vec2f(1.0, -1.0) * (material.parallax.x * depth_step / steepness);
    var current_uv = uv;
    var depth = 0.0;
    var sampled_depth = sample_depth(current_uv, material);
    for (var layer = 0u; layer <= u32(count) && sampled_depth > depth; layer++) {
        depth += depth_step;
        current_uv += uv_step;
        sampled_depth = sample_depth(current_uv, material);
    }
    if depth == 0.0 {
        return uv;
    }
    let relief_steps = u32(material.parallax.z);
    if relief_steps == 0u {
        // Parallax occlusion mapping: linear interpolation between the last two layers.
        let depth_before = sample_depth(current_uv - uv_step, material) - (depth - depth_step);
        let depth_after = sampled_depth - depth;
        let part = depth_after / min(depth_after - depth_before, -1e-6);
        return current_uv - uv_step * saturate(part);
    }
    // Relief mapping: bisection between them.
    for (var halving = 0u; halving < relief_steps; halving++) {
        uv_step *= 0.5;
        depth_step *= 0.5;
        if sample_depth(current_uv - uv_step, material) <= depth - depth_step {
            current_uv -= uv_step;
            depth -= depth_step;
        }
    }
    return current_uv;
}

fn sample_depth(uv: vec2f, material: Material) -> f32 {
    return sample_base_level(material.textures[2].w, uv).r;
}
