use super::*;

/// Starts and ends of ranges.
fn ends(ranges: impl Iterator<Item = Range<u32>>) -> Vec<(u32, u32)> {
    ranges.map(|range| (range.start, range.end)).collect()
}

fn changed(rows: &DirtyRows<u32>) -> Vec<(u32, u32)> {
    ends(set_bit_ranges(&rows.changed))
}

#[test]
fn unchanged_rows_are_not_uploaded() {
    let mut rows = DirtyRows::default();
    rows.extend_to(3);
    rows.change(0..3).copy_from_slice(&[7, 8, 9]);
    assert_eq!(changed(&rows), [(0, 3)]);
    rows.changed.fill(0);
    rows.set(1, 8);
    assert!(changed(&rows).is_empty());
    rows.set(2, 10);
    assert_eq!(
        (rows.rows(), changed(&rows)),
        (&[7, 8, 10][..], vec![(2, 3)])
    );
    rows.mark_all_dirty();
    assert_eq!(changed(&rows), [(0, 3)]);
}

#[test]
fn ranges_are_marked_across_words() {
    for range in [0..1, 63..64, 63..65, 5..200, 64..128, 0..256] {
        let mut rows = DirtyRows::<u32>::default();
        rows.extend_to(256);
        rows.changed.fill(0);
        rows.mark(range.clone());
        assert_eq!(changed(&rows), [(range.start, range.end)]);
    }
    let mut rows = DirtyRows::<u32>::default();
    rows.mark(3..3);
    assert!(changed(&rows).is_empty() && !rows.is_changed);
}

#[test]
fn removed_rows_are_not_uploaded() {
    let mut rows = DirtyRows::<u32>::default();
    rows.extend_to(100);
    rows.truncate(40, 0);
    assert_eq!(ends(rows.runs()), [(0, 40)]);
    rows.truncate(0, 0);
    assert_eq!(rows.runs().next(), None);
}

#[test]
fn nearby_rows_upload_together() {
    let joined = |ranges: &[Range<u32>]| ends(join_near(ranges.iter().cloned()));
    assert!(joined(&[]).is_empty());
    assert_eq!(joined(&[3..5, 6..7, 30..31]), [(3, 7), (30, 31)]);
    let far = MAX_UPLOAD_GAP + 1;
    assert_eq!(joined(&[0..1, far..far + 1]), [(0, far + 1)]);
    assert_eq!(
        joined(&[0..1, far + 1..far + 2]),
        [(0, 1), (far + 1, far + 2)]
    );
}
