//! Sounds and music of the games, made by code.
//!
//! A game writes [`PlaySound`] messages, whether anybody hears them or not. They are heard with the feature `sound`
//! (`bevy_audio`), in a window that a player has; a machine without a sound device is a warning in the log.

mod synthesis;

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;

/// A short sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sound {
    /// Choice in a menu.
    Click,
    /// A brick breaks, an enemy is shot.
    Break,
    /// Something good is picked up.
    Pickup,
    /// A task is done.
    Success,
    /// Something hard is hit.
    Crash,
    /// A ship or a ball is lost.
    Loss,
    /// The game is won.
    Victory,
}

impl Sound {
    /// All sounds.
    pub const ALL: [Self; 7] = [
        Self::Click,
        Self::Break,
        Self::Pickup,
        Self::Success,
        Self::Crash,
        Self::Loss,
        Self::Victory,
    ];

    /// Returns the sound as a WAV file: 16 bits, one channel.
    pub fn wav(self) -> Vec<u8> {
        synthesis::wav(&synthesis::sound(self))
    }
}

/// Returns the music of a seed as a WAV file, whose end leads to its beginning.
pub fn music(seed: u64) -> Vec<u8> {
    synthesis::wav(&synthesis::music(seed))
}

/// Message: play a sound once.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaySound(pub Sound);

/// Volumes, from 0 to 1.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct Volumes {
    /// Volume of sounds.
    pub sounds: f32,
    /// Volume of the music.
    pub music: f32,
    /// Whether nothing is heard.
    pub is_muted: bool,
}

impl Default for Volumes {
    fn default() -> Self {
        Self {
            sounds: 0.8,
            music: 0.4,
            is_muted: false,
        }
    }
}

/// Plugin for the sounds of a game, which the key M mutes. It comes after the plugin that adds assets.
#[derive(Clone, Copy, Debug)]
pub struct SoundPlugin {
    /// Seed of the music.
    pub seed: u64,
    /// Whether sounds are heard; runs without a window or with a script are silent.
    pub is_audible: bool,
}

impl Plugin for SoundPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<PlaySound>()
            .init_resource::<Volumes>()
            .add_systems(Update, mute);
        #[cfg(feature = "sound")]
        if self.is_audible {
            app.add_plugins(output::OutputPlugin { seed: self.seed });
        }
    }
}

fn mute(keys: Res<ButtonInput<KeyCode>>, mut volumes: ResMut<Volumes>) {
    if keys.just_pressed(KeyCode::KeyM) {
        volumes.is_muted ^= true;
    }
}

#[cfg(feature = "sound")]
mod output;

#[cfg(test)]
#[path = "sound_tests.rs"]
mod tests;
