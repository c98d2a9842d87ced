// The image of a sprite, by bevy's names: `bevy_sprite_render::sprite_mesh::functions`.

import quadrille_2d::vertex::{apply_alpha_mode, image_uv, instances};

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

// Color of the image, tinted and with the alpha mode, which may discard the fragment.
fn sample_final_color(uv: vec2f, instance_index: u32) -> vec4f {
    return get_final_color(sample_sprite_texture(uv, instance_index), instance_index);
}

// Color of the image as it is.
fn sample_sprite_texture(uv: vec2f, instance_index: u32) -> vec4f {
    return textureSample(image, image_sampler, get_final_uv(uv, instance_index));
}

fn get_final_color(sprite_color: vec4f, instance_index: u32) -> vec4f {
    return alpha_discard(apply_tint(sprite_color, instance_index), instance_index);
}

// Texture coordinates by flips, slice and atlas.
fn get_final_uv(uv: vec2f, instance_index: u32) -> vec2f {
    return image_uv(instances[instance_index], uv);
}

fn apply_tint(sprite_color: vec4f, instance_index: u32) -> vec4f {
    return sprite_color * instances[instance_index].tint;
}

fn alpha_discard(output_color: vec4f, instance_index: u32) -> vec4f {
    return apply_alpha_mode(output_color, instances[instance_index].alpha_mode);
}
