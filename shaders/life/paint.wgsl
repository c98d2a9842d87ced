// Sets or clears the cells a round brush passes over on its way from one cell to another. One
// invocation takes one cell of the box around the stroke, which may reach over the edges.

struct Paint {
    // Size of the board, in cells.
    board: vec2<u32>,
    // The stroke's ends, in cells; they may lie outside the board, which is a torus.
    from_cell: vec2<i32>,
    to_cell: vec2<i32>,
    // Radius of the brush, in cells; at 0 the stroke is a line one cell wide.
    radius: u32,
    // 1 sets cells, 0 clears them.
    alive: u32,
}

// Two cells may share a word, so words are changed atomically.
@group(0) @binding(0) var<storage, read_write> current: array<atomic<u32>>;
var<immediate> paint: Paint;

fn distance_to_stroke(cell: vec2<i32>) -> f32 {
    let along = vec2<f32>(paint.to_cell - paint.from_cell);
    let offset = vec2<f32>(cell - paint.from_cell);
    let share = clamp(dot(offset, along) / max(dot(along, along), 1.0), 0.0, 1.0);
    return length(offset - share * along);
}

// The cell on the torus.
fn wrap(cell: vec2<i32>) -> vec2<u32> {
    let size = vec2<i32>(paint.board);
    return vec2<u32>((cell % size + size) % size);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let radius = vec2<i32>(i32(paint.radius));
    let low = min(paint.from_cell, paint.to_cell) - radius;
    let high = max(paint.from_cell, paint.to_cell) + radius;
    let cell = low + vec2<i32>(id.xy);
    // Half a cell more than the radius: a line without gaps, and discs that look round.
    if any(cell > high) || distance_to_stroke(cell) > f32(paint.radius) + 0.5 {
        return;
    }
    let place = wrap(cell);
    let word = place.y * ((paint.board.x + 31u) / 32u) + place.x / 32u;
    let bit = 1u << (place.x % 32u);
    if paint.alive != 0u {
        atomicOr(&current[word], bit);
    } else {
        atomicAnd(&current[word], ~bit);
    }
}
