use std::collections::BTreeMap;

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

#[test]
fn rows_of_a_peak_are_removed() {
    let mut table = Table::<u32>::default();
    let indices: Vec<u32> = (0..100_000).map(|row| table.add(row)).collect();
    for index in &indices[10..99_999] {
        table.remove(*index);
    }
    assert_eq!(
        table.rows().len(),
        100_000,
        "the last row stays where it is"
    );
    assert_eq!((table.add(1), table.add(2)), (10, 11));
    table.remove(indices[99_999]);
    assert_eq!(table.rows().len(), 12);
}

#[test]
fn random_rows_keep_their_indices() {
    let mut table = Table::<u32>::default();
    let mut model = BTreeMap::new();
    let mut state = 1_u32;
    for row in 0..4_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // More rows at first, then fewer.
        let grows = state >> 24 < if row < 2_000 { 160 } else { 96 };
        if grows || model.is_empty() {
            let lowest = (0..).find(|index| !model.contains_key(index));
            let index = table.add(row);
            assert_eq!(Some(index), lowest);
            model.insert(index, row);
        } else {
            let nth = (state >> 8) as usize % model.len();
            let index = *model.keys().nth(nth).expect("there are as many");
            model.remove(&index);
            table.remove(index);
        }
        let end = model.last_key_value().map_or(0, |(last, _)| last + 1);
        assert_eq!(table.rows().len() as u32, end);
    }
    for (index, row) in &model {
        assert_eq!(table.rows()[*index as usize], *row);
    }
}
