//! Sounds of what happens.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use examples::breakout::Phase;
use examples::sound::{PlaySound, Sound, SoundPlugin};

use crate::{Game, Play};

/// Adds the sounds.
pub(crate) struct SoundsPlugin {
    pub(crate) is_audible: bool,
}

impl Plugin for SoundsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(SoundPlugin {
            seed: 11,
            is_audible: self.is_audible,
        })
        .add_systems(Update, sound.after(Play));
    }
}

/// Plays the sounds of the last step.
fn sound(
    game: Res<Game>,
    mut sounds: MessageWriter<PlaySound>,
    mut last: Local<Option<(Phase, u32)>>,
) {
    let rules = &game.rules;
    let now = (rules.phase, rules.score);
    let Some((phase, score)) = last.replace(now) else {
        return;
    };
    if matches!(rules.phase, Phase::Paused(_)) {
        return;
    }
    // Steps without new points may leave hits of an earlier frame.
    if !rules.hits.is_empty() && rules.score != score {
        sounds.write(PlaySound(Sound::Break));
    }
    if rules.caught.is_some() && rules.score != score {
        sounds.write(PlaySound(Sound::Pickup));
    }
    if rules.phase == phase {
        return;
    }
    let heard = match rules.phase {
        Phase::Won => Sound::Victory,
        Phase::Over => Sound::Loss,
        Phase::Serve if rules.has_lost_ball => Sound::Loss,
        _ => Sound::Click,
    };
    sounds.write(PlaySound(heard));
}
