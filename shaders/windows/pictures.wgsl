// Three moving pictures, one for each window. Colors are linear: the target has an sRGB format.

struct Picture {
    // Width of the window over its height.
    aspect: f32,
    // In seconds.
    time: f32,
    // Number of the picture, modulo three.
    number: u32,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    // The shorter side reaches from -1 to 1.
    @location(0) point: vec2<f32>,
}

var<immediate> picture: Picture;

const TURN = 6.2831853;

// A triangle that covers the window.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    let scale = vec2<f32>(max(picture.aspect, 1.0), max(1.0 / picture.aspect, 1.0));
    return Corner(vec4<f32>(corner, 0.0, 1.0), corner * scale);
}

fn hue(phase: f32) -> vec3<f32> {
    return 0.5 + 0.5 * cos(TURN * (vec3<f32>(0.05, 0.38, 0.66) + phase));
}

// Arms that wind towards the middle.
fn spiral(point: vec2<f32>) -> vec3<f32> {
    let distance = length(point);
    let winding = atan2(point.y, point.x) / TURN * 3.0 + log(distance + 0.02) * 1.4;
    let arm = smoothstep(0.25, 0.05, abs(fract(winding - picture.time * 0.3) - 0.5));
    return mix(vec3<f32>(0.01, 0.015, 0.05), hue(distance * 0.5), arm * smoothstep(1.7, 0.1, distance));
}

// A board whose fields sway.
fn board(point: vec2<f32>) -> vec3<f32> {
    let sway = 0.12 * sin(point.yx * 3.0 + picture.time * vec2<f32>(1.3, 1.7));
    let field = floor((point + sway) * 4.0);
    let is_light = (i32(field.x) + i32(field.y)) % 2 == 0;
    let shade = 0.5 + 0.5 * sin(dot(field, vec2<f32>(0.7, 0.4)) + picture.time);
    return select(vec3<f32>(0.02, 0.03, 0.03), mix(vec3<f32>(0.10, 0.45, 0.32), vec3<f32>(0.85, 0.75, 0.35), shade), is_light);
}

// Waves from two places.
fn ripples(point: vec2<f32>) -> vec3<f32> {
    let left = distance(point, vec2<f32>(-0.6, 0.0));
    let right = distance(point, vec2<f32>(0.6, 0.2 * sin(picture.time)));
    let height = sin(left * 22.0 - picture.time * 4.0) + sin(right * 22.0 - picture.time * 4.0);
    return mix(vec3<f32>(0.01, 0.03, 0.12), vec3<f32>(0.55, 0.85, 1.0), smoothstep(-0.4, 2.0, height));
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4<f32> {
    var color = spiral(corner.point);
    if picture.number % 3u == 1u {
        color = board(corner.point);
    } else if picture.number % 3u == 2u {
        color = ripples(corner.point);
    }
    return vec4<f32>(color, 1.0);
}
