// Random numbers and small helpers, by bevy's names: `bevy_pbr::render::utils`.

// Next number of a PCG generator (M. O'Neill, 2014, RXS-M-XS 32); `state` is the seed.
fn rand_u(state: ptr<function, u32>) -> u32 {
    *state = *state * 747796405u + 2891336453u;
    let word = ((*state >> ((*state >> 28u) + 4u)) ^ *state) * 277803737u;
    return (word >> 22u) ^ word;
}

// Number from 0 to 1.
fn rand_f(state: ptr<function, u32>) -> f32 {
    return f32(rand_u(state)) / 4294967295.0;
}

fn rand_vec2f(state: ptr<function, u32>) -> vec2f {
    let x = rand_f(state);
    return vec2f(x, rand_f(state));
}

// Number below `n`.
fn rand_range_u(n: u32, state: ptr<function, u32>) -> u32 {
    return rand_u(state) % n;
}

// Position of a pixel in a viewport: left, top, width, height.
fn coords_to_viewport_uv(position: vec2f, viewport: vec4f) -> vec2f {
    return (position - viewport.xy) / viewport.zw;
}

// J. Jimenez, "Next Generation Post Processing in Call of Duty: Advanced Warfare", 2014; shifted each frame.
fn interleaved_gradient_noise(pixel_coordinates: vec2f, frame: u32) -> f32 {
    let pixel = pixel_coordinates + 5.588238 * f32(frame % 64u);
    return fract(52.9829189 * fract(dot(pixel, vec2f(0.06711056, 0.00583715))));
}

// Point `i` of `n` of a Hammersley set.
fn hammersley_2d(i: u32, n: u32) -> vec2f {
    return vec2f(f32(i) / f32(n), f32(reverseBits(i)) / 4294967296.0);
}

// Straight alpha: `fg` over `bg` (T. Porter and T. Duff, 1984).
fn porter_duff_over(bg: vec4f, fg: vec4f) -> vec4f {
    let alpha = fg.a + bg.a * (1.0 - fg.a);
    let color = fg.rgb * fg.a + bg.rgb * bg.a * (1.0 - fg.a);
    return vec4f(select(vec3f(0.0), color / max(alpha, 1e-38), alpha > 0.0), alpha);
}
