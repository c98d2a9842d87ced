// Surfaces of the G-buffer with their decals, for `opaque_3d` and `ssr_3d`. The shading normal stands in for the geometric
// one, which is not stored.

import quadrille_3d::brdf::Surface;
import quadrille_3d::contact_shadows::contact_depths;
import quadrille_3d::decals::apply_decals;
import quadrille_3d::gbuffer::{GBufferSurface, IS_UNLIT};
import quadrille_3d::pbr::{HAS_DECALS, dfg_term, is_orthographic};
import quadrille_3d::scene::View;

@group(0) @binding(28) var gbuffer: texture_2d<u32>;

// World position of the surface of a pixel.
fn world_position_at(pixel: vec2f, world_from_clip: mat4x4f) -> vec3f {
    let depth = textureLoad(contact_depths, vec2u(pixel), 0);
    let uv = pixel / vec2f(textureDimensions(contact_depths));
    let position = world_from_clip * vec4f(uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0), depth, 1.0);
    return position.xyz / position.w;
}

// Surface with the decals of a view.
fn decaled_surface(stored: GBufferSurface, world_position: vec3f, view: View) -> GBufferSurface {
    var surface = stored;
    if !HAS_DECALS || view.decal_words == 0u {
        return surface;
    }
    let is_unlit = (stored.flags & IS_UNLIT) != 0u;
    let base = select(stored.base, stored.emissive, is_unlit);
    let decaled = apply_decals(vec4f(base, 1.0), stored.normal, world_position, view);
    if is_unlit {
        surface.emissive = decaled.base.rgb;
    } else {
        surface.base = decaled.base.rgb;
        surface.emissive += decaled.emissive;
        let kept = vec2f(stored.metallic, stored.perceptual_roughness) * decaled.kept;
        let metallic_roughness = kept + decaled.metallic_roughness;
        surface.metallic = metallic_roughness.x;
        surface.perceptual_roughness = metallic_roughness.y;
        surface.normal = decaled.normal;
    }
    return surface;
}

fn surface_of(stored: GBufferSurface, world_position: vec3f, view: View) -> Surface {
    var surface: Surface;
    surface.world_position = world_position;
    surface.normal = stored.normal;
    surface.to_view = select(normalize(view.position - world_position), -view.forward, is_orthographic(view));
    surface.n_dot_v = clamp(dot(surface.normal, surface.to_view), 0.0001, 1.0);
    surface.base = stored.base;
    surface.metallic = stored.metallic;
    surface.diffuse = stored.base * (1.0 - stored.metallic);
    surface.dielectric = vec3f(0.16 * stored.reflectance * stored.reflectance);
    surface.f0 = mix(surface.dielectric, surface.base, surface.metallic);
    // f0 below 2 % is taken for occlusion.
    surface.f90 = saturate(dot(surface.f0, vec3f(16.5)));
    surface.perceptual_roughness = clamp(stored.perceptual_roughness, 0.089, 1.0);
    surface.dfg = dfg_term(surface.n_dot_v, surface.perceptual_roughness);
    surface.energy_compensation = 1.0 + surface.f0 * (1.0 / (surface.dfg.x + surface.dfg.y) - 1.0);
    surface.clearcoat.normal = surface.normal;
    surface.clearcoat.n_dot_v = 1.0;
    return surface;
}

// Whether `ssr_3d` adds the specular reflection of environment maps to a lit surface, or what stands before them.
fn is_reflective(stored: GBufferSurface, view: View) -> bool {
    return view.reflected_roughness.y > 0.0
        && stored.perceptual_roughness >= view.reflected_roughness.x
        && stored.perceptual_roughness <= view.reflected_roughness.y;
}
