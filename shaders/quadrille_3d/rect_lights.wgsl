// Rectangular lights of uniform radiance, without samples: a lobe is a clamped cosine transformed by a matrix, so
// its integral over a polygon is that of the cosine over the inversely transformed polygon, in closed form (E. Heitz,
// J. Dupuy, S. Hill, D. Neubelt, "Real-Time Polygonal-Light Shading with Linearly Transformed Cosines", 2016).
//
// n_dot_v: cosine of normal and view direction
// f0, f90: reflectance at normal and at grazing incidence
// dfg: scale and bias of the specular lobe's integral (dfg.wgsl)

import quadrille_3d::constants::LTC_LUT_SIZE;
import quadrille_3d::dfg::dfg_lut;
import quadrille_3d::brdf::Surface;
import quadrille_3d::scene::{Light, clamped_sampler, ltc_lut};

// Form factor of a polygon: 1 if it covers the whole hemisphere.
struct PolygonIntegral {
    integral: f32,
    // Points where the polygon crosses the horizon, down and up again.
    horizon_exit: vec3f,
    up: vec3f,
    is_cut: bool,
}

// Light of a rectangle that a surface reflects to the view.
fn rect_light(surface: Surface, light: Light) -> vec3f {
    let right = light.axis;
    let up = vec3f(light.up[0], light.up[1], light.up[2]);
    let to_center = light.position_or_direction - surface.world_position;
    if dot(cross(up, right), to_center) >= 0.0 {
        // Rectangles emit to one side only.
        return vec3f(0.0);
    }
    let part = dot(to_center, to_center) * light.inverse_range_squared;
    let window = saturate(1.0 - part * part);
    if window == 0.0 {
        return vec3f(0.0);
    }
    let corners = mat4x3f(to_center + right - up, to_center - right - up, to_center - right + up, to_center + right + up);
    let clearcoat = surface.clearcoat;
    let fresnel = clearcoat.strength * (0.04 * clearcoat.dfg.x + clearcoat.dfg.y);
    var sum = vec3f(0.0);
    // A single call of `ltc_evaluate`, which is most of this, keeps the code small.
    for (var lobe = DIFFUSE; lobe <= DIFFUSE_TRANSMISSION; lobe++) {
        var part = vec3f(0.0);
        var frame = shading_frame(surface.normal, surface.to_view);
        if lobe == DIFFUSE {
            // The diffuse lobe is the cosine itself.
            part = surface.diffuse * (1.0 - fresnel);
        } else if lobe == SPECULAR {
            // As in bevy: the table whatever `DFG_LUT` says, and no energy compensation.
            let dfg = dfg_lut(surface.n_dot_v, surface.perceptual_roughness);
            part = surface.f0 * dfg.x + surface.f90 * dfg.y;
            part *= (1.0 - fresnel) * (1.0 - fresnel);
            frame = ltc_matrix(surface.perceptual_roughness, surface.n_dot_v) * frame;
        } else if lobe == CLEARCOAT {
            part = vec3f(fresnel);
            frame = shading_frame(clearcoat.normal, surface.to_view);
            frame = ltc_matrix(clearcoat.perceptual_roughness, clearcoat.n_dot_v) * frame;
        } else {
            part = surface.diffuse_transmission;
            frame = shading_frame(-surface.normal, surface.to_view);
        }
        if any(part > vec3f(0.0)) {
            sum += part * ltc_evaluate(frame * corners);
        }
    }
    return light.color * sum * (window * window);
}

// Lobes of a surface.
const DIFFUSE: u32 = 0u;
const SPECULAR: u32 = 1u;
const CLEARCOAT: u32 = 2u;
const DIFFUSE_TRANSMISSION: u32 = 3u;

// Matrix to shading space, in which the normal is z and the view has no y.
fn shading_frame(normal: vec3f, to_view: vec3f) -> mat3x3f {
    let aside = to_view - normal * dot(normal, to_view);
    let square = dot(aside, aside);
    // Along the normal any tangent will do.
    let helper = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), abs(normal.x) > 0.7);
    let any = normalize(helper - normal * dot(normal, helper));
    let along = select(any, aside * inverseSqrt(max(square, 1e-20)), square > 1e-10);
    return transpose(mat3x3f(along, cross(normal, along), normal));
}

// Matrix from a specular lobe to the cosine.
fn ltc_matrix(perceptual_roughness: f32, cosine: f32) -> mat3x3f {
    let uv = vec2f(perceptual_roughness, sqrt(1.0 - cosine)) * ((LTC_LUT_SIZE - 1.0) / LTC_LUT_SIZE) + 0.5 / LTC_LUT_SIZE;
    let entry = textureSampleLevel(ltc_lut, clamped_sampler, uv, 0.0);
    return mat3x3f(vec3f(entry.x, 0.0, entry.y), vec3f(0.0, 1.0, 0.0), vec3f(entry.z, 0.0, entry.w));
}

// Integrates a clamped cosine around z over a rectangle: the sum over its edges, as far as they are above the horizon.
fn ltc_evaluate(corners: mat4x3f) -> f32 {
    var sum: PolygonIntegral;
    add_edge(&sum, corners[0], corners[1]);
    add_edge(&sum, corners[1], corners[2]);
    add_edge(&sum, corners[2], corners[3]);
    add_edge(&sum, corners[3], corners[0]);
    if sum.is_cut {
        // The edge along the horizon.
        sum.integral += integrate_edge(sum.horizon_exit, sum.up);
    }
    // The sign is the winding, which the matrix may flip.
    return abs(sum.integral);
}

fn add_edge(sum: ptr<function, PolygonIntegral>, first: vec3f, second: vec3f) {
    let is_above = vec2<bool>(first.z > 0.0, second.z > 0.0);
    if !any(is_above) {
        return;
    }
    let cut = mix(first, second, first.z / select(first.z - second.z, 1.0, all(is_above)));
    var begin = first;
    var end = second;
    if !is_above.y {
        end = cut;
        (*sum).horizon_exit = cut;
        (*sum).is_cut = true;
    }
    if !is_above.x {
        begin = cut;
        (*sum).up = cut;
        (*sum).is_cut = true;
    }
    (*sum).integral += integrate_edge(begin, end);
}

// Integral of an edge: z of the normal of the plane through it and the origin, times its angle over
// 2 pi. The angle over its sine is a fitted curve, which has no cancellation (S. Hill, E. Heitz, "Real-Time Area
// Lighting: a Journey from Research to Production", 2016).
fn integrate_edge(begin: vec3f, end: vec3f) -> f32 {
    let first = normalize(begin);
    let second = normalize(end);
    let cosine = dot(first, second);
    let x = abs(cosine);
    let low = (0.8543985 + (0.4965155 + 0.0145206 * x) * x) / (3.4175940 + (4.1616724 + x) * x);
    let high = 0.5 * inverseSqrt(max(1.0 - cosine * cosine, 1e-7)) - low;
    return cross(first, second).z * select(high, low, cosine > 0.0);
}
