// Screen-space reflections of surfaces in the G-buffer: see `ssr_3d`.
//
// A ray is marched through the depth of the view in steps of equal length on the screen (McGuire and Mara 2014, "Efficient
// GPU Screen-Space Ray Tracing"), and its hit refined by bisection and one step of the secant method. Rays of rough
// surfaces follow their visible normals (Heitz 2018, "Sampling the GGX Distribution of Visible Normals").
//
// alpha: squared perceptual roughness
// n_dot_v, n_dot_l, v_dot_h: cosines between normal, view, reflected direction and half vector
// f0, f90: reflectance at normal and at grazing incidence

import quadrille_3d::ambient_occlusion::indirect_occlusion;
import quadrille_3d::brdf::{Surface, pow5};
import quadrille_3d::constants::{MAX_RADIANCE, PI};
import quadrille_3d::contact_shadows::{contact_depths, is_orthographic_view, row_length};
import quadrille_3d::deferred_surface::{decaled_surface, gbuffer, is_reflective, surface_of, world_position_at};
import quadrille_3d::environment::environment_light;
import quadrille_3d::fog::fog_transmittance;
import quadrille_3d::gbuffer::{GBufferSurface, HAS_FOG_ENABLED, IS_SURFACE, IS_UNLIT, unpack_gbuffer};
import quadrille_3d::hash::pcg3d;
import quadrille_3d::pbr::{HAS_ENVIRONMENTS, HAS_FOG};
import quadrille_3d::scene::{View, camera, clamped_sampler};

// Fields of `ScreenSpaceReflections`.
struct Settings {
    min_perceptual_roughness: vec2f,
    max_perceptual_roughness: vec2f,
    edge_fadeout: vec2f,
    thickness: f32,
    linear_march_exponent: f32,
    linear_steps: u32,
    bisection_steps: u32,
    use_secant: u32,
    unused: u32,
}

struct Push {
    world_from_clip: mat4x4f,
}

// Bindings of pbr.wgsl that this shader does not use have the same numbers.
@group(0) @binding(13) var<uniform> settings: Settings;
@group(0) @binding(14) var scene_depths: texture_depth_2d;
// Radiance times exposure: in `lit_color_main` without, in `reflection_main` with the light that it adds.
@group(0) @binding(15) var lit_color: texture_2d<f32>;

var<immediate> push: Push;

@vertex
fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// Surface of a pixel with its roughness in range.
struct ReflectiveSurface {
    is_present: bool,
    stored: GBufferSurface,
    surface: Surface,
    // Specular light of environment maps times exposure.
    environment: vec3f,
    fog_transmittance: vec3f,
}

fn reflective_surface(pixel: vec2f, view: View) -> ReflectiveSurface {
    var found: ReflectiveSurface;
    let texel = vec2u(pixel);
    let stored = unpack_gbuffer(textureLoad(gbuffer, texel, 0));
    // Meshes without a prepass are nearer than the G-buffer.
    let is_hidden = textureLoad(scene_depths, texel, 0) != textureLoad(contact_depths, texel, 0);
    if (stored.flags & (IS_SURFACE | IS_UNLIT)) != IS_SURFACE || is_hidden {
        return found;
    }
    let world_position = world_position_at(pixel, push.world_from_clip);
    found.stored = decaled_surface(stored, world_position, view);
    found.is_present = is_reflective(found.stored, view);
    if !found.is_present {
        return found;
    }
    found.surface = surface_of(found.stored, world_position, view);
    if HAS_ENVIRONMENTS {
        let occlusion = indirect_occlusion(found.surface, view, pixel, stored.occlusion);
        found.environment = environment_light(found.surface, view, occlusion, false) * view.exposure;
    }
    found.fog_transmittance = vec3f(1.0);
    if HAS_FOG && (stored.flags & HAS_FOG_ENABLED) != 0u && view.fog.falloff.w > 0.0 {
        found.fog_transmittance = fog_transmittance(world_position, view);
    }
    return found;
}

// Color that reflections show: lit surfaces with their reflections of environment maps.
@fragment
fn lit_color_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let color = textureLoad(lit_color, vec2u(position.xy), 0);
    let found = reflective_surface(position.xy, camera);
    if !found.is_present {
        return color;
    }
    return vec4f(min(color.rgb + found.environment * found.fog_transmittance, vec3f(MAX_RADIANCE)), color.a);
}

// Light to add: reflections, and environment maps where rays miss.
@fragment
fn reflection_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let view = camera;
    let found = reflective_surface(position.xy, view);
    if !found.is_present {
        discard;
    }
    var reflected = vec4f(0.0);
    let fade = roughness_fade(found.stored.perceptual_roughness) * edge_fade(position.xy);
    if fade > 0.0 {
        reflected = reflected_light(found.surface, position.xy, view) * fade;
    }
    let environment = found.environment * found.fog_transmittance;
    let added = reflected.rgb * found.fog_transmittance + environment * (1.0 - reflected.a);
    // The sum is blended in half floats.
    let without = textureLoad(lit_color, vec2u(position.xy), 0).rgb - environment;
    return vec4f(clamp(added, vec3f(0.0), max(MAX_RADIANCE - without, vec3f(0.0))), 0.0);
}

// Smooth step from 0 to 1 between the ends of a range; a step at its start if it is empty.
fn fade_in(range: vec2f, value: vec2f) -> vec2f {
    let part = saturate((value - range.x) / max(range.y - range.x, 1e-12));
    return select(step(vec2f(range.x), value), part * part * (3.0 - 2.0 * part), range.y > range.x);
}

fn roughness_fade(perceptual_roughness: f32) -> f32 {
    let rough = vec2f(perceptual_roughness);
    let range = settings.max_perceptual_roughness;
    // Mirrored, so that an empty range has its step at the end, and the end belongs to it.
    return fade_in(settings.min_perceptual_roughness, rough).x * fade_in(-range.yx, -rough).x;
}

fn edge_fade(pixel: vec2f) -> f32 {
    let uv = pixel / vec2f(textureDimensions(scene_depths));
    let fade = fade_in(settings.edge_fadeout, min(uv, 1.0 - uv));
    return fade.x * fade.y;
}

// Light from one reflected ray, weighted by the BRDF; alpha 0 if it hits nothing.
fn reflected_light(surface: Surface, pixel: vec2f, view: View) -> vec4f {
    // From 0 to below 1.
    let noise = vec3f(pcg3d(vec3u(vec2u(pixel), view.noise_frame)) >> vec3u(8u)) / 16777216.0;
    let axes = tangent_frame(surface.normal);
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    var to_view = surface.to_view * axes;
    to_view.z = max(to_view.z, 0.0001);
    let half_vector = visible_normal(to_view, alpha, noise.xy);
    let to_light = reflect(-to_view, half_vector);
    if to_light.z <= 0.0 {
        return vec4f(0.0);
    }
    let hit = march(axes * to_light, surface.world_position, pixel, noise.z, view);
    if hit.z == 0.0 {
        return vec4f(0.0);
    }
    let radiance = clamp(textureSampleLevel(lit_color, clamped_sampler, hit.xy, 0.0).rgb, vec3f(0.0), vec3f(MAX_RADIANCE));
    let v_dot_h = saturate(dot(to_view, half_vector));
    let fresnel = surface.f0 + (surface.f90 - surface.f0) * pow5(1.0 - v_dot_h);
    return vec4f(radiance * fresnel * masking_ratio(to_view.z, to_light.z, alpha), 1.0);
}

// Axes of a surface with this normal along z (Duff et al. 2017, "Building an Orthonormal Basis, Revisited").
fn tangent_frame(normal: vec3f) -> mat3x3f {
    let side = select(-1.0, 1.0, normal.z >= 0.0);
    let a = -1.0 / (side + normal.z);
    let b = normal.x * normal.y * a;
    return mat3x3f(
        vec3f(1.0 + side * normal.x * normal.x * a, side * b, -side * normal.x),
        vec3f(b, side + normal.y * normal.y * a, -normal.y),
        normal,
    );
}

// Normal of a microfacet of GGX that the view sees, by spherical caps (Dupuy and Benyoub 2023, "Sampling Visible GGX
// Normals with Spherical Caps").
fn visible_normal(to_view: vec3f, alpha: f32, noise: vec2f) -> vec3f {
    let stretched = normalize(vec3f(alpha * to_view.xy, to_view.z));
    let z = 1.0 - noise.y * (1.0 + stretched.z);
    let radius = sqrt(saturate(1.0 - z * z));
    let angle = 2.0 * PI * noise.x;
    let cap = vec3f(radius * cos(angle), radius * sin(angle), z) + stretched;
    return normalize(vec3f(alpha * cap.xy, max(cap.z, 1e-6)));
}

// Masking and shadowing over masking alone (height-correlated Smith term for GGX, Heitz 2014): the BRDF times its cosine
// over the density of visible normals, without the Fresnel factor.
fn masking_ratio(n_dot_v: f32, n_dot_l: f32, alpha: f32) -> f32 {
    let square = alpha * alpha;
    let by_view = sqrt(square + (1.0 - square) * n_dot_v * n_dot_v);
    let by_light = sqrt(square + (1.0 - square) * n_dot_l * n_dot_l);
    return n_dot_l * (n_dot_v + by_view) / (n_dot_v * by_light + n_dot_l * by_view);
}

// Point of the picture that a ray hits, from 0 to 1 towards the right and bottom; z is 1, or 0 if it hits nothing.
// `jitter`: part of the first step.
fn march(direction: vec3f, world_position: vec3f, pixel: vec2f, jitter: f32, view: View) -> vec3f {
    let size = vec2f(textureDimensions(scene_depths));
    let uv = pixel / size;
    let start = vec3f(uv * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0), textureLoad(scene_depths, vec2u(pixel), 0));
    let clip = view.clip_from_world * vec4f(world_position, 1.0);
    let change = view.clip_from_world * vec4f(direction, 0.0);
    // Rays are straight in normalized device coordinates as well: this one ends where it leaves the view, or infinitely far.
    let slope = change.xyz - start * change.w;
    let safe_slope = select(slope, vec3f(1e-12), abs(slope) < vec3f(1e-12));
    let ends = select(vec3f(-1.0, -1.0, 0.0), vec3f(1.0), safe_slope > vec3f(0.0));
    let reaches = (ends - start) / safe_slope;
    let ray = slope * max(min(reaches.x, min(reaches.y, reaches.z)), 0.0);
    let pixels = length(ray.xy * 0.5 * size);
    if pixels < 1.0 {
        return vec3f(0.0);
    }
    let steps = clamp(u32(pixels), 2u, max(settings.linear_steps, 2u));
    // The pixel of the surface itself is left out.
    let first = min(1.0 / pixels, 1.0);
    var near = 0.0;
    var near_gap = 0.0;
    var far = 0.0;
    var far_behind = vec2f(0.0);
    var is_hit = false;
    for (var step = 0u; step < steps && !is_hit; step++) {
        let part = pow((f32(step) + jitter) / f32(steps), settings.linear_march_exponent);
        far = mix(first, 1.0, part);
        far_behind = behind_surface(start + ray * far, clip, view);
        is_hit = far_behind.x > 0.0;
        if !is_hit {
            near = far;
            near_gap = -far_behind.x;
        }
    }
    if !is_hit {
        return vec3f(0.0);
    }
    for (var step = 0u; step < settings.bisection_steps; step++) {
        let middle = 0.5 * (near + far);
        let behind = behind_surface(start + ray * middle, clip, view);
        if behind.x > 0.0 {
            far = middle;
            far_behind = behind;
        } else {
            near = middle;
            near_gap = -behind.x;
        }
    }
    if settings.use_secant != 0u {
        let crossing = mix(near, far, near_gap / max(near_gap + far_behind.x, 1e-12));
        let behind = behind_surface(start + ray * crossing, clip, view);
        if abs(behind.x) < 0.9 * near_gap {
            far = crossing;
            far_behind = behind;
        }
    }
    let hit = start + ray * far;
    let is_within = far_behind.y < settings.thickness;
    return vec3f(hit.xy * vec2f(0.5, -0.5) + 0.5, select(0.0, 1.0, is_within));
}

// Distances along the axis of the view by which a point lies behind both of two surfaces, and behind any: depth between
// texels, which is exact on planes but bridges edges, and that of the texel, which has steps instead. `clip` is any point of
// the ray. Depth is reversed and infinite: in perspective it is a constant over the distance.
fn behind_surface(point: vec3f, clip: vec4f, view: View) -> vec2f {
    let depths = depths_at(point.xy * vec2f(0.5, -0.5) + 0.5);
    if is_orthographic_view(view) {
        let behind = (depths - point.z) / row_length(view, 2u);
        return vec2f(min(behind.x, behind.y) - 1e-5, max(behind.x, behind.y));
    }
    let distance = clip.z / max(point.z, 1e-12);
    let behind = distance - clip.z / max(depths, vec2f(1e-12));
    // A tolerance for rounding.
    return vec2f(min(behind.x, behind.y) - 1e-5 * distance, max(behind.x, behind.y));
}

// Interpolated depth, and that of the nearest texel. Not all devices filter depth, and those that do round the weights.
fn depths_at(uv: vec2f) -> vec2f {
    let size = textureDimensions(scene_depths);
    let last = vec2i(size) - 1;
    let at = uv * vec2f(size) - 0.5;
    let low = vec2i(floor(at));
    let part = at - floor(at);
    let top_left = depth_at(low, last);
    let top_right = depth_at(low + vec2i(1, 0), last);
    let bottom_left = depth_at(low + vec2i(0, 1), last);
    let bottom_right = depth_at(low + vec2i(1, 1), last);
    let top = vec2f(mix(top_left, top_right, part.x), select(top_left, top_right, part.x >= 0.5));
    let bottom = vec2f(mix(bottom_left, bottom_right, part.x), select(bottom_left, bottom_right, part.x >= 0.5));
    return vec2f(mix(top.x, bottom.x, part.y), select(top.y, bottom.y, part.y >= 0.5));
}

fn depth_at(texel: vec2i, last: vec2i) -> f32 {
    return textureLoad(scene_depths, clamp(texel, vec2i(0), last), 0);
}
