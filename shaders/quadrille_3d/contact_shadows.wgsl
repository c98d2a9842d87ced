// Contact shadows: short rays to lights through the depth of the picture, for what shadow maps are too coarse for.

import quadrille_3d::scene::View;
import quadrille_3d::shadows::{ShadowReceiver, noise_angle};

// Views of the frame have contact shadows.
override HAS_CONTACT_SHADOWS: bool = true;

@group(0) @binding(30) var contact_depths: texture_depth_2d;

fn is_orthographic_view(view: View) -> bool {
    let matrix = view.clip_from_world;
    return matrix[0].w == 0.0 && matrix[1].w == 0.0 && matrix[2].w == 0.0;
}

// Length of a row of the linear part of a view's matrix.
fn row_length(view: View, row: u32) -> f32 {
    let matrix = view.clip_from_world;
    return length(vec3f(matrix[0][row], matrix[1][row], matrix[2][row]));
}

// Distance by which a point lies behind the surface of its pixel, along the axis of the view. Negative in front of it, and
// over the background. Depth is reversed and infinite: in perspective it is a constant over the distance.
fn distance_behind(view: View, clip: vec4f, depth: f32) -> f32 {
    if is_orthographic_view(view) {
        return (depth - clip.z) / row_length(view, 2u);
    }
    return clip.w - clip.z / max(depth, 1e-12);
}

// Visibility of a light: 0 if a surface hides it within the length of the ray. `reach` is the distance of the light.
fn contact_shadow(receiver: ShadowReceiver, view: View, to_light: vec3f, reach: f32) -> f32 {
    let steps = view.contact_shadows.x;
    let thickness = view.contact_shadows.y;
    let ray = to_light * min(view.contact_shadows.z, reach);
    let start = view.clip_from_world * vec4f(receiver.world_position, 1.0);
    let change = view.clip_from_world * vec4f(ray, 0.0);
    let size = vec2f(textureDimensions(contact_depths));
    let pixel_slope = 2.0 / (size.y * row_length(view, 1u));
    let is_orthographic = is_orthographic_view(view);
    // Steps between those of neighbouring pixels, instead of bands.
    let noise = noise_angle(receiver.pixel) / 6.2831853;
    for (var step = 0.0; step < steps; step += 1.0) {
        let part = (step + noise) / steps;
        let clip = start + change * part;
        let uv = clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5;
        if clip.w <= 0.0 || any(uv < vec2f(0.0)) || any(uv >= vec2f(1.0)) {
            break;
        }
        let behind = distance_behind(view, clip, textureLoad(contact_depths, vec2u(uv * size), 0));
        if behind <= 0.0 || behind >= thickness {
            continue;
        }
        // The surface's own plane does not hide it: the hidden point is above it by more than a pixel.
        let to_surface = select(
            (view.position - receiver.world_position - ray * part) * (behind / clip.w),
            -view.forward * behind,
            is_orthographic,
        );
        let height = dot(receiver.normal, ray * part + to_surface);
        if height > 1.5 * pixel_slope * select(clip.w, 1.0, is_orthographic) {
            return 0.0;
        }
    }
    return 1.0;
}
