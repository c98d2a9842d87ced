use bevy_reflect::{FromReflect, PartialReflect as _};

use super::*;

fn player() -> VideoPlayer {
    VideoPlayer::new(Handle::default(), &mut Assets::default())
}

#[test]
fn clock_follows_time_speed_and_pause() {
    let mut player = player();
    assert!(!player.tick(0.5, 2.0));
    assert_eq!(player.position(), 0.5);
    player.speed = 0.5;
    player.tick(1.0, 2.0);
    assert_eq!(player.position(), 1.0);
    player.is_playing = false;
    player.tick(1.0, 2.0);
    for speed in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        player.is_playing = true;
        player.speed = speed;
        player.tick(1.0, 2.0);
    }
    assert_eq!(player.position(), 1.0);
}

#[test]
fn end_stops_or_loops() {
    let mut player = player();
    assert!(!player.tick(3.0, 2.0));
    assert!(player.is_finished());
    assert_eq!(player.position(), 2.0);
    player.is_looping = true;
    assert!(player.tick(0.5, 2.0));
    assert_eq!(player.position(), 0.5);
    // A video without length ends at once.
    player.tick(1.0, 0.0);
    assert!(player.is_finished());
}

#[test]
fn seek_is_limited_to_the_video() {
    let mut player = player();
    for (to, reached) in [(1.5, 1.5), (-1.0, 0.0), (f64::NAN, 0.0), (9.0, 2.0)] {
        player.seek(to);
        assert!(player.tick(0.1, 2.0));
        assert_eq!(player.position(), reached);
    }
}

#[test]
fn players_are_cloned_by_reflection() {
    let mut player = player().looping();
    player.speed = 2.0;
    let clone = player.reflect_clone().expect("it is cloned");
    let clone = VideoPlayer::from_reflect(&*clone).expect("it is a player");
    assert!(clone.is_looping);
    assert_eq!((clone.speed, clone.image), (2.0, player.image));
}
