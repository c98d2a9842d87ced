//! High scores of a game in a file. It is written whole beside the old one and renamed, so that a crash leaves one of the
//! two; a broken one is a message and a fresh start.

use std::path::{Path, PathBuf};

use bevy_ecs::prelude::*;
use quadrille::vulkan::file::write_file;

use crate::player_file::{player_file, read_text, warn};

/// Number of scores that are kept.
const KEPT: usize = 5;

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
        Self::load(game, player_file(game))
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
                warn(path, format!("{problem}; scores begin afresh"));
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

fn read(game: &str, path: &Path) -> Result<Vec<u32>, String> {
    read_text(path)?.map_or(Ok(Vec::new()), |text| parse(game, &text))
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
