//! The call log: one JSON object per line, one line per intercepted call.
//!
//! ```json
//! {"call":"vkQueueSubmit2","nth":3,"queue":1,"waits":1,"signals":1,"result":"SUCCESS"}
//! {"note":"deadlock","text":"queue 0 waits for .."}
//! ```
//! `nth` counts the calls of that command. `result` exists for commands with a result. `"injected":1` marks a result
//! from the script.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

/// Destination of the log; none by default.
#[derive(Debug, Default)]
pub(crate) struct Log(Option<Arc<Mutex<File>>>);

/// Open logs of this process, so that a second instance appends to the log of the first.
static OPEN: Mutex<Vec<(PathBuf, Arc<Mutex<File>>)>> = Mutex::new(Vec::new());

impl Log {
    /// Opens a log file, truncated at its first use in this process.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = open.iter().find(|(known, _)| known == path) {
            return Ok(Self(Some(Arc::clone(file))));
        }
        let file = Arc::new(Mutex::new(File::create(path)?));
        open.push((path.to_owned(), Arc::clone(&file)));
        Ok(Self(Some(file)))
    }

    /// Writes one call.
    pub(crate) fn call(
        &self,
        command: &str,
        nth: u64,
        details: &[(&str, u64)],
        result: Option<vk::Result>,
    ) {
        if self.0.is_some() {
            self.write(&call_line(command, nth, details, result));
        }
    }

    /// Writes an event that is not a call.
    pub(crate) fn note(&self, kind: &str, text: &str) {
        self.write(&format!(
            "{{\"note\":{},\"text\":{}}}\n",
            quoted(kind),
            quoted(text)
        ));
    }

    fn write(&self, line: &str) {
        let Some(file) = &self.0 else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not change the behavior that the app observes.
        let _ = file.write_all(line.as_bytes());
    }
}

fn call_line(
    command: &str,
    nth: u64,
    details: &[(&str, u64)],
    result: Option<vk::Result>,
) -> String {
    let mut line = format!("{{\"call\":{},\"nth\":{nth}", quoted(command));
    for (key, value) in details {
        // Writing to a string cannot fail.
        let _ = write!(line, ",{}:{value}", quoted(key));
    }
    if let Some(result) = result {
        let _ = write!(line, ",\"result\":{}", quoted(&format!("{result:?}")));
    }
    line.push_str("}\n");
    line
}

/// Formats a JSON string (RFC 8259, section 7).
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
