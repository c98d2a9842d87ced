// Draws the board over the whole window: rounded tiles close by, exact averages from afar.
// Colors are linear: the target has an sRGB format.

struct View {
    // Size in cells.
    board: vec2<u32>,
    // Size in pixels.
    window: vec2<f32>,
    // The point of the board in the middle of the window, in cells from its top left corner.
    centre: vec2<f32>,
    // Side of a pixel in cells: the zoom, upside down. At most 30.
    cells_per_pixel: f32,
    // How much of the grid is shown when it is large enough, 0 to 1.
    grid: f32,
}

@group(0) @binding(0) var<storage, read> current: array<u32>;
var<immediate> view: View;

const OUTSIDE = vec3<f32>(0.0025, 0.0035, 0.0055);
const FRAME = vec3<f32>(0.075, 0.115, 0.125);
const GAP = vec3<f32>(0.0045, 0.0065, 0.0105);
const GROUND = vec3<f32>(0.0085, 0.0125, 0.0185);
const GLOW = vec3<f32>(0.010, 0.034, 0.026);
// Live cells, from those alone to those in a crowd.
const AMBER = vec3<f32>(1.0, 0.46, 0.10);
const LIME = vec3<f32>(0.62, 0.86, 0.20);
const JADE = vec3<f32>(0.10, 0.62, 0.40);

// A triangle that covers the window.
@vertex
fn vertex_main(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    return vec4<f32>(corner * 4.0 - 1.0, 0.0, 1.0);
}

// A word of a row; outside the board all is dead.
fn word_at(word: i32, row: i32) -> u32 {
    let words_per_row = i32((view.board.x + 31u) / 32u);
    if word < 0 || word >= words_per_row || row < 0 || row >= i32(view.board.y) {
        return 0u;
    }
    return current[row * words_per_row + word];
}

// The 32 cells of a row from column x on.
fn cells_from(x: i32, row: i32) -> u32 {
    let word = x >> 5u;
    let shift = u32(x & 31);
    let low = word_at(word, row) >> shift;
    if shift == 0u {
        return low;
    }
    return low | (word_at(word + 1, row) << (32u - shift));
}

// How much life there is in the first `length` cells, the last of them in part; below 32.
fn life_before(cells: u32, length: f32) -> f32 {
    let whole = u32(length);
    let full = f32(countOneBits(cells & ((1u << whole) - 1u)));
    return full + fract(length) * f32((cells >> whole) & 1u);
}

// The live share of a box at most 30 cells wide and high, cells counted by their area in it.
fn density(centre: vec2<f32>, side: f32) -> f32 {
    let low = centre - 0.5 * side;
    let high = centre + 0.5 * side;
    let first = i32(floor(low.x));
    var life = 0.0;
    for (var row = i32(floor(low.y)); row < i32(ceil(high.y)); row++) {
        let share = min(high.y, f32(row + 1)) - max(low.y, f32(row));
        let cells = cells_from(first, row);
        let left = low.x - f32(first);
        life += share * (life_before(cells, left + side) - life_before(cells, left));
    }
    return life / (side * side);
}

// The color of life with this live share around it.
fn live_color(crowd: f32) -> vec3<f32> {
    let warm = mix(AMBER, LIME, smoothstep(0.10, 0.42, crowd));
    return mix(warm, JADE, smoothstep(0.42, 0.85, crowd));
}

// How much of a pixel the rounded tile of its cell covers.
fn tile_cover(cell: vec2<f32>) -> f32 {
    const CORNER = 0.16;
    let gap = max(view.cells_per_pixel, 0.07);
    let beyond = abs(fract(cell) - 0.5) - (0.5 - 0.5 * gap - CORNER);
    let distance = length(max(beyond, vec2<f32>(0.0))) + min(max(beyond.x, beyond.y), 0.0) - CORNER;
    return clamp(0.5 - distance / view.cells_per_pixel, 0.0, 1.0);
}

fn board_color(cell: vec2<f32>) -> vec3<f32> {
    let side = view.cells_per_pixel;
    let crowd = density(cell, max(side, 3.0));
    let live = live_color(crowd);
    let ground = GROUND + GLOW * min(crowd * 2.0, 1.0);

    // From afar thin life would sink into the ground: lift it.
    let lift = mix(1.0, 0.45, smoothstep(1.0, 4.0, side));
    let average = mix(ground, live, pow(density(cell, side), lift));

    let alive = f32(cells_from(i32(floor(cell.x)), i32(floor(cell.y))) & 1u);
    let tile = mix(GAP, mix(ground, live, alive), tile_cover(cell));
    return mix(average, tile, view.grid * smoothstep(4.0, 9.0, 1.0 / side));
}

@fragment
fn fragment_main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let cell = view.centre + (position.xy - 0.5 * view.window) * view.cells_per_pixel;
    let middle = 0.5 * vec2<f32>(view.board);
    let beyond = (abs(cell - middle) - middle) / view.cells_per_pixel;
    // Distance to the board's edge in pixels, negative on the board.
    let edge = length(max(beyond, vec2<f32>(0.0))) + min(max(beyond.x, beyond.y), 0.0);

    let outside = OUTSIDE + GLOW * 0.5 * exp(-max(edge, 0.0) / 24.0);
    let color = mix(board_color(cell), outside, clamp(edge + 0.5, 0.0, 1.0));
    // A frame two pixels wide around the board.
    let frame = clamp(1.5 - abs(edge - 1.0), 0.0, 1.0);
    return vec4<f32>(mix(color, FRAME, frame), 1.0);
}
