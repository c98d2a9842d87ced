//! The walls of `breakout`.

use super::BRICKS;

/// Number of levels.
pub const LEVELS: u32 = LAYOUTS.len() as u32;

/// Rows of bricks of each level: the hits that a brick stands, or none.
const LAYOUTS: [[&str; BRICKS[1]]; 5] = [
    [
        "222222222222",
        "222222222222",
        "111111111111",
        "111111111111",
        "111111111111",
        "111111111111",
    ],
    [
        ".1.1.1..1.1.",
        "11.1.1221.11",
        "1.11122111.1",
        "1.11122111.1",
        "11.1.1221.11",
        ".1.1.1..1.1.",
    ],
    [
        "3..........3",
        ".2........2.",
        "..22....22..",
        "...222222...",
        "..11111111..",
        ".1111111111.",
    ],
    [
        "..333..333..",
        ".3222332223.",
        ".3211221123.",
        "..32111123..",
        "...321123...",
        "....3333....",
    ],
    [
        "333333333333",
        "3..2....2..3",
        "3.2.2..2.2.3",
        "32...22...23",
        "3.1.1..1.1.3",
        "333.3333.333",
    ],
];

/// Returns the hits that each brick of a level stands, row by row from the top left. Levels after the last are the last.
pub(super) fn wall(level: u32) -> Vec<u8> {
    let layout = LAYOUTS[level.min(LEVELS - 1) as usize];
    let bricks = layout.iter().flat_map(|row| row.bytes());
    bricks
        .map(|hits| if hits == b'.' { 0 } else { hits - b'0' })
        .collect()
}
