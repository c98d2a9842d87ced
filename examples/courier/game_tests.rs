use super::{Game, Input};
use crate::delivery::Phase;
use crate::flight::Controls;

/// Plays so many steps with the same input.
fn play(game: &mut Game, input: Input, steps: u32) {
    (0..steps).for_each(|_| game.step(input));
}

#[test]
fn autopilot_delivers_and_the_score_repeats() {
    let mut scores = Vec::new();
    for _ in 0..2 {
        let mut game = Game::new(1, 16, true);
        play(&mut game, Input::default(), 60 * 90);
        scores.push((game.rules.score, game.flight));
    }
    assert_eq!(scores[0], scores[1]);
    assert!(scores[0].0 >= 300, "{scores:?}");
}

#[test]
fn same_input_leads_to_the_same_game() {
    let fly = |seed: u64| {
        let mut game = Game::new(seed, 8, false);
        let start = Input {
            start: true,
            ..Input::default()
        };
        game.step(start);
        for step in 0..600_u32 {
            let controls = Controls {
                throttle: 1.0,
                turn: if step % 90 < 20 { 1.0 } else { 0.0 },
                lift: if step < 40 { 1.0 } else { -0.1 },
            };
            let input = Input {
                controls,
                ..Input::default()
            };
            game.step(input);
        }
        (game.flight, game.rules)
    };
    assert_eq!(fly(5), fly(5));
    assert_ne!(fly(5).1.target, fly(6).1.target);
}

#[test]
fn title_waits_and_pause_holds() {
    let mut game = Game::new(1, 8, false);
    play(&mut game, Input::default(), 10);
    assert_eq!(game.rules.phase, Phase::Title);
    let start = Input {
        start: true,
        ..Input::default()
    };
    game.step(start);
    assert_eq!(game.rules.phase, Phase::Play);
    let pause = Input {
        pause: true,
        ..Input::default()
    };
    game.step(pause);
    let time = game.rules.time;
    play(&mut game, Input::default(), 10);
    assert_eq!((game.rules.phase, game.rules.time), (Phase::Paused, time));
    game.step(pause);
    assert_eq!(game.rules.phase, Phase::Play);
}

#[test]
fn lost_game_begins_again() {
    let mut game = Game::new(1, 8, false);
    let start = Input {
        start: true,
        ..Input::default()
    };
    game.step(start);
    play(&mut game, Input::default(), 60 * 100);
    assert_eq!(game.rules.phase, Phase::Lost);
    game.step(start);
    assert_eq!((game.rules.phase, game.rules.score), (Phase::Play, 0));
}

#[test]
fn program_begins_again_after_the_end() {
    let play_on = || {
        let mut game = Game::new(2, 6, true);
        play(&mut game, Input::default(), 36_000);
        (game.ended, game.rules.score, game.flight)
    };
    let first = play_on();
    // The second game is under way.
    assert!(first.0[0] >= 1 && first.1 > 0, "{first:?}");
    assert_eq!(first, play_on());
}

#[test]
fn ride_has_no_clock() {
    let mut game = Game::new(1, 6, false);
    game.begin_ride(1);
    let time = game.rules.time;
    play(
        &mut game,
        Input {
            restart: true,
            ..Input::default()
        },
        5000,
    );
    assert_eq!((game.rules.phase, game.rules.time), (Phase::Play, time));
    // The message at the start of a game names its first level.
    assert_eq!((game.rules.level, game.rules.message.as_str()), (1, ""));
}
