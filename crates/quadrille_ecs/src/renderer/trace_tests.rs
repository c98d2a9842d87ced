use std::time::{Duration, Instant};

use quadrille_sync::frame::PassIndex;
use quadrille_sync::states::TimelinePoint;
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::QueueIndex;
use quadrille_vulkan::record::{DeviceTimes, PassTime, SubmissionTime};

use super::{KEPT, Trace};
use crate::renderer::report::Phase;

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn point(queue: u8, value: u64) -> TimelinePoint {
    TimelinePoint {
        queue: QueueIndex(queue),
        value,
    }
}

#[test]
fn cpu_queues_and_waits_are_on_one_axis() {
    let mut trace = Trace::new();
    let start = trace.start;
    let at = |count| start + milliseconds(count);
    trace.add_phases(&[(Phase::Plan, at(1), at(2))]);
    let submission = |queue, begin, end, waits: &[TimelinePoint]| SubmissionTime {
        queue: QueueIndex(queue),
        begin: at(begin),
        end: at(end),
        waits: waits.to_vec(),
        signal: point(queue, 7),
    };
    trace.add_device(DeviceTimes {
        frame: 3,
        calibrated: true,
        submissions: vec![
            submission(1, 4, 6, &[]),
            submission(0, 7, 9, &[point(1, 7)]),
        ],
        passes: vec![PassTime {
            name: "simulate".into(),
            pass: PassIndex(0),
            queue: QueueIndex(1),
            begin: at(4),
            end: at(6),
        }],
    });
    let json = trace.to_json(&parse_topology("gct:1,ct:1").unwrap());
    let events = json["traceEvents"].as_array().unwrap();
    let find = |kind: &str, name: &str| {
        let found = events
            .iter()
            .find(|it| it["ph"] == kind && it["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name} in {json:#}"))
    };
    assert_eq!(
        (&find("X", "plan")["ts"], &find("X", "plan")["tid"]),
        (&1e3.into(), &0.into())
    );
    let pass = find("X", "simulate");
    assert_eq!(
        (&pass["ts"], &pass["dur"], &pass["tid"]),
        (&4e3.into(), &2e3.into(), &2.into())
    );
    let begins: Vec<_> = events.iter().filter(|it| it["ph"] == "s").collect();
    let ends: Vec<_> = events.iter().filter(|it| it["ph"] == "f").collect();
    assert_eq!(ends.len(), 1, "one wait");
    let arrow = begins.iter().find(|begin| begin["id"] == ends[0]["id"]);
    assert_eq!(arrow.expect("a signal for the wait")["tid"], 2);
    assert_eq!(ends[0]["tid"], 1);
}

#[test]
fn old_frames_are_forgotten() {
    let mut trace = Trace::new();
    let now = Instant::now();
    for _ in 0..KEPT + 5 {
        trace.add_phases(&[(Phase::Wait, now, now)]);
        trace.add_device(DeviceTimes::default());
    }
    assert_eq!((trace.phases.len(), trace.device.len()), (KEPT, KEPT));
}
