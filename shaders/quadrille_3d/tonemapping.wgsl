// Tone mapping methods: scene-referred to display-referred color.

import quadrille_3d::constants::{
    ACES_FITTED, AGX, BLENDER_FILMIC, KHRONOS_PBR_NEUTRAL, REINHARD, REINHARD_LUMINANCE,
    SOMEWHAT_BORING_DISPLAY_TRANSFORM, TONY_MC_MAPFACE,
};
import quadrille_3d::grading::luminance;

// Maps a color without channels below 0.
fn tone_mapping(
    color: vec3f,
    method: u32,
    tonemapping_lut: texture_3d<f32>,
    lut_sampler: sampler,
) -> vec3f {
    switch method {
        case REINHARD: { return color / (1.0 + color); }
        case REINHARD_LUMINANCE: { return color / (1.0 + luminance(color)); }
        case ACES_FITTED: { return aces_fitted(color); }
        case AGX: { return sample_lut(tonemapping_lut, lut_sampler, agx_lut_coord(color)); }
        case SOMEWHAT_BORING_DISPLAY_TRANSFORM: { return somewhat_boring_display_transform(color); }
        case TONY_MC_MAPFACE: { return sample_lut(tonemapping_lut, lut_sampler, color / (1.0 + color)); }
        case BLENDER_FILMIC: { return sample_lut(tonemapping_lut, lut_sampler, normalized_log2(color, -11.0, 12.0)); }
        case KHRONOS_PBR_NEUTRAL: { return khronos_neutral(color); }
        default: { return color; }
    }
}

// Samples a LUT; 0 and 1 are the centers of its first and last texels.
fn sample_lut(tonemapping_lut: texture_3d<f32>, lut_sampler: sampler, uvw: vec3f) -> vec3f {
    let side = f32(textureDimensions(tonemapping_lut).x);
    let at = saturate(uvw) * ((side - 1.0) / side) + 0.5 / side;
    return textureSampleLevel(tonemapping_lut, lut_sampler, at, 0.0).rgb;
}

// Position of a color between so many stops below middle grey and so many above it.
fn normalized_log2(color: vec3f, least: f32, most: f32) -> vec3f {
    // Logarithms are not defined at black.
    let lifted = select(color, color + 1.0 / 65536.0, color < vec3f(1.0 / 32768.0));
    return saturate((log2(lifted / 0.18) - least) / (most - least));
}

// AgX mixes the primaries before the lookup.
fn agx_lut_coord(color: vec3f) -> vec3f {
    let mixed = vec3f(
        dot(color, vec3f(0.84247906, 0.0784336, 0.07922375)),
        dot(color, vec3f(0.04232824, 0.87846864, 0.07916613)),
        dot(color, vec3f(0.04237565, 0.0784336, 0.87914297)),
    );
    return normalized_log2(mixed, -10.0, 6.5);
}

// Stephen Hill's fit of the reference rendering and output transforms.
fn aces_fitted(color: vec3f) -> vec3f {
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

// Method of Tomasz Stachowiak: by luminance for dull colors, by channel for vivid ones.
fn somewhat_boring_display_transform(color: vec3f) -> vec3f {
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
