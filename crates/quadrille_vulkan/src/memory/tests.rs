use super::atom_range;

#[test]
fn ranges_grow_to_atoms() {
    assert_eq!(atom_range(0, 64, 64), (0, 64));
    assert_eq!(atom_range(1, 1, 64), (0, 64));
    assert_eq!(atom_range(63, 2, 64), (0, 128));
    assert_eq!(atom_range(128, 0, 64), (128, 0));
    assert_eq!(atom_range(5, 6, 1), (5, 6));
}
