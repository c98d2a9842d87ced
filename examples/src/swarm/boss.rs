//! Boss of `swarm`: it hunts the player on the CPU, where shots hit it.

use bevy_math::Vec2;

use super::{Phase, STEP, Survival};

/// Radius of the boss.
const RADIUS: f32 = 46.0;
/// Hits that the boss withstands.
const HITS: u32 = 240;
/// Units per second.
const SPEED: f32 = 95.0;
/// Damage to the ship by a step of contact.
const RAM: u32 = 2;
/// Points for the boss, and for each ship left.
const POINTS: [u32; 2] = [5000, 1000];

/// Large enemy that many shots have to hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boss {
    /// Center.
    pub at: Vec2,
    /// Hits that it still withstands.
    pub hits: u32,
    /// Shots that hit it in the last step.
    pub was_hit: u32,
}

impl Boss {
    /// Radius in which shots hit it.
    pub const RADIUS: f32 = RADIUS;

    /// Returns a boss that comes from the side of the field opposite to the player.
    pub(super) fn new(player: Vec2) -> Self {
        let side = if player.x > 0.0 { -1.0 } else { 1.0 };
        Self {
            at: Vec2::new(side * 720.0, 0.0),
            hits: HITS,
            was_hit: 0,
        }
    }

    /// Returns the part of its hits that is left.
    pub fn fraction(&self) -> f32 {
        self.hits as f32 / HITS as f32
    }
}

impl Survival {
    pub(super) fn fight_boss(&mut self) {
        let Some(mut boss) = self.boss else { return };
        let ahead = (self.player - boss.at).normalize_or_zero();
        let weave = ahead.perp() * (self.frame as f32 * 0.04).sin();
        // Nearly shot, the boss hurries.
        let speed = SPEED * (1.6 - 0.6 * boss.fraction());
        boss.at += (ahead + weave) * speed * STEP;
        let before = self.shots.len();
        self.shots
            .retain(|shot| shot.position.distance_squared(boss.at) > RADIUS * RADIUS);
        boss.was_hit = (before - self.shots.len()) as u32;
        boss.hits = boss.hits.saturating_sub(boss.was_hit);
        self.boss = Some(boss);
        if boss.hits == 0 {
            self.bonus += POINTS[0] + POINTS[1] * self.lives;
            self.phase = Phase::Won;
        } else if !self.is_safe() && self.player.distance(boss.at) < RADIUS + 10.0 {
            self.rammed += RAM;
            self.check_ship();
        }
    }
}
