//! Sounds of what happens, and the volumes of the settings.

use bevy_app::{App, Plugin, PostUpdate};
use bevy_ecs::prelude::*;
use examples::sound::{PlaySound, Sound, SoundPlugin, Volumes};

use crate::delivery::Phase;
use crate::game::Game;
use crate::settings::Settings;

/// Adds the sounds.
pub(crate) struct SoundsPlugin {
    /// Seed of the music: that of the city.
    pub(crate) seed: u64,
    pub(crate) is_audible: bool,
}

impl Plugin for SoundsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(SoundPlugin {
            seed: self.seed,
            is_audible: self.is_audible,
        })
        .add_systems(PostUpdate, (sound, set_volumes));
    }
}

/// Speed of an impact that is heard, in meters per second.
const LOUD: f32 = 6.0;

/// State of the last frame.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    phase: Phase,
    level: usize,
    score: u32,
    is_carrying: bool,
}

fn sound(game: Res<Game>, mut sounds: MessageWriter<PlaySound>, mut last: Local<Option<Seen>>) {
    let rules = &game.rules;
    let now = Seen {
        phase: rules.phase,
        level: rules.level,
        score: rules.score,
        is_carrying: rules.is_carrying,
    };
    let seen = last.replace(now).unwrap_or(now);
    if now.phase == Phase::Play && game.impact > LOUD {
        sounds.write(PlaySound(Sound::Crash));
    }
    let heard = if now.phase != seen.phase {
        match now.phase {
            Phase::Won => Sound::Victory,
            Phase::Lost => Sound::Loss,
            _ => Sound::Click,
        }
    } else if now.level > seen.level || now.score > seen.score {
        Sound::Success
    } else if now.is_carrying && !seen.is_carrying {
        Sound::Pickup
    } else {
        return;
    };
    sounds.write(PlaySound(heard));
}

fn set_volumes(settings: Res<Settings>, mut volumes: ResMut<Volumes>) {
    let [sounds, music] = settings.volumes.map(|volume| f32::from(volume) / 10.0);
    let wanted = Volumes {
        sounds,
        // Music lies behind the sounds.
        music: 0.5 * music,
        is_muted: volumes.is_muted,
    };
    volumes.set_if_neq(wanted);
}
