//! Text of `swarm`: the bar with the score, and the screens over the field.

use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3};
use examples::scores::Scores;
use examples::swarm::{FIELD, Phase, WAVES};
use quadrille_2d::prelude::*;

use crate::Game;

/// Line of text.
#[derive(Component, Clone, Copy)]
pub(crate) enum Label {
    Ships,
    Score,
    Wave,
    Title,
    Message,
    Hint,
}

/// Dark panel behind a screen's text.
#[derive(Component)]
pub(crate) struct Panel;

/// Spawns the panel and all texts.
pub(crate) fn spawn(commands: &mut Commands) {
    let panel = Sprite::from_color(Color::linear_rgba(0.0, 0.0, 0.008, 0.86), Vec2::ONE);
    let place = Transform::from_xyz(0.0, 20.0, 2.5).with_scale(Vec3::new(760.0, 370.0, 1.0));
    commands.spawn((Panel, panel, place, Visibility::Hidden));
    spawn_labels(commands);
}

fn spawn_labels(commands: &mut Commands) {
    let half = Vec2::new(FIELD[0] as f32, FIELD[1] as f32) / 2.0;
    let white = Color::linear_rgb(0.85, 0.9, 1.0);
    let dim = Color::linear_rgb(0.42, 0.5, 0.7);
    let gold = Color::linear_rgb(1.5, 0.85, 0.25);
    let (left, right) = (Anchor::CENTER_LEFT, Anchor::CENTER_RIGHT);
    let lines = [
        (
            Label::Ships,
            22.0,
            white,
            Vec2::new(16.0 - half.x, half.y - 22.0),
            left,
        ),
        (
            Label::Score,
            30.0,
            white,
            Vec2::new(0.0, half.y - 31.0),
            Anchor::CENTER,
        ),
        (
            Label::Wave,
            22.0,
            white,
            Vec2::new(half.x - 16.0, half.y - 22.0),
            right,
        ),
        (
            Label::Title,
            96.0,
            gold,
            Vec2::new(0.0, 120.0),
            Anchor::CENTER,
        ),
        (
            Label::Message,
            30.0,
            white,
            Vec2::new(0.0, 15.0),
            Anchor::CENTER,
        ),
        (
            Label::Hint,
            22.0,
            dim,
            Vec2::new(0.0, -105.0),
            Anchor::CENTER,
        ),
    ];
    for (label, size, color, at, anchor) in lines {
        let font = TextFont {
            font_size: FontSize::Px(size),
            ..TextFont::default()
        };
        let place = Transform::from_translation(at.extend(3.2));
        let layout = TextLayout::justify(Justify::Center);
        commands.spawn((
            label,
            Text2d::default(),
            font,
            TextColor(color),
            layout,
            anchor,
            place,
        ));
    }
}

pub(crate) fn write(
    game: Res<Game>,
    scores: Res<Scores>,
    mut labels: Query<(&Label, &mut Text2d)>,
    mut panel: Single<&mut Visibility, With<Panel>>,
) {
    let rules = &game.rules;
    let [title, message, hint] = screen(&game, &scores);
    let has_panel = !title.is_empty();
    panel.set_if_neq(match has_panel {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    });
    for (label, mut text) in &mut labels {
        let line = match label {
            Label::Ships => format!("ships {}   hull {}", rules.lives, rules.health()),
            Label::Score => rules.score().to_string(),
            Label::Wave if rules.boss.is_some() => "the queen".to_owned(),
            Label::Wave => format!("wave {}/{WAVES}", rules.wave),
            Label::Title => title.clone(),
            Label::Message => message.clone(),
            Label::Hint => hint.clone(),
        };
        // Text that is not changed is not laid out again.
        if text.0 != line {
            text.0 = line;
        }
    }
}

/// Returns title, message and hint of the screen over the field.
fn screen(game: &Game, scores: &Scores) -> [String; 3] {
    let rules = &game.rules;
    let end = || {
        let score = rules.score();
        match scores.highest() {
            best if best > score => format!("{score} points\nbest {best}"),
            _ => format!("{score} points\na new best score"),
        }
    };
    let texts =
        |title: &str, message: String, hint: &str| [title.to_owned(), message, hint.to_owned()];
    match rules.phase {
        Phase::Title => texts(
            "SWARM",
            format!("space, enter or a click begins\nbest {}", scores.highest()),
            "WASD or arrows move, the mouse aims\nP pauses    B bloom    R begins again\n\
             three waves, then the queen",
        ),
        Phase::Play if rules.is_announced() && rules.boss.is_some() => {
            texts("", "the queen comes: shoot her".to_owned(), "")
        }
        Phase::Play if rules.is_announced() => {
            let (wave, goal) = (rules.wave, rules.goal());
            texts("", format!("wave {wave}: shoot {goal}"), "")
        }
        Phase::Play => texts("", String::new(), ""),
        Phase::Paused => texts("PAUSED", "P goes on".to_owned(), "R begins again"),
        Phase::Over => texts("THEY GOT YOU", end(), "space begins again"),
        Phase::Won => texts("YOU WIN", end(), "space begins again"),
    }
}
