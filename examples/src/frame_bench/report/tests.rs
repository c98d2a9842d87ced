use std::time::Duration;

use quadrille_bench::{FrameTimes, Medians, SEED, Workload};

use super::{Measured, report};

fn measured(name: &'static str, pre_submit: u64) -> Measured {
    let mut medians = Medians::default();
    medians.add(FrameTimes {
        pre_submit: Duration::from_nanos(pre_submit),
        ..FrameTimes::default()
    });
    Measured {
        name,
        medians,
        verified: true,
        counts: None,
    }
}

#[test]
fn ratios_are_those_of_pre_submit() {
    let all = [measured("ours", 3000), measured("theirs", 1000)];
    let line = report("reuse", &Workload::new(10, SEED), (5, 1), &all);
    assert_eq!(line["contestant"], "ours");
    assert_eq!(line["mode"], "reuse");
    assert_eq!(line["n"], 10);
    assert_eq!(line["pre_submit_wall_ns"], 3000);
    assert_eq!(line["pre_submit_ns_per_pass"], 300.0);
    assert_eq!(line["beside"][0]["contestant"], "theirs");
    assert_eq!(line["beside"][0]["ratio"], 3.0);
    assert!(!line.to_string().contains('\n'), "one line");
}
