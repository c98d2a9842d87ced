//! Rules of the deliveries: parcels, clock, score, combo, levels. Plain data without a world.

use bevy_math::Vec3;
use examples::random::Random;

use crate::flight::STEP;

/// Number of levels.
pub(crate) const LEVELS: usize = 5;
/// Parcels to deliver in each level.
const PARCELS: [u32; LEVELS] = [3, 3, 4, 4, 5];
/// Speed in meters per second that the clock allows for, by level.
const PACE: [f32; LEVELS] = [15.0, 19.0, 23.0, 27.0, 31.0];
/// Longest way of a parcel in meters, by level.
const REACH: [f32; LEVELS] = [260.0, 340.0, 440.0, 560.0, 700.0];
/// Most seconds on the clock.
const MOST_TIME: f32 = 70.0;
/// Distance at which a site is reached, in meters.
pub(crate) const REACHED: f32 = 11.0;
/// Impacts above this speed are crashes, which end the combo, in meters per second.
pub(crate) const CRASH: f32 = 9.0;
/// Seconds that a message is shown.
const MESSAGE_TIME: f32 = 2.2;

/// Phase of the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the game.
    #[default]
    Title,
    /// Running.
    Play,
    /// Paused.
    Paused,
    /// The time is out.
    Lost,
    /// The last level is done.
    Won,
}

/// State of the deliveries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deliveries {
    /// Phase of the game.
    pub(crate) phase: Phase,
    /// Level, from 0.
    pub(crate) level: usize,
    /// Parcels delivered in this level.
    pub(crate) delivered: u32,
    /// Seconds left.
    pub(crate) time: f32,
    /// Points.
    pub(crate) score: u32,
    /// Factor of the next parcel's points.
    pub(crate) combo: u32,
    /// Whether the parcel is on board.
    pub(crate) is_carrying: bool,
    /// Where to fly.
    pub(crate) target: Vec3,
    /// Message for the player, empty for none.
    pub(crate) message: String,
    /// Seconds that the message is still shown.
    message_time: f32,
    /// Seconds of this parcel in which it counts as quick.
    par: f32,
    random: Random,
}

impl Deliveries {
    /// Returns deliveries that have not begun.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            phase: Phase::Title,
            level: 0,
            delivered: 0,
            time: 0.0,
            score: 0,
            combo: 1,
            is_carrying: false,
            target: Vec3::ZERO,
            message: String::new(),
            message_time: 0.0,
            par: 0.0,
            random: Random::new(seed ^ 0xC0DE),
        }
    }

    /// Begins the first level.
    pub(crate) fn begin(&mut self, position: Vec3, sites: &[Vec3]) {
        self.phase = Phase::Play;
        self.time = 25.0;
        self.say("LEVEL 1");
        self.next_target(position, sites);
    }

    /// Parcels of this level.
    pub(crate) fn parcels(&self) -> u32 {
        PARCELS[self.level]
    }

    /// Advances by one step with the courier at a position; `impact` is the speed of a collision in meters per second.
    pub(crate) fn step(&mut self, position: Vec3, impact: f32, sites: &[Vec3]) {
        if self.phase != Phase::Play {
            return;
        }
        self.time -= STEP;
        self.par -= STEP;
        self.message_time -= STEP;
        if self.message_time <= 0.0 {
            self.message.clear();
        }
        if impact > CRASH {
            match self.combo {
                1 if self.message.is_empty() => self.say("CRASH"),
                // A delivery is the better news.
                1 => {}
                _ => self.say("CRASH  combo lost"),
            }
            self.combo = 1;
        }
        if self.time <= 0.0 {
            self.time = 0.0;
            self.phase = Phase::Lost;
            return;
        }
        if position.distance(self.target) < REACHED {
            self.reach(position, sites);
        }
    }

    /// Takes or delivers the parcel.
    fn reach(&mut self, position: Vec3, sites: &[Vec3]) {
        if !self.is_carrying {
            self.is_carrying = true;
            self.say("PARCEL ON BOARD");
            self.next_target(position, sites);
            return;
        }
        let quick = self.par.max(0.0);
        let points = (100 * (self.level as u32 + 1) + (10.0 * quick) as u32) * self.combo;
        self.score += points;
        self.delivered += 1;
        self.is_carrying = false;
        self.combo = if quick > 0.0 {
            (self.combo + 1).min(9)
        } else {
            1
        };
        self.say(&format!("DELIVERED  +{points}"));
        if self.delivered == self.parcels() {
            // Seconds left at the end of a level are points.
            self.score += 20 * self.time as u32;
            if self.level + 1 == LEVELS {
                self.phase = Phase::Won;
                self.message.clear();
                return;
            }
            self.delivered = 0;
            self.level += 1;
            self.time += 10.0;
            self.say(&format!("LEVEL {}", self.level + 1));
        }
        self.next_target(position, sites);
    }

    /// Chooses a site within reach, and adds the time for the way.
    fn next_target(&mut self, position: Vec3, sites: &[Vec3]) {
        let reach = REACH[self.level];
        let is_near = |site: &&Vec3| {
            let distance = site.distance(position);
            distance > 0.3 * reach && distance < reach
        };
        let near: Vec<Vec3> = sites.iter().filter(is_near).copied().collect();
        let choice = self.random.bits() as usize;
        self.target = match near.as_slice() {
            [] => Vec3::new(0.0, 3.0, if position.z > 0.0 { -60.0 } else { 60.0 }),
            near => near[choice % near.len()],
        };
        let allowed = 5.0 + self.target.distance(position) / PACE[self.level];
        self.par = 0.8 * allowed;
        self.time = (self.time + allowed).min(MOST_TIME);
    }

    fn say(&mut self, message: &str) {
        message.clone_into(&mut self.message);
        self.message_time = MESSAGE_TIME;
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
