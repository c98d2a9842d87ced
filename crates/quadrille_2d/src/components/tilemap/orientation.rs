//! Rotation and mirroring of tiles.

use bevy_math::IVec2;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Counter-clockwise rotation and mirroring of a tile's image: the eight symmetries of a square, with the names
/// and discriminants of bevy's type.
///
/// The bits of the discriminant are flips, applied from the lowest: 1 is the diagonal flip (swaps top right and
/// bottom left), 2 the vertical and 4 the horizontal flip. Tiled has the same flips in the highest bits of a tile ID.
/// Shaders map from the tile back to its image, so they apply them in reverse order.
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
    /// Unchanged.
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

    /// Whether the horizontal flip, which is applied last, is set.
    pub fn mirror_h(self) -> bool {
        self as u8 & 0b100 != 0
    }

    /// Whether the vertical flip, which is applied second, is set.
    pub fn mirror_v(self) -> bool {
        self as u8 & 0b010 != 0
    }

    /// Whether the diagonal flip (swaps top right and bottom left), which is applied first, is set.
    pub fn mirror_d(self) -> bool {
        self as u8 & 0b001 != 0
    }

    /// Composes two orientations: `self` first, then `then`.
    pub fn and_then(self, then: Self) -> Self {
        // A diagonal flip swaps the horizontal and vertical flips before it.
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

    /// Returns the inverse orientation.
    pub fn inverse(self) -> Self {
        match self {
            Self::Rotate90 => Self::Rotate270,
            Self::Rotate270 => Self::Rotate90,
            // Mirrors and the half turn are their own inverses.
            other => other,
        }
    }

    /// Applies the orientation to a position relative to the origin, y up.
    pub fn apply_to_ivec2(self, position: &IVec2) -> IVec2 {
        // The diagonal from top left to bottom right is the axis of the flip.
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
