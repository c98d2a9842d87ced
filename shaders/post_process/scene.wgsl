// A picture worth post-processing: rings that turn against each other before an evening sky.
// Colors are linear: the target has an sRGB format.

struct Scene {
    // Width of the picture over its height.
    aspect: f32,
    // In seconds.
    time: f32,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    // From (0, 0) top left to (1, 1) bottom right.
    @location(0) uv: vec2<f32>,
}

var<immediate> scene: Scene;

const TURN = 6.2831853;
const RINGS = 5;

// A triangle that covers the picture.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    let position = vec4<f32>(corner * 4.0 - 1.0, 0.0, 1.0);
    return Corner(position, vec2<f32>(corner.x * 2.0, 1.0 - corner.y * 2.0));
}

// How much of the pixel at this distance inside (negative) or outside an outline is covered.
fn cover(distance: f32, pixel: f32) -> f32 {
    return clamp(0.5 - distance / pixel, 0.0, 1.0);
}

fn sky(height: f32) -> vec3<f32> {
    let low = mix(vec3<f32>(0.55, 0.16, 0.10), vec3<f32>(0.14, 0.05, 0.16), smoothstep(0.0, 0.45, height));
    return mix(low, vec3<f32>(0.008, 0.016, 0.06), smoothstep(0.35, 1.0, height));
}

fn ring_color(ring: f32) -> vec3<f32> {
    return 0.5 + 0.5 * cos(TURN * (vec3<f32>(0.02, 0.30, 0.58) + 0.13 * ring));
}

// A ring of arcs, with a ball that runs along it; alpha is how much they cover.
fn ring(point: vec2<f32>, index: i32, pixel: f32) -> vec4<f32> {
    let number = f32(index);
    let radius = 0.16 + 0.145 * number;
    let direction = select(-1.0, 1.0, index % 2 == 0);
    let turned = direction * scene.time * (0.9 - 0.12 * number);
    let arcs = 2.0 + number;

    // Angles within one arc, from -0.5 to 0.5 of its share of the circle.
    let share = fract((atan2(point.y, point.x) - turned) / TURN * arcs) - 0.5;
    let along = share * TURN / arcs * radius;
    let half_length = 0.34 * TURN / arcs * radius;
    let offset = vec2<f32>(max(abs(along) - half_length, 0.0), length(point) - radius);
    let arc = cover(length(offset) - 0.030, pixel);

    let angle = -1.6 * turned + number;
    let ball = cover(distance(point, radius * vec2<f32>(cos(angle), sin(angle))) - 0.048, pixel);
    let color = mix(ring_color(number), vec3<f32>(1.0, 0.93, 0.80), ball);
    return vec4<f32>(color, max(arc, ball));
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4<f32> {
    // The shorter side reaches from -1 to 1, y up.
    let scale = vec2<f32>(max(scene.aspect, 1.0), max(1.0 / scene.aspect, 1.0));
    let point = (corner.uv * 2.0 - 1.0) * vec2<f32>(1.0, -1.0) * scale;
    let pixel = length(fwidth(point)) * 0.7071;

    var color = sky(1.0 - corner.uv.y);
    let sun = length(point);
    color += vec3<f32>(0.9, 0.42, 0.12) * exp(-5.0 * sun);
    color = mix(color, vec3<f32>(1.0, 0.80, 0.42), cover(sun - 0.07 - 0.008 * sin(2.0 * scene.time), pixel));
    for (var index = 0; index < RINGS; index++) {
        let painted = ring(point, index, pixel);
        color = mix(color, painted.rgb, painted.a);
    }
    return vec4<f32>(color, 1.0);
}
