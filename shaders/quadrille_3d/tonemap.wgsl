// Radiance becomes colours of a screen: see `tonemap_3d`.
//
// What leaves this shader is linear, multiplied with alpha.

struct Push {
    // Behind the scene; with alpha 0 what is there already.
    background: vec4f,
    // Where the view begins in its target, in pixels.
    corner: vec2f,
    // 0 none, 1 Reinhard, 2 Reinhard of the luminance, 3 ACES, 4 somewhat boring, 5 Khronos' neutral.
    method: u32,
    // The background is mapped as the scene is.
    maps_background: u32,
}

@group(0) @binding(0) var scene: texture_2d<f32>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let seen = textureLoad(scene, vec2i(at.xy - push.corner), 0);
    let behind = push.background * (1.0 - seen.a);
    if push.maps_background != 0u {
        return vec4f(mapped(seen.rgb + behind.rgb * push.background.a), seen.a + behind.a);
    }
    // Where little covers, as at edges, it has the colour that it would have if it covered all.
    let covers = select(1.0, seen.a, seen.a > 1.0 / 256.0);
    let color = mapped(seen.rgb / covers) * covers;
    return vec4f(color + behind.rgb * push.background.a, seen.a + behind.a);
}

fn mapped(color: vec3f) -> vec3f {
    switch push.method {
        case 1u: { return color / (1.0 + color); }
        case 2u: { return color / (1.0 + luminance(color)); }
        case 3u: { return aces(color); }
        case 4u: { return somewhat_boring(color); }
        case 5u: { return khronos_neutral(color); }
        default: { return color; }
    }
}

fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// Stephen Hill's fit of the reference rendering and output transforms.
fn aces(color: vec3f) -> vec3f {
    let input = vec3f(
        dot(color, vec3f(0.59719, 0.35458, 0.04823)),
        dot(color, vec3f(0.07600, 0.90834, 0.01566)),
        dot(color, vec3f(0.02840, 0.13383, 0.83777)),
    );
    let above = input * (input + 0.0245786) - 0.000090537;
    let below = input * (0.983729 * input + 0.4329510) + 0.238081;
    let curve = above / below;
    return saturate(vec3f(
        dot(curve, vec3f(1.60475, -0.53108, -0.07367)),
        dot(curve, vec3f(-0.10208, 1.10813, -0.00605)),
        dot(curve, vec3f(-0.00327, -0.07276, 1.07602)),
    ));
}

// Tomasz Stachowiak's: by luminance where colours are dull, by channel where they are not.
fn somewhat_boring(color: vec3f) -> vec3f {
    let luma = luminance(color);
    let chroma = vec2f(
        dot(color, vec3f(-0.1146, -0.3854, 0.5)),
        dot(color, vec3f(0.5, -0.4542, -0.0458)),
    );
    let vivid = 1.0 - exp(-2.4 * length(chroma));
    let fade = max((vivid - 0.7) * 0.8, 0.0);
    let faded = mix(color, vec3f(luma), fade * fade);
    let by_luminance = color * ((1.0 - exp(-luma)) / max(luma, 1e-5));
    let by_channel = 1.0 - exp(-faded);
    return mix(by_luminance, by_channel, vivid * vivid) * 0.97;
}

// The specification of Khronos' PBR Neutral Tone Mapper.
fn khronos_neutral(color: vec3f) -> vec3f {
    const START: f32 = 0.8 - 0.04;
    const FADE: f32 = 0.15;
    let least = min(color.r, min(color.g, color.b));
    let offset = select(0.04, least - 6.25 * least * least, least < 0.08);
    let lifted = color - offset;
    let peak = max(lifted.r, max(lifted.g, lifted.b));
    if peak < START {
        return lifted;
    }
    const ROOM: f32 = 1.0 - START;
    let new_peak = 1.0 - ROOM * ROOM / (peak + ROOM - START);
    let fade = 1.0 - 1.0 / (FADE * (peak - new_peak) + 1.0);
    return mix(lifted * (new_peak / peak), vec3f(new_peak), fade);
}
