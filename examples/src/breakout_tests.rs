use super::*;

fn served() -> Breakout {
    let mut game = Breakout::new(7);
    game.step(Wish {
        serve: true,
        ..Wish::default()
    });
    assert_eq!(game.phase, Phase::Play);
    game
}

#[test]
fn the_same_seed_and_wishes_lead_to_the_same_game() {
    let play = |seed| {
        let mut game = Breakout::new(seed);
        for frame in 0..2000 {
            let wish = game.never_miss(frame);
            game.step(wish);
        }
        game
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
    assert!(play(1).score > 300, "{}", play(1).score);
}

#[test]
fn the_ball_stays_in_the_field() {
    let mut game = Breakout::new(3);
    for frame in 0..20_000 {
        let wish = game.never_miss(frame);
        game.step(wish);
        assert!(game.ball.x.abs() <= FIELD.x / 2.0 - BALL + 0.01, "{game:?}");
        assert!(game.ball.y <= TOP - BALL + 0.01, "{game:?}");
    }
    assert!(game.level > 0, "a player who never misses clears levels");
}

#[test]
fn three_lost_balls_end_the_game_and_it_can_begin_again() {
    let mut game = served();
    let mut lost = 0;
    for _ in 0..10_000 {
        let lives = game.lives;
        // The paddle flees.
        game.step(Wish {
            paddle_to: Some(if game.ball.x > 0.0 { -200.0 } else { 200.0 }),
            serve: true,
            ..Wish::default()
        });
        lost += lives.saturating_sub(game.lives);
    }
    assert!(lost >= 3, "{lost}");
    assert_eq!((game.lives, game.phase), (0, Phase::Over));
    let over = game.clone();
    game.step(over.never_miss(0));
    assert_eq!(game, over, "nothing moves any more");
    game.step(Wish {
        restart: true,
        ..Wish::default()
    });
    assert_eq!(game, Breakout::new(7));
}

#[test]
fn a_pause_changes_nothing() {
    let mut game = served();
    let pause = Wish {
        pause: true,
        ..Wish::default()
    };
    game.step(pause);
    let paused = game.clone();
    for frame in 0..100 {
        let wish = game.never_miss(frame);
        game.step(wish);
    }
    assert_eq!(game, paused);
    game.step(pause);
    assert_eq!(game.phase, Phase::Play);
}

#[test]
fn strong_bricks_stand_two_hits() {
    let mut game = served();
    let top = 5;
    game.bricks.iter_mut().skip(BRICKS[0]).for_each(|b| *b = 0);
    game.ball = Breakout::brick_at(top) - Vec2::new(0.0, 30.0);
    game.velocity = Vec2::new(0.0, 200.0);
    let mut hits = 0;
    for _ in 0..30 {
        game.step(Wish::default());
        hits += game.hits.len();
    }
    assert_eq!((hits, game.bricks[top], game.score), (1, 1, 0));
    assert!(game.velocity.y < 0.0, "it bounces");
}

#[test]
fn where_the_paddle_is_hit_decides_the_angle() {
    let bounce = |off: f32| {
        let mut game = served();
        game.paddle = 0.0;
        game.ball = Vec2::new(off, PADDLE_Y + 12.0);
        game.velocity = Vec2::new(0.0, -200.0);
        for _ in 0..3 {
            game.step(Wish::default());
        }
        assert!(game.velocity.y > 0.0, "{off}: {game:?}");
        game.velocity.x
    };
    assert!(bounce(-25.0) < bounce(0.0) && bounce(0.0) < bounce(25.0));
}

#[test]
fn a_title_waits_for_its_player() {
    let mut game = Breakout::at_title(7);
    for _ in 0..10 {
        game.step(Wish::default());
    }
    assert_eq!(game.phase, Phase::Title);
    game.step(Wish {
        serve: true,
        ..Wish::default()
    });
    assert_eq!(game, Breakout::new(7));
}

#[test]
fn a_player_who_never_misses_wins() {
    let mut game = Breakout::new(5);
    let mut levels = vec![0];
    for frame in 0..400_000 {
        game.step(game.never_miss(frame));
        if levels.last() != Some(&game.level) {
            levels.push(game.level);
        }
        if game.has_ended() {
            break;
        }
    }
    assert_eq!(game.phase, Phase::Won, "{} levels", game.level);
    assert_eq!(levels, (0..=LEVELS).collect::<Vec<_>>());
    game.step(Wish::default());
    let won = game.clone();
    game.step(game.never_miss(0));
    assert_eq!(game, won, "nothing moves any more");
}

#[test]
fn caught_capsules_have_effects() {
    let mut game = served();
    let below = Vec2::new(game.paddle, PADDLE_Y + 10.0);
    for effect in [Effect::Wide, Effect::Slow, Effect::Life] {
        game.capsules.push(Capsule { effect, at: below });
    }
    let missed = Vec2::new(game.paddle + 150.0, PADDLE_Y + 10.0);
    game.capsules.push(Capsule {
        effect: Effect::Life,
        at: missed,
    });
    let (lives, score) = (game.lives, game.score);
    game.ball = Vec2::ZERO;
    game.velocity = Vec2::new(0.0, 60.0);
    game.step(Wish::default());
    assert!(game.effects.paddle_width() > PADDLE.x);
    assert_eq!((game.lives, game.score), (lives + 1, score + 75));
    assert!((game.ball.y - 0.7).abs() < 1e-3, "slow: {}", game.ball.y);
    assert_eq!(game.capsules.len(), 1, "the missed one falls on");
    game.velocity = Vec2::ZERO;
    for _ in 0..60 {
        game.step(Wish::default());
    }
    assert_eq!(game.capsules.len(), 0, "and leaves the field");
}

#[test]
fn levels_have_bricks_and_get_faster() {
    for level in 0..LEVELS {
        let wall = levels::wall(level);
        assert_eq!(wall.len(), BRICKS[0] * BRICKS[1], "level {level}");
        assert!(wall.iter().filter(|&&hits| hits > 0).count() >= 24);
        assert!(wall.iter().all(|&hits| hits <= 3));
    }
    let speed = |level| {
        let mut game = Breakout::new(1);
        game.level = level;
        game.step(Wish {
            serve: true,
            ..Wish::default()
        });
        game.velocity.length()
    };
    assert!(speed(4) > speed(0) + 50.0);
}
