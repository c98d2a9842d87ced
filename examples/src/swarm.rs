//! CPU part of the rules of `swarm`: player, shots, waves, the boss, health. Enemies
//! are simulated on the device, which returns the numbers of those shot and those that reached the player.

mod boss;

use bevy_math::Vec2;
use bytemuck::{Pod, Zeroable};
use quadrille::prelude::ShaderType;
use quadrille::rows::ShaderRow;

use crate::random::Random;

pub use boss::Boss;

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
/// Hits that a ship withstands.
pub const HEALTH: u32 = 100;
const LIVES: u32 = 3;
/// Steps after a lost ship in which nothing harms the next one.
const SAFE: u64 = 120;
/// Waves; the last one is the boss.
pub const WAVES: u32 = 4;
/// Steps for which the name of a wave is shown.
const ANNOUNCED: u64 = 120;

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
    /// Leave the title or an end screen.
    pub start: bool,
}

/// Phase of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The title screen: the swarm moves, the player does not.
    Title,
    /// Running.
    Play,
    /// Paused.
    Paused,
    /// The last ship is lost.
    Over,
    /// The boss is shot.
    Won,
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
    /// Wave, counted from 1.
    pub wave: u32,
    /// Ships left, with the one in play.
    pub lives: u32,
    /// The boss, in the last wave.
    pub boss: Option<Boss>,
    enemies: u32,
    counted: Counters,
    /// Counts when the wave began.
    wave_began: Counters,
    wave_frame: u64,
    /// Enemies that reached the ships lost before.
    reached_before: u32,
    /// Damage by the boss to this ship.
    rammed: u32,
    safe_until: u64,
    bonus: u32,
}

impl Default for Survival {
    /// Returns a new game against 50,000 enemies.
    fn default() -> Self {
        Self::new(50_000)
    }
}

impl Survival {
    /// Whether the game has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Over | Phase::Won)
    }

    /// Returns a new game; waves are longer the more enemies there are.
    pub fn new(enemies: u32) -> Self {
        Self {
            phase: Phase::Play,
            player: Vec2::ZERO,
            heading: 0.0,
            shots: Vec::new(),
            frame: 0,
            wave: 1,
            lives: LIVES,
            boss: None,
            enemies,
            counted: Counters::default(),
            wave_began: Counters::default(),
            wave_frame: 0,
            reached_before: 0,
            rammed: 0,
            safe_until: 0,
            bonus: 0,
        }
    }

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

    /// Returns the points: enemies shot, and bonuses for waves and the boss.
    pub fn score(&self) -> u32 {
        self.counted.shot + self.bonus
    }

    /// Returns the hits that the ship can still take.
    pub fn health(&self) -> u32 {
        // The swarm is large: ten that get through cost one.
        let reached = self.counted.reached - self.reached_before;
        HEALTH.saturating_sub(reached / 10 + self.rammed)
    }

    /// Returns the enemies to shoot in this wave; the last one has a boss instead.
    pub fn goal(&self) -> u32 {
        (self.enemies / 8).max(100) * self.wave
    }

    /// Returns how much of the wave is done, from 0 to 1.
    pub fn progress(&self) -> f32 {
        let shot = self.counted.shot - self.wave_began.shot;
        match &self.boss {
            Some(boss) => 1.0 - boss.fraction(),
            None => (shot as f32 / self.goal() as f32).min(1.0),
        }
    }

    /// Returns whether the wave has just begun.
    pub fn is_announced(&self) -> bool {
        self.frame - self.wave_frame < ANNOUNCED
    }

    /// Returns whether nothing harms the ship for now.
    pub fn is_safe(&self) -> bool {
        self.frame < self.safe_until
    }

    /// Updates the counts from the device.
    pub fn counted(&mut self, counters: Counters) {
        if !matches!(self.phase, Phase::Play | Phase::Paused) {
            return;
        }
        let came = counters.reached.saturating_sub(self.counted.reached);
        self.counted = counters;
        if self.is_safe() {
            self.reached_before += came;
        }
        self.check_ship();
        if self.phase != Phase::Over && self.boss.is_none() && self.progress() >= 1.0 {
            self.begin_wave();
        }
    }

    fn check_ship(&mut self) {
        if self.health() > 0 {
            return;
        }
        self.lives -= 1;
        if self.lives == 0 {
            self.phase = Phase::Over;
            return;
        }
        self.reached_before = self.counted.reached;
        self.rammed = 0;
        self.safe_until = self.frame + SAFE;
    }

    fn begin_wave(&mut self) {
        self.bonus += 500 * self.wave;
        self.wave += 1;
        self.wave_began = self.counted;
        self.wave_frame = self.frame;
        if self.wave == WAVES {
            self.boss = Some(Boss::new(self.player));
        }
    }

    /// Advances the game by one step.
    pub fn step(&mut self, wish: Wish) {
        let waits = matches!(self.phase, Phase::Title | Phase::Over | Phase::Won);
        if wish.restart || (waits && wish.start) {
            *self = Self::new(self.enemies);
            return;
        }
        match (wish.pause, self.phase) {
            (true, Phase::Play) => self.phase = Phase::Paused,
            (true, Phase::Paused) => self.phase = Phase::Play,
            (_, Phase::Title) => self.frame += 1,
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
        self.fight_boss();
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
        let in_wave = (self.frame - self.wave_frame) as f32 * STEP;
        let moves = matches!(self.phase, Phase::Play | Phase::Title);
        Step {
            player: self.player,
            enemies,
            shots: self.shots.len() as u32,
            // The swarm gets faster with each wave and during it.
            speed: 45.0 + 15.0 * self.wave as f32 + in_wave.min(30.0),
            seconds: if moves { STEP } else { 0.0 },
            frame: self.frame as u32,
        }
    }
}

#[cfg(test)]
mod tests;
