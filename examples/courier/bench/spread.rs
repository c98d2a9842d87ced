//! Percentiles of times.

use serde_json::{Value, json};

/// Median, 95th and 99th percentile and maximum.
pub(crate) fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    // Nearest rank: the smallest value that so many parts of all do not exceed.
    let at = |part: f64| {
        let rank = (part * times.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    json!({ "median": at(0.5), "p95": at(0.95), "p99": at(0.99), "worst": at(1.0) })
}
