// Moves enemies: towards the player, away from crowds. Those that are shot or that reach the
// player are counted, and come back from far away.
//
// Each invocation writes its own enemy alone, and counting is the same in any order, so a game is
// the same each time.

import swarm::constants::{CELL, GRID};

struct Enemy {
    position: vec2f,
    velocity: vec2f,
}

struct Step {
    player: vec2f,
    enemies: u32,
    shots: u32,
    speed: f32,
    seconds: f32,
    frame: u32,
}

@group(0) @binding(0) var<storage, read> before: array<Enemy>;
@group(0) @binding(1) var<storage, read_write> after: array<Enemy>;
@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read> shots: array<vec2f>;
// Enemies shot, and enemies that reached the player.
@group(0) @binding(4) var<storage, read_write> counters: array<atomic<u32>>;
var<immediate> step: Step;

const SHOT: f32 = 9.0;
const PLAYER: f32 = 13.0;

fn crowd(cell: vec2i) -> f32 {
    let within = clamp(cell, vec2i(0), vec2i(GRID - 1));
    return f32(cells[within.y * GRID + within.x]);
}

// A well mixed number (pcg).
fn mix_bits(value: u32) -> u32 {
    let state = value * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn far_away(index: u32) -> vec2f {
    let bits = mix_bits(index * 9781u + step.frame * 6271u);
    let angle = f32(bits & 0xffffu) / 65536.0 * 6.2831853;
    let distance = 760.0 + f32(bits >> 16u) / 65536.0 * 260.0;
    return step.player + vec2f(cos(angle), sin(angle)) * distance;
}

@compute @workgroup_size(64)
fn move_enemies(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= step.enemies {
        return;
    }
    var enemy = before[id.x];
    let to_player = step.player - enemy.position;
    let distance = max(length(to_player), 1.0);
    let cell = vec2i(floor(enemy.position / CELL)) + GRID / 2;
    let slope = vec2f(
        crowd(cell - vec2i(1, 0)) - crowd(cell + vec2i(1, 0)),
        crowd(cell - vec2i(0, 1)) - crowd(cell + vec2i(0, 1)),
    );
    // Every enemy has its own pace, and its own side on which it goes around.
    let nature = f32(mix_bits(id.x) & 0xffffu) / 65536.0;
    let ahead = to_player / distance;
    let around = vec2f(-ahead.y, ahead.x) * (nature - 0.5) * 1.4;
    let wish = (ahead + around) * step.speed * (0.6 + 0.8 * nature) + clamp(slope * 7.0, vec2f(-140.0), vec2f(140.0));
    enemy.velocity += (wish - enemy.velocity) * min(step.seconds * 3.0, 1.0);
    enemy.position += enemy.velocity * step.seconds;

    var is_shot = false;
    for (var shot = 0u; shot < step.shots; shot += 1u) {
        let off = shots[shot] - enemy.position;
        is_shot = is_shot || dot(off, off) < SHOT * SHOT;
    }
    if is_shot {
        atomicAdd(&counters[0], 1u);
    } else if distance < PLAYER {
        atomicAdd(&counters[1], 1u);
    }
    if is_shot || distance < PLAYER {
        enemy.position = far_away(id.x);
        enemy.velocity = vec2f(0.0);
    }
    after[id.x] = enemy;
}
