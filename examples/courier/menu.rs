//! Title, pause and end of a game: a panel over the picture.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_ui::prelude::*;
use examples::scores::Scores;
use quadrille_2d::prelude::{Justify, TextColor, TextLayout};
use quadrille_3d::prelude::*;

use crate::delivery::Phase;
use crate::game::Game;
use crate::hud::{GOLD, font, panel};
use crate::options::{OpenButton, Screen};
use crate::player::play;
use crate::settings::{Action, Settings};

/// The panel.
#[derive(Component)]
struct Panel;

/// Heading of the panel.
#[derive(Component)]
struct Heading;

/// Text below the heading.
#[derive(Component)]
struct Body;

/// Adds the panel.
pub(crate) struct MenuPlugin;

impl Plugin for MenuPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, write.after(play));
    }
}

fn spawn(mut commands: Commands) {
    commands
        .spawn((Panel, panel(3.0, 0.6)))
        .with_children(|panel| {
            panel.spawn((
                Heading,
                Text::default(),
                font(13.0),
                TextColor(GOLD),
                TextLayout::justify(Justify::Center),
            ));
            panel.spawn((
                Body,
                Text::default(),
                font(3.4),
                TextColor(Color::srgb(0.86, 0.92, 1.0)),
                TextLayout::justify(Justify::Center),
            ));
            panel.spawn((
                OpenButton,
                Text::new("O  settings"),
                font(3.4),
                TextColor(Color::srgb(1.0, 0.82, 0.5)),
            ));
        });
}

/// Returns the lines that tell the keys.
fn key_lines(settings: &Settings) -> String {
    let name = |action| settings.key_name(action).to_uppercase();
    let [speed, brakes, left, right, climb, sink] = Action::ALL.map(name);
    format!(
        "{speed} {brakes}  speed and brakes     {left} {right}  turn\n\
         {climb} or up  climb     {sink} or down  sink\n\
         P  pause     R  begin again     M  mute"
    )
}

/// Returns heading and text of a phase; empty ones while the game runs.
fn texts(game: &Game, scores: &Scores, settings: &Settings) -> [String; 2] {
    let rules = &game.rules;
    let keys = key_lines(settings);
    let best = match scores.best.as_slice() {
        [] => String::new(),
        best => {
            let list: Vec<String> = best.iter().map(u32::to_string).collect();
            format!("\n\nbest  {}", list.join("   "))
        }
    };
    match rules.phase {
        Phase::Play => Default::default(),
        Phase::Title => [
            "COURIER".to_owned(),
            format!(
                "parcels against the clock, over a city at night\n\n{keys}\n\nENTER  take off{best}"
            ),
        ],
        Phase::Paused => ["PAUSED".to_owned(), format!("{keys}\n\nP  go on")],
        Phase::Lost => [
            "TIME OUT".to_owned(),
            format!(
                "{} points in level {}\n\nENTER  once more{best}",
                rules.score,
                rules.level + 1
            ),
        ],
        Phase::Won => [
            "ALL DELIVERED".to_owned(),
            format!("{} points\n\nENTER  once more{best}", rules.score),
        ],
    }
}

fn write(
    game: Res<Game>,
    scores: Res<Scores>,
    (screen, settings): (Res<Screen>, Res<Settings>),
    mut panel: Single<&mut Visibility, With<Panel>>,
    mut heading: Single<&mut Text, (With<Heading>, Without<Body>)>,
    mut body: Single<&mut Text, (With<Body>, Without<Heading>)>,
) {
    panel.set_if_neq(match game.rules.phase {
        Phase::Play => Visibility::Hidden,
        _ if screen.is_open() => Visibility::Hidden,
        _ => Visibility::Inherited,
    });
    let [head, text] = texts(&game, &scores, &settings);
    if heading.0 != head {
        heading.0 = head;
    }
    if body.0 != text {
        body.0 = text;
    }
}
