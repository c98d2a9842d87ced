// Parts of temporal filters (taa.wgsl, upscaling.wgsl).

import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::view_transforms::ViewTransforms;

// Compresses values above white to less than 2, so that one very bright sample does not outweigh all others. Colors of the
// display's range stay as they are: their mean is that of light.
fn compress(color: vec3f) -> vec3f {
    let brightest = max(color.r, max(color.g, color.b));
    return select(color, color * (2.0 - 1.0 / brightest) / brightest, brightest > 1.0);
}

fn expand(color: vec3f) -> vec3f {
    let brightest = max(color.r, max(color.g, color.b));
    let rest = max(2.0 - brightest, 1.0 / MAX_RADIANCE);
    return select(color, color / (brightest * rest), brightest > 1.0);
}

fn to_ycocg(color: vec3f) -> vec3f {
    return vec3f(
        dot(color, vec3f(0.25, 0.5, 0.25)),
        dot(color, vec3f(0.5, 0.0, -0.5)),
        dot(color, vec3f(-0.25, 0.5, -0.25)),
    );
}

fn from_ycocg(color: vec3f) -> vec3f {
    let rest = color.x - color.z;
    return vec3f(rest + color.y, color.x + color.z, rest - color.y);
}

// Color of a pixel, compressed, as YCoCg.
fn color_of(texel: vec4f) -> vec3f {
    return to_ycocg(compress(clamp(texel.rgb, vec3f(0.0), vec3f(MAX_RADIANCE))));
}

// Distance from the eye along the view direction.
fn distance_of(depth: f32, view: ViewTransforms) -> f32 {
    let position = view.view_from_clip * vec4f(0.0, 0.0, depth, 1.0);
    return -position.z / max(position.w, 1e-30);
}

// Catmull-Rom filter of 4x4 texels without the corners, by bilinear samples.
fn sample_catmull_rom(history: texture_2d<f32>, history_sampler: sampler, uv: vec2f, size: vec2f) -> vec3f {
    let at = uv * size;
    let middle = floor(at - 0.5) + 0.5;
    let f = at - middle;
    let first = f * (-0.5 + f * (1.0 - 0.5 * f));
    let second = 1.0 + f * f * (-2.5 + 1.5 * f);
    let third = f * (0.5 + f * (2.0 - 1.5 * f));
    let fourth = f * f * (-0.5 + 0.5 * f);
    let inner = second + third;
    let low = (middle - 1.0) / size;
    let center = (middle + third / inner) / size;
    let high = (middle + 2.0) / size;
    var sum = textureSampleLevel(history, history_sampler, center, 0.0).rgb * inner.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(low.x, center.y), 0.0).rgb * first.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(high.x, center.y), 0.0).rgb * fourth.x * inner.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(center.x, low.y), 0.0).rgb * inner.x * first.y;
    sum += textureSampleLevel(history, history_sampler, vec2f(center.x, high.y), 0.0).rgb * inner.x * fourth.y;
    let weight = inner.x * inner.y + (first.x + fourth.x) * inner.y + inner.x * (first.y + fourth.y);
    return max(sum / weight, vec3f(0.0));
}

// Part of the way from the center of a box to a color that is in the box.
fn part_in_box(color: vec3f, center: vec3f, half_size: vec3f) -> f32 {
    let outside = abs(color - center) / max(half_size, vec3f(1e-4));
    return 1.0 / max(1.0, max(outside.x, max(outside.y, outside.z)));
}
