// Counts enemies by cell of a grid, so that they can make room for each other.

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

@group(0) @binding(0) var<storage, read> enemies: array<Enemy>;
@group(0) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
var<immediate> step: Step;

@compute @workgroup_size(64)
fn count(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= step.enemies {
        return;
    }
    let cell = vec2i(floor(enemies[id.x].position / CELL)) + GRID / 2;
    if all(cell >= vec2i(0)) && all(cell < vec2i(GRID)) {
        atomicAdd(&cells[cell.y * GRID + cell.x], 1u);
    }
}
