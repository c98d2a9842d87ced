use super::*;

#[test]
fn freed_rows_are_reused() {
    let mut table = Table::<u32>::default();
    for row in 0..3 {
        table.add(row);
    }
    table.remove(1);
    assert_eq!(table.add(5), 1);
    assert_eq!(table.rows(), [0, 5, 2]);
}

#[test]
fn rows_past_end_are_inserted() {
    let mut table = Table::<u32>::default();
    table.put(3, 4);
    table.put(1, 6);
    table.change(3, |row| *row += 1);
    assert_eq!(table.rows(), [0, 6, 0, 5]);
}
