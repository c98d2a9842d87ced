//! [`AlphaMode`] without the feature `bevy_material`, which needs a newer toolchain.

use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Interpretation of a material's alpha, with the values of bevy's type of this name. With the
/// feature `bevy_material` it is that type.
///
/// A program that gets bevy's type from elsewhere converts by reflection, in both directions:
///
/// ```
/// # use quadrille_3d::AlphaMode;
/// # mod bevy { pub use quadrille_3d::AlphaMode; }
/// use bevy_reflect::FromReflect as _;
///
/// let theirs = bevy::AlphaMode::Mask(0.25);
/// let ours = AlphaMode::from_reflect(&theirs);
/// assert_eq!(ours, Some(AlphaMode::Mask(0.25)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored and set to 1.
    #[default]
    Opaque,
    /// Alpha below the threshold becomes 0, all other alpha 1.
    Mask(f32),
    /// Blended over the target by alpha ("over" operator).
    Blend,
    /// Covers a share of the samples that the device derives from alpha, independent of draw order: with 4 samples, 0 to 4
    /// of them. Equals `Mask(0.5)` with [`Msaa::Off`](quadrille_content::cameras::Msaa).
    AlphaToCoverage,
    /// Blended with premultiplied alpha: alpha 0 is additive.
    Premultiplied,
    /// Additive blending.
    Add,
    /// Multiplicative blending.
    Multiply,
}

#[cfg(test)]
mod tests;
