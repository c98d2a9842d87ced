use quadrille::rows::ShaderRow as _;

use super::*;

#[test]
fn enemies_are_laid_out_as_shaders_read_them() {
    constants().publish().unwrap();
    for source in [
        include_str!("../../../shaders/swarm/count.wgsl"),
        include_str!("../../../shaders/swarm/draw.wgsl"),
        include_str!("../../../shaders/swarm/move.wgsl"),
    ] {
        Enemy::LAYOUT.check(source).unwrap();
    }
}

#[test]
fn enemies_are_the_same_for_the_same_seed_and_keep_their_distance() {
    let enemies = Survival::enemies(1000, 5);
    assert_eq!(enemies, Survival::enemies(1000, 5));
    assert_ne!(enemies, Survival::enemies(1000, 6));
    let nearest = |enemy: &Enemy| Vec2::from(enemy.position).length();
    assert!(enemies.iter().all(|enemy| nearest(enemy) > 249.0));
}

#[test]
fn the_player_stays_in_the_field_and_shots_do_not_pile_up() {
    let mut game = Survival::default();
    for _ in 0..2000 {
        game.step(Wish {
            direction: Vec2::new(3.0, -1.0),
            aim: Some(Vec2::new(0.0, 300.0)),
            ..Wish::default()
        });
        assert!(game.shots.len() <= MOST_SHOTS);
    }
    assert_eq!(game.player, Vec2::new(624.0, -344.0));
}

fn start() -> Wish {
    Wish {
        start: true,
        ..Wish::default()
    }
}

#[test]
fn three_ships_are_lost_to_enemies_that_get_through_and_the_game_restarts() {
    let mut game = Survival::default();
    let reached = |reached| Counters { shot: 20, reached };
    game.counted(reached(990));
    assert_eq!((game.score(), game.health(), game.lives), (20, 1, 3));
    game.counted(reached(1000));
    assert_eq!((game.health(), game.lives), (HEALTH, 2));
    game.counted(reached(1900));
    assert_eq!(game.health(), HEALTH, "the next ship is safe at first");
    for _ in 0..SAFE {
        game.step(Wish::default());
    }
    game.counted(reached(2900));
    assert_eq!(game.lives, 1);
    game.frame += SAFE;
    game.counted(reached(3900));
    assert_eq!(game.phase, Phase::Over);
    game.counted(reached(9999));
    assert_eq!(game.score(), 20, "counts after the end are ignored");
    game.step(start());
    assert_eq!(game, Survival::default());
}

#[test]
fn waves_lead_to_the_boss_and_its_end_wins() {
    let mut game = Survival::new(8000);
    let mut shot = 0;
    for wave in 1..WAVES {
        assert_eq!((game.wave, game.boss), (wave, None));
        shot += game.goal();
        game.counted(Counters { shot, reached: 0 });
    }
    let boss = game.boss.expect("the last wave has a boss");
    assert!(boss.at.x.abs() > 640.0, "it comes from outside");
    for _ in 0..3000 {
        let aim = game.boss.map(|boss| boss.at);
        let direction = game.player - aim.unwrap_or_default();
        game.step(Wish {
            direction: direction.normalize_or_zero(),
            aim,
            ..Wish::default()
        });
        if game.phase != Phase::Play {
            break;
        }
    }
    assert_eq!(game.phase, Phase::Won);
    assert!(game.score() > shot + 5000);
    game.step(start());
    assert_eq!(game, Survival::new(8000));
}

#[test]
fn title_waits_for_the_player() {
    let mut game = Survival {
        phase: Phase::Title,
        ..Survival::default()
    };
    game.counted(Counters {
        shot: 0,
        reached: 50_000,
    });
    game.step(Wish::default());
    assert_eq!((game.phase, game.health()), (Phase::Title, HEALTH));
    assert!(game.to_step(10).seconds > 0.0, "the swarm moves");
    game.step(start());
    assert_eq!(game, Survival::default());
}

#[test]
fn nothing_moves_in_a_pause() {
    let mut game = Survival::default();
    let pause = Wish {
        pause: true,
        ..Wish::default()
    };
    game.step(pause);
    let paused = game.clone();
    game.step(Wish {
        direction: Vec2::X,
        ..Wish::default()
    });
    assert_eq!(game, paused);
    assert_eq!(game.to_step(10).seconds, 0.0);
}
