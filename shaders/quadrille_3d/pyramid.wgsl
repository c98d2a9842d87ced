// How far the farthest place of squares of a view is: see `pyramid_3d`. 1 is near, so that is the least
// depth of all samples.

@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var sampled_depths: texture_depth_multisampled_2d;
@group(0) @binding(2) var finer: texture_2d<f32>;
@group(0) @binding(3) var level: texture_storage_2d<r32float, write>;

// The pixels that a texel of the first level touches: its sides are powers of two, the view's are less than
// twice as long.
fn touched(texel: vec2u, size: vec2u) -> vec4u {
    let sides = textureDimensions(level);
    return vec4u(texel * size / sides, ((texel + 1u) * size + sides - 1u) / sides);
}

@compute @workgroup_size(8, 8)
fn of_one(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    let area = touched(at.xy, textureDimensions(depths));
    var farthest = 1.0;
    for (var y = area.y; y < area.w; y++) {
        for (var x = area.x; x < area.z; x++) {
            farthest = min(farthest, textureLoad(depths, vec2u(x, y), 0));
        }
    }
    textureStore(level, at.xy, vec4f(farthest));
}

@compute @workgroup_size(8, 8)
fn of_several(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    let area = touched(at.xy, textureDimensions(sampled_depths));
    let samples = textureNumSamples(sampled_depths);
    var farthest = 1.0;
    for (var y = area.y; y < area.w; y++) {
        for (var x = area.x; x < area.z; x++) {
            for (var number = 0u; number < samples; number++) {
                farthest = min(farthest, textureLoad(sampled_depths, vec2u(x, y), number));
            }
        }
    }
    textureStore(level, at.xy, vec4f(farthest));
}

@compute @workgroup_size(8, 8)
fn halve(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(level)) {
        return;
    }
    // A side of one texel stays that.
    let last = textureDimensions(finer) - 1u;
    let low = min(2u * at.xy, last);
    let high = min(2u * at.xy + 1u, last);
    let upper = min(textureLoad(finer, low, 0).x, textureLoad(finer, vec2u(high.x, low.y), 0).x);
    let lower = min(textureLoad(finer, vec2u(low.x, high.y), 0).x, textureLoad(finer, high, 0).x);
    textureStore(level, at.xy, vec4f(min(upper, lower)));
}
