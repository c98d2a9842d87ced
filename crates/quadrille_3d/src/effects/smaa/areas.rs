//! Areas that revectorized edges cover in a pixel (Jimenez et al. 2012, section 4), as a table.
//!
//! Coordinates have y upwards. Lengths are pixels, and an edge begins at x = 0.

use crate::constants::{SMAA_AREA_SIDE, SMAA_DIAGONAL_SIDE};

/// Width and height of the table: 4 x 4 crossings by two distances, and below them the same of diagonals.
pub(super) const EXTENT: [u32; 2] = [
    4 * SMAA_AREA_SIDE,
    4 * (SMAA_AREA_SIDE + SMAA_DIAGONAL_SIDE),
];

/// Two parts of areas: of the pixel below an edge, and of the one above it.
pub(super) type Areas = [f64; 2];

/// Texels of the table, in `R8G8_UNORM`.
pub(super) fn table() -> Vec<u8> {
    let [width, height] = EXTENT;
    let mut texels = vec![0; (width * height * 2) as usize];
    fill(&mut texels, 0, SMAA_AREA_SIDE, line_areas);
    fill(
        &mut texels,
        4 * SMAA_AREA_SIDE,
        SMAA_DIAGONAL_SIDE,
        diagonal_areas,
    );
    texels
}

/// Writes the areas of all crossings, for distances below `side`, from a row on.
fn fill(texels: &mut [u8], first_row: u32, side: u32, areas: impl Fn([u32; 2], [u32; 2]) -> Areas) {
    for y in 0..4 * side {
        for x in 0..4 * side {
            let areas = areas([x / side, y / side], [x % side, y % side]);
            let at = ((first_row + y) * EXTENT[0] + x) as usize * 2;
            let bytes = areas.map(|area| (area * 255.0).round() as u8);
            texels[at..at + 2].copy_from_slice(&bytes);
        }
    }
}

/// Heights of the ends of a line by their crossing edges: none, above, below, both. With both, the end is opposite to the
/// other one.
fn heights([first, second]: [u32; 2]) -> [f64; 2] {
    let height = |crossing, other| match (crossing, other) {
        (1, _) | (3, 2) => 0.5,
        (2, _) | (3, 1) => -0.5,
        _ => 0.0,
    };
    [height(first, second), height(second, first)]
}

/// Areas of a horizontal edge by its crossings, and the pixels before and after this one.
pub(super) fn line_areas(crossings: [u32; 2], [before, after]: [u32; 2]) -> Areas {
    let [start, end] = heights(crossings);
    let (before, length) = (f64::from(before), f64::from(before + after + 1));
    if start * end < 0.0 {
        return area_beneath([0.0, start], [length, end], before);
    }
    // A double crossing is a junction of several shapes, unless the other end tells which one.
    if crossings.contains(&3) {
        return [0.0; 2];
    }
    let middle = [length / 2.0, 0.0];
    let first = area_beneath([0.0, start], middle, before);
    let second = area_beneath(middle, [length, end], before);
    if start * end > 0.0 {
        let both = [first, second].map(|areas| areas.map(|area| smoothed(area, length)));
        return [both[0][0] + both[1][0], both[0][1] + both[1][1]];
    }
    [first[0] + second[0], first[1] + second[1]]
}

/// Area of a bump: larger on short edges, which look like noise, up to 32 pixels.
fn smoothed(area: f64, length: f64) -> f64 {
    let part = (length / 32.0).min(1.0);
    (area * 2.0).sqrt() * 0.5 * (1.0 - part) + area * part
}

/// Areas between the axis and a segment in the pixel from `x` to `x + 1`: below and above the axis.
fn area_beneath([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], x: f64) -> Areas {
    let (left, right) = (x1.max(x), x2.min(x + 1.0));
    if right <= left {
        return [0.0; 2];
    }
    let height = |x: f64| y1 + (y2 - y1) * (x - x1) / (x2 - x1);
    let (low, high) = (height(left), height(right));
    let width = right - left;
    if low * high >= 0.0 {
        let area = (low + high) / 2.0 * width;
        return [(-area).max(0.0), area.max(0.0)];
    }
    // Two triangles.
    let split = low / (low - high) * width;
    let areas = [low * split / 2.0, high * (width - split) / 2.0];
    let sum = |sign: f64| areas.iter().map(|area| (area * sign).max(0.0)).sum();
    [sum(-1.0), sum(1.0)]
}

/// Ends of a diagonal line on the corners of its first pixel, (1, 0) to (2, 1), for crossings none, vertical, horizontal
/// and both at the start; mirrored at the end. Without and with one crossing, the shape beyond the end is not known, so
/// areas of two lines are averaged.
fn diagonal_lines([first, second]: [u32; 2]) -> [[[f64; 2]; 2]; 2] {
    let line = |start, end| [start, end];
    let (a, b, c) = ([1.0, 0.0], [0.0, 0.0], [1.0, 1.0]);
    match (first, second) {
        (0, 0) => [line(c, c), line(a, a)],
        (1, 0) => [line(a, b), line(a, a)],
        (0, 2) => [line(b, a), line(a, a)],
        (1, 2) => [line(a, a); 2],
        (2, 0) => [line(c, b), line(c, a)],
        (3, 0) => [line(c, b), line(a, a)],
        (2, 2) => [line(c, a); 2],
        (3, 2) => [line(c, a), line(a, a)],
        (0, 1) => [line(b, c), line(a, c)],
        (1, 1) => [line(a, c); 2],
        (0, 3) => [line(b, c), line(a, a)],
        (1, 3) => [line(a, c), line(a, a)],
        (2, 1) => [line(c, c); 2],
        (3, 1) => [line(c, c), line(a, c)],
        (2, 3) => [line(c, c), line(c, a)],
        _ => [line(c, c), line(a, a)],
    }
}

/// Areas of a diagonal edge, which rises to the right, by its crossings and the pixels before and after this one.
pub(super) fn diagonal_areas(crossings: [u32; 2], [before, after]: [u32; 2]) -> Areas {
    let (before, length) = (f64::from(before), f64::from(before + after + 1));
    let areas = diagonal_lines(crossings).map(|[start, end]| {
        let end = end.map(|it| it + length);
        let below = |y| area_right_of(start, end, [1.0 + before, y + before]);
        [1.0 - below(0.0), below(1.0)]
    });
    [0, 1].map(|side| (areas[0][side] + areas[1][side]) / 2.0)
}

/// Part of the unit square at a corner that lies to the right of a line.
fn area_right_of([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], [left, bottom]: [f64; 2]) -> f64 {
    let side = |[x, y]: [f64; 2]| (y2 - y1) * (x - x1) - (x2 - x1) * (y - y1);
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let corners = corners.map(|[x, y]| [left + x, bottom + y]);
    let mut inside: Vec<[f64; 2]> = Vec::new();
    for (at, &corner) in corners.iter().enumerate() {
        let next = corners[(at + 1) % 4];
        let (here, there) = (side(corner), side(next));
        if here >= 0.0 {
            inside.push(corner);
        }
        if here * there < 0.0 {
            let part = here / (here - there);
            inside.push([0, 1].map(|axis| corner[axis] + (next[axis] - corner[axis]) * part));
        }
    }
    let mut doubled = 0.0;
    for (at, [x, y]) in inside.iter().enumerate() {
        let [next_x, next_y] = inside[(at + 1) % inside.len()];
        doubled += x * next_y - next_x * y;
    }
    doubled / 2.0
}

#[cfg(test)]
mod tests;
