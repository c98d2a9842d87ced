// Lens effects: radial distortion (Brown 1966), chromatic aberration (Gjøl and Svendsen 2016) and vignette.

struct Push {
    vignette_color: vec4f,
    vignette_center: vec2f,
    distortion_center: vec2f,
    distortion_multiplier: vec2f,
    // 0 without distortion; the other intensities likewise.
    distortion_intensity: f32,
    distortion_scale: f32,
    edge_curvature: f32,
    aberration_intensity: f32,
    max_samples: u32,
    vignette_intensity: f32,
    vignette_radius: f32,
    vignette_smoothness: f32,
    vignette_roundness: f32,
    edge_compensation: f32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var color_lut: texture_2d<f32>;
@group(0) @binding(2) var clamped_sampler: sampler;
@group(0) @binding(3) var new_picture: texture_storage_2d<rgba16float, write>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn distorted(uv: vec2f) -> vec2f {
    let from_center = uv - push.distortion_center;
    let r = length(from_center);
    if r == 0.0 {
        return uv;
    }
    let k1 = push.distortion_intensity * dot(abs(from_center / r), push.distortion_multiplier);
    let k2 = k1 * push.distortion_intensity * push.edge_curvature;
    let factor = 1.0 + k1 * r * r + k2 * r * r * r * r;
    let moved = push.distortion_center + from_center * factor / push.distortion_scale;
    return clamp(moved, vec2f(0.0), vec2f(1.0));
}

fn sample_picture(uv: vec2f) -> vec4f {
    return textureSampleLevel(picture, clamped_sampler, uv, 0.0);
}

// Mean along the line to the middle of the view, weighted by the colors of the LUT.
fn aberrated(uv: vec2f) -> vec4f {
    let line = (vec2f(0.5) - uv) * push.aberration_intensity;
    let pixels = length(line * vec2f(textureDimensions(picture)));
    let samples = min(u32(ceil(pixels)), push.max_samples);
    if samples <= 1u {
        return sample_picture(uv);
    }
    let border = 0.5 / f32(textureDimensions(color_lut).x);
    var sum = vec3f(0.0);
    var weights = vec3f(0.0);
    for (var i = 0u; i < samples; i++) {
        let t = (f32(i) + 0.5) / f32(samples);
        let lut_uv = vec2f(mix(border, 1.0 - border, t), 0.5);
        let weight = textureSampleLevel(color_lut, clamped_sampler, lut_uv, 0.0).rgb;
        sum += sample_picture(uv + line * t).rgb * weight;
        weights += weight;
    }
    // A channel that the LUT lacks stays as it is.
    let plain = sample_picture(uv);
    return vec4f(select(plain.rgb, sum / max(weights, vec3f(1e-6)), weights > vec3f(0.0)), plain.a);
}

// Part of the vignette's color.
fn vignette_share(uv: vec2f, size: vec2f) -> f32 {
    let aspect = size.x / size.y;
    let center = (push.vignette_center - 0.5) * vec2f(1.0, 1.0 / aspect);
    var scale = size / min(size.x, size.y) * vec2f(1.0, 1.0 / push.vignette_roundness);
    if aspect >= 1.0 {
        scale.x *= mix(1.0, 1.0 / aspect, push.edge_compensation);
    } else {
        scale.y *= mix(1.0, aspect, push.edge_compensation);
    }
    let d = length((uv - 0.5 - center) * scale) / push.vignette_radius;
    let inside = 1.0 - d * d;
    let kept = select(0.0, pow(max(inside, 1e-9), push.vignette_smoothness), inside > 0.0);
    return (1.0 - kept) * push.vignette_intensity;
}

// Color at a position in pixels.
fn lens_color(position: vec2f) -> vec4f {
    let size = vec2f(textureDimensions(picture));
    let uv = position / size;
    var color: vec4f;
    if push.aberration_intensity == 0.0 && push.distortion_intensity == 0.0 {
        color = textureLoad(picture, vec2i(position), 0);
    } else {
        var source = uv;
        if push.distortion_intensity != 0.0 {
            source = distorted(uv);
        }
        color = aberrated(source);
    }
    if push.vignette_intensity == 0.0 {
        return color;
    }
    return vec4f(mix(color.rgb, push.vignette_color.rgb, vignette_share(uv, size)), color.a);
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return lens_color(position.xy);
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    if all(at.xy < textureDimensions(new_picture)) {
        textureStore(new_picture, at.xy, lens_color(vec2f(at.xy) + 0.5));
    }
}
