// Occlusion of indirect light: of images of materials, and of the map that `ssao_3d` draws.

import quadrille_3d::constants::HAS_AMBIENT_OCCLUSION_MAP;
import quadrille_3d::brdf::Surface;
import quadrille_3d::scene::View;

// The pipeline reads the map in views that have one.
override HAS_AMBIENT_OCCLUSION: bool = true;

@group(0) @binding(29) var ambient_occlusion_map: texture_2d<f32>;

// Factors on indirect light.
struct Occlusion {
    diffuse: vec3f,
    specular: f32,
}

// Visibility with light that occluders of the same albedo reflect: polynomial fit of Jimenez et al. 2016 ("Practical
// Realtime Strategies for Accurate Indirect Occlusion").
fn multibounce(visibility: f32, albedo: vec3f) -> vec3f {
    let a = 2.0404 * albedo - 0.3324;
    let b = -4.7951 * albedo + 0.6417;
    let c = 2.7552 * albedo + 0.6903;
    return max(vec3f(visibility), ((visibility * a + b) * visibility + c) * visibility);
}

// Part of the specular lobe's light that arrives (Lagarde and de Rousiers 2014, "Moving Frostbite to Physically Based
// Rendering").
fn specular_occlusion(surface: Surface, visibility: f32) -> f32 {
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    return saturate(pow(surface.n_dot_v + visibility, exp2(-16.0 * alpha - 1.0)) - 1.0 + visibility);
}

// Occlusion of a surface at a pixel; `occlusion` is that of its material.
fn indirect_occlusion(surface: Surface, view: View, pixel: vec2f, occlusion: f32) -> Occlusion {
    var factors = Occlusion(vec3f(occlusion), 1.0);
    if HAS_AMBIENT_OCCLUSION && (view.flags & HAS_AMBIENT_OCCLUSION_MAP) != 0u {
        let visibility = textureLoad(ambient_occlusion_map, vec2u(pixel), 0).x;
        factors.diffuse = min(factors.diffuse, multibounce(visibility, surface.base));
        factors.specular = specular_occlusion(surface, visibility);
    }
    return factors;
}
