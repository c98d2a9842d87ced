// Lighting of surfaces in the G-buffer, with the functions of pbr.wgsl: see `opaque_3d`. The shading normal stands in for
// the geometric one, which is not stored.

import quadrille_3d::ambient_occlusion::indirect_occlusion;
import quadrille_3d::brdf::{Surface, ambient_light};
import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::contact_shadows::contact_depths;
import quadrille_3d::decals::apply_decals;
import quadrille_3d::display::display_transform;
import quadrille_3d::environment::environment_light;
import quadrille_3d::fog::apply_fog;
import quadrille_3d::gbuffer::{
    GBufferSurface, HAS_FOG_ENABLED, IS_SURFACE, IS_UNLIT, RECEIVES_SHADOWS, unpack_gbuffer,
};
import quadrille_3d::pbr::{
    HAS_DECALS, HAS_ENVIRONMENTS, HAS_FOG, MAPS_TONES, ReceiverSides, dfg_term, is_orthographic, shade_lights,
};
import quadrille_3d::scene::{View, camera};
import quadrille_3d::shadows::ShadowReceiver;

struct Push {
    world_from_clip: mat4x4f,
}

@group(0) @binding(28) var gbuffer: texture_2d<u32>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn world_position_at(pixel: vec2f) -> vec3f {
    let depth = textureLoad(contact_depths, vec2u(pixel), 0);
    let uv = pixel / vec2f(textureDimensions(contact_depths));
    let position = push.world_from_clip * vec4f(uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0), depth, 1.0);
    return position.xyz / position.w;
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

fn shade(stored: GBufferSurface, world_position: vec3f, pixel: vec2f, view: View) -> vec3f {
    let surface = surface_of(stored, world_position, view);
    let occlusion = indirect_occlusion(surface, view, pixel, stored.occlusion);
    var radiance = ambient_light(surface, dfg_term(surface.n_dot_v, 1.0), view.ambient, occlusion.diffuse);
    if HAS_ENVIRONMENTS {
        radiance += environment_light(surface, view, occlusion, true);
    }
    let receives = (stored.flags & RECEIVES_SHADOWS) != 0u;
    let sides = ReceiverSides(
        ShadowReceiver(world_position, surface.normal, pixel),
        0.0,
        vec2<bool>(receives, false),
    );
    radiance += shade_lights(surface, sides, view);
    return radiance * view.exposure + stored.emissive;
}

@fragment
fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let view = camera;
    var stored = unpack_gbuffer(textureLoad(gbuffer, vec2u(position.xy), 0));
    if (stored.flags & IS_SURFACE) == 0u {
        discard;
    }
    let is_unlit = (stored.flags & IS_UNLIT) != 0u;
    let world_position = world_position_at(position.xy);
    if HAS_DECALS && view.decal_words != 0u {
        let base = select(stored.base, stored.emissive, is_unlit);
        let decaled = apply_decals(vec4f(base, 1.0), stored.normal, world_position, view);
        if is_unlit {
            stored.emissive = decaled.base.rgb;
        } else {
            stored.base = decaled.base.rgb;
            stored.emissive += decaled.emissive;
            let kept = vec2f(stored.metallic, stored.perceptual_roughness) * decaled.kept;
            let metallic_roughness = kept + decaled.metallic_roughness;
            stored.metallic = metallic_roughness.x;
            stored.perceptual_roughness = metallic_roughness.y;
            stored.normal = decaled.normal;
        }
    }
    var color = stored.emissive;
    if !is_unlit {
        color = shade(stored, world_position, position.xy, view);
    }
    if HAS_FOG && (stored.flags & HAS_FOG_ENABLED) != 0u && view.fog.falloff.w > 0.0 {
        color = apply_fog(color, world_position, position.xy, view);
    }
    color = clamp(color, vec3f(0.0), vec3f(MAX_RADIANCE));
    if MAPS_TONES {
        color = display_transform(color, position.xy);
    }
    return vec4f(color, 1.0);
}
