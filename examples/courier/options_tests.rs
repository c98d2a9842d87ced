use bevy_input::keyboard::KeyCode;

use super::{Command, ROWS, Row, Screen};
use crate::quality::Quality;
use crate::settings::{Action, Settings, Switch};

/// Obeys commands from a closed screen; its state and the settings.
fn after(commands: &[Command]) -> (Screen, Settings) {
    let defaults = Settings::of_quality(Quality::Medium, false);
    let (mut screen, mut settings) = (Screen::default(), defaults);
    for command in commands {
        screen.obey(*command, &mut settings, &defaults);
    }
    (screen, settings)
}

fn at(row: Row) -> Command {
    let at = ROWS.iter().position(|it| *it == row);
    Command::Choose(at.expect("the row is there"))
}

#[test]
fn closed_screen_only_opens() {
    let (screen, settings) = after(&[Command::Change(1), Command::Move(1), Command::Close]);
    assert_eq!(screen, Screen::default());
    assert_eq!(settings, Settings::of_quality(Quality::Medium, false));
    let (screen, _) = after(&[Command::Open]);
    assert_eq!(screen.chosen, Some(0));
    assert!(!after(&[Command::Open, Command::Close]).0.is_open());
    assert!(
        !after(&[Command::Open, at(Row::Back), Command::Change(1)])
            .0
            .is_open()
    );
}

#[test]
fn rows_go_round() {
    let last = ROWS.len() - 1;
    assert_eq!(
        after(&[Command::Open, Command::Move(-1)]).0.chosen,
        Some(last)
    );
    let round = vec![Command::Move(1); ROWS.len()];
    let commands = [&[Command::Open][..], &round].concat();
    assert_eq!(after(&commands).0.chosen, Some(0));
    // A row that is not there is the last.
    assert_eq!(
        after(&[Command::Open, Command::Choose(99)]).0.chosen,
        Some(last)
    );
}

#[test]
fn rows_change_their_settings() {
    let row = Row::Switch(Switch::Fog);
    let (_, settings) = after(&[Command::Open, at(row), Command::Change(1)]);
    assert!(!settings.has(Switch::Fog));
    let defaults = [
        Command::Open,
        at(row),
        Command::Change(1),
        at(Row::Defaults),
    ];
    let (screen, settings) = after(&[&defaults[..], &[Command::Change(1)]].concat());
    assert_eq!(settings, Settings::of_quality(Quality::Medium, false));
    assert!(screen.is_open());
}

#[test]
fn next_key_is_bound() {
    let begin = [
        Command::Open,
        at(Row::Key(Action::Climb)),
        Command::Change(1),
    ];
    let (screen, settings) = after(&begin);
    assert!(screen.is_binding);
    let shown = screen.texts(screen.chosen.expect("open"), &settings);
    assert_eq!(shown[1], "press a key");
    // Keys of menus are refused, and the screen still waits; other rows cannot be chosen meanwhile.
    let refused = [Command::Bind(KeyCode::Enter), Command::Move(1)];
    let (screen, _) = after(&[&begin[..], &refused].concat());
    assert!(screen.is_binding);
    let bound = [&begin[..], &refused, &[Command::Bind(KeyCode::KeyQ)]].concat();
    let (screen, settings) = after(&bound);
    assert_eq!(
        (screen.is_binding, settings.key(Action::Climb)),
        (false, KeyCode::KeyQ)
    );
    let (screen, settings) = after(&[&begin[..], &[Command::Close]].concat());
    assert_eq!((screen.is_binding, screen.is_open()), (false, true));
    assert_eq!(settings.key(Action::Climb), KeyCode::Space);
}
