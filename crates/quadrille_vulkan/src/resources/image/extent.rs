//! [`Extent`] of an image, with conversions.

use glam::{UVec2, UVec3};

/// Width, height and depth in texels. The constructors of [`ImageDesc`](crate::resources::ImageDesc) convert to it from
/// two or three numbers, as an array, a tuple or a vector of glam. Two numbers imply a depth of 1.
///
/// ```
/// use glam::{UVec2, UVec3};
/// use quadrille_vulkan::Format;
/// use quadrille_vulkan::resources::{Extent, ImageDesc};
///
/// let format = Format::R8G8B8A8_UNORM;
/// let flat = ImageDesc::sampled("map", [64, 32], format);
/// assert_eq!(flat, ImageDesc::sampled("map", (64, 32), format));
/// assert_eq!(flat, ImageDesc::sampled("map", UVec2::new(64, 32), format));
/// assert_eq!(flat.extent, [64, 32, 1]);
///
/// let fog = ImageDesc::storage("fog", UVec3::new(160, 90, 64), format);
/// assert_eq!(Extent(fog.extent), Extent::from([160, 90, 64]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent(pub [u32; 3]);

impl From<[u32; 2]> for Extent {
    fn from([width, height]: [u32; 2]) -> Self {
        Self([width, height, 1])
    }
}

impl From<[u32; 3]> for Extent {
    fn from(extent: [u32; 3]) -> Self {
        Self(extent)
    }
}

impl From<(u32, u32)> for Extent {
    fn from((width, height): (u32, u32)) -> Self {
        Self([width, height, 1])
    }
}

impl From<(u32, u32, u32)> for Extent {
    fn from(extent: (u32, u32, u32)) -> Self {
        Self(extent.into())
    }
}

impl From<UVec2> for Extent {
    fn from(extent: UVec2) -> Self {
        Self(extent.extend(1).into())
    }
}

impl From<UVec3> for Extent {
    fn from(extent: UVec3) -> Self {
        Self(extent.into())
    }
}
