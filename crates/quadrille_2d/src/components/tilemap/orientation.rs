//! How a tile is turned and mirrored.

use bevy_math::IVec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// How a tile's image is turned, counter-clockwise, and mirrored: all eight ways, with the names and
/// numbers of bevy's type.
///
/// The three bits of the number are steps, of which Tiled has the same in the highest bits of a tile's
/// number: 1 swaps the corners at the right top and the left bottom, then 2 swaps top and bottom, then
/// 4 swaps left and right. Shaders, which come from the other side, take them backwards.
///
/// ```
/// use quadrille_2d::TileOrientation as Tile;
/// assert_eq!(Tile::Rotate90.and_then(Tile::Rotate90), Tile::Rotate180);
/// assert_eq!(Tile::MirrorH.and_then(Tile::MirrorH), Tile::Default);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, Hash, PartialEq)]
#[repr(u8)]
pub enum TileOrientation {
    /// As it is.
    #[default]
    Default = 0b000,
    /// A quarter turn.
    Rotate90 = 0b011,
    /// Half a turn.
    Rotate180 = 0b110,
    /// Three quarters of a turn.
    Rotate270 = 0b101,
    /// Left and right swapped.
    MirrorH = 0b100,
    /// Left and right swapped, then a quarter turn.
    MirrorHRotate90 = 0b001,
    /// Left and right swapped, then half a turn.
    MirrorHRotate180 = 0b010,
    /// Left and right swapped, then three quarters of a turn.
    MirrorHRotate270 = 0b111,
}

impl TileOrientation {
    /// Returns the orientation that mirrors horizontally, vertically and diagonally; the diagonal is first.
    pub fn from_bools(mirror_h: bool, mirror_v: bool, mirror_d: bool) -> Self {
        match (mirror_h, mirror_v, mirror_d) {
            (false, false, false) => Self::Default,
            (false, true, true) => Self::Rotate90,
            (true, true, false) => Self::Rotate180,
            (true, false, true) => Self::Rotate270,
            (true, false, false) => Self::MirrorH,
            (false, false, true) => Self::MirrorHRotate90,
            (false, true, false) => Self::MirrorHRotate180,
            (true, true, true) => Self::MirrorHRotate270,
        }
    }

    /// Whether left and right are swapped, which comes last.
    pub fn mirror_h(self) -> bool {
        self as u8 & 0b100 != 0
    }

    /// Whether top and bottom are swapped, which comes second.
    pub fn mirror_v(self) -> bool {
        self as u8 & 0b010 != 0
    }

    /// Whether the corners at the right top and the left bottom are swapped, which comes first.
    pub fn mirror_d(self) -> bool {
        self as u8 & 0b001 != 0
    }

    /// This one, and then another.
    pub fn and_then(self, then: Self) -> Self {
        // A diagonal mirror exchanges the horizontal and the vertical mirror before it.
        let (h, v) = if then.mirror_d() {
            (self.mirror_v(), self.mirror_h())
        } else {
            (self.mirror_h(), self.mirror_v())
        };
        Self::from_bools(
            h != then.mirror_h(),
            v != then.mirror_v(),
            self.mirror_d() != then.mirror_d(),
        )
    }

    /// The one that undoes it.
    pub fn inverse(self) -> Self {
        match self {
            Self::Rotate90 => Self::Rotate270,
            Self::Rotate270 => Self::Rotate90,
            // Mirrors and half a turn are their own inverses.
            other => other,
        }
    }

    /// Where a place goes, y up, around the origin.
    pub fn apply_to_ivec2(self, position: &IVec2) -> IVec2 {
        // The diagonal from the left top to the right bottom stays.
        let mut position = if self.mirror_d() {
            IVec2::new(-position.y, -position.x)
        } else {
            *position
        };
        if self.mirror_v() {
            position.y = -position.y;
        }
        if self.mirror_h() {
            position.x = -position.x;
        }
        position
    }
}
