//! Texts: score, level and best score above the field, and what to do in its middle.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3};
use examples::breakout::{Breakout, FIELD, LEVELS, Phase};
use examples::scores::Scores;
use quadrille_2d::prelude::*;

use crate::{Game, Play};

/// Adds the texts.
pub(crate) struct HudPlugin;

impl Plugin for HudPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn_texts)
            .add_systems(Update, write.after(Play));
    }
}

/// Place of a text.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum Line {
    Score,
    Level,
    Best,
    /// Large letters in the middle.
    Headline,
    /// Small letters below.
    Advice,
}

/// Darkens the field behind a headline.
#[derive(Component)]
struct Veil;

fn spawn_texts(mut commands: Commands) {
    let veil = Sprite::from_color(Color::srgba(0.01, 0.01, 0.04, 0.72), FIELD);
    commands.spawn((Veil, veil, Transform::from_xyz(0.0, 0.0, 2.5)));
    let top = FIELD.y / 2.0 - 3.0;
    let side = FIELD.x / 2.0 - 6.0;
    let (pale, gold) = (Color::srgb(0.80, 0.84, 0.95), Color::srgb(1.0, 0.85, 0.4));
    for (line, size, at, anchor, color) in [
        (
            Line::Score,
            11.0,
            Vec2::new(-side, top),
            Anchor::TOP_LEFT,
            pale,
        ),
        (
            Line::Level,
            11.0,
            Vec2::new(0.0, top),
            Anchor::TOP_CENTER,
            pale,
        ),
        (
            Line::Best,
            11.0,
            Vec2::new(side, top),
            Anchor::TOP_RIGHT,
            pale,
        ),
        (
            Line::Headline,
            38.0,
            Vec2::new(0.0, -34.0),
            Anchor::BOTTOM_CENTER,
            gold,
        ),
        (
            Line::Advice,
            11.0,
            Vec2::new(0.0, -46.0),
            Anchor::TOP_CENTER,
            pale,
        ),
    ] {
        // Letters have twice their size in the field, so that they are sharp in a window of twice the field's size.
        let font = TextFont {
            font_size: FontSize::Px(2.0 * size),
            ..TextFont::default()
        };
        let place = Transform::from_translation(at.extend(3.0));
        commands.spawn((
            line,
            Text2d::default(),
            font,
            TextColor(color),
            TextLayout::justify(Justify::Center),
            anchor,
            place.with_scale(Vec3::splat(0.5)),
        ));
    }
}

fn write(
    (game, scores): (Res<Game>, Res<Scores>),
    mut texts: Query<(&Line, &mut Text2d)>,
    mut veil: Single<&mut Visibility, With<Veil>>,
) {
    let rules = &game.rules;
    for (&line, mut text) in &mut texts {
        let shown = match line {
            Line::Score => format!("SCORE  {}", rules.score),
            Line::Level => format!("LEVEL  {} / {LEVELS}", (rules.level + 1).min(LEVELS)),
            Line::Best => format!("BEST  {}", scores.highest().max(rules.score)),
            Line::Headline => headline(rules.phase).to_owned(),
            Line::Advice => advice(rules, &scores),
        };
        // Text that is not changed is not laid out again.
        if text.0 != shown {
            text.0 = shown;
        }
    }
    veil.set_if_neq(match rules.phase {
        Phase::Play | Phase::Serve => Visibility::Hidden,
        _ => Visibility::Inherited,
    });
}

fn headline(phase: Phase) -> &'static str {
    match phase {
        Phase::Title => "BREAKOUT",
        Phase::Serve | Phase::Play => "",
        Phase::Paused(_) => "PAUSED",
        Phase::Over => "GAME OVER",
        Phase::Won => "YOU WIN",
    }
}

fn advice(rules: &Breakout, scores: &Scores) -> String {
    match rules.phase {
        Phase::Title => {
            let best = match scores.highest() {
                0 => String::new(),
                best => format!("\n\nbest score {best}"),
            };
            format!(
                "space or a click begins\narrow keys, A and D or the mouse move the paddle\n\
                 P pauses, R begins again{best}"
            )
        }
        Phase::Serve => "space serves".to_owned(),
        Phase::Play => String::new(),
        Phase::Paused(_) => "P goes on\nR begins again".to_owned(),
        Phase::Over | Phase::Won => {
            let place = scores.best.iter().position(|&it| it == rules.score);
            let place = match place {
                Some(0) => "a new best score!\n",
                _ => "",
            };
            format!("{} points\n{place}R begins again", rules.score)
        }
    }
}
