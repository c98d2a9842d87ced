use std::time::{Duration, Instant};

use bevy_diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy_platform::collections::HashMap;
use quadrille_sync::frame::PassIndex;
use quadrille_sync::topology::QueueIndex;
use quadrille_vulkan::record::{DeviceTimes, PassTime};

use super::{add, by_name};

#[test]
fn passes_of_one_name_count_together() {
    let start = Instant::now();
    let pass = |name: &str, begin, end| PassTime {
        name: name.into(),
        pass: PassIndex(0),
        queue: QueueIndex(0),
        begin: start + Duration::from_millis(begin),
        end: start + Duration::from_millis(end),
    };
    let times = DeviceTimes {
        passes: vec![pass("step", 0, 2), pass("draw", 2, 3), pass("step", 3, 7)],
        ..DeviceTimes::default()
    };
    let sums = by_name(&times);
    assert_eq!(sums, [("step".to_owned(), 6.0), ("draw".to_owned(), 1.0)]);
}

#[test]
fn a_diagnostic_is_added_once() {
    let (mut store, mut paths) = (DiagnosticsStore::default(), HashMap::default());
    for value in [1.0, 3.0] {
        let measured = (Instant::now(), value);
        add(&mut store, &mut paths, "draw", "elapsed_gpu", measured);
    }
    let diagnostic = store.get(&DiagnosticPath::const_new("render/draw/elapsed_gpu"));
    let diagnostic = diagnostic.expect("the diagnostic of the pass");
    assert_eq!(diagnostic.value(), Some(3.0));
    assert_eq!(diagnostic.history_len(), 2);
}
