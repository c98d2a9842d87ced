//! Device measurements for reports: times of passes, and estimated savings from moving them.

use std::time::Duration;

use quadrille_sync::advise::{FrameCost, advise, advise_sharing};
use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::plan::Plan;
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;
use quadrille_vulkan::record::DeviceTimes;
use serde_json::{Map, Value, json};

/// Device time of each pass in microseconds, by name; passes of one name are added up.
pub(crate) fn device_us(times: &DeviceTimes) -> Map<String, Value> {
    let mut all: Map<String, Value> = Map::new();
    for pass in &times.passes {
        let before = all.get(&*pass.name).and_then(Value::as_f64).unwrap_or(0.0);
        let took = pass.end.saturating_duration_since(pass.begin);
        all.insert(pass.name.to_string(), json!(before + microseconds(took)));
    }
    all
}

/// For each pass that another queue could run, the most that moving it could shorten the frame.
pub(crate) fn advice(
    frame: &Frame,
    topology: &Topology,
    plan: &Plan,
    times: &DeviceTimes,
) -> Vec<Value> {
    let cost = costs(frame, times);
    let all = advise(frame, topology, plan, cost);
    let line = all.iter().map(|advice| {
        let to: Vec<u8> = advice.to.iter().map(|queue| queue.0).collect();
        json!({
            "pass": frame.pass(advice.pass).name.as_ref(),
            "queue": advice.queue.0,
            "to": to,
            "takes_us": advice.cost_us,
            "saves_at_most_us": advice.saves_us,
        })
    });
    line.collect()
}

/// For each resource that changes its family when the frame repeats, the estimated effect of sharing
/// mode concurrent.
pub(crate) fn sharing(
    frame: &Frame,
    topology: &Topology,
    states: &States,
    times: &DeviceTimes,
) -> Vec<Value> {
    let all = advise_sharing(frame, topology, states, costs(frame, times));
    let line = all.iter().map(|advice| {
        let resource = frame.resource(advice.resource);
        let counts = |cost: &FrameCost| {
            json!({
                "submissions": cost.counts.submissions,
                "barrier_calls": cost.counts.barrier_calls,
                "barriers": cost.counts.barriers,
                "waits": cost.counts.semaphore_waits,
                "transfers": cost.counts.ownership_transfers,
                "length_us": cost.length_us,
            })
        };
        json!({
            "resource": resource.name.as_ref(),
            "is_image": resource.is_image(),
            "is_cheaper": advice.is_cheaper(),
            "exclusive": counts(&advice.exclusive),
            "concurrent": counts(&advice.concurrent),
        })
    });
    line.collect()
}

/// Device time of each pass in microseconds, 0 if not measured. The times may be those of an earlier
/// frame, so passes are matched by name.
fn costs(frame: &Frame, times: &DeviceTimes) -> impl Fn(PassIndex) -> u64 + use<> {
    let by_pass = measured_us(frame, times);
    move |pass| by_pass[pass.0 as usize].unwrap_or(0)
}

/// Device time of each pass in microseconds; `None` for passes that were not measured.
pub(crate) fn measured_us(frame: &Frame, times: &DeviceTimes) -> Vec<Option<u64>> {
    let mut by_pass = vec![None; frame.passes.len()];
    let mut used = vec![false; times.passes.len()];
    for (pass, cost) in frame.passes.iter().zip(&mut by_pass) {
        let is_it = |at: &usize| !used[*at] && times.passes[*at].name == pass.name;
        if let Some(at) = (0..times.passes.len()).find(is_it) {
            used[at] = true;
            let measured = &times.passes[at];
            let took = measured.end.saturating_duration_since(measured.begin);
            *cost = Some(took.as_micros() as u64);
        }
    }
    by_pass
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
