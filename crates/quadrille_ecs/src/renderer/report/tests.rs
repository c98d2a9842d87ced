use super::*;

fn frame(phases: [Duration; Phase::ALL.len()]) -> Measurements {
    let mut clock = Clock::start(None);
    clock.times = phases;
    let mut measurements = Measurements::default();
    measurements.add(&clock, Counts::default(), 1, false);
    measurements
}

#[test]
fn frames_may_take_many_seconds() {
    let measurements = frame([Duration::from_secs(3); Phase::ALL.len()]);
    let all = 3e6 * Phase::ALL.len() as f64;
    assert_eq!(measurements.median_frame_us(), all);
    assert_eq!(measurements.median_us(Phase::ALL[0]), 3e6);
}
