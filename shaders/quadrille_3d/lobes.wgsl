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
    // What of the light on its other side comes through, scattered evenly.
    through: vec3f,
    // The two that f0 is mixed of: that of metal, and of what is none.
    base: vec3f,
    dielectric: vec3f,
    metallic: f32,
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

// A light as a place sees it.
struct Lamp {
    to_light: vec3f,
    // The way to its middle, and the radius of its sphere; with radius 0 only the direction counts.
    way: vec3f,
    radius: f32,
}

// What of a lamp's light goes to the eye, with the cosine of its direction.
fn reflected(surface: Surface, lamp: Lamp) -> vec3f {
    let normal_light = dot(surface.normal, lamp.to_light);
    var base = vec3f(0.0);
    if normal_light > 0.0 {
        base = scattered(surface, lamp.to_light, normal_light);
    }
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let highlight = mirrored(surface, lobe_of(lamp, surface.normal, surface.to_view, alpha));
    if surface.coat.strength == 0.0 {
        return base + highlight;
    }
    // The varnish takes its part of what comes in and of what goes out again.
    let coat_alpha = surface.coat.perceptual_roughness * surface.coat.perceptual_roughness;
    let lobe = lobe_of(lamp, surface.coat.normal, surface.to_view, coat_alpha);
    let half_way = normalize(lobe.to_light + surface.to_view);
    let light_half = saturate(dot(lobe.to_light, half_way));
    let fresnel = surface.coat.strength * (0.04 + 0.96 * to_the_fifth(1.0 - light_half));
    let below = (base + highlight * (1.0 - fresnel)) * (1.0 - fresnel);
    let coat_light = dot(surface.coat.normal, lobe.to_light);
    if coat_light <= 0.0 {
        return below;
    }
    let facets = facets_of(saturate(dot(surface.coat.normal, half_way)), lobe.alpha * lobe.alpha);
    // Kelemen: masking and shadowing of what is nearly smooth.
    let visible = 0.25 / max(light_half * light_half, 1e-8);
    return below + facets * visible * fresnel * coat_light * lobe.strength;
}

// Burley: rough surfaces throw more light back at grazing angles. As in bevy and Filament's formulas by the square of
// the perceptual roughness, which the original has as it is.
fn scattered(surface: Surface, to_light: vec3f, normal_light: f32) -> vec3f {
    let light_half = saturate(dot(to_light, normalize(to_light + surface.to_view)));
    let alpha = surface.perceptual_roughness * surface.perceptual_roughness;
    let grazing = 0.5 + 2.0 * alpha * light_half * light_half;
    let both = (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - normal_light))
        * (1.0 + (grazing - 1.0) * to_the_fifth(1.0 - surface.normal_view));
    return surface.diffuse * (both / PI * normal_light);
}

// What comes through of a lamp's light on the other side.
fn transmitted(surface: Surface, to_light: vec3f) -> vec3f {
    return surface.through * (max(-dot(surface.normal, to_light), 0.0) / PI);
}

// A lamp as a lobe sees it: from where its light seems to come, how rough the lobe is for it, and
// how much of the light that is.
struct Lobe {
    to_light: vec3f,
    alpha: f32,
    strength: f32,
}

// The point of a sphere that is closest to the mirrored ray of sight stands for it, in a wider lobe
// (B. Karis, "Real Shading in Unreal Engine 4", 2013). Smooth surfaces keep their lobe.
fn lobe_of(lamp: Lamp, normal: vec3f, to_view: vec3f, alpha: f32) -> Lobe {
    if lamp.radius == 0.0 {
        return Lobe(lamp.to_light, alpha, 1.0);
    }
    let ray = reflect(-to_view, normal);
    let aside = max(dot(lamp.way, ray), 0.0001) * ray - lamp.way;
    let part = saturate(lamp.radius * inverseSqrt(max(dot(aside, aside), 1e-20)));
    let to_light = normalize(lamp.way + aside * part);
    let size = lamp.radius * inverseSqrt(max(dot(lamp.way, lamp.way), 1e-20));
    let wide = saturate(alpha + 0.5 * size);
    let smooth_part = (1.0 - alpha) * (1.0 - alpha) * (1.0 - alpha) * (1.0 - alpha);
    let normal_light = saturate(dot(normal, to_light));
    let seen = normal_light / max(normal_light + size * size, 0.0001);
    let narrower = alpha / wide;
    return Lobe(to_light, mix(wide, alpha, smooth_part), narrower * narrower * seen);
}

fn mirrored(surface: Surface, lobe: Lobe) -> vec3f {
    let to_light = lobe.to_light;
    let normal_light = dot(surface.normal, to_light);
    if normal_light <= 0.0 {
        return vec3f(0.0);
    }
    let half_way = normalize(to_light + surface.to_view);
    let light_half = saturate(dot(to_light, half_way));
    let normal_half = saturate(dot(surface.normal, half_way));
    let alpha = lobe.alpha;
    let fresnel = surface.f0 + (surface.f90 - surface.f0) * to_the_fifth(1.0 - light_half);
    let color = fresnel * surface.compensation * (normal_light * lobe.strength);
    let n_v = surface.normal_view;
    if surface.anisotropy == 0.0 {
        let square = alpha * alpha;
        // Smith: how many facets are neither hidden nor in shadow.
        let by_view = normal_light * sqrt(n_v * n_v * (1.0 - square) + square);
        let by_light = n_v * sqrt(normal_light * normal_light * (1.0 - square) + square);
        let visible = 0.5 / (by_view + by_light);
        return facets_of(normal_half, square) * visible * color;
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
    return facets * visible * color;
}

// Trowbridge and Reitz: how many facets look half way.
fn facets_of(normal_half: f32, alpha_squared: f32) -> f32 {
    let spread = normal_half * normal_half * (alpha_squared - 1.0) + 1.0;
    return alpha_squared / (PI * spread * spread);
}

// Light of one radiance from all directions, as bevy has it: rough surfaces scatter only as much of it as a
// lobe of roughness 1 mirrors, whose DFG term is `rough`, and there is no clearcoat.
// `open` is how much of it reaches the side that is seen.
fn ambient_light(surface: Surface, rough: vec2f, ambient: vec3f, open: f32) -> vec3f {
    let mirrored = (surface.f0 * surface.dfg.x + surface.dfg.y) * surface.f90;
    let scattered = surface.diffuse * rough.x + rough.y;
    return ambient * ((scattered + mirrored) * open + surface.through * (rough.x + rough.y));
}

fn to_the_fifth(x: f32) -> f32 {
    let square = x * x;
    return square * square * x;
}
