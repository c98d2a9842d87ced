//! State of a game, and its fixed step: the same seed and the same input lead to the same game.

use bevy_ecs::prelude::*;
use bevy_math::Vec3;

use crate::city::City;
use crate::delivery::{CRASH, Deliveries, Phase};
use crate::flight::{Chase, Controls, Flight, STEP, autopilot};
use crate::ride::Ride;
use crate::traffic::{self, Car};

/// Distance between the middles of courier and car at which they touch, in meters.
const NEAR: f32 = 3.0;

/// Decrease of the camera's shake in a second.
const SHAKE_RATE: f32 = 2.5;

/// Steps that the program shows the end of a game before the next one.
const REST: u32 = 180;

/// Input of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Input {
    /// Position of the controls.
    pub(crate) controls: Controls,
    /// Begin, or begin again after the end.
    pub(crate) start: bool,
    /// Pause, or go on.
    pub(crate) pause: bool,
    /// Begin again at once.
    pub(crate) restart: bool,
}

/// A game.
#[derive(Resource, Clone, Debug)]
pub(crate) struct Game {
    /// Layout of the city.
    pub(crate) city: City,
    /// Cars of the city.
    pub(crate) cars: Vec<Car>,
    /// State of the deliveries.
    pub(crate) rules: Deliveries,
    /// State of the courier.
    pub(crate) flight: Flight,
    /// Camera behind the courier.
    pub(crate) chase: Chase,
    /// Courier and camera one step earlier, for pictures between two steps.
    pub(crate) earlier: (Flight, Chase),
    /// Seconds of traffic.
    pub(crate) time: f32,
    /// Speed of an impact in the last step, in meters per second.
    pub(crate) impact: f32,
    /// Shake of the camera after a crash, from 1 down to 0.
    pub(crate) shake: f32,
    /// Whether the program flies. It begins again some seconds after the end of a game.
    pub(crate) is_autoplay: bool,
    /// Way of a measurement, which replaces flight and rules.
    pub(crate) ride: Option<Ride>,
    /// Games that the program has ended, and their points.
    pub(crate) ended: [u64; 2],
    /// Steps since the end of a game.
    rest: u32,
    /// Seed of city and parcels.
    pub(crate) seed: u64,
}

impl Game {
    /// Returns a game that has not begun.
    pub(crate) fn new(seed: u64, blocks: u32, is_autoplay: bool) -> Self {
        let city = City::new(seed, blocks);
        let cars = traffic::cars(seed, blocks);
        let flight = Flight::at(Vec3::new(0.0, 15.0, 24.0), 0.0);
        let chase = Chase::behind(&flight);
        let mut game = Self {
            city,
            cars,
            rules: Deliveries::new(seed),
            flight,
            chase,
            earlier: (flight, chase),
            time: 0.0,
            impact: 0.0,
            shake: 0.0,
            is_autoplay,
            ride: None,
            ended: [0; 2],
            rest: 0,
            seed,
        };
        if is_autoplay {
            game.begin();
        }
        game
    }

    /// Begins a ride for measurements, in a level with rain.
    pub(crate) fn begin_ride(&mut self, seed: u64) {
        self.begin();
        self.rules.level = 1;
        self.rules.message.clear();
        self.ride = Some(Ride::new(seed, &self.city));
    }

    /// Advances traffic, camera and courier of a ride by one step.
    fn follow_ride(&mut self) {
        self.time += STEP;
        let Some(ride) = &self.ride else { return };
        let [eye, target, courier] = ride.pose(self.time);
        let way = target - eye;
        (self.chase.eye, self.chase.target) = (eye, target);
        self.flight = Flight::at(courier, (-way.x).atan2(-way.z));
        if self.time <= STEP {
            self.earlier = (self.flight, self.chase);
        }
    }

    /// Counts a game that the program has ended, and begins the next one.
    fn rest(&mut self) {
        self.rest += 1;
        if self.rest == 1 {
            self.ended[0] += 1;
            self.ended[1] += u64::from(self.rules.score);
        }
        if self.rest > REST {
            self.begin();
        }
    }

    /// Begins a game in the same city.
    fn begin(&mut self) {
        self.flight = Flight::at(Vec3::new(0.0, 15.0, 24.0), 0.0);
        self.chase = Chase::behind(&self.flight);
        self.earlier = (self.flight, self.chase);
        self.rules = Deliveries::new(self.seed);
        self.rules.begin(self.flight.position, &self.city.sites);
        (self.rest, self.shake) = (0, 0.0);
    }

    /// Advances by one step.
    pub(crate) fn step(&mut self, input: Input) {
        self.earlier = (self.flight, self.chase);
        if self.ride.is_some() {
            self.follow_ride();
            return;
        }
        let is_over = matches!(self.rules.phase, Phase::Title | Phase::Lost | Phase::Won);
        if input.restart || (input.start && is_over) {
            self.begin();
            return;
        }
        match (input.pause || input.start, self.rules.phase) {
            (true, Phase::Paused) => self.rules.phase = Phase::Play,
            (true, Phase::Play) if input.pause => self.rules.phase = Phase::Paused,
            _ => {}
        }
        if self.rules.phase == Phase::Paused {
            return;
        }
        self.time += STEP;
        if self.is_autoplay && matches!(self.rules.phase, Phase::Lost | Phase::Won) {
            self.rest();
        }
        if self.rules.phase == Phase::Title {
            self.show_city();
            return;
        }
        let controls = match (self.rules.phase, self.is_autoplay) {
            (Phase::Play, true) => autopilot(&self.flight, self.rules.target, &self.city),
            (Phase::Play, false) => input.controls,
            _ => Controls::default(),
        };
        self.impact = self.flight.step(controls, &self.city);
        self.impact = self.impact.max(self.hit_by_car());
        self.shake = match self.impact > CRASH {
            true => 1.0,
            false => (self.shake - SHAKE_RATE * STEP).max(0.0),
        };
        self.chase.step(&self.flight, &self.city);
        let sites = &self.city.sites;
        self.rules.step(self.flight.position, self.impact, sites);
    }

    /// Pushes the courier away from the cars. Returns the speed of an impact.
    fn hit_by_car(&mut self) -> f32 {
        let mut impact: f32 = 0.0;
        let side = self.city.side();
        for car in &self.cars {
            let (at, _) = car.pose(self.time, side);
            let away = self.flight.position - at;
            let distance = away.length();
            if !(1e-3..NEAR).contains(&distance) {
                continue;
            }
            let normal = away / distance;
            let towards = (car.velocity() - self.flight.velocity).dot(normal);
            impact = impact.max(towards);
            self.flight.position = at + normal * NEAR;
            self.flight.velocity += normal * towards.max(0.0) * 1.1;
        }
        impact
    }

    /// Moves the camera of the title around the middle of the city.
    fn show_city(&mut self) {
        let angle = 0.35 + self.time * 0.06;
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let reach = 0.2 * self.city.side();
        self.chase.eye = out * reach + Vec3::Y * 78.0;
        self.chase.target = Vec3::Y * 52.0 - out * 0.2 * reach;
    }
}

#[cfg(test)]
#[path = "game_tests.rs"]
mod tests;
