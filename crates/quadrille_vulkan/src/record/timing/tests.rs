use std::sync::Arc;

use quadrille_sync::frame::PassIndex;

use super::last_available;

#[test]
fn the_last_pass_with_a_timestamp_is_the_last_that_is_done() {
    let passes = [
        (PassIndex(0), "a"),
        (PassIndex(1), "b"),
        (PassIndex(2), "c"),
    ];
    let passes = passes.map(|(pass, name)| (pass, Arc::from(name)));
    let last = |available: [u64; 3]| {
        let results = available.map(|available| [7, available]);
        last_available(&passes, &results).map(|name| name.to_string())
    };
    assert_eq!(last([0, 0, 0]), None);
    assert_eq!(last([1, 0, 0]).as_deref(), Some("a"));
    assert_eq!(last([1, 1, 1]).as_deref(), Some("c"));
    // An available timestamp after a missing one is ignored.
    assert_eq!(last([1, 0, 1]).as_deref(), Some("a"));
}
