use super::*;

#[test]
fn rows_are_where_their_range_is() {
    let mut table = RangeTable::<u32>::default();
    let (first, second) = (table.add(2), table.add(3));
    table.change(&first).fill(1);
    table.change(&second).fill(2);
    assert_eq!(table.rows, [1, 1, 2, 2, 2]);
    table.remove(first);
    let again = table.add(1);
    assert_eq!(again, 0..1);
    assert_eq!(table.rows, [0, 1, 2, 2, 2], "new rows are zero");
}
