// Light in the atmosphere of a planet (Hillaire 2020, "A Scalable and Production Ready Sky and Atmosphere Rendering
// Technique"), with LUTs of its medium.
//
// Symbols: mu is the cosine of the angle between a direction and the zenith, t a distance along a ray, T transmittance,
// psi_ms the light of all scattering orders above one, per illuminance and scattering coefficient. Lengths are meters;
// positions are altitudes above the ground, because radii of planets leave little precision.

// Row of `AtmosphereRows3d`.
struct Atmosphere {
    ground_albedo: vec3f,
    inner_radius: f32,
    // From the ground to the top.
    height: f32,
    transmittance_samples: u32,
    multiscattering_dirs: u32,
    multiscattering_samples: u32,
    // Zenith of the camera.
    up: vec3f,
    // Altitude of the camera.
    altitude: f32,
    // Axes of azimuths at the camera.
    east: vec3f,
    sky_view_samples: u32,
    south: vec3f,
    light_count: u32,
    // Directions to the lights; w is the angular diameter of the disk.
    light_directions: array<vec4f, 10>,
    // Illuminance times exposure; w is the factor of the disk.
    light_colors: array<vec4f, 10>,
    // From clip space to positions relative to the camera, with axes of the world.
    ray_from_clip: mat4x4f,
    forward: vec3f,
    is_orthographic: u32,
    // Depth of the aerial-view LUT.
    aerial_distance: f32,
    aerial_samples: u32,
    // Meters of the atmosphere per unit of the world.
    scale: f32,
    sky_samples: u32,
    // Whether the sky is integrated per pixel.
    is_raymarched: u32,
    unused: u32,
    unused_pair: vec2u,
}

@group(0) @binding(0) var<uniform> atmosphere: Atmosphere;
// Absorption and scattering coefficients from the top (left) to the ground.
@group(0) @binding(1) var densities: texture_2d<f32>;
// Scattering coefficient times phase function, by altitude and angle.
@group(0) @binding(2) var phases: texture_2d<f32>;
@group(0) @binding(3) var transmittance_lut: texture_2d<f32>;
@group(0) @binding(4) var multiscattering_lut: texture_2d<f32>;
@group(0) @binding(5) var lut_sampler: sampler;

const PI: f32 = 3.14159265;
// 1 / (4 pi)
const INVERSE_SPHERE: f32 = 0.07957747;
// Distance beyond all surfaces.
const INFINITY: f32 = 1e30;
// Extinction below which a medium is empty.
const MIN_EXTINCTION: f32 = 1e-12;

struct Ray {
    // Altitude and zenith of the origin.
    altitude: f32,
    up: vec3f,
    direction: vec3f,
    // Distance of the origin from the camera; infinite if the ray misses the atmosphere.
    offset: f32,
}

struct Medium {
    absorption: vec3f,
    scattering: vec3f,
}

// Light that a path scatters towards its origin, and its transmittance.
struct Path {
    light: vec3f,
    transmittance: vec3f,
}

// Texture coordinates whose ends are the centers of the outer texels.
fn lut_uv(unit: vec2f, size: vec2u) -> vec2f {
    return (0.5 + unit * (vec2f(size) - 1.0)) / vec2f(size);
}

// Inverse of `lut_uv` at the center of a texel.
fn lut_unit(texel: vec2u, size: vec2u) -> vec2f {
    return vec2f(texel) / vec2f(max(size, vec2u(2u)) - 1u);
}

// Difference of the squared radii of a position and of the ground.
fn squared_rise(altitude: f32) -> f32 {
    return altitude * (altitude + 2.0 * atmosphere.inner_radius);
}

// Altitude at a distance along a ray.
fn altitude_along(altitude: f32, mu: f32, t: f32) -> f32 {
    let radius = atmosphere.inner_radius + altitude;
    let change = t * (2.0 * radius * mu + t);
    let end_radius = sqrt(max(radius * radius + change, 0.0));
    return (squared_rise(altitude) + change) / (end_radius + atmosphere.inner_radius);
}

// Distance to the top from a position below it.
fn distance_to_top(altitude: f32, mu: f32) -> f32 {
    let radius = atmosphere.inner_radius + altitude;
    let b = radius * mu;
    let outer_radius = atmosphere.inner_radius + atmosphere.height;
    let c = max(atmosphere.height - altitude, 0.0) * (outer_radius + radius);
    let root = sqrt(b * b + c);
    // Without cancellation.
    if b > 0.0 {
        return c / (b + root);
    }
    return root - b;
}

fn hits_ground(altitude: f32, mu: f32) -> bool {
    let b = (atmosphere.inner_radius + altitude) * mu;
    return b < 0.0 && b * b >= squared_rise(altitude);
}

// Distance to the ground for a ray that hits it.
fn distance_to_ground(altitude: f32, mu: f32) -> f32 {
    let b = (atmosphere.inner_radius + altitude) * mu;
    let c = squared_rise(altitude);
    return c / (sqrt(max(b * b - c, 0.0)) - b);
}

// Distance to the ground or the top.
fn distance_to_end(altitude: f32, mu: f32) -> f32 {
    if hits_ground(altitude, mu) {
        return distance_to_ground(altitude, mu);
    }
    return distance_to_top(altitude, mu);
}

// Ray of the camera, which begins where it enters the atmosphere.
fn camera_ray(direction: vec3f) -> Ray {
    if atmosphere.altitude <= atmosphere.height {
        return Ray(atmosphere.altitude, atmosphere.up, direction, 0.0);
    }
    let radius = atmosphere.inner_radius + atmosphere.altitude;
    let outer_radius = atmosphere.inner_radius + atmosphere.height;
    let b = radius * dot(atmosphere.up, direction);
    let c = (atmosphere.altitude - atmosphere.height) * (radius + outer_radius);
    let discriminant = b * b - c;
    if b >= 0.0 || discriminant < 0.0 {
        return Ray(atmosphere.height, atmosphere.up, direction, INFINITY);
    }
    let entry = c / (sqrt(discriminant) - b);
    let up = normalize(atmosphere.up * radius + direction * entry);
    return Ray(atmosphere.height, up, direction, entry);
}

// Coefficients at an altitude: those of the ground below it, and none above the top.
fn medium_at(altitude: f32) -> Medium {
    if altitude > atmosphere.height {
        return Medium(vec3f(0.0), vec3f(0.0));
    }
    let last = textureDimensions(densities).x - 1u;
    let x = saturate(1.0 - altitude / atmosphere.height) * f32(last);
    let left = u32(x);
    let right = min(left + 1u, last);
    let part = fract(x);
    let absorption = mix(
        textureLoad(densities, vec2u(left, 0u), 0).rgb,
        textureLoad(densities, vec2u(right, 0u), 0).rgb,
        part,
    );
    let scattering = mix(
        textureLoad(densities, vec2u(left, 1u), 0).rgb,
        textureLoad(densities, vec2u(right, 1u), 0).rgb,
        part,
    );
    return Medium(absorption, scattering);
}

// Scattering coefficient times phase function; the cosine is 1 where light goes on without turning.
fn phase_at(altitude: f32, cosine: f32) -> vec3f {
    let last = textureDimensions(phases) - 1u;
    // Forward and backward scattering, where phase functions peak, have more rows.
    let bent = sign(cosine) * (1.0 - sqrt(max(1.0 - abs(cosine), 0.0)));
    let unit = vec2f(saturate(1.0 - altitude / atmosphere.height), 0.5 + 0.5 * bent);
    let at = unit * vec2f(last);
    let first = vec2u(at);
    let next = min(first + 1u, last);
    let part = fract(at);
    let upper = mix(
        textureLoad(phases, first, 0).rgb,
        textureLoad(phases, vec2u(next.x, first.y), 0).rgb,
        part.x,
    );
    let lower = mix(
        textureLoad(phases, vec2u(first.x, next.y), 0).rgb,
        textureLoad(phases, next, 0).rgb,
        part.x,
    );
    return mix(upper, lower, part.y);
}

// Distance from the ground to the top along the horizon.
fn horizon_length() -> f32 {
    return sqrt(squared_rise(atmosphere.height));
}

// Transmittance to the top, for rays that do not hit the ground (mapping of Bruneton 2017).
fn transmittance_to_top(altitude: f32, mu: f32) -> vec3f {
    let clamped = clamp(altitude, 0.0, atmosphere.height);
    let rho = sqrt(squared_rise(clamped));
    let nearest = atmosphere.height - clamped;
    let farthest = rho + horizon_length();
    let unit = vec2f(
        saturate((distance_to_top(clamped, mu) - nearest) / (farthest - nearest)),
        rho / horizon_length(),
    );
    let uv = lut_uv(unit, textureDimensions(transmittance_lut));
    return textureSampleLevel(transmittance_lut, lut_sampler, uv, 0.0).rgb;
}

// Transmittance to a light, without its disk: zero behind the planet.
fn transmittance_to_light(altitude: f32, mu: f32) -> vec3f {
    let above = max(altitude, 0.0);
    return select(transmittance_to_top(above, mu), vec3f(0.0), hits_ground(above, mu));
}

fn multiscattering_at(altitude: f32, mu: f32) -> vec3f {
    let unit = saturate(vec2f(0.5 + 0.5 * mu, altitude / atmosphere.height));
    let uv = lut_uv(unit, textureDimensions(multiscattering_lut));
    return textureSampleLevel(multiscattering_lut, lut_sampler, uv, 0.0).rgb;
}

// Cosine between the zenith at a distance along a ray, where the altitude is this, and a direction.
fn mu_along(ray: Ray, t: f32, altitude: f32, direction: vec3f) -> f32 {
    let radius = atmosphere.inner_radius + ray.altitude;
    let height = radius * dot(ray.up, direction) + t * dot(ray.direction, direction);
    return clamp(height / (atmosphere.inner_radius + altitude), -1.0, 1.0);
}

// Light of all lights that a position along a ray scatters towards its origin, per meter.
fn scattered_light(ray: Ray, t: f32, altitude: f32, medium: Medium) -> vec3f {
    var light = vec3f(0.0);
    for (var i = 0u; i < atmosphere.light_count; i++) {
        let to_light = atmosphere.light_directions[i].xyz;
        let mu = mu_along(ray, t, altitude, to_light);
        let single = transmittance_to_light(altitude, mu) * phase_at(altitude, dot(ray.direction, to_light));
        let multiple = multiscattering_at(altitude, mu) * medium.scattering;
        light += atmosphere.light_colors[i].rgb * (single + multiple);
    }
    return light;
}

// Adds a step of a path around a distance; light within it is integrated analytically (Hillaire 2015).
fn add_step(path: Path, ray: Ray, t: f32, step: f32) -> Path {
    let altitude = altitude_along(ray.altitude, dot(ray.up, ray.direction), t);
    let medium = medium_at(altitude);
    let extinction = medium.absorption + medium.scattering;
    let transmittance = exp(-extinction * step);
    let light = scattered_light(ray, t, altitude, medium);
    // The limit of an empty medium is the length of the step.
    let length = select(
        (1.0 - transmittance) / max(extinction, vec3f(MIN_EXTINCTION)),
        vec3f(step),
        extinction * step < vec3f(1e-4),
    );
    return Path(path.light + path.transmittance * light * length, path.transmittance * transmittance);
}

// Integrates a ray between two distances, in steps that grow with the distance.
fn march(ray: Ray, start: f32, end: f32, steps: u32) -> Path {
    var path = Path(vec3f(0.0), vec3f(1.0));
    let length = end - start;
    if !(length > 0.0) {
        return path;
    }
    for (var i = 0u; i < steps; i++) {
        let middle = (f32(i) + 0.5) / f32(steps);
        let step = length * (2.0 * f32(i) + 1.0) / f32(steps * steps);
        path = add_step(path, ray, start + length * middle * middle, step);
    }
    return path;
}

// Extinction times length between two distances.
fn optical_depth(ray: Ray, start: f32, end: f32, steps: u32) -> vec3f {
    var sum = vec3f(0.0);
    let length = end - start;
    if !(length > 0.0) {
        return sum;
    }
    let mu = dot(ray.up, ray.direction);
    for (var i = 0u; i < steps; i++) {
        let x = (f32(i) + 0.5) / f32(steps);
        let medium = medium_at(altitude_along(ray.altitude, mu, start + length * x * x));
        sum += (medium.absorption + medium.scattering) * 2.0 * x;
    }
    return sum * length / f32(steps);
}

// Light that the ground reflects to the end of a path of this length, per its transmittance.
fn ground_light(ray: Ray, t: f32) -> vec3f {
    var light = vec3f(0.0);
    for (var i = 0u; i < atmosphere.light_count; i++) {
        let mu = mu_along(ray, t, 0.0, atmosphere.light_directions[i].xyz);
        light += atmosphere.light_colors[i].rgb * transmittance_to_light(0.0, mu) * max(mu, 0.0);
    }
    return light * atmosphere.ground_albedo / PI;
}

// Light from a direction without any surface but the ground.
fn march_sky(direction: vec3f, steps: u32) -> vec3f {
    let ray = camera_ray(direction);
    if ray.offset == INFINITY {
        return vec3f(0.0);
    }
    let mu = dot(ray.up, ray.direction);
    let end = distance_to_end(ray.altitude, mu);
    let path = march(ray, 0.0, end, steps);
    if hits_ground(ray.altitude, mu) {
        return path.light + path.transmittance * ground_light(ray, end);
    }
    return path.light;
}

// Zenith angle of the horizon of the camera.
fn horizon_zenith() -> f32 {
    return PI - atan2(atmosphere.inner_radius, sqrt(squared_rise(atmosphere.altitude)));
}

// Direction of a texel of the sky-view LUT: azimuth, and zenith angle with more rows near the horizon.
fn sky_view_direction(unit: vec2f) -> vec3f {
    let azimuth = (unit.x - 0.5) * 2.0 * PI;
    let horizon = horizon_zenith();
    let from_horizon = 2.0 * unit.y - 1.0;
    let range = select(PI - horizon, horizon, from_horizon < 0.0);
    let zenith = horizon + sign(from_horizon) * from_horizon * from_horizon * range;
    let level = atmosphere.east * sin(azimuth) - atmosphere.south * cos(azimuth);
    return level * sin(zenith) + atmosphere.up * cos(zenith);
}

// Inverse of `sky_view_direction`.
fn sky_view_unit(direction: vec3f) -> vec2f {
    let east = dot(direction, atmosphere.east);
    let south = dot(direction, atmosphere.south);
    let azimuth = atan2(east, select(-south, 1e-12, south == 0.0));
    let zenith = atan2(length(vec2f(east, south)), dot(direction, atmosphere.up));
    let horizon = horizon_zenith();
    let from_horizon = zenith - horizon;
    let range = select(PI - horizon, horizon, from_horizon < 0.0);
    let row = sign(from_horizon) * sqrt(saturate(abs(from_horizon) / range));
    return vec2f(azimuth / (2.0 * PI) + 0.5, 0.5 + 0.5 * row);
}

// Direction through a point of the view in normalized device coordinates.
fn view_direction(ndc: vec2f) -> vec3f {
    if atmosphere.is_orthographic != 0u {
        return atmosphere.forward;
    }
    let near = atmosphere.ray_from_clip * vec4f(ndc, 1.0, 1.0);
    return normalize(near.xyz / near.w);
}
