use super::*;

/// Pseudo-random numbers (Marsaglia 2003, "Xorshift RNGs").
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn visible(mut spans: Vec<Span>) -> Vec<Span> {
    let mut visible = Vec::new();
    visible_bytes(&mut spans, &mut Active::new(), &mut visible);
    visible
}

fn span(write: u32, step: u32, (start, end): (u64, u64)) -> Span {
    Span {
        buffer: ResourceId(1),
        start,
        end,
        step,
        write,
    }
}

fn ranges(spans: Vec<Span>) -> Vec<(u32, u64, u64)> {
    let visible = visible(spans).into_iter();
    visible.map(|it| (it.write, it.start, it.end)).collect()
}

#[test]
fn newer_bytes_cut_older_ones() {
    let cut = |new| ranges(vec![span(0, 0, (10, 20)), span(1, 0, new)]);
    assert_eq!(cut((10, 20)), [(1, 10, 20)]);
    assert_eq!(cut((13, 15)), [(0, 10, 13), (1, 13, 15), (0, 15, 20)]);
    assert_eq!(cut((8, 14)), [(1, 8, 14), (0, 14, 20)]);
    assert_eq!(cut((12, 24)), [(0, 10, 12), (1, 12, 24)]);
    assert_eq!(cut((20, 24)), [(0, 10, 20), (1, 20, 24)]);
    assert_eq!(cut((0, 4)), [(1, 0, 4), (0, 10, 20)]);
}

#[test]
fn bytes_of_later_steps_do_not_cut_those_that_copies_read() {
    let older_first = ranges(vec![span(0, 0, (0, 8)), span(1, 2, (0, 8))]);
    assert_eq!(older_first, [(0, 0, 8), (1, 0, 8)]);
    let newer_first = ranges(vec![span(0, 2, (0, 8)), span(1, 0, (0, 4))]);
    assert_eq!(newer_first, [(1, 0, 4), (0, 4, 8)]);
}

#[test]
fn random_bytes_are_those_of_the_newest_write() {
    for seed in 1..200 {
        let mut random = Random(seed);
        let spans: Vec<Span> = (0..30)
            .map(|write| {
                let start = random.below(60);
                let end = start + 1 + random.below(12);
                let buffer = ResourceId(random.below(2) as u32);
                let step = random.below(3) as u32;
                Span {
                    buffer,
                    ..span(write, step, (start, end))
                }
            })
            .collect();
        let found = visible(spans.clone());
        let covers =
            |it: &Span, buffer, at| it.buffer == buffer && (it.start..it.end).contains(&at);
        for (buffer, step, at) in (0..2 * 3 * 80).map(|it| (it / 240, it / 80 % 3, it as u64 % 80))
        {
            let buffer = ResourceId(buffer);
            let older_steps = spans
                .iter()
                .filter(|it| it.step <= step && covers(it, buffer, at));
            let newest = older_steps.max_by_key(|it| it.write);
            let expected = newest.filter(|it| it.step == step).map(|it| it.write);
            let mut at_step = found
                .iter()
                .filter(|it| it.step == step && covers(it, buffer, at));
            assert_eq!(
                at_step.next().map(|it| it.write),
                expected,
                "seed {seed}, byte {at}"
            );
            assert_eq!(
                at_step.next(),
                None,
                "seed {seed}: byte {at} is written twice in a step"
            );
        }
    }
}

fn texels(write: u32, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> Texels {
    let region = ImageRegion {
        mip: 0,
        base_layer: 0,
        layer_count: 1,
        offset: [x, y, 0],
        extent: [width, height, 1],
    };
    Texels {
        image: ResourceId(1),
        region,
        write,
        step: None,
    }
}

#[test]
fn random_texels_come_behind_older_ones_that_they_overlap() {
    for seed in 1..100 {
        let mut random = Random(seed);
        let made: Vec<Texels> = (0..40)
            .map(|write| {
                let mut side = || [random.below(150), 1 + random.below(90)].map(|it| it as u32);
                let ([x, width], [y, height]) = (side(), side());
                let mut texels = texels(write, [x, y], [width, height]);
                texels.region.mip = random.below(2) as u32;
                texels.region.base_layer = random.below(2) as u32;
                texels.region.layer_count = 1 + random.below(2) as u32;
                texels.image = ResourceId(random.below(2) as u32);
                texels
            })
            .collect();
        let mut expected: Vec<(Texels, Option<u32>)> = Vec::new();
        for new in &made {
            let same = |old: &Texels| old.image == new.image;
            for (old, step) in &mut expected {
                if same(old) && new.region.contains(&old.region) {
                    *step = None;
                }
            }
            let overlapped = expected
                .iter()
                .filter(|(old, _)| same(old) && new.region.overlaps(&old.region));
            let step = overlapped
                .filter_map(|(_, step)| step.map(|step| step + 1))
                .max();
            expected.push((*new, Some(step.unwrap_or(0))));
        }
        let mut found = made.clone();
        find_steps(&mut found, &mut Grid::default());
        found.sort_unstable_by_key(|it| it.write);
        let found: Vec<_> = found.iter().map(|it| it.step).collect();
        let expected: Vec<_> = expected.iter().map(|it| it.1).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn scattered_texels_are_compared_with_their_neighbours_alone() {
    let compared = |side: u32| {
        let glyphs =
            (0..side * side).map(|at| texels(at, [at % side * 24, at / side * 24], [20, 20]));
        let mut grid = Grid::default();
        let mut glyphs: Vec<_> = glyphs.collect();
        find_steps(&mut glyphs, &mut grid);
        assert!(glyphs.iter().all(|it| it.step == Some(0)));
        grid.compared as f64 / f64::from(side * side)
    };
    let (few, many) = (compared(32), compared(128));
    assert!(
        many < 1.1 * few,
        "{few} pairs for each of 1,024 writes, {many} for each of 16,384"
    );
}

#[test]
fn a_texel_that_is_written_again_and_again_is_compared_once_each() {
    let mut writes: Vec<_> = (0..10_000)
        .map(|write| texels(write, [5, 5], [1, 1]))
        .collect();
    let mut grid = Grid::default();
    find_steps(&mut writes, &mut grid);
    assert_eq!(writes.iter().filter(|it| it.step.is_some()).count(), 1);
    assert!(grid.compared < 10_000, "{} pairs", grid.compared);
}
