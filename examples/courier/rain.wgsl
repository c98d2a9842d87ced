// Positions of the drops of rain in a box around the camera: what leaves it on one side returns on the other.

struct Moment {
    eye: vec3f,
    time: f32,
}
var<immediate> moment: Moment;
@group(0) @binding(0) var<storage, read_write> drops: array<vec4f>;

const BOX: vec3f = vec3f(46.0, 34.0, 46.0);
const VELOCITY: vec3f = vec3f(3.0, -17.0, 1.5);

// Fractional parts of multiples of irrational numbers fill the box evenly (Roberts 2018).
const STRIDE: vec3f = vec3f(0.8191725, 0.6710436, 0.5497004);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&drops) {
        return;
    }
    let speed = 0.85 + 0.3 * fract(f32(id.x) * 0.618034);
    let start = fract(STRIDE * f32(id.x)) * BOX;
    let at = start + VELOCITY * speed * moment.time - moment.eye;
    let wrapped = at - floor(at / BOX) * BOX;
    drops[id.x] = vec4f(moment.eye + wrapped - 0.5 * BOX, speed);
}
