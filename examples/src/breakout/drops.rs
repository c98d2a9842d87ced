//! Capsules that fall from bricks of `breakout`, and their effects.

use bevy_math::Vec2;

use super::{Breakout, FIELD, PADDLE, PADDLE_Y, STEP};

/// The size of a capsule.
pub const CAPSULE: Vec2 = Vec2::new(22.0, 9.0);
/// Units per second.
const FALL: f32 = 70.0;
/// One of this many destroyed bricks drops a capsule.
const ONE_OF: u64 = 6;
/// Steps that an effect lasts.
const EFFECT_STEPS: u32 = 12 * 60;
/// Width of the wide paddle, as a factor.
const WIDE: f32 = 1.6;
/// Speed of the slow ball, as a factor.
const SLOW: f32 = 0.7;
/// Points for a caught capsule.
const POINTS: u32 = 25;
/// Balls in reserve at most.
const MOST_LIVES: u32 = 6;

/// Effect of a capsule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A wide paddle.
    Wide,
    /// A slow ball.
    Slow,
    /// One more ball in reserve.
    Life,
}

/// A falling capsule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Effect when it is caught.
    pub effect: Effect,
    /// Its middle.
    pub at: Vec2,
}

/// Steps that effects last on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    wide: u32,
    slow: u32,
}

impl Effects {
    /// The width of the paddle.
    pub fn paddle_width(self) -> f32 {
        PADDLE.x * if self.wide > 0 { WIDE } else { 1.0 }
    }

    /// Factor of the ball's speed.
    pub(super) fn pace(self) -> f32 {
        if self.slow > 0 { SLOW } else { 1.0 }
    }
}

impl Breakout {
    /// Drops a capsule from a destroyed brick, or not.
    pub(super) fn drop_capsule(&mut self, at: Vec2) {
        let bits = self.random.bits();
        if !bits.is_multiple_of(ONE_OF) {
            return;
        }
        let effect = match (bits >> 32) % 5 {
            0 => Effect::Life,
            1 | 2 => Effect::Slow,
            _ => Effect::Wide,
        };
        self.capsules.push(Capsule { effect, at });
    }

    /// Moves capsules by a step; the paddle catches those that it touches.
    pub(super) fn move_capsules(&mut self) {
        self.effects.wide = self.effects.wide.saturating_sub(1);
        self.effects.slow = self.effects.slow.saturating_sub(1);
        let size = Vec2::new(self.effects.paddle_width(), PADDLE.y);
        let middle = Vec2::new(self.paddle, PADDLE_Y);
        let mut caught = Vec::new();
        self.capsules.retain_mut(|capsule| {
            capsule.at.y -= FALL * STEP;
            let off = (capsule.at - middle).abs();
            if off.cmple((size + CAPSULE) / 2.0).all() {
                caught.push(capsule.effect);
                return false;
            }
            capsule.at.y > -FIELD.y / 2.0 - CAPSULE.y
        });
        for effect in caught {
            self.catch(effect);
        }
    }

    fn catch(&mut self, effect: Effect) {
        self.score += POINTS;
        self.caught = Some(effect);
        match effect {
            Effect::Wide => self.effects.wide = EFFECT_STEPS,
            Effect::Slow => self.effects.slow = EFFECT_STEPS,
            Effect::Life => self.lives = (self.lives + 1).min(MOST_LIVES),
        }
    }
}
