//! Title, pause and end of a game: a panel over the picture.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_ui::prelude::*;
use examples::scores::Scores;
use quadrille_2d::prelude::{Justify, TextColor, TextLayout};
use quadrille_3d::prelude::*;

use crate::delivery::Phase;
use crate::game::Game;
use crate::hud::{GOLD, font, panel, shadow};
use crate::options::{OpenButton, Screen};
use crate::player::play;
use crate::settings::{Action, Settings};

/// The panel.
#[derive(Component)]
struct Panel;

/// Texts of the panel.
#[derive(Component, Clone, Copy)]
enum Part {
    Heading,
    /// Below the heading.
    Body,
    /// The key that begins or goes on.
    Step,
    Keys,
}

/// Adds the panel.
pub(crate) struct MenuPlugin;

impl Plugin for MenuPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn)
            .add_systems(Update, write.after(play));
    }
}

/// Returns a column in the middle of the panel.
fn column(gap: f32) -> Node {
    Node {
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        row_gap: Val::Vh(gap),
        ..Node::default()
    }
}

/// Spawns the panel: heading and text at the top, the next step and keys at the bottom, the city in between.
fn spawn(mut commands: Commands) {
    let (node, shade) = panel(0.0, 0.42);
    let node = Node {
        justify_content: JustifyContent::SpaceBetween,
        padding: UiRect::vertical(Val::Vh(8.0)),
        ..node
    };
    let text = |size, color: Color| {
        (
            Text::default(),
            font(size),
            TextColor(color),
            TextLayout::justify(Justify::Center),
            shadow(),
        )
    };
    let pale = Color::srgb(0.86, 0.92, 1.0);
    commands.spawn((Panel, node, shade)).with_children(|panel| {
        panel.spawn(column(1.5)).with_children(|top| {
            top.spawn((Part::Heading, text(16.0, GOLD)));
            top.spawn((Part::Body, text(3.6, pale)));
        });
        let footer = Node {
            padding: UiRect::axes(Val::Vh(4.0), Val::Vh(2.0)),
            ..column(2.0)
        };
        panel
            .spawn((footer, BackgroundColor(Color::srgba(0.02, 0.03, 0.09, 0.7))))
            .with_children(|bottom| {
                bottom.spawn((Part::Step, text(5.2, GOLD)));
                bottom.spawn((Part::Keys, text(3.0, pale)));
                bottom.spawn((
                    OpenButton,
                    Text::new("O  settings"),
                    font(2.7),
                    TextColor(pale),
                    shadow(),
                ));
            });
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

/// Returns heading, text and next step of a phase; empty ones while the game runs.
fn texts(game: &Game, scores: &Scores) -> [String; 3] {
    let rules = &game.rules;
    let best = match scores.best.as_slice() {
        [] => String::new(),
        best => {
            let list: Vec<String> = best.iter().map(u32::to_string).collect();
            format!("\nbest  {}", list.join("   "))
        }
    };
    match rules.phase {
        Phase::Play => Default::default(),
        Phase::Title => {
            let what = "parcels against the clock, over a city at night\n\
                        take them at the blue beam, bring them to the orange one";
            let what = what.to_owned();
            ["COURIER", &(what + &best), "ENTER  take off"].map(str::to_owned)
        }
        Phase::Paused => ["PAUSED", "", "P  go on"].map(str::to_owned),
        Phase::Lost => {
            let (level, delivered, parcels) = (rules.level + 1, rules.delivered, rules.parcels());
            let what = format!(
                "{} points in level {level}, {delivered} of {parcels} parcels{best}",
                rules.score
            );
            ["TIME OUT", &what, "ENTER  once more"].map(str::to_owned)
        }
        Phase::Won => {
            let what = format!("{} points{best}", rules.score);
            ["ALL DELIVERED", &what, "ENTER  once more"].map(str::to_owned)
        }
    }
}

fn write(
    game: Res<Game>,
    scores: Res<Scores>,
    (screen, settings): (Res<Screen>, Res<Settings>),
    mut panel: Single<&mut Visibility, With<Panel>>,
    mut parts: Query<(&Part, &mut Text)>,
) {
    panel.set_if_neq(match game.rules.phase {
        Phase::Play => Visibility::Hidden,
        _ if screen.is_open() => Visibility::Hidden,
        _ => Visibility::Inherited,
    });
    if game.rules.phase == Phase::Play {
        return;
    }
    let [heading, body, step] = texts(&game, &scores);
    let keys = key_lines(&settings);
    for (part, mut text) in &mut parts {
        let shown = match part {
            Part::Heading => &heading,
            Part::Body => &body,
            Part::Step => &step,
            Part::Keys => &keys,
        };
        if text.0 != *shown {
            text.0.clone_from(shown);
        }
    }
}
