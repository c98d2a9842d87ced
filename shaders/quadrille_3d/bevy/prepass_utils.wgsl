// Images of the prepasses of the view, by bevy's names: `bevy_pbr::prepass::utils`.

import quadrille_3d::constants::MULTISAMPLED_PREPASS;
import quadrille_3d::scene::camera;

// Placeholders of one texel stand in for images that the view does not have.
@group(0) @binding(11) var prepass_depths: texture_depth_2d;
@group(0) @binding(12) var multisampled_prepass_depths: texture_depth_multisampled_2d;
@group(0) @binding(13) var prepass_normals: texture_2d<f32>;
@group(0) @binding(14) var multisampled_prepass_normals: texture_multisampled_2d<f32>;
@group(0) @binding(15) var prepass_motion_vectors: texture_2d<f32>;
@group(0) @binding(28) var multisampled_prepass_motion_vectors: texture_multisampled_2d<f32>;

// Depth of the nearest opaque surface: 1 is near, 0 infinitely far; 0 without `DepthPrepass`.
fn prepass_depth(frag_coord: vec4f, sample_index: u32) -> f32 {
    let pixel = vec2i(frag_coord.xy);
    if (camera.flags & MULTISAMPLED_PREPASS) != 0u {
        return textureLoad(multisampled_prepass_depths, pixel, i32(sample_index));
    }
    return textureLoad(prepass_depths, pixel, 0);
}

// World normal of the nearest opaque surface; zeros where there is none, and without `NormalPrepass`.
fn prepass_normal(frag_coord: vec4f, sample_index: u32) -> vec3f {
    let pixel = vec2i(frag_coord.xy);
    var texel = vec4f(0.0);
    if (camera.flags & MULTISAMPLED_PREPASS) != 0u {
        texel = textureLoad(multisampled_prepass_normals, pixel, i32(sample_index));
    } else {
        texel = textureLoad(prepass_normals, pixel, 0);
    }
    return select(vec3f(0.0), normalize(texel.xyz * 2.0 - 1.0), texel.w > 0.0);
}

// Motion of the nearest opaque surface since the previous frame, in texture coordinates, positive towards the right and
// bottom; zeros where there is none, and without `MotionVectorPrepass`.
fn prepass_motion_vector(frag_coord: vec4f, sample_index: u32) -> vec2f {
    let pixel = vec2i(frag_coord.xy);
    if (camera.flags & MULTISAMPLED_PREPASS) != 0u {
        return textureLoad(multisampled_prepass_motion_vectors, pixel, i32(sample_index)).xy;
    }
    return textureLoad(prepass_motion_vectors, pixel, 0).xy;
}
