use super::*;

#[test]
fn rows_that_did_not_change_are_not_sent() {
    let mut table = Table::<u32>::default();
    let places = [7, 8, 9].map(|row| table.add(row));
    assert_eq!((places, table.changed.len()), ([0, 1, 2], 3));
    table.changed.clear();
    table.set(1, 8);
    table.change(2, |_| {});
    assert!(table.changed.is_empty());
    table.change(2, |row| *row += 1);
    assert_eq!((table.rows[2], &table.changed[..]), (10, &[2][..]));
    table.begin_anew();
    assert_eq!(table.changed, [0, 1, 2]);
}

#[test]
fn places_are_used_again() {
    let mut table = Table::<u32>::default();
    for row in 0..3 {
        table.add(row);
    }
    table.remove(1);
    assert_eq!(table.add(5), 1);
    assert_eq!(table.rows, [0, 5, 2]);
}

#[test]
fn neighbours_are_sent_together() {
    let runs = |places: &[u32]| runs(places).collect::<Vec<_>>();
    assert_eq!(runs(&[]), []);
    assert_eq!(runs(&[3, 3, 4, 6, 30]), [3..7, 30..31]);
    assert_eq!(
        runs(&[0, GAP, 2 * GAP + 1]),
        [0..GAP + 1, 2 * GAP + 1..2 * GAP + 2]
    );
}
