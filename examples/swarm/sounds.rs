//! Sounds of what happens.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use examples::sound::{PlaySound, Sound, SoundPlugin};
use examples::swarm::Phase;

use crate::{Game, play};

/// Adds the sounds.
pub(crate) struct SoundsPlugin {
    pub(crate) is_audible: bool,
}

impl Plugin for SoundsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(SoundPlugin {
            seed: 23,
            is_audible: self.is_audible,
        })
        .add_systems(Update, sound.after(play));
    }
}

/// Frames between two sounds of shot enemies, of which there are many in each frame.
const PAUSE: u64 = 10;

/// State of the last frame.
#[derive(Clone, Copy)]
struct Seen {
    phase: Phase,
    wave: u32,
    lives: u32,
    score: u32,
    /// Frame of the last shot enemy that was heard.
    heard: u64,
}

fn sound(game: Res<Game>, mut sounds: MessageWriter<PlaySound>, mut last: Local<Option<Seen>>) {
    let rules = &game.rules;
    let mut now = Seen {
        phase: rules.phase,
        wave: rules.wave,
        lives: rules.lives,
        score: rules.score(),
        heard: last.map_or(0, |seen| seen.heard),
    };
    let seen = last.unwrap_or(now);
    if seen.phase != now.phase {
        sounds.write(PlaySound(match now.phase {
            Phase::Won => Sound::Victory,
            Phase::Over => Sound::Loss,
            _ => Sound::Click,
        }));
    } else if now.phase == Phase::Play {
        if now.lives < seen.lives {
            sounds.write(PlaySound(Sound::Crash));
        }
        if now.wave > seen.wave {
            sounds.write(PlaySound(Sound::Success));
        }
        if now.score > seen.score && game.frame >= seen.heard + PAUSE {
            now.heard = game.frame;
            sounds.write(PlaySound(Sound::Break));
        }
    }
    *last = Some(now);
}
