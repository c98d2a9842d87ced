use super::*;

fn changed<T: Pod + RowValue>(table: &Table<T>) -> Vec<u32> {
    set_bit_indices(&table.changed).collect()
}

#[test]
fn unchanged_rows_are_not_uploaded() {
    let mut table = Table::<u32>::default();
    assert_eq!([7, 8, 9].map(|row| table.add(row)), [0, 1, 2]);
    assert_eq!(changed(&table), [0, 1, 2]);
    table.changed.fill(0);
    table.set(1, 8);
    table.change(2, |_| {});
    assert!(changed(&table).is_empty());
    table.change(2, |row| *row += 1);
    assert_eq!((table.rows[2], changed(&table)), (10, vec![2]));
    table.mark_all_dirty();
    assert_eq!(changed(&table), [0, 1, 2]);
}

#[test]
fn freed_rows_are_reused() {
    let mut table = Table::<u32>::default();
    for row in 0..3 {
        table.add(row);
    }
    table.remove(1);
    assert_eq!(table.add(5), 1);
    assert_eq!(table.rows, [0, 5, 2]);
}

#[test]
fn rows_past_end_are_inserted() {
    let mut table = Table::<u32>::default();
    table.put(130, 4);
    table.changed.fill(0);
    table.put(130, 5);
    table.put(64, 6);
    assert_eq!((table.rows.len(), changed(&table)), (131, vec![64, 130]));
}

#[test]
fn nearby_rows_upload_together() {
    let runs = |indices: &[u32]| runs(indices.iter().copied()).collect::<Vec<_>>();
    assert!(runs(&[]).is_empty());
    assert_eq!(runs(&[3, 3, 4, 6, 30]), [3..7, 30..31]);
    assert_eq!(
        runs(&[0, MAX_UPLOAD_GAP, 2 * MAX_UPLOAD_GAP + 1]),
        [
            0..MAX_UPLOAD_GAP + 1,
            2 * MAX_UPLOAD_GAP + 1..2 * MAX_UPLOAD_GAP + 2
        ]
    );
}
