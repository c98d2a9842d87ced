// Distance fog between the camera and surfaces.

import quadrille_3d::constants::{DIRECTIONAL, FOG_ATMOSPHERIC, FOG_EXPONENTIAL_SQUARED, FOG_LINEAR};
import quadrille_3d::scene::{Fog, View, lights};
import quadrille_3d::shadows::{ShadowReceiver, fetch_shadow};

fn apply_fog(color: vec3f, world_position: vec3f, pixel: vec2f, view: View) -> vec3f {
    let fog = view.fog;
    let view_to_world = world_position - view.position;
    let distance = length(view_to_world);
    var inscattered = fog.color.rgb;
    if fog.light_color.a > 0.0 {
        let direction = view_to_world / max(distance, 1e-6);
        var scattered = vec3f(0.0);
        for (var at = 0u; at < view.directional_count; at++) {
            let light = lights[view.first_light + at];
            let along = max(dot(direction, light.position_or_direction), 0.0);
            let added = pow(along, fog.inscattering.w) * light.color * view.exposure;
            // As in bevy, the shadow at the surface stands for all of the fog before it.
            let receiver = ShadowReceiver(world_position, -direction, pixel);
            scattered += added * fetch_shadow(receiver, view, light, DIRECTIONAL, light.position_or_direction);
        }
        inscattered += fog.light_color.rgb * scattered * fog.light_color.a;
    }
    let kind = fog.falloff.w;
    if kind == FOG_ATMOSPHERIC {
        let dimmed = exp(-distance * fog.falloff.xyz);
        let added = 1.0 - exp(-distance * fog.inscattering.xyz);
        return mix(color, color * dimmed + inscattered * added, fog.color.a);
    }
    return mix(color, inscattered, fog_coverage(fog, distance) * fog.color.a);
}

// Part of the color that fog replaces within a distance, before its opacity; for all kinds but `FOG_ATMOSPHERIC`.
fn fog_coverage(fog: Fog, distance: f32) -> f32 {
    if fog.falloff.w == FOG_LINEAR {
        let most = max(fog.falloff.y - fog.falloff.x, 1e-6);
        return 1.0 - saturate((fog.falloff.y - distance) / most);
    }
    let depth = distance * fog.falloff.x;
    return 1.0 - exp(-select(depth, depth * depth, fog.falloff.w == FOG_EXPONENTIAL_SQUARED));
}

// Part of a surface's light that passes the fog before it.
fn fog_transmittance(world_position: vec3f, view: View) -> vec3f {
    let fog = view.fog;
    let distance = length(world_position - view.position);
    if fog.falloff.w == FOG_ATMOSPHERIC {
        return mix(vec3f(1.0), exp(-distance * fog.falloff.xyz), fog.color.a);
    }
    return vec3f(1.0 - fog_coverage(fog, distance) * fog.color.a);
}
