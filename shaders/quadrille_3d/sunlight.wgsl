// Sunlight behind an atmosphere: transmittance from a surface to a directional light. See `atmosphere.wgsl`.
//
// mu: cosine of the angle between the zenith and the light; lengths are in units of the world.

import quadrille_3d::scene::{Light, View, samplers, textures};

const PI: f32 = 3.14159265;

// Part of the light's disk above the horizon, for an angle between both, as in bevy.
fn visible_part(above: f32, diameter: f32) -> f32 {
    return saturate(0.5 + above / max(diameter, 1e-6));
}

// Factor of a directional light at a position. Rows of directional lights have the camera's zenith in `axis`, its altitude
// in `cone_scale`, radius and height of the planet in `cone_offset` and `inverse_range_squared`; in `up` the number of the LUT, from 1
// on, and the angular diameter of the disk.
fn sun_transmittance(light: Light, view: View, position: vec3f) -> vec3f {
    let inner = light.cone_offset;
    let height = light.inverse_range_squared;
    let camera_radius = inner + light.cone_scale;
    let from_camera = position - view.position;
    let from_center = light.axis * camera_radius + from_camera;
    let radius = length(from_center);
    // Difference of squares, without the cancellation of large radii.
    let change = dot(from_camera, 2.0 * light.axis * camera_radius + from_camera);
    let camera_rise = light.cone_scale * (light.cone_scale + 2.0 * inner);
    let altitude = clamp((camera_rise + change) / (radius + inner), 0.0, height);
    let mu = clamp(dot(from_center, light.position_or_direction) / radius, -1.0, 1.0);
    let rise = altitude * (altitude + 2.0 * inner);
    let rho = sqrt(rise);
    let above = PI - atan2(inner, rho) - atan2(sqrt(1.0 - mu * mu), mu);
    let part = visible_part(above, light.up[1]);
    if part == 0.0 {
        return vec3f(0.0);
    }
    let horizon = sqrt(height * (height + 2.0 * inner));
    let b = (inner + altitude) * mu;
    let root = sqrt(max(b * b + horizon * horizon - rise, 0.0));
    let nearest = height - altitude;
    let farthest = rho + horizon;
    let unit = vec2f(saturate((root - b - nearest) / (farthest - nearest)), rho / horizon);
    let lut = u32(light.up[0]) - 1u;
    let size = vec2f(textureDimensions(textures[lut]));
    let uv = (0.5 + unit * (size - 1.0)) / size;
    return textureSampleLevel(textures[lut], samplers[0], uv, 0.0).rgb * part;
}
