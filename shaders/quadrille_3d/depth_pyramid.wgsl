// Depth pyramid (Hi-Z): the farthest depth of ever larger squares, see `depth_pyramid_3d`. Reverse z, so that is
// the least depth of all samples.

@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var multisampled_depths: texture_depth_multisampled_2d;
@group(0) @binding(2) var previous_level: texture_2d<f32>;
@group(0) @binding(3) var level: texture_storage_2d<r32float, write>;

// Pixels that a texel of the first level covers: its sides are powers of two, the view's are less than
// twice as long.
fn covered_texels(texel: vec2u, size: vec2u) -> vec4u {
    let sides = textureDimensions(level);
    return vec4u(texel * size / sides, ((texel + 1u) * size + sides - 1u) / sides);
}

@compute @workgroup_size(8, 8)
fn from_single_sampled(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    let area = covered_texels(at.xy, textureDimensions(depths));
    var farthest = 1.0;
    for (var y = area.y; y < area.w; y++) {
        for (var x = area.x; x < area.z; x++) {
            farthest = min(farthest, textureLoad(depths, vec2u(x, y), 0));
        }
    }
    textureStore(level, at.xy, vec4f(farthest));
}

@compute @workgroup_size(8, 8)
fn from_multisampled(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    let area = covered_texels(at.xy, textureDimensions(multisampled_depths));
    let samples = textureNumSamples(multisampled_depths);
    var farthest = 1.0;
    for (var y = area.y; y < area.w; y++) {
        for (var x = area.x; x < area.z; x++) {
            for (var number = 0u; number < samples; number++) {
                farthest = min(farthest, textureLoad(multisampled_depths, vec2u(x, y), number));
            }
        }
    }
    textureStore(level, at.xy, vec4f(farthest));
}

@compute @workgroup_size(8, 8)
fn downsample(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    // A side of one texel is not halved further.
    let last = textureDimensions(previous_level) - 1u;
    let low = min(2u * at.xy, last);
    let high = min(2u * at.xy + 1u, last);
    let upper = min(textureLoad(previous_level, low, 0).x, textureLoad(previous_level, vec2u(high.x, low.y), 0).x);
    let lower = min(textureLoad(previous_level, vec2u(low.x, high.y), 0).x, textureLoad(previous_level, high, 0).x);
    textureStore(level, at.xy, vec4f(min(upper, lower)));
}
