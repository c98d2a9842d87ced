//! Materials: patterns that distinguish surfaces.

/// The texels of a square image, a byte each, row by row: stripes, checkers, dots, frames and the
/// like.
pub fn texels(number: u32, side: u32) -> Vec<u8> {
    let places = (0..side).flat_map(|y| (0..side).map(move |x| [x, y]));
    let texel = |place| {
        if is_dark(number, side, place) {
            110
        } else {
            u8::MAX
        }
    };
    places.map(texel).collect()
}

fn is_dark(number: u32, side: u32, [x, y]: [u32; 2]) -> bool {
    // Twice the distance from the middle, so that it is whole.
    let [dx, dy] = [x, y].map(|at| (2 * at + 1).abs_diff(side));
    let eighth = side / 8;
    match number {
        0 => (x / eighth).is_multiple_of(2),
        1 => (y / eighth).is_multiple_of(2),
        2 => (x / eighth / 2 + y / eighth / 2).is_multiple_of(2),
        3 => dx * dx + dy * dy < side * side / 3,
        4 => dx.max(dy) > 6 * eighth,
        5 => ((x + y) / eighth).is_multiple_of(2),
        6 => (dx * dx / 64).abs_diff(dy * dy / 64).is_multiple_of(2),
        _ => false,
    }
}
