// Draws enemies: darts that point where they fly, brighter the faster they are.

struct Enemy {
    position: vec2f,
    velocity: vec2f,
}

struct View {
    // Half of the field's size.
    half_size: vec2f,
    // Center of the view: the screen shakes.
    center: vec2f,
}

@group(0) @binding(0) var<storage, read> enemies: array<Enemy>;
var<immediate> view: View;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
}

@vertex
fn vertex_main(@builtin(vertex_index) corner: u32, @builtin(instance_index) index: u32) -> Corner {
    var corners = array(vec2f(5.0, 0.0), vec2f(-3.5, 2.6), vec2f(-3.5, -2.6));
    let enemy = enemies[index];
    let speed = length(enemy.velocity);
    let along = select(vec2f(1.0, 0.0), enemy.velocity / max(speed, 0.001), speed > 0.001);
    let offset = corners[corner];
    let turned = along * offset.x + vec2f(-along.y, along.x) * offset.y;
    let hurry = clamp(speed / 160.0, 0.0, 1.0);
    let hue = f32(index % 97u) / 97.0;
    let calm = mix(vec3f(0.10, 0.16, 0.45), vec3f(0.35, 0.08, 0.40), hue);
    let color = mix(calm, vec3f(1.6, 0.35, 0.15), hurry * hurry);
    let place = (enemy.position + turned - view.center) / view.half_size;
    return Corner(vec4f(place, 0.0, 1.0), color);
}

@fragment
fn fragment_main(corner: Corner) -> @location(0) vec4f {
    return vec4f(corner.color, 1.0);
}
