//! CPU part of the rules of `swarm`: player, shots, health. Enemies
//! are simulated on the device, which returns the numbers of those shot and those that reached the player.

use bevy_math::Vec2;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::ShaderType;
use quadrille::rows::ShaderRow;

use crate::random::Random;

/// The field in its own units, which are pixels of the scene; the origin in its middle, y up.
pub const FIELD: [u32; 2] = [1280, 720];
/// Seconds in a step.
pub const STEP: f32 = 1.0 / 60.0;
/// Maximum number of shots in the air.
pub const MOST_SHOTS: usize = 64;
/// Cells of the grid in which enemies are counted.
pub const CELLS: u32 = (GRID * GRID).cast_unsigned();

quadrille::vulkan::shader_constants! {
    /// The constants that shaders import.
    pub fn constants() -> "swarm::constants";

    /// Cells along a side of the grid in which enemies are counted.
    const GRID: i32 = 128;
    /// Side of a cell.
    const CELL: f32 = 16.0;
}

const PLAYER_SPEED: f32 = 260.0;
const SHOT_SPEED: f32 = 620.0;
/// Steps from one volley to the next.
const VOLLEY: u64 = 5;
const HEALTH: u32 = 100;

/// An enemy in the shaders' memory layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("swarm/move.wgsl", "Enemy")]
pub struct Enemy {
    /// In the field.
    pub position: [f32; 2],
    /// Units per second.
    pub velocity: [f32; 2],
}

/// The push constants of the shaders that count and move.
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct Step {
    /// Where the player is.
    pub player: Vec2,
    /// How many enemies there are.
    pub enemies: u32,
    /// How many shots there are.
    pub shots: u32,
    /// Units per second of an enemy.
    pub speed: f32,
    /// Seconds of the step; 0 while nothing moves.
    pub seconds: f32,
    /// Steps since the game began.
    pub frame: u32,
}

/// Counts of the device since the game began.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Counters {
    /// Enemies shot.
    pub shot: u32,
    /// Enemies that reached the player.
    pub reached: u32,
}

/// A shot in the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// In the field.
    pub position: Vec2,
    /// Units per second.
    pub velocity: Vec2,
}

/// Input of the player in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Direction of movement; at most 1 long.
    pub direction: Vec2,
    /// Position to shoot at; without one the shots go round.
    pub aim: Option<Vec2>,
    /// Pause, or go on.
    pub pause: bool,
    /// Begin again.
    pub restart: bool,
}

/// Phase of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Running.
    Play,
    /// Paused.
    Paused,
    /// The player is dead.
    Over,
}

/// A game.
#[derive(Clone, Debug, PartialEq)]
pub struct Survival {
    /// Phase of the game.
    pub phase: Phase,
    /// Where the player is.
    pub player: Vec2,
    /// Where the player looks, in radians.
    pub heading: f32,
    /// The shots in the air.
    pub shots: Vec<Shot>,
    /// Steps since it began.
    pub frame: u64,
    counted: Counters,
}

impl Default for Survival {
    /// A new game.
    fn default() -> Self {
        Self {
            phase: Phase::Play,
            player: Vec2::ZERO,
            heading: 0.0,
            shots: Vec::new(),
            frame: 0,
            counted: Counters::default(),
        }
    }
}

impl Survival {
    /// The enemies at the beginning: a ring around the player, the same for the same seed.
    pub fn enemies(count: u32, seed: u64) -> Vec<Enemy> {
        let mut random = Random::new(seed);
        let enemy = |_| {
            let angle = random.within(0.0, std::f32::consts::TAU);
            // Evenly over the ring's area.
            let distance = random.within(250.0 * 250.0, 1000.0 * 1000.0).sqrt();
            Enemy {
                position: (Vec2::from_angle(angle) * distance).to_array(),
                velocity: [0.0; 2],
            }
        };
        (0..count).map(enemy).collect()
    }

    /// Enemies shot.
    pub fn score(&self) -> u32 {
        self.counted.shot
    }

    /// Hits that the player can still take.
    pub fn health(&self) -> u32 {
        // The swarm is large: ten that get through cost one.
        HEALTH.saturating_sub(self.counted.reached / 10)
    }

    /// Updates the counts from the device.
    pub fn counted(&mut self, counters: Counters) {
        if self.phase == Phase::Over {
            return;
        }
        self.counted = counters;
        if self.health() == 0 {
            self.phase = Phase::Over;
        }
    }

    /// Advances the game by one step.
    pub fn step(&mut self, wish: Wish) {
        if wish.restart {
            *self = Self::default();
            return;
        }
        match (wish.pause, self.phase) {
            (true, Phase::Play) => self.phase = Phase::Paused,
            (true, Phase::Paused) => self.phase = Phase::Play,
            _ => {}
        }
        if self.phase != Phase::Play {
            return;
        }
        self.frame += 1;
        let half = Vec2::new(FIELD[0] as f32, FIELD[1] as f32) / 2.0 - Vec2::splat(16.0);
        let way = wish.direction.clamp_length_max(1.0) * PLAYER_SPEED * STEP;
        self.player = (self.player + way).clamp(-half, half);
        let aim = wish.aim.map(|aim| aim - self.player);
        self.heading = match aim.filter(|aim| aim.length_squared() > 1.0) {
            Some(aim) => aim.to_angle(),
            None => self.frame as f32 * 0.05,
        };
        for shot in &mut self.shots {
            shot.position += shot.velocity * STEP;
        }
        let edge = half + Vec2::splat(80.0);
        self.shots
            .retain(|shot| shot.position.abs().cmple(edge).all());
        if self.frame.is_multiple_of(VOLLEY) {
            self.fire();
        }
    }

    /// Three shots in a fan.
    fn fire(&mut self) {
        for off in [-0.16, 0.0, 0.16] {
            if self.shots.len() < MOST_SHOTS {
                let direction = Vec2::from_angle(self.heading + off);
                self.shots.push(Shot {
                    position: self.player + direction * 16.0,
                    velocity: direction * SHOT_SPEED,
                });
            }
        }
    }

    /// Returns the constants of the shaders for this step.
    pub fn to_step(&self, enemies: u32) -> Step {
        Step {
            player: self.player,
            enemies,
            shots: self.shots.len() as u32,
            // The swarm gets faster.
            speed: 60.0 + (self.frame as f32 / 60.0).min(60.0),
            seconds: if self.phase == Phase::Play { STEP } else { 0.0 },
            frame: self.frame as u32,
        }
    }
}

#[cfg(test)]
#[path = "swarm_tests.rs"]
mod tests;
