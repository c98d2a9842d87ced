//! High scores of a game in a file. It is written whole beside the old one and renamed, so that a crash leaves one of the
//! two; a broken one is a message and a fresh start.

use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bevy_ecs::prelude::*;
use quadrille::vulkan::file::{read_file, write_file};

/// Number of scores that are kept.
const KEPT: usize = 5;
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 4096;

/// The best scores, best first, and their file.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    /// Points of the best games.
    pub best: Vec<u32>,
    game: &'static str,
    /// `None` reads and writes nothing.
    path: Option<PathBuf>,
}

impl Scores {
    /// Reads the player's scores of a game (`$XDG_DATA_HOME/quadrille/GAME.txt`). There are none without a file, and a
    /// broken one is a warning.
    pub fn of_player(game: &'static str) -> Self {
        Self::load(game, player_path(game))
    }

    /// Reads the scores of a game from a file, as [`Scores::of_player`] does.
    pub fn of_file(game: &'static str, path: PathBuf) -> Self {
        Self::load(game, Some(path))
    }

    /// Scores that are neither read nor written, for scripted games and games without a window.
    pub fn unsaved() -> Self {
        Self::default()
    }

    fn load(game: &'static str, path: Option<PathBuf>) -> Self {
        let best = path.as_deref().map_or_else(Vec::new, |path| {
            read(game, path).unwrap_or_else(|problem| {
                // The log of the app does not exist yet, and a closed standard error does not end a game.
                let path = path.display();
                let _ = writeln!(
                    io::stderr(),
                    "warning: {path}: {problem}; scores begin afresh"
                );
                Vec::new()
            })
        });
        Self { best, game, path }
    }

    /// The highest score; 0 if there is none.
    pub fn highest(&self) -> u32 {
        self.best.first().copied().unwrap_or_default()
    }

    /// Adds the score of a game, and writes the file. A file that cannot be written is an error in the log.
    pub fn add(&mut self, score: u32) {
        self.best.push(score);
        sort(&mut self.best);
        let Some(path) = &self.path else { return };
        if let Err(problem) = write_file(path, text(self.game, &self.best).as_bytes()) {
            bevy_log::error!("cannot write scores to {}: {problem}", path.display());
        }
    }
}

/// Returns the player's file of scores, if the system has a place for it.
fn player_path(game: &str) -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".local/share"));
    let folder = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let folder = folder.filter(|it| it.is_absolute()).or_else(home)?;
    Some(folder.join(format!("quadrille/{game}.txt")))
}

fn read(game: &str, path: &Path) -> Result<Vec<u32>, String> {
    let bytes = match read_file(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    parse(game, &text)
}

/// First line of the file.
fn head(game: &str) -> String {
    format!("{game} scores 1")
}

fn parse(game: &str, text: &str) -> Result<Vec<u32>, String> {
    let mut lines = text.lines();
    let head = head(game);
    if lines.next() != Some(&head) {
        return Err(format!("its first line is not `{head}`"));
    }
    let number = |line: &str| line.parse().map_err(|_| format!("`{line}` is no score"));
    let mut best = lines.map(number).collect::<Result<Vec<u32>, String>>()?;
    sort(&mut best);
    Ok(best)
}

fn sort(best: &mut Vec<u32>) {
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(KEPT);
}

fn text(game: &str, best: &[u32]) -> String {
    let lines = best.iter().map(|score| format!("{score}\n"));
    std::iter::once(head(game) + "\n").chain(lines).collect()
}

#[cfg(test)]
#[path = "scores_tests.rs"]
mod tests;
