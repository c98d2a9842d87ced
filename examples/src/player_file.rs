//! Small text files of a player, such as scores and settings. A broken one is a message and a fresh start.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use quadrille::vulkan::file::read_file;

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 4096;

/// Returns the path of a player's file (`$XDG_DATA_HOME/quadrille/NAME.txt`), if the system has a place for it.
pub fn player_file(name: &str) -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".local/share"));
    let folder = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let folder = folder.filter(|it| it.is_absolute()).or_else(home)?;
    Some(folder.join(format!("quadrille/{name}.txt")))
}

/// Reads a file; `None` if there is none.
///
/// # Errors
/// The file cannot be read, is too large, or is no text.
pub fn read_text(path: &Path) -> Result<Option<String>, String> {
    let bytes = match read_file(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    Ok(Some(text))
}

/// Says on standard error what is wrong with a file, before the log of the app exists.
pub fn warn(path: &Path, problem: impl Display) {
    // A closed standard error does not end a game.
    let _ = writeln!(io::stderr(), "warning: {}: {problem}", path.display());
}
