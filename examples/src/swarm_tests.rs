use quadrille::rows::ShaderRow as _;

use super::*;

#[test]
fn enemies_are_laid_out_as_shaders_read_them() {
    constants().publish().unwrap();
    for source in [
        include_str!("../../shaders/swarm/count.wgsl"),
        include_str!("../../shaders/swarm/draw.wgsl"),
        include_str!("../../shaders/swarm/move.wgsl"),
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

#[test]
fn player_dies_of_enemies_that_get_through_and_can_restart() {
    let mut game = Survival::default();
    game.counted(Counters {
        shot: 20,
        reached: 990,
    });
    assert_eq!(
        (game.score(), game.health(), game.phase),
        (20, 1, Phase::Play)
    );
    game.counted(Counters {
        shot: 23,
        reached: 1000,
    });
    assert_eq!((game.score(), game.phase), (23, Phase::Over));
    game.counted(Counters {
        shot: 99,
        reached: 9999,
    });
    assert_eq!(game.score(), 23, "what comes after the end does not count");
    game.step(Wish {
        restart: true,
        ..Wish::default()
    });
    assert_eq!(
        (game.score(), game.health(), game.phase),
        (0, 100, Phase::Play)
    );
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
