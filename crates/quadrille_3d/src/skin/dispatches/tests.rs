use super::*;

const LIMIT: u64 = 1 << 15;

/// Entities with the mesh at `from` and vertex counts, consecutive from vertex 1000.
fn skin_ranges(count: u32, from: u32, vertices: u32) -> Vec<SkinRange> {
    let skin_range = |at: u32| SkinRange {
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
        save_to: Some(at * vertices),
        has_previous: true,
    };
    (0..count).map(skin_range).collect()
}

fn sizes(max_range: u64) -> BufferSizes {
    BufferSizes {
        vertices: 1 << 22,
        sources: 1 << 22,
        poses: 1 << 12,
        max_range,
    }
}

/// Byte offsets of source vertex and influences, by vertex of an entity.
fn computed(parts: &[SkinDispatch], jobs: &[Job]) -> Vec<[u64; 5]> {
    let mut all = Vec::new();
    for part in parts {
        let BufferRanges {
            from,
            to,
            sources,
            poses,
        } = &part.ranges;
        let mut workgroup_count = 0;
        for job in &jobs[part.jobs.clone()] {
            assert_eq!(job.first_group, workgroup_count);
            workgroup_count += job.vertices.div_ceil(64);
            for vertex in 0..u64::from(job.vertices) {
                let address = |window: &Range<u64>, first: u32, bytes: u64| {
                    let at = window.start + u64::from(first) * 4 + vertex * bytes;
                    assert!(at >= window.start && at + bytes <= window.end, "{part:?}");
                    at
                };
                let weights = match job.weights {
                    NO_POSE => u64::MAX,
                    row => poses.start + u64::from(row) * 16,
                };
                all.push([
                    address(to, job.write_to, 72),
                    address(from, job.read_from, 72),
                    address(sources, job.source, u64::from(job.source_words) * 4),
                    poses.start + u64::from(job.joints) * 16,
                    weights,
                ]);
            }
        }
        assert_eq!(part.workgroup_count, workgroup_count);
    }
    all.sort_unstable();
    all
}

/// Splits, and checks that the dispatches cover all vertices and respect the range limit.
fn check(skin_ranges: &[SkinRange], max_range: u64) -> usize {
    let (mut whole_jobs, mut jobs) = (Vec::new(), Vec::new());
    let whole = split_dispatches(skin_ranges.to_vec(), sizes(u64::MAX), &mut whole_jobs);
    assert_eq!(whole.len(), 1);
    assert_eq!(whole[0].ranges.to, 0..1 << 22, "all of it is bound");
    let parts = split_dispatches(skin_ranges.to_vec(), sizes(max_range), &mut jobs);
    for part in &parts {
        let BufferRanges {
            from,
            to,
            sources,
            poses,
        } = &part.ranges;
        for range in [from, to, sources, poses, &part.job_byte_range()] {
            assert!(range.end - range.start <= max_range, "{part:?}");
            assert!(range.start.is_multiple_of(256), "{part:?}");
        }
    }
    let wanted = computed(&whole, &whole_jobs);
    assert_eq!(computed(&parts, &jobs), wanted);
    parts.len()
}

#[test]
fn skinning_in_range_is_one_dispatch() {
    assert_eq!(check(&skin_ranges(5, 3, 100), 1 << 22), 1);
}

#[test]
fn many_entities_need_several_dispatches() {
    // 7200 bytes of vertices each, and a window of 32768.
    let parts = check(&skin_ranges(100, 3, 100), LIMIT);
    assert!((22..=34).contains(&parts), "{parts}");
}

#[test]
fn one_entity_can_need_several_dispatches() {
    // 144,000 bytes of vertices, in pieces of a quarter of the window.
    let parts = check(&skin_ranges(1, 3, 2000), LIMIT);
    assert!((5..=8).contains(&parts), "{parts}");
}

#[test]
fn distant_meshes_get_separate_dispatches() {
    let mut all = Vec::new();
    for (near, far) in skin_ranges(40, 3, 50)
        .into_iter()
        .zip(skin_ranges(80, 900, 50).split_off(40))
    {
        all.extend([near, far]);
    }
    let parts = check(&all, LIMIT);
    assert!(parts <= 16, "{parts}");
}

#[test]
fn jobs_limit_dispatches() {
    let many = skin_ranges(1000, 0, 1);
    let parts = check(&many, LIMIT);
    assert!(parts >= 2, "36 bytes each: {parts}");
}

#[test]
fn empty_input_needs_no_dispatch() {
    assert_eq!(
        split_dispatches(Vec::new(), sizes(LIMIT), &mut Vec::new()),
        []
    );
}
