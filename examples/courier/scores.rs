//! High scores in a file. It is written whole beside the old one and renamed; a broken one is a message and a fresh
//! start.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use bevy_log::{error, warn};
use quadrille::vulkan::file::{read_file, write_file};

use crate::delivery::Phase;
use crate::game::Game;

/// Scores that are kept.
const KEPT: usize = 5;
/// Longest file in bytes.
const MOST_BYTES: u64 = 4096;
/// First line of the file.
const HEAD: &str = "courier scores 1";

/// The best scores, best first, and their file.
#[derive(Resource, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scores {
    /// Points of the best games.
    pub(crate) best: Vec<u32>,
    /// Without one nothing is read or written.
    path: Option<PathBuf>,
}

impl Scores {
    /// Reads the scores of a file; there are none without a file, or if it is broken.
    pub(crate) fn load(path: Option<PathBuf>) -> Self {
        let best = path.as_deref().map_or_else(Vec::new, |path| {
            read(path).unwrap_or_else(|problem| {
                warn!("{}: {problem}; scores begin afresh", path.display());
                Vec::new()
            })
        });
        Self { best, path }
    }

    /// Adds the score of a game, and writes the file.
    pub(crate) fn add(&mut self, score: u32) {
        self.best.push(score);
        self.best.sort_unstable_by(|a, b| b.cmp(a));
        self.best.truncate(KEPT);
        let Some(path) = &self.path else { return };
        if let Err(problem) = write_file(path, write(&self.best).as_bytes()) {
            error!("cannot write scores to {}: {problem}", path.display());
        }
    }
}

/// Returns the user's own file of scores, if the system has a place for it.
pub(crate) fn default_path() -> Option<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".local/share"));
    let folder = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let folder = folder.filter(|it| it.is_absolute()).or_else(home)?;
    Some(folder.join("quadrille/courier.txt"))
}

fn read(path: &Path) -> Result<Vec<u32>, String> {
    let bytes = match read_file(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    parse(&text)
}

/// Reads the text of a file.
fn parse(text: &str) -> Result<Vec<u32>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(format!("its first line is not `{HEAD}`"));
    }
    let number = |line: &str| line.parse().map_err(|_| format!("`{line}` is no score"));
    let mut best = lines.map(number).collect::<Result<Vec<u32>, String>>()?;
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(KEPT);
    Ok(best)
}

/// Returns the text of a file.
fn write(best: &[u32]) -> String {
    let lines = best.iter().map(|score| format!("{score}\n"));
    std::iter::once(format!("{HEAD}\n")).chain(lines).collect()
}

/// Adds the score of each game that ends.
pub(crate) struct ScoresPlugin(pub(crate) Option<PathBuf>);

impl Plugin for ScoresPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Scores::load(self.0.clone()))
            .add_systems(Update, note_end.after(crate::player::play));
    }
}

fn note_end(game: Res<Game>, mut scores: ResMut<Scores>, mut last: Local<Phase>) {
    let phase = game.rules.phase;
    let has_ended = matches!(phase, Phase::Lost | Phase::Won) && *last == Phase::Play;
    *last = phase;
    if has_ended && !game.is_autoplay {
        scores.add(game.rules.score);
    }
}

#[cfg(test)]
#[path = "scores_tests.rs"]
mod tests;
