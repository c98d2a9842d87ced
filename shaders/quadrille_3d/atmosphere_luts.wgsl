// LUTs of an atmosphere (`atmosphere.wgsl`): transmittance and multiple scattering depend on the medium, sky view and
// aerial view on the camera and the lights as well.

import quadrille_3d::atmosphere::{
    INVERSE_SPHERE, PI, Path, Ray, add_step, altitude_along, atmosphere, camera_ray, distance_to_end, hits_ground,
    horizon_length, lut_sampler, lut_unit, lut_uv, march_sky, medium_at, mu_along, optical_depth, sky_view_direction,
    sky_view_unit, squared_rise, transmittance_to_light, view_direction,
};
import quadrille_3d::cube_faces::{cube_direction, texel_to_face_uv};

@group(0) @binding(8) var output: texture_storage_2d<rgba16float, write>;
@group(0) @binding(9) var scattering_output: texture_storage_3d<rgba16float, write>;
@group(0) @binding(10) var depth_output: texture_storage_3d<rgba16float, write>;
@group(0) @binding(11) var cube_output: texture_storage_2d_array<rgba16float, write>;
@group(0) @binding(12) var sky_view_lut: texture_2d<f32>;

// Largest half float.
const MAX_HALF: f32 = 65504.0;

// Transmittance to the top, by squared rise and distance to the top (mapping of Bruneton 2017).
@compute @workgroup_size(8, 8)
fn transmittance(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(output);
    if any(id.xy >= size) {
        return;
    }
    let unit = lut_unit(id.xy, size);
    let horizon = horizon_length();
    let rho = horizon * unit.y;
    let radius = sqrt(rho * rho + atmosphere.inner_radius * atmosphere.inner_radius);
    let altitude = min(rho * rho / (radius + atmosphere.inner_radius), atmosphere.height);
    let nearest = atmosphere.height - altitude;
    let farthest = rho + horizon;
    let t = mix(nearest, farthest, unit.x);
    var mu = 1.0;
    if t > 0.0 {
        mu = clamp((horizon * horizon - rho * rho - t * t) / (2.0 * radius * t), -1.0, 1.0);
    }
    // Directions are in the plane of the zenith.
    let ray = Ray(altitude, vec3f(0.0, 1.0, 0.0), vec3f(sqrt(1.0 - mu * mu), mu, 0.0), 0.0);
    let depth = optical_depth(ray, 0.0, t, atmosphere.transmittance_samples);
    textureStore(output, id.xy, vec4f(exp(-depth), 1.0));
}

var<workgroup> second_orders: array<vec3f, 64>;
var<workgroup> transfers: array<vec3f, 64>;

// Light of second order along a ray, and the part of light from everywhere that it scatters to its origin.
struct OrderSample {
    second_order: vec3f,
    transfer: vec3f,
}

// Direction of a low-discrepancy sequence on the sphere (Roberts 2018).
fn sphere_direction(index: u32) -> vec3f {
    let unit = fract(0.5 + f32(index) * vec2f(0.75487767, 0.56984029));
    let z = 2.0 * unit.x - 1.0;
    let level = sqrt(max(1.0 - z * z, 0.0));
    return vec3f(level * cos(2.0 * PI * unit.y), level * sin(2.0 * PI * unit.y), z);
}

fn sample_orders(altitude: f32, direction: vec3f, to_light: vec3f) -> OrderSample {
    let ray = Ray(altitude, vec3f(0.0, 1.0, 0.0), direction, 0.0);
    let mu = direction.y;
    let end = distance_to_end(altitude, mu);
    let steps = atmosphere.multiscattering_samples;
    let step = end / f32(steps);
    var orders = OrderSample(vec3f(0.0), vec3f(0.0));
    var throughput = vec3f(1.0);
    for (var i = 0u; i < steps; i++) {
        let t = (f32(i) + 0.5) * step;
        let at = altitude_along(altitude, mu, t);
        let medium = medium_at(at);
        let extinction = medium.absorption + medium.scattering;
        let step_transmittance = exp(-extinction * step);
        let scattered = throughput * medium.scattering * select(
            (1.0 - step_transmittance) / max(extinction, vec3f(1e-12)),
            vec3f(step),
            extinction * step < vec3f(1e-4),
        );
        let light = transmittance_to_light(at, mu_along(ray, t, at, to_light));
        orders.second_order += scattered * light * INVERSE_SPHERE;
        orders.transfer += scattered;
        throughput *= step_transmittance;
    }
    if hits_ground(altitude, mu) {
        let mu_light = mu_along(ray, end, 0.0, to_light);
        let light = transmittance_to_light(0.0, mu_light) * max(mu_light, 0.0);
        orders.second_order += throughput * light * atmosphere.ground_albedo / PI;
    }
    return orders;
}

// Light of all orders above one, per illuminance and scattering coefficient: a workgroup per texel.
@compute @workgroup_size(64)
fn multiscattering(@builtin(workgroup_id) texel: vec3u, @builtin(local_invocation_index) index: u32) {
    let unit = lut_unit(texel.xy, textureDimensions(output));
    let mu = 2.0 * unit.x - 1.0;
    let to_light = vec3f(sqrt(max(1.0 - mu * mu, 0.0)), mu, 0.0);
    let altitude = unit.y * atmosphere.height;
    var sum = OrderSample(vec3f(0.0), vec3f(0.0));
    for (var i = index; i < atmosphere.multiscattering_dirs; i += 64u) {
        let orders = sample_orders(altitude, sphere_direction(i), to_light);
        sum.second_order += orders.second_order;
        sum.transfer += orders.transfer;
    }
    second_orders[index] = sum.second_order;
    transfers[index] = sum.transfer;
    workgroupBarrier();
    for (var stride = 32u; stride > 0u; stride >>= 1u) {
        if index < stride {
            second_orders[index] += second_orders[index + stride];
            transfers[index] += transfers[index + stride];
        }
        workgroupBarrier();
    }
    if index == 0u {
        let weight = 1.0 / f32(atmosphere.multiscattering_dirs);
        // All orders are a geometric series (equations 5 to 9).
        let rest = max(1.0 - transfers[0] * weight, vec3f(1e-3));
        textureStore(output, texel.xy, vec4f(second_orders[0] * weight / rest, 1.0));
    }
}

@compute @workgroup_size(8, 8)
fn sky_view(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(output);
    if any(id.xy >= size) {
        return;
    }
    let direction = sky_view_direction(lut_unit(id.xy, size));
    let light = march_sky(direction, atmosphere.sky_view_samples);
    textureStore(output, id.xy, vec4f(min(light, vec3f(MAX_HALF)), 1.0));
}

// Cube of the sky around the camera, without the disks of lights, as in bevy.
@compute @workgroup_size(8, 8)
fn sky_cube(@builtin(global_invocation_id) id: vec3u) {
    let side = textureDimensions(cube_output).x;
    if any(id.xy >= vec2u(side)) {
        return;
    }
    let face_uv = texel_to_face_uv(vec2f(id.xy) + 0.5, side);
    // Cubes are left-handed.
    let direction = normalize(cube_direction(face_uv, id.z)) * vec3f(1.0, 1.0, -1.0);
    let uv = lut_uv(sky_view_unit(direction), textureDimensions(sky_view_lut));
    let light = textureSampleLevel(sky_view_lut, lut_sampler, uv, 0.0).rgb;
    textureStore(cube_output, id.xy, id.z, vec4f(light, 1.0));
}

// Scattered light and optical depth from the camera to the far side of each slice.
@compute @workgroup_size(8, 8)
fn aerial_view(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(scattering_output);
    if any(id.xy >= size.xy) {
        return;
    }
    let unit = lut_unit(id.xy, size.xy);
    let ray = camera_ray(view_direction(vec2f(2.0 * unit.x - 1.0, 1.0 - 2.0 * unit.y)));
    let slice = atmosphere.aerial_distance / f32(size.z);
    let step = slice / f32(atmosphere.aerial_samples);
    var path = Path(vec3f(0.0), vec3f(1.0));
    var depth = vec3f(0.0);
    for (var z = 0u; z < size.z; z++) {
        for (var i = 0u; i < atmosphere.aerial_samples; i++) {
            // From space the atmosphere begins at an offset.
            let t = f32(z) * slice + (f32(i) + 0.5) * step - ray.offset;
            if t >= 0.0 {
                let medium = medium_at(altitude_along(ray.altitude, dot(ray.up, ray.direction), t));
                depth += (medium.absorption + medium.scattering) * step;
                path = add_step(path, ray, t, step);
            }
        }
        let texel = vec3u(id.xy, z);
        textureStore(scattering_output, texel, vec4f(min(path.light, vec3f(MAX_HALF)), 1.0));
        textureStore(depth_output, texel, vec4f(min(depth, vec3f(MAX_HALF)), 1.0));
    }
}
