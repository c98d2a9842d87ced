//! Flight of the courier: forces, collision, chase camera. Plain functions of the state and the input.

use bevy_math::{Quat, Vec3};

use crate::city::City;

/// Seconds in a step.
pub(crate) const STEP: f32 = 1.0 / 60.0;
/// Radius of the courier for collisions, in meters.
pub(crate) const RADIUS: f32 = 1.6;
/// Highest altitude in meters.
pub(crate) const CEILING: f32 = 190.0;
/// Fastest flight in meters per second.
pub(crate) const TOP_SPEED: f32 = 44.0;

/// Position of the controls, each from -1 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Controls {
    /// Forward, or with a negative sign backward.
    pub(crate) throttle: f32,
    /// To the left, or with a negative sign to the right.
    pub(crate) turn: f32,
    /// Up, or with a negative sign down.
    pub(crate) lift: f32,
}

/// State of the courier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flight {
    /// In meters.
    pub(crate) position: Vec3,
    /// In meters per second.
    pub(crate) velocity: Vec3,
    /// Heading in radians, 0 along -z.
    pub(crate) yaw: f32,
    /// In radians per second.
    pub(crate) yaw_rate: f32,
    /// Nose up or down, in radians.
    pub(crate) pitch: f32,
}

impl Flight {
    /// Returns a courier at rest.
    pub(crate) fn at(position: Vec3, yaw: f32) -> Self {
        Self {
            position,
            yaw,
            ..Self::default()
        }
    }

    /// Returns the horizontal direction of flight.
    pub(crate) fn forward(&self) -> Vec3 {
        Vec3::new(-self.yaw.sin(), 0.0, -self.yaw.cos())
    }

    /// Returns the orientation of the hull: heading, nose and bank.
    pub(crate) fn rotation(&self) -> Quat {
        let bank = (self.yaw_rate * self.velocity.length() / TOP_SPEED * 0.45).clamp(-0.7, 0.7);
        Quat::from_rotation_y(self.yaw)
            * Quat::from_rotation_x(self.pitch)
            * Quat::from_rotation_z(bank)
    }

    /// Advances by one step. Returns the speed of an impact in meters per second, 0 without one.
    pub(crate) fn step(&mut self, controls: Controls, city: &City) -> f32 {
        let towards = |rate: f32| 1.0 - (-rate * STEP).exp();
        self.yaw_rate += (1.75 * controls.turn - self.yaw_rate) * towards(7.0);
        self.yaw += self.yaw_rate * STEP;
        let wanted_speed = match controls.throttle {
            throttle if throttle >= 0.0 => TOP_SPEED * throttle,
            throttle => 14.0 * throttle,
        };
        let wanted = self.forward() * wanted_speed;
        let horizontal = self.velocity.with_y(0.0);
        // Brakes are stronger than the engine; without throttle it glides.
        let rate = match controls.throttle {
            0.0 => 0.7,
            throttle if throttle < 0.0 => 2.6,
            _ => 1.3,
        };
        let horizontal = horizontal + (wanted - horizontal) * towards(rate);
        let climb = self.velocity.y + (19.0 * controls.lift - self.velocity.y) * towards(3.2);
        self.velocity = horizontal.with_y(climb);
        let nose = 0.28 * climb / 19.0 - 0.12 * horizontal.dot(self.forward()) / TOP_SPEED;
        self.pitch += (nose - self.pitch) * towards(5.0);
        self.position += self.velocity * STEP;
        self.keep_inside(city);
        self.collide(city)
    }

    /// Keeps the courier below the ceiling, and turns it back at the edge of the city.
    fn keep_inside(&mut self, city: &City) {
        let edge = city.side() / 2.0 + 20.0;
        let kept = self
            .position
            .clamp(Vec3::new(-edge, 0.0, -edge), Vec3::new(edge, CEILING, edge));
        for axis in 0..3 {
            if kept[axis] != self.position[axis] {
                self.velocity[axis] = 0.0;
            }
        }
        self.position = kept;
    }

    fn collide(&mut self, city: &City) -> f32 {
        let (position, normals) = city.push_out(self.position, RADIUS);
        self.position = position;
        let Some(normal) = normals.try_normalize() else {
            return 0.0;
        };
        let impact = -self.velocity.dot(normal);
        if impact <= 0.0 {
            return 0.0;
        }
        // A part of the speed bounces back, and the wall takes some of the rest.
        self.velocity += normal * impact * 1.35;
        if impact > 2.0 {
            self.velocity *= 0.8;
        }
        impact
    }
}

/// Camera behind the courier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chase {
    /// Position in meters.
    pub(crate) eye: Vec3,
    /// Point that it looks at.
    pub(crate) target: Vec3,
    yaw: f32,
}

impl Chase {
    /// Returns a camera at rest behind the courier.
    pub(crate) fn behind(flight: &Flight) -> Self {
        let mut chase = Self {
            eye: Vec3::ZERO,
            target: Vec3::ZERO,
            yaw: flight.yaw,
        };
        (chase.eye, chase.target) = chase.wanted(flight);
        chase
    }

    /// Follows for one step; walls bring the camera closer.
    pub(crate) fn step(&mut self, flight: &Flight, city: &City) {
        let towards = |rate: f32| 1.0 - (-rate * STEP).exp();
        self.yaw += (flight.yaw - self.yaw) * towards(4.5);
        let (eye, target) = self.wanted(flight);
        let center = flight.position + Vec3::Y * 1.2;
        let eye = center.lerp(eye, city.free_part(center, eye));
        self.eye = self.eye.lerp(eye, towards(16.0));
        self.eye.y = self.eye.y.max(1.0);
        self.target = self.target.lerp(target, towards(18.0));
    }

    fn wanted(&self, flight: &Flight) -> (Vec3, Vec3) {
        let back = Vec3::new(self.yaw.sin(), 0.0, self.yaw.cos());
        let speed = flight.velocity.length() / TOP_SPEED;
        let eye = flight.position + back * (10.5 + 2.5 * speed) + Vec3::Y * 4.2;
        (eye, flight.position - back * 8.0 + Vec3::Y * 1.6)
    }
}

/// Flies to a point: above the roofs, and down where it is near.
pub(crate) fn autopilot(flight: &Flight, to: Vec3, city: &City) -> Controls {
    let way = to - flight.position;
    let distance = way.with_y(0.0).length();
    let yaw = (-way.x).atan2(-way.z);
    let off = (yaw - flight.yaw + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU)
        - std::f32::consts::PI;
    let ahead = (0..5).map(|step| flight.position + flight.forward() * (step as f32 * 13.0));
    let near = city.roof_near(to, 10.0).max(to.y);
    let roofs = ahead
        .map(|at| city.roof_near(at, 8.0))
        .fold(0.0_f32, f32::max);
    let height = match distance {
        ..7.0 => to.y,
        ..30.0 => near.max(roofs) + 5.0,
        _ => (roofs + 7.0).max(16.0),
    };
    let climb = height - flight.position.y;
    // Slow where it has to climb or to turn first.
    let fast = (distance / 34.0).clamp(0.06, 1.0);
    let clear = (1.0 - climb.max(0.0) / 16.0).clamp(-0.6, 1.0);
    let straight = (1.0 - 1.3 * off.abs()).max(0.0);
    Controls {
        throttle: (fast * straight).min(clear),
        turn: (2.5 * off).clamp(-1.0, 1.0),
        lift: (climb / 4.0).clamp(-1.0, 1.0),
    }
}

#[cfg(test)]
#[path = "flight_tests.rs"]
mod tests;
