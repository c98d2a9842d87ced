// BRDF of surfaces: Burley diffuse, GGX specular with anisotropy, clearcoat, diffuse transmission.
//
// n_dot_v, n_dot_l, n_dot_h, l_dot_h: cosines between normal, view, light and half vector
// f0, f90: reflectance at normal and at grazing incidence
// alpha: squared perceptual roughness
// d: normal distribution (GGX); v: visibility, the masking-shadowing term over 4 n_dot_l n_dot_v
// dfg: scale and bias of the specular lobe's integral (dfg.wgsl)

import quadrille_3d::constants::PI;

// Shading parameters of a point on a surface.
struct Surface {
    world_position: vec3f,
    normal: vec3f,
    to_view: vec3f,
    n_dot_v: f32,
    // Diffuse albedo.
    diffuse: vec3f,
    // Albedo of Lambertian transmission of light from the other side.
    diffuse_transmission: vec3f,
    // f0 of metals and of dielectrics, mixed by `metallic`.
    base: vec3f,
    dielectric: vec3f,
    metallic: f32,
    // Reflectance at normal and at grazing incidence.
    f0: vec3f,
    f90: f32,
    perceptual_roughness: f32,
    // DFG term of the base layer.
    dfg: vec2f,
    // Factor that adds multiple scattering between microfacets.
    energy_compensation: vec3f,
    // Axes along and across stretched highlights, and the strength.
    anisotropy_tangent: vec3f,
    anisotropy_bitangent: vec3f,
    anisotropy: f32,
    clearcoat: Clearcoat,
}

// Clearcoat over a surface.
struct Clearcoat {
    strength: f32,
    perceptual_roughness: f32,
    normal: vec3f,
    n_dot_v: f32,
    dfg: vec2f,
}

// Direction of the light that arrives at a point.
struct LightSample {
    to_light: vec3f,
    // Vector to its center, and the radius of its sphere; with radius 0 only the direction counts.
    to_center: vec3f,
    radius: f32,
}

// Evaluates the BRDF for one light, times its cosine.
fn evaluate_brdf(surface: Surface, light: LightSample) -> vec3f {
    let n_dot_l = dot(surface.normal, light.to_light);
    var base = vec3f(0.0);
    if n_dot_l > 0.0 {
        base = diffuse_lobe(surface, light.to_light, n_dot_l);
    }
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let highlight = specular_lobe(surface, sphere_light_lobe(light, surface.normal, surface.to_view, alpha));
    if surface.clearcoat.strength == 0.0 {
        return base + highlight;
    }
    // The clearcoat reflects its part of incoming and of outgoing light.
    let clearcoat_alpha = surface.clearcoat.perceptual_roughness * surface.clearcoat.perceptual_roughness;
    let lobe = sphere_light_lobe(light, surface.clearcoat.normal, surface.to_view, clearcoat_alpha);
    let half_vector = normalize(lobe.to_light + surface.to_view);
    let l_dot_h = saturate(dot(lobe.to_light, half_vector));
    let fresnel = surface.clearcoat.strength * (0.04 + 0.96 * pow5(1.0 - l_dot_h));
    let below = (base + highlight * (1.0 - fresnel)) * (1.0 - fresnel);
    let clearcoat_n_dot_l = dot(surface.clearcoat.normal, lobe.to_light);
    if clearcoat_n_dot_l <= 0.0 {
        return below;
    }
    let d = d_ggx(saturate(dot(surface.clearcoat.normal, half_vector)), lobe.alpha * lobe.alpha);
    // Visibility term of Kelemen for nearly smooth surfaces.
    let v = 0.25 / max(l_dot_h * l_dot_h, 1e-8);
    return below + d * v * fresnel * clearcoat_n_dot_l * lobe.strength;
}

// Burley's diffuse lobe (2012): rough surfaces reflect more at grazing angles. As in bevy and Filament by the square of
// the perceptual roughness, where the original has the roughness itself.
fn diffuse_lobe(surface: Surface, to_light: vec3f, n_dot_l: f32) -> vec3f {
    let l_dot_h = saturate(dot(to_light, normalize(to_light + surface.to_view)));
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let grazing = 0.5 + 2.0 * alpha * l_dot_h * l_dot_h;
    let both = (1.0 + (grazing - 1.0) * pow5(1.0 - n_dot_l))
        * (1.0 + (grazing - 1.0) * pow5(1.0 - surface.n_dot_v));
    return surface.diffuse * (both / PI * n_dot_l);
}

// Evaluates diffuse transmission for one light on the other side, times its cosine.
fn transmitted_light(surface: Surface, to_light: vec3f) -> vec3f {
    return surface.diffuse_transmission * (max(-dot(surface.normal, to_light), 0.0) / PI);
}

// Representative light of a lobe: its direction, the widened roughness of the lobe, and
// the factor on its intensity.
struct Lobe {
    to_light: vec3f,
    alpha: f32,
    strength: f32,
}

// Representative point of a sphere light: the point closest to the reflected view ray, in a wider lobe
// (B. Karis, "Real Shading in Unreal Engine 4", 2013). Smooth surfaces keep their lobe.
fn sphere_light_lobe(light: LightSample, normal: vec3f, to_view: vec3f, alpha: f32) -> Lobe {
    if light.radius == 0.0 {
        return Lobe(light.to_light, alpha, 1.0);
    }
    let ray = reflect(-to_view, normal);
    let aside = max(dot(light.to_center, ray), 0.0001) * ray - light.to_center;
    let part = saturate(light.radius * inverseSqrt(max(dot(aside, aside), 1e-20)));
    let to_light = normalize(light.to_center + aside * part);
    let size = light.radius * inverseSqrt(max(dot(light.to_center, light.to_center), 1e-20));
    let widened_alpha = saturate(alpha + 0.5 * size);
    let smooth_part = (1.0 - alpha) * (1.0 - alpha) * (1.0 - alpha) * (1.0 - alpha);
    let n_dot_l = saturate(dot(normal, to_light));
    let horizon = n_dot_l / max(n_dot_l + size * size, 0.0001);
    let narrower = alpha / widened_alpha;
    return Lobe(to_light, mix(widened_alpha, alpha, smooth_part), narrower * narrower * horizon);
}

fn specular_lobe(surface: Surface, lobe: Lobe) -> vec3f {
    let to_light = lobe.to_light;
    let n_dot_l = dot(surface.normal, to_light);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let half_vector = normalize(to_light + surface.to_view);
    let l_dot_h = saturate(dot(to_light, half_vector));
    let n_dot_h = saturate(dot(surface.normal, half_vector));
    let alpha = lobe.alpha;
    let fresnel = surface.f0 + (surface.f90 - surface.f0) * pow5(1.0 - l_dot_h);
    let color = fresnel * surface.energy_compensation * (n_dot_l * lobe.strength);
    let n_dot_v = surface.n_dot_v;
    if surface.anisotropy == 0.0 {
        let square = alpha * alpha;
        // Height-correlated Smith visibility term for GGX (Heitz 2014).
        let by_view = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - square) + square);
        let by_light = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - square) + square);
        let v = 0.5 / (by_view + by_light);
        return d_ggx(n_dot_h, square) * v * color;
    }
    // Anisotropic GGX: one roughness along the tangent, one across (glTF's KHR_materials_anisotropy).
    let long = mix(alpha, 1.0, surface.anisotropy * surface.anisotropy);
    let both = long * alpha;
    let axes = mat2x3f(surface.anisotropy_tangent, surface.anisotropy_bitangent);
    let in_half = half_vector * axes;
    let spread = vec3f(alpha * in_half.x, long * in_half.y, both * n_dot_h);
    let part = both / dot(spread, spread);
    let d = both * part * part / PI;
    let radii = vec2f(long, alpha);
    let by_view = n_dot_l * length(vec3f(radii * (surface.to_view * axes), n_dot_v));
    let by_light = n_dot_v * length(vec3f(radii * (to_light * axes), n_dot_l));
    let v = min(0.5 / (by_view + by_light), 1.0);
    return d * v * color;
}

// Normal distribution of Trowbridge and Reitz (GGX).
fn d_ggx(n_dot_h: f32, alpha_squared: f32) -> f32 {
    let spread = n_dot_h * n_dot_h * (alpha_squared - 1.0) + 1.0;
    return alpha_squared / (PI * spread * spread);
}

// Ambient light of one radiance from all directions, as in bevy: diffuse is scaled by the DFG term of
// roughness 1, `rough`, and there is no clearcoat.
// `occlusion` attenuates the light on the visible side.
fn ambient_light(surface: Surface, rough: vec2f, ambient: vec3f, occlusion: vec3f) -> vec3f {
    let specular = (surface.f0 * surface.dfg.x + surface.dfg.y) * surface.f90;
    let diffuse = surface.diffuse * rough.x + rough.y;
    return ambient * ((diffuse + specular) * occlusion + surface.diffuse_transmission * (rough.x + rough.y));
}

fn pow5(x: f32) -> f32 {
    let square = x * x;
    return square * square * x;
}
