//! The command line that all examples share.
//!
//! An example flattens [`CommonArgs`] into its own arguments and reads them with [`parse`]:
//!
//! ```no_run
//! use clap::Parser;
//! use examples::{CommonArgs, args};
//!
//! /// Turns a triangle.
//! #[derive(Parser)]
//! #[command(after_help = args::EXAMPLES)]
//! struct Args {
//!     /// Turns a second.
//!     #[arg(long, value_name = "N", default_value_t = 1.0)]
//!     speed: f32,
//!     #[command(flatten)]
//!     common: CommonArgs,
//! }
//!
//! let args: Args = args::parse();
//! if !args.speed.is_finite() {
//!     args::exit_with("the speed is not finite; give a number of turns, such as --speed 1");
//! }
//! ```

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser as _};

/// The exit code for bad input.
const BAD_INPUT: i32 = 2;

/// How `--help` of every example ends.
pub const EXAMPLES: &str = "\
Examples:
  --headless --screenshot picture.png           no window, one picture
  --frames 300 --report report.json             what a frame costs
  --headless --plan plan.txt --dot plan.dot     the commands of the device";

/// Arguments of every example.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Every example")]
pub struct CommonArgs {
    /// Open no window: draw to an image, as fast as the device can
    #[arg(long)]
    pub headless: bool,

    /// Stop after N frames [default: 60 headless, else none: run until the window is closed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// Write the last frame's picture
    #[arg(long, value_name = "FILE.png")]
    pub screenshot: Option<PathBuf>,

    /// Write the pictures of all frames as a film (feature `film`), or to a folder as 00001.png and so on
    #[arg(long, value_name = "FILE.mp4|FOLDER", value_parser = PathBufValueParser::new().try_map(film_or_folder))]
    pub record: Option<PathBuf>,

    /// Write numbers about the run: frames, barriers, waits, times
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Write the last frame's plan as text
    #[arg(long, value_name = "FILE.txt")]
    pub plan: Option<PathBuf>,

    /// Write the last frames as a trace for ui.perfetto.dev: CPU, queues, passes, waits
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,

    /// Write the last frame's plan as a Graphviz diagram
    #[arg(long, value_name = "FILE.dot")]
    pub dot: Option<PathBuf>,

    /// Write the first and the last frames, with the states that each began with: for cargo xtask check
    #[arg(long, value_name = "FILE.txt")]
    pub case: Option<PathBuf>,
}

impl CommonArgs {
    /// Default number of frames of a headless run.
    pub const HEADLESS_FRAMES: u64 = 60;

    /// The number of frames after which to stop; `None` means when the window is closed.
    pub fn frame_limit(&self) -> Option<u64> {
        self.frames
            .or(self.headless.then_some(Self::HEADLESS_FRAMES))
    }
}

/// Reads the command line. Ends the process after `--help`, and with exit code 2 and one line
/// after bad arguments.
pub fn parse<Args: Parser>() -> Args {
    try_parse(std::env::args_os()).unwrap_or_else(|end| match end {
        End::Help(help) => help.exit(),
        End::BadInput(message) => exit_with(message),
    })
}

/// Says on standard error what was wrong with the input, in one line, and ends the process with
/// exit code 2. Call it before anything has been started or written.
pub fn exit_with(error: impl Display) -> ! {
    // Should standard error be closed, the exit code still tells.
    let _ = writeln!(io::stderr(), "error: {}", one_line(&error.to_string()));
    process::exit(BAD_INPUT)
}

/// Why there are no arguments to go on with.
#[derive(Debug)]
enum End {
    /// The user asked for help.
    Help(clap::Error),
    /// The arguments are wrong; what is, in one line.
    BadInput(String),
}

fn try_parse<Args: Parser>(words: impl IntoIterator<Item = OsString>) -> Result<Args, End> {
    Args::try_parse_from(words).map_err(|error| {
        if !error.use_stderr() {
            return End::Help(error);
        }
        let text = error.render().to_string();
        // clap's message ends at the first empty line; hints and usage follow.
        let message = text.split("\n\n").next().unwrap_or(&text);
        let message = message.strip_prefix("error: ").unwrap_or(message);
        End::BadInput(format!("{}; see --help", one_line(message)))
    })
}

/// Whether a path names a film that can be recorded.
pub(crate) fn is_film(path: &Path) -> bool {
    path.extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("mp4"))
}

/// The file or folder that `--record` names. Other films are refused: without this check a folder would get their name.
fn film_or_folder(path: PathBuf) -> Result<PathBuf, String> {
    const OTHERS: [&str; 9] = [
        "avi", "apng", "gif", "h264", "h265", "m4v", "mkv", "mov", "webm",
    ];
    if is_film(&path) && !cfg!(feature = "film") {
        return Err(
            "films need the feature `film`: `cargo run --release -p examples --features film --bin NAME -- \
             --record film.mp4`; or give a folder for pictures"
                .to_owned(),
        );
    }
    let extension = path.extension().and_then(|it| it.to_str());
    if extension.is_some_and(|it| OTHERS.contains(&it.to_ascii_lowercase().as_str())) {
        return Err(
            "films are MP4 files; give a name such as `film.mp4`, or a folder for pictures"
                .to_owned(),
        );
    }
    Ok(path)
}

/// Text without line breaks and other control characters, which a file name may bring in.
fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
