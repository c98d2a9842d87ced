//! Adds the score of each game that ends to the high scores.

use bevy_app::{App, Plugin, Update};
use bevy_ecs::prelude::*;
use examples::scores::Scores;

use crate::delivery::Phase;
use crate::game::Game;

/// Adds the high scores.
pub(crate) struct ScoresPlugin(pub(crate) Scores);

impl Plugin for ScoresPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.0.clone())
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
