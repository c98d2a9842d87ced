//! The rules of `breakout`: a paddle, a ball, bricks. Plain data that moves in steps of a 60th of
//! a second, so that the same input leads to the same game.

mod drops;
mod levels;

use bevy_math::Vec2;

pub use drops::{CAPSULE, Capsule, Effect, Effects};
pub use levels::LEVELS;

use crate::random::Random;

/// The field in its own units, the origin in its middle, y up.
pub const FIELD: Vec2 = Vec2::new(480.0, 270.0);
/// The paddle's size.
pub const PADDLE: Vec2 = Vec2::new(64.0, 9.0);
/// The height of the paddle's middle.
pub const PADDLE_Y: f32 = -118.0;
/// The ball's radius.
pub const BALL: f32 = 5.0;
/// Bricks in a row, and rows.
pub const BRICKS: [usize; 2] = [12, 6];
/// The size of a brick.
pub const BRICK: Vec2 = Vec2::new(34.0, 13.0);
/// From one brick to the next.
const PITCH: Vec2 = Vec2::new(37.0, 16.0);
/// The middle of the first brick, at the top left.
const FIRST_BRICK: Vec2 = Vec2::new(-PITCH.x * 5.5, 100.0);
/// Upper end of the field, below the bar with the score.
const TOP: f32 = FIELD.y / 2.0 - 20.0;
/// Seconds in a step.
pub const STEP: f32 = 1.0 / 60.0;
/// Parts of a step: in none of them does the ball move further than its radius.
const PARTS: u32 = 4;
const PADDLE_SPEED: f32 = 340.0;
const FIRST_SPEED: f32 = 190.0;
const MOST_SPEED: f32 = 420.0;
/// Each hit makes the ball this much faster.
const FASTER: f32 = 1.015;
const LIVES: u32 = 3;
/// Points for a cleared level, times its number.
const LEVEL_POINTS: u32 = 250;

/// Input of the player in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// -1 is left, 1 is right.
    pub direction: f32,
    /// Target position of the paddle; overrides the direction.
    pub paddle_to: Option<f32>,
    /// Serve the ball.
    pub serve: bool,
    /// Pause, or go on.
    pub pause: bool,
    /// Begin again.
    pub restart: bool,
}

/// Phase of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing has begun.
    Title,
    /// The ball lies on the paddle.
    Serve,
    /// The ball flies.
    Play,
    /// Everything stands still; the phase that goes on is remembered.
    Paused(Paused),
    /// No ball is left.
    Over,
    /// All levels are cleared.
    Won,
}

/// Phase that a pause interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// [`Phase::Serve`].
    Serve,
    /// [`Phase::Play`].
    Play,
}

/// Visible event: a brick was hit at this position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The brick's index.
    pub brick: usize,
    /// Where the ball is.
    pub at: Vec2,
}

/// A game.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakout {
    /// Phase of the game.
    pub phase: Phase,
    /// The paddle's middle.
    pub paddle: f32,
    /// The ball's middle.
    pub ball: Vec2,
    /// Units per second.
    pub velocity: Vec2,
    /// Hits that each brick still stands, row by row from the top left.
    pub bricks: Vec<u8>,
    /// Points.
    pub score: u32,
    /// Balls left, with the one in play.
    pub lives: u32,
    /// Levels cleared.
    pub level: u32,
    /// Falling capsules.
    pub capsules: Vec<Capsule>,
    /// Effects of caught capsules.
    pub effects: Effects,
    /// Bricks hit in the last step.
    pub hits: Vec<Hit>,
    /// Capsule caught in the last step.
    pub caught: Option<Effect>,
    /// Whether a ball was lost in the last step.
    pub has_lost_ball: bool,
    speed: f32,
    seed: u64,
    random: Random,
}

impl Breakout {
    /// A new game; the seed decides how balls are served.
    pub fn new(seed: u64) -> Self {
        let mut game = Self {
            phase: Phase::Serve,
            paddle: 0.0,
            ball: Vec2::ZERO,
            velocity: Vec2::ZERO,
            bricks: levels::wall(0),
            score: 0,
            lives: LIVES,
            level: 0,
            capsules: Vec::new(),
            effects: Effects::default(),
            hits: Vec::new(),
            caught: None,
            has_lost_ball: false,
            speed: FIRST_SPEED,
            seed,
            random: Random::new(seed),
        };
        game.hold_ball();
        game
    }

    /// A new game that waits for its player.
    pub fn at_title(seed: u64) -> Self {
        Self {
            phase: Phase::Title,
            ..Self::new(seed)
        }
    }

    /// Whether the game has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Over | Phase::Won)
    }

    /// The middle of a brick.
    pub fn brick_at(index: usize) -> Vec2 {
        let (column, row) = (index % BRICKS[0], index / BRICKS[0]);
        FIRST_BRICK + PITCH * Vec2::new(column as f32, -(row as f32))
    }

    /// Points for the last hit of a brick of this row: those above are worth more.
    pub fn points(index: usize) -> u32 {
        (BRICKS[1] - index / BRICKS[0]) as u32 * 10
    }

    /// Returns the input of a player who never misses, and who hits the ball off the paddle's middle, each
    /// time elsewhere.
    pub fn never_miss(&self, frame: u64) -> Wish {
        let off = 26.0 * (frame as f32 * 0.013).sin();
        Wish {
            paddle_to: Some(self.ball.x + off),
            serve: true,
            ..Wish::default()
        }
    }

    /// Advances the game by one step.
    pub fn step(&mut self, wish: Wish) {
        self.hits.clear();
        (self.caught, self.has_lost_ball) = (None, false);
        if wish.restart {
            *self = Self::new(self.seed);
            return;
        }
        if wish.pause {
            self.phase = match self.phase {
                Phase::Serve => Phase::Paused(Paused::Serve),
                Phase::Play => Phase::Paused(Paused::Play),
                Phase::Paused(Paused::Serve) => Phase::Serve,
                Phase::Paused(Paused::Play) => Phase::Play,
                phase => phase,
            };
        }
        match self.phase {
            Phase::Paused(_) | Phase::Over | Phase::Won => {}
            Phase::Title => {
                if wish.serve {
                    self.phase = Phase::Serve;
                }
            }
            Phase::Serve => {
                self.move_paddle(wish);
                self.hold_ball();
                if wish.serve {
                    self.serve();
                }
            }
            Phase::Play => {
                self.move_paddle(wish);
                self.move_capsules();
                for _ in 0..PARTS {
                    self.move_ball(STEP / PARTS as f32);
                }
            }
        }
    }

    fn move_paddle(&mut self, wish: Wish) {
        let reach = PADDLE_SPEED * STEP;
        let by = match wish.paddle_to {
            Some(to) => (to - self.paddle).clamp(-4.0 * reach, 4.0 * reach),
            None => wish.direction.clamp(-1.0, 1.0) * reach,
        };
        let most = (FIELD.x - self.effects.paddle_width()) / 2.0;
        self.paddle = (self.paddle + by).clamp(-most, most);
    }

    fn hold_ball(&mut self) {
        self.ball = Vec2::new(self.paddle, PADDLE_Y + PADDLE.y / 2.0 + BALL);
    }

    fn serve(&mut self) {
        let angle = self.random.within(-0.6, 0.6);
        self.speed = FIRST_SPEED + 25.0 * self.level as f32;
        self.velocity = Vec2::new(angle.sin(), angle.cos()) * self.speed;
        self.phase = Phase::Play;
    }

    fn move_ball(&mut self, seconds: f32) {
        if self.phase != Phase::Play {
            return;
        }
        self.ball += self.velocity * seconds * self.effects.pace();
        self.meet_walls();
        self.meet_paddle();
        self.meet_brick();
        if self.ball.y < -FIELD.y / 2.0 - BALL {
            self.lose();
        }
    }

    fn meet_walls(&mut self) {
        let side = FIELD.x / 2.0 - BALL;
        if self.ball.x.abs() > side {
            self.ball.x = self.ball.x.clamp(-side, side);
            self.velocity.x = -self.velocity.x.abs() * self.ball.x.signum();
        }
        if self.ball.y > TOP - BALL {
            self.ball.y = TOP - BALL;
            self.velocity.y = -self.velocity.y.abs();
        }
    }

    /// The further from the middle the paddle is hit, the flatter the ball flies off.
    fn meet_paddle(&mut self) {
        let middle = Vec2::new(self.paddle, PADDLE_Y);
        let size = Vec2::new(self.effects.paddle_width(), PADDLE.y);
        if self.velocity.y >= 0.0 || touch(self.ball, middle, size).is_none() {
            return;
        }
        let off = ((self.ball.x - self.paddle) / (size.x / 2.0)).clamp(-1.0, 1.0);
        let angle = off * 1.05;
        self.faster();
        self.velocity = Vec2::new(angle.sin(), angle.cos()) * self.speed;
        self.ball.y = PADDLE_Y + PADDLE.y / 2.0 + BALL;
    }

    /// The ball bounces off the nearest brick that it touches.
    fn meet_brick(&mut self) {
        let standing = (0..self.bricks.len()).filter(|&index| self.bricks[index] > 0);
        let touched = standing.filter_map(|index| {
            let push = touch(self.ball, Self::brick_at(index), BRICK)?;
            Some((
                index,
                push,
                self.ball.distance_squared(Self::brick_at(index)),
            ))
        });
        let Some((index, push, _)) = touched.min_by(|a, b| a.2.total_cmp(&b.2)) else {
            return;
        };
        self.ball += push;
        // Only the part of the velocity that goes into the brick turns round.
        if push.x != 0.0 && push.x.signum() != self.velocity.x.signum() {
            self.velocity.x = -self.velocity.x;
        }
        if push.y != 0.0 && push.y.signum() != self.velocity.y.signum() {
            self.velocity.y = -self.velocity.y;
        }
        self.faster();
        self.velocity = self.velocity.normalize_or(Vec2::NEG_Y) * self.speed;
        self.bricks[index] -= 1;
        self.hits.push(Hit {
            brick: index,
            at: self.ball,
        });
        if self.bricks[index] == 0 {
            self.score += Self::points(index);
            self.drop_capsule(Self::brick_at(index));
            if self.bricks.iter().all(|&hits| hits == 0) {
                self.clear_level();
            }
        }
    }

    fn clear_level(&mut self) {
        self.level += 1;
        self.score += LEVEL_POINTS * self.level;
        self.capsules.clear();
        self.effects = Effects::default();
        self.hold_ball();
        if self.level == LEVELS {
            self.phase = Phase::Won;
        } else {
            self.bricks = levels::wall(self.level);
            self.phase = Phase::Serve;
        }
    }

    fn faster(&mut self) {
        self.speed = (self.speed * FASTER).min(MOST_SPEED);
    }

    fn lose(&mut self) {
        self.lives -= 1;
        self.has_lost_ball = true;
        self.capsules.clear();
        self.effects = Effects::default();
        self.phase = if self.lives == 0 {
            Phase::Over
        } else {
            Phase::Serve
        };
        self.hold_ball();
    }
}

/// How a ball that touches a box is pushed out of it: along the axis of the nearer side.
fn touch(ball: Vec2, middle: Vec2, size: Vec2) -> Option<Vec2> {
    let off = ball - middle;
    let nearest = off.clamp(-size / 2.0, size / 2.0);
    if (off - nearest).length_squared() > BALL * BALL {
        return None;
    }
    let depth = size / 2.0 + Vec2::splat(BALL) - off.abs();
    Some(if depth.x < depth.y {
        Vec2::new(depth.x * off.x.signum(), 0.0)
    } else {
        Vec2::new(0.0, depth.y * off.y.signum())
    })
}

#[cfg(test)]
#[path = "breakout_tests.rs"]
mod tests;
