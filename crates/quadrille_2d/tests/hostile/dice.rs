//! Random values for components: hostile ones (not a number, infinite, negative, huge) and valid ones.

use bevy_color::{LinearRgba, Srgba};
use bevy_math::{Quat, Rect, UVec2, Vec2, Vec3};
use quadrille_2d::prelude::*;

pub(crate) struct Dice(pub(crate) fastrand::Rng);

impl Dice {
    /// A random one of these values.
    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.0.usize(..all.len())].clone()
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.0.bool()
    }

    /// Any number, but usually a drawable one, so that most values reach the later stages.
    pub(crate) fn float(&mut self) -> f32 {
        let odd = [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            f32::from_bits(1),
            0.0,
            -0.0,
            -1.0,
            -37.5,
            1e10,
            4e9,
            1e30,
            -1e30,
        ];
        match self.0.u8(..3) {
            0 => self.pick(&odd),
            _ => self.0.f32() * 40.0,
        }
    }

    pub(crate) fn number(&mut self) -> u32 {
        match self.0.u8(..3) {
            0 => self.pick(&[0, 1, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 16]),
            _ => self.0.u32(..20),
        }
    }

    pub(crate) fn vec2(&mut self) -> Vec2 {
        Vec2::new(self.float(), self.float())
    }

    pub(crate) fn uvec2(&mut self) -> UVec2 {
        UVec2::new(self.number(), self.number())
    }

    pub(crate) fn rect(&mut self) -> Rect {
        Rect {
            min: self.vec2(),
            max: self.vec2(),
        }
    }

    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flip().then(|| make(self))
    }

    pub(crate) fn color(&mut self) -> Color {
        let [red, green, blue, alpha] = [(); 4].map(|()| match self.0.u8(..4) {
            0 => self.float(),
            _ => self.0.f32(),
        });
        if self.flip() {
            Color::Srgba(Srgba::new(red, green, blue, alpha))
        } else {
            Color::LinearRgba(LinearRgba::new(red, green, blue, alpha))
        }
    }

    pub(crate) fn transform(&mut self) -> Transform {
        if self.flip() {
            return Transform::from_xyz(
                self.0.f32() * 60.0 - 30.0,
                self.0.f32() * 60.0 - 30.0,
                0.0,
            );
        }
        Transform {
            translation: Vec3::new(self.float(), self.float(), self.float()),
            rotation: if self.flip() {
                Quat::from_rotation_z(self.float())
            } else {
                Quat::from_xyzw(self.float(), self.float(), self.float(), self.float())
            },
            scale: Vec3::new(self.float(), self.float(), self.float()),
        }
    }

    /// Random letters, including none and letters that no font has.
    pub(crate) fn text(&mut self) -> String {
        let texts = [
            "",
            "a",
            "bad\ndata",
            "\u{0}\u{10FFFF}",
            "\u{202E}left",
            "\t  \r\n",
        ];
        self.pick(&texts).to_owned()
    }
}
