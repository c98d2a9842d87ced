use std::collections::BTreeSet;
use std::path::Path;

use super::*;

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

/// A pattern of `assets/patterns`.
fn asset(name: &str) -> Pattern {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/patterns");
    Pattern::load(&folder.join(name).with_extension("rle")).unwrap()
}

/// A board with one asset in its middle, and the asset's rule.
fn board_with(name: &str, size: Size) -> (Board, Rule) {
    let pattern = asset(name);
    let mut board = Board::new(size);
    board.place_centred(&pattern).unwrap();
    (board, pattern.rule.unwrap())
}

fn after(board: &Board, rule: Rule, generations: u32) -> Board {
    (0..generations).fold(board.clone(), |board, _| board.step(rule))
}

/// The live cells, all moved by (dx, dy).
fn cells(board: &Board, dx: u32, dy: u32) -> BTreeSet<(u32, u32)> {
    let (width, height) = (board.size.width(), board.size.height());
    (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .filter(|(x, y)| board.is_alive(*x, *y))
        .map(|(x, y)| ((x + dx) % width, (y + dy) % height))
        .collect()
}

/// Steps a board by the rule, cell by cell.
fn naive_step(board: &Board, rule: Rule) -> Board {
    let (width, height) = (board.size.width(), board.size.height());
    let mut next = Board::new(board.size);
    for y in 0..height {
        for x in 0..width {
            let around = [
                (-1, -1),
                (0, -1),
                (1, -1),
                (-1, 0),
                (1, 0),
                (-1, 1),
                (0, 1),
                (1, 1),
            ];
            let neighbours = around
                .iter()
                .filter(|(dx, dy)| {
                    board.is_alive(
                        (i64::from(x) + dx).rem_euclid(width.into()) as u32,
                        (i64::from(y) + dy).rem_euclid(height.into()) as u32,
                    )
                })
                .count();
            next.set(x, y, rule.lives(board.is_alive(x, y), neighbours as u32));
        }
    }
    next
}

/// Pseudo-random numbers (xorshift), the same at every run.
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn board(&mut self, size: Size) -> Board {
        let mut board = Board::new(size);
        for y in 0..size.height() {
            for x in 0..size.width() {
                board.set(x, y, self.next() >> 30 == 0);
            }
        }
        board
    }
}

#[test]
fn equals_the_plain_loop_at_any_width() {
    let mut random = Random(0x9e37_79b9);
    let sides = [1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 97];
    for width in sides {
        for height in [1, 2, 3, 7, 32] {
            let rules = [
                "B3/S23",
                "B36/S23",
                "B2/S",
                "B3678/S34678",
                "B0123478/S34678",
                "B8/S08",
            ];
            for rule in rules.map(|rule| rule.parse().unwrap()) {
                let mut board = random.board(size(width, height));
                for generation in 1..=3 {
                    let expected = naive_step(&board, rule);
                    board = board.step(rule);
                    assert_eq!(
                        board, expected,
                        "{rule} {width}x{height} generation {generation}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_rule_bit_is_applied() {
    let mut random = Random(1);
    let board = random.board(size(45, 40));
    for count in 0..=8 {
        for text in [format!("B{count}/S"), format!("B/S{count}")] {
            let rule = text.parse().unwrap();
            assert_eq!(board.step(rule), naive_step(&board, rule), "{rule}");
        }
    }
}

#[test]
fn glider_moves_over_the_edges() {
    // Generations 4 x 37 carry it over the right and the lower edge of both boards.
    for size in [size(37, 37), size(64, 40)] {
        let (start, rule) = board_with("glider", size);
        for steps in [1, 10, 37] {
            let moved = after(&start, rule, 4 * steps);
            assert_eq!(cells(&moved, 0, 0), cells(&start, steps, steps));
        }
    }
}

#[test]
fn lightweight_spaceship_moves_sideways() {
    let (start, rule) = board_with("lwss", size(50, 20));
    // To the left: 48 to the right on a torus of 50.
    assert_eq!(cells(&after(&start, rule, 4), 0, 0), cells(&start, 48, 0));
}

#[test]
fn gosper_gun_fires_every_30_generations() {
    let (start, rule) = board_with("gosper_gun", size(300, 300));
    let mut board = start;
    for gliders in 0..8 {
        assert_eq!(board.population(), 36 + 5 * gliders);
        board = after(&board, rule, 30);
    }
}

#[test]
fn oscillators_have_their_period() {
    let (pulsar, rule) = board_with("pulsar", size(20, 20));
    assert_ne!(pulsar.step(rule), pulsar);
    assert_eq!(after(&pulsar, rule, 3), pulsar);

    let (row, rule) = board_with("pentadecathlon", size(40, 40));
    let pentadecathlon = after(&row, rule, 15);
    for generations in 1..15 {
        assert_ne!(after(&pentadecathlon, rule, generations), pentadecathlon);
    }
    assert_eq!(after(&pentadecathlon, rule, 15), pentadecathlon);
}

#[test]
fn die_hard_dies_at_130() {
    let (start, rule) = board_with("die_hard", size(100, 100));
    let old = after(&start, rule, 129);
    assert_ne!(old.population(), 0);
    assert_eq!(old.step(rule).population(), 0);
}

#[test]
fn r_pentomino_settles_at_1103() {
    let (start, rule) = board_with("r_pentomino", size(2048, 2048));
    let settled = after(&start, rule, 1103);
    assert_eq!(settled.population(), 116);
}

#[test]
#[ignore = "takes a quarter of a minute unoptimised"]
fn acorn_settles_at_5206() {
    // Its gliders are 1300 cells away by then, its ash 350: this torus lets none of them meet.
    let (start, rule) = board_with("acorn", size(3200, 3200));
    assert_eq!(after(&start, rule, 5206).population(), 633);
}

#[test]
fn infinite_growth_grows() {
    for (name, generations) in [("ten_cells", 2000), ("one_row", 1500)] {
        let (start, rule) = board_with(name, size(1024, 1024));
        let early = after(&start, rule, generations / 2).population();
        let late = after(&start, rule, generations).population();
        assert!(late > early + 50, "{name}: {early}, then {late}");
    }
}

#[test]
fn replicator_copies_itself_in_high_life() {
    let (start, rule) = board_with("replicator", size(100, 100));
    assert_eq!(rule, Rule::HIGH_LIFE);
    // A copy towards either end of the diagonal each time; where two meet, both vanish.
    let mut two = cells(&start, 2, 2);
    two.extend(cells(&start, 98, 98));
    assert_eq!(cells(&after(&start, rule, 12), 0, 0), two);
    assert_eq!(after(&start, rule, 24).population(), 24);
    assert_eq!(after(&start, rule, 36).population(), 48);
}

#[test]
fn seed_explodes_and_none_survives() {
    let (start, rule) = board_with("seed", size(64, 64));
    let next = start.step(rule);
    assert_eq!(next.population(), 4);
    assert!(
        start
            .words
            .iter()
            .zip(&next.words)
            .all(|(old, new)| old & new == 0)
    );
}

#[test]
fn places_in_the_middle_or_not_at_all() {
    let (board, _) = board_with("r_pentomino", size(6, 4));
    assert_eq!(
        cells(&board, 0, 0),
        [(2, 0), (3, 0), (1, 1), (2, 1), (2, 2)].into()
    );

    let mut small = Board::new(size(40, 8));
    let error = small
        .place_centred(&asset("gosper_gun"))
        .unwrap_err()
        .to_string();
    let expected = "the pattern has 36x9 cells and does not fit on a board of 40x8; \
                    give --size 40x9 or more";
    assert_eq!(error, expected);
    assert_eq!(small.population(), 0);
}

#[test]
fn words_are_rows_of_bits() {
    let mut board = Board::new(size(33, 2));
    board.set(0, 0, true);
    board.set(32, 1, true);
    board.set(5, 0, true);
    board.set(5, 0, false);
    assert_eq!(board.words(), [1, 0, 0, 1]);
    assert_eq!(Board::from_words(size(33, 2), vec![1, 0, 0, 1]), Ok(board));
    let error = Board::from_words(size(33, 2), vec![0; 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a board of 33x2 has 4 words, but 3 were given"
    );
}
