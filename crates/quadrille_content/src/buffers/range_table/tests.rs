use super::*;

#[test]
fn ranges_keep_their_rows() {
    let mut table = RangeTable::<u32>::default();
    let (first, second) = (table.add(2), table.add(3));
    table.change(&first).fill(1);
    table.change(&second).fill(2);
    assert_eq!(table.rows(), [1, 1, 2, 2, 2]);
    table.remove(first);
    let again = table.add(1);
    assert_eq!(again, 0..1);
    assert_eq!(table.rows(), [0, 1, 2, 2, 2], "new rows are zero");
}

#[test]
fn memory_is_given_back_when_ranges_go() {
    let mut table = RangeTable::<u32>::default();
    let ranges: Vec<_> = (0..1_000).map(|_| table.add(100)).collect();
    assert!(table.rows.capacity() >= 100_000);
    for range in ranges.into_iter().skip(1) {
        table.remove(range);
    }
    assert_eq!(table.rows().len(), 100);
    let capacity = table.rows.capacity();
    assert!(capacity <= 4 * MIN_CAPACITY, "{capacity}");
    let again = table.add(10);
    table.change(&again).fill(7);
    assert_eq!(table.rows()[100..110], [7; 10]);
}
