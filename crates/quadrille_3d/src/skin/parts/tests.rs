use super::*;

const LIMIT: u64 = 1 << 15;

/// Entities with the mesh at `from` and some vertices each, one behind the other from the vertex 1000 on.
fn pieces(count: u32, from: u32, vertices: u32) -> Vec<Piece> {
    let piece = |at: u32| Piece {
        from,
        to: 1000 + at * vertices,
        vertices,
        source: 17 + from * 15,
        source_words: 15,
        pose: at * 8..at * 8 + 8,
        weights: at * 8 + 6,
        has_joints: true,
        has_weights: at.is_multiple_of(2),
        targets: 1,
    };
    (0..count).map(piece).collect()
}

fn sizes(most: u64) -> Sizes {
    Sizes {
        vertices: 1 << 22,
        sources: 1 << 22,
        poses: 1 << 12,
        most,
    }
}

/// By vertex of an entity, in bytes: where it is read, and what it follows.
fn computed(parts: &[Part], jobs: &[Job]) -> Vec<[u64; 5]> {
    let mut all = Vec::new();
    for part in parts {
        let Windows {
            from,
            to,
            sources,
            poses,
        } = &part.windows;
        let mut groups = 0;
        for job in &jobs[part.jobs.clone()] {
            assert_eq!(job.first_group, groups);
            groups += job.vertices.div_ceil(64);
            for vertex in 0..u64::from(job.vertices) {
                let place = |window: &Range<u64>, first: u32, bytes: u64| {
                    let at = window.start + u64::from(first) * 4 + vertex * bytes;
                    assert!(at >= window.start && at + bytes <= window.end, "{part:?}");
                    at
                };
                let weights = match job.weights {
                    NONE => u64::MAX,
                    row => poses.start + u64::from(row) * 16,
                };
                all.push([
                    place(to, job.to, 72),
                    place(from, job.from, 72),
                    place(sources, job.source, u64::from(job.source_words) * 4),
                    poses.start + u64::from(job.joints) * 16,
                    weights,
                ]);
            }
        }
        assert_eq!(part.groups, groups);
    }
    all.sort_unstable();
    all
}

/// Splits, and checks that the parts compute all that one part would, and bind no more than they may.
fn check(pieces: &[Piece], most: u64) -> usize {
    let (mut whole_jobs, mut jobs) = (Vec::new(), Vec::new());
    let whole = split(pieces.to_vec(), sizes(u64::MAX), &mut whole_jobs);
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].windows.to, 0..1 << 22, "all of it is bound");
    let parts = split(pieces.to_vec(), sizes(most), &mut jobs);
    for part in &parts {
        let Windows {
            from,
            to,
            sources,
            poses,
        } = &part.windows;
        for range in [from, to, sources, poses, &part.job_bytes()] {
            assert!(range.end - range.start <= most, "{part:?}");
            assert!(range.start.is_multiple_of(256), "{part:?}");
        }
    }
    let wanted = computed(&whole, &whole_jobs);
    assert_eq!(computed(&parts, &jobs), wanted);
    parts.len()
}

#[test]
fn what_fits_is_one_part() {
    assert_eq!(check(&pieces(5, 3, 100), 1 << 22), 1);
}

#[test]
fn many_entities_are_several_parts() {
    // 7200 bytes of vertices each, and a window of 32768.
    let parts = check(&pieces(100, 3, 100), LIMIT);
    assert!((22..=34).contains(&parts), "{parts}");
}

#[test]
fn one_entity_can_be_several_parts() {
    // 144,000 bytes of vertices, in pieces of a quarter of the window.
    let parts = check(&pieces(1, 3, 2000), LIMIT);
    assert!((5..=8).contains(&parts), "{parts}");
}

#[test]
fn meshes_that_lie_apart_are_not_mixed() {
    let mut all = Vec::new();
    for (near, far) in pieces(40, 3, 50)
        .into_iter()
        .zip(pieces(80, 900, 50).split_off(40))
    {
        all.extend([near, far]);
    }
    let parts = check(&all, LIMIT);
    assert!(parts <= 16, "{parts}");
}

#[test]
fn jobs_count_as_well() {
    let many = pieces(1000, 0, 1);
    let parts = check(&many, LIMIT);
    assert!(parts >= 2, "36 bytes each: {parts}");
}

#[test]
fn nothing_is_no_part() {
    assert_eq!(split(Vec::new(), sizes(LIMIT), &mut Vec::new()), []);
}
