// What surfaces do with light.

const PI: f32 = 3.14159265;

// What light meets.
struct Surface {
    world: vec3f,
    normal: vec3f,
    to_view: vec3f,
    normal_view: f32,
    // What is scattered.
    diffuse: vec3f,
    // What is mirrored at right angles, and at grazing ones.
    f0: vec3f,
    f90: f32,
    perceptual_roughness: f32,
    // Scale and bias of the lobe's integral.
    dfg: vec2f,
    // What further bounces between the facets add.
    compensation: vec3f,
    // The axes along and across which highlights are drawn out, and how far.
    along: vec3f,
    across: vec3f,
    anisotropy: f32,
    coat: Coat,
}

// A clear varnish over it.
struct Coat {
    strength: f32,
    perceptual_roughness: f32,
    normal: vec3f,
    normal_view: f32,
    dfg: vec2f,
}

// What of the light from a direction goes to the eye, with the cosine of that direction.
fn reflected(surface: Surface, to_light: vec3f) -> vec3f {
    let normal_light = dot(surface.normal, to_light);
    let half_way = normalize(to_light + surface.to_view);
    let light_half = saturate(dot(to_light, half_way));
    var base = vec3f(0.0);
    var highlight = vec3f(0.0);
    if normal_light > 0.0 {
        highlight = mirrored(surface, to_light, half_way, normal_light, light_half) * normal_light;
        // Burley: rough surfaces throw more light back at grazing angles.
        let grazing = 0.5 + 2.0 * surface.perceptual_roughness * light_half * light_half;
        let scattered = (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - normal_light))
            * (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - surface.normal_view));
        base = surface.diffuse * (scattered / PI * normal_light);
    }
    if surface.coat.strength == 0.0 {
        return base + highlight;
    }
    // The varnish takes its part of what comes in and of what goes out again.
    let fresnel = surface.coat.strength * (0.04 + 0.96 * to_the_fifth(1.0 - light_half));
    let below = (base + highlight * (1.0 - fresnel)) * (1.0 - fresnel);
    let coat_light = dot(surface.coat.normal, to_light);
    if coat_light <= 0.0 {
        return below;
    }
    let alpha = surface.coat.perceptual_roughness * surface.coat.perceptual_roughness;
    let facets = facets_of(saturate(dot(surface.coat.normal, half_way)), alpha * alpha);
    // Kelemen: masking and shadowing of what is nearly smooth.
    let visible = 0.25 / max(light_half * light_half, 1e-8);
    return below + facets * visible * fresnel * coat_light;
}

fn mirrored(
    surface: Surface,
    to_light: vec3f,
    half_way: vec3f,
    normal_light: f32,
    light_half: f32,
) -> vec3f {
    let normal_half = saturate(dot(surface.normal, half_way));
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let fresnel = surface.f0 + (surface.f90 - surface.f0) * to_the_fifth(1.0 - light_half);
    let n_v = surface.normal_view;
    if surface.anisotropy == 0.0 {
        let square = alpha * alpha;
        // Smith: how many facets are neither hidden nor in shadow.
        let by_view = normal_light * sqrt(n_v * n_v * (1.0 - square) + square);
        let by_light = n_v * sqrt(normal_light * normal_light * (1.0 - square) + square);
        let visible = 0.5 / (by_view + by_light);
        return facets_of(normal_half, square) * visible * fresnel * surface.compensation;
    }
    // The same with a roughness along and one across (glTF's KHR_materials_anisotropy).
    let long = mix(alpha, 1.0, surface.anisotropy * surface.anisotropy);
    let both = long * alpha;
    let axes = mat2x3f(surface.along, surface.across);
    let in_half = half_way * axes;
    let spread = vec3f(alpha * in_half.x, long * in_half.y, both * normal_half);
    let part = both / dot(spread, spread);
    let facets = both * part * part / PI;
    let radii = vec2f(long, alpha);
    let by_view = normal_light * length(vec3f(radii * (surface.to_view * axes), n_v));
    let by_light = n_v * length(vec3f(radii * (to_light * axes), normal_light));
    let visible = min(0.5 / (by_view + by_light), 1.0);
    return facets * visible * fresnel * surface.compensation;
}

// Trowbridge and Reitz: how many facets look half way.
fn facets_of(normal_half: f32, alpha_squared: f32) -> f32 {
    let spread = normal_half * normal_half * (alpha_squared - 1.0) + 1.0;
    return alpha_squared / (PI * spread * spread);
}

// Light of one radiance from all directions: what is not mirrored is scattered.
fn ambient_light(surface: Surface, ambient: vec3f) -> vec3f {
    let once = surface.f0 * surface.dfg.x + surface.f90 * surface.dfg.y;
    let mirrored = once * surface.compensation;
    let below = mirrored + surface.diffuse * (1.0 - mirrored);
    let coat = surface.coat.strength * (0.04 * surface.coat.dfg.x + surface.coat.dfg.y);
    return ambient * mix(below, vec3f(1.0), coat);
}

fn to_the_fifth(x: f32) -> f32 {
    let square = x * x;
    return square * square * x;
}
