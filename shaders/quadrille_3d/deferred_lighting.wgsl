// Lighting of surfaces in the G-buffer, with the functions of pbr.wgsl: see `opaque_3d`.

import quadrille_3d::ambient_occlusion::indirect_occlusion;
import quadrille_3d::brdf::ambient_light;
import quadrille_3d::constants::MAX_RADIANCE;
import quadrille_3d::deferred_surface::{decaled_surface, gbuffer, is_reflective, surface_of, world_position_at};
import quadrille_3d::display::display_transform;
import quadrille_3d::environment::environment_light;
import quadrille_3d::fog::apply_fog;
import quadrille_3d::gbuffer::{
    GBufferSurface, HAS_FOG_ENABLED, IS_SURFACE, IS_UNLIT, RECEIVES_SHADOWS, unpack_gbuffer,
};
import quadrille_3d::pbr::{HAS_ENVIRONMENTS, HAS_FOG, MAPS_TONES, ReceiverSides, dfg_term, shade_lights};
import quadrille_3d::scene::{View, camera};
import quadrille_3d::shadows::ShadowReceiver;

struct Push {
    world_from_clip: mat4x4f,
}

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn shade(stored: GBufferSurface, world_position: vec3f, pixel: vec2f, view: View) -> vec3f {
    let surface = surface_of(stored, world_position, view);
    var occlusion = indirect_occlusion(surface, view, pixel, stored.occlusion);
    var radiance = ambient_light(surface, dfg_term(surface.n_dot_v, 1.0), view.ambient, occlusion.diffuse);
    if HAS_ENVIRONMENTS {
        if is_reflective(stored, view) {
            occlusion.specular = 0.0;
        }
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
    let world_position = world_position_at(position.xy, push.world_from_clip);
    stored = decaled_surface(stored, world_position, view);
    var color = stored.emissive;
    if (stored.flags & IS_UNLIT) == 0u {
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
