//! Numbers of a measurement as a table for people.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::Value;

/// Writes the table to standard output.
///
/// # Errors
/// Errors of standard output.
pub(super) fn print(numbers: &Value) -> io::Result<()> {
    io::stdout().write_all(text(numbers).as_bytes())
}

/// Returns the table.
pub(super) fn text(numbers: &Value) -> String {
    let mut text = format!(
        "{}, queues {}, {} frames\n{:<36}{:>10}{:>10}{:>10}{:>10}\n",
        numbers["device"].as_str().unwrap_or("?"),
        numbers["topology"].as_str().unwrap_or("?"),
        numbers["frames"],
        "milliseconds",
        "median",
        "p95",
        "p99",
        "worst"
    );
    let columns = ["median", "p95", "p99", "worst"];
    let mut row = |name: &str, times: &Value| {
        let _ = write!(text, "{name:<36}");
        for column in columns {
            let _ = write!(text, "{:>10.3}", times[column].as_f64().unwrap_or(0.0));
        }
        text.push('\n');
    };
    row("frame", &numbers["frame_ms"]);
    for phase in list(&numbers["cpu_phases"]) {
        let name = phase["phase"].as_str().unwrap_or("?");
        row(&format!("cpu {name}"), &phase["ms"]);
    }
    let _ = writeln!(text, "{:<36}{:>10}", "", "mean");
    let mut mean = |name: &str, value: &Value| {
        let shown = value
            .as_f64()
            .map_or("unknown".to_owned(), |ms| format!("{ms:.3}"));
        let _ = writeln!(text, "{name:<36}{shown:>10}");
    };
    mean(
        "cpu of the process, all threads",
        &numbers["process_cpu_ms"],
    );
    for queue in list(&numbers["device_queues"]) {
        mean(&format!("device queue {}", queue["queue"]), &queue["ms"]);
    }
    for pass in list(&numbers["device_passes"]) {
        let name = pass["pass"].as_str().unwrap_or("?");
        mean(&format!("  queue {}: {name}", pass["queue"]), &pass["ms"]);
    }
    let memory = &numbers["memory_kib"];
    for name in ["resident", "peak", "device_used", "device_allocated"] {
        let kib = memory[name].as_f64();
        let shown = kib.map_or("unknown".to_owned(), |kib| {
            format!("{:.1} MiB", kib / 1024.0)
        });
        let label = format!("memory {}", name.replace('_', " "));
        let _ = writeln!(text, "{label:<36}{shown:>14}");
    }
    text
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
