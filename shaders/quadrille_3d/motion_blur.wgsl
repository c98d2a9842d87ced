// Motion blur: see `motion_blur_3d`.
//
// Each pixel is the mean of samples along its motion while the shutter is open, half of it before and half after the frame
// (Potmesil, Chakravarty 1983, in screen space as Rosado 2007, "GPU Gems 3"). A nearer sample counts only if its own motion
// reaches the pixel (after McGuire et al. 2012, "A Reconstruction Filter for Plausible Motion Blur"), so that what rests in
// front of something moving stays sharp. Offsets differ from pixel to pixel (interleaved gradient noise, Jimenez 2014).

import quadrille_3d::view_transforms::ViewTransforms;

struct Shutter {
    // Part of the time between frames in which the shutter is open.
    angle: f32,
    // Samples in each direction.
    samples: u32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@if(MULTISAMPLED) @group(0) @binding(2) var motion_vectors: texture_multisampled_2d<f32>;
@if(!MULTISAMPLED) @group(0) @binding(2) var motion_vectors: texture_2d<f32>;
@if(MULTISAMPLED) @group(0) @binding(3) var depths: texture_depth_multisampled_2d;
@if(!MULTISAMPLED) @group(0) @binding(3) var depths: texture_depth_2d;
@group(0) @binding(4) var<uniform> shutter: Shutter;
@group(0) @binding(5) var<uniform> view: ViewTransforms;
@group(0) @binding(6) var new_picture: texture_storage_2d<rgba16float, write>;

// A sample is nearer if its distance is less than this part of the pixel's.
const NEARER: f32 = 0.95;
// Motion of more than the picture is none: the surface was behind the eye.
const MAX_MOTION: f32 = 1.0;

struct Surface {
    distance: f32,
    // Motion while the shutter is open, in pixels.
    motion: vec2f,
}

// Size of the picture. Surfaces may have a smaller one, from which it was upscaled.
fn picture_size() -> vec2f {
    return vec2f(textureDimensions(picture));
}

// The surface at a position in pixels of the picture; of several samples the first.
fn surface_at(place: vec2f) -> Surface {
    let pixel = vec2i(place * view.viewport.zw / picture_size());
    let depth = textureLoad(depths, pixel, 0);
    var motion = textureLoad(motion_vectors, pixel, 0).xy;
    motion = select(motion, vec2f(0.0), any(abs(motion) > vec2f(MAX_MOTION)));
    let position = view.view_from_clip * vec4f(0.0, 0.0, depth, 1.0);
    let distance = -position.z / max(position.w, 1e-30);
    return Surface(distance, motion * picture_size() * shutter.angle);
}

fn interleaved_gradient_noise(pixel: vec2f, frame: u32) -> f32 {
    let shifted = pixel + 5.588238 * f32(frame % 64u);
    return fract(52.9829189 * fract(dot(shifted, vec2f(0.06711056, 0.00583715))));
}

// Part of a sample that covers the pixel at a distance in pixels, if it is nearer.
fn weight_of(sample: Surface, here: Surface, distance: f32) -> f32 {
    if sample.distance >= NEARER * here.distance {
        return 1.0;
    }
    return saturate(length(sample.motion) / 2.0 - distance + 1.0);
}

// Mean along the motion of the surface at a position in pixels.
fn blurred(position: vec2f) -> vec4f {
    let size = picture_size();
    let here = surface_at(position);
    let base = textureLoad(picture, vec2i(position), 0);
    // Less than half a pixel in each direction changes nothing.
    if length(here.motion) < 1.0 {
        return base;
    }
    let count = i32(shutter.samples);
    let noise = interleaved_gradient_noise(position, view.frame_count);
    var sum = base;
    var weights = 1.0;
    for (var i = -count; i < count; i++) {
        let offset = here.motion * (f32(i) + noise) / f32(2 * count);
        let at = position + offset;
        if any(at < vec2f(0.0)) || any(at >= size) {
            continue;
        }
        let weight = weight_of(surface_at(at), here, length(offset));
        sum += weight * textureSampleLevel(picture, picture_sampler, at / size, 0.0);
        weights += weight;
    }
    return vec4f(sum.rgb / weights, base.a);
}

@compute @workgroup_size(8, 8)
fn compute_main(@builtin(global_invocation_id) at: vec3u) {
    if any(at.xy >= textureDimensions(new_picture)) {
        return;
    }
    textureStore(new_picture, at.xy, blurred(vec2f(at.xy) + 0.5));
}
