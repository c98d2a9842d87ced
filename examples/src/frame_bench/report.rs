//! One line of JSON about a run.

use quadrille_bench::{Medians, Workload};
use serde_json::{Map, Value, json};

use super::Counts;

/// Measurements of one contestant.
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Its times.
    pub medians: Medians,
    /// Its contents are those of the simulation.
    pub verified: bool,
    /// Counts of its frames, if it knows them.
    pub counts: Option<Counts>,
}

/// The report of a run: the first contestant, with the others beside it.
pub fn report(
    mode: &str,
    workload: &Workload,
    (frames, warmup): (u64, u64),
    all: &[Measured],
) -> Value {
    let object = |measured: &Measured, mode: Value| -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("contestant".into(), measured.name.into());
        line.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        line.insert("mode".into(), mode);
        line.insert("n".into(), workload.passes.len().into());
        line.insert("buffers".into(), workload.buffers.into());
        line.insert("images".into(), workload.images.into());
        line.insert("frames".into(), frames.into());
        line.insert("warmup".into(), warmup.into());
        line.insert("verified".into(), measured.verified.into());
        for (name, value) in measured.medians.fields() {
            line.insert(name.into(), value.into());
        }
        let passes = workload.passes.len().max(1) as f64;
        let pre_submit = measured.medians.median(|times| times.pre_submit) as f64;
        line.insert(
            "pre_submit_ns_per_pass".into(),
            round(pre_submit / passes).into(),
        );
        if let Some(counts) = measured.counts {
            line.insert("barrier_calls".into(), counts.barrier_calls.into());
            line.insert("barriers".into(), counts.barriers.into());
            line.insert("submissions".into(), counts.submissions.into());
            line.insert("command_buffers".into(), counts.command_buffers.into());
        }
        line
    };
    let Some((first, others)) = all.split_first() else {
        return Value::Null;
    };
    let mut line = object(first, mode.into());
    let beside = others.iter().map(|other| {
        let ours = first.medians.median(|times| times.pre_submit) as f64;
        let theirs = other.medians.median(|times| times.pre_submit) as f64;
        let mut beside = object(other, Value::Null);
        // How many times as long the first one takes.
        beside.insert("ratio".into(), json!(round(ours / theirs.max(1.0))));
        Value::Object(beside)
    });
    line.insert("beside".into(), beside.collect());
    Value::Object(line)
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests;
