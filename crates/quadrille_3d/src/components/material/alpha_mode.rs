//! [`AlphaMode`] where bevy_material, which has it, is not there: its toolchain is newer than ours.

use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Interpretation of a material's alpha, with the values of bevy's type of this name. With the
/// feature `bevy_material` it is that type.
///
/// A program that has bevy's type by another way converts by reflection, in both directions:
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
    /// Alpha is taken as 1.
    #[default]
    Opaque,
    /// Alpha below the threshold is taken as 0, any other as 1.
    Mask(f32),
    /// Blends the surface over what is behind it by alpha.
    Blend,
    /// As `Mask(0.5)`, but a pixel in which alpha crosses 0.5 has only some of its samples covered, which
    /// ones the device decides: edges are smooth, and order does not count. With
    /// [`Msaa::Off`](crate::Msaa) it is `Mask(0.5)`.
    AlphaToCoverage,
    /// Blends premultiplied colors: alpha 0 adds them to what is
    /// behind.
    Premultiplied,
    /// Adds the colors to what is behind.
    Add,
    /// Multiplies the colors with those behind.
    Multiply,
}

#[cfg(test)]
mod tests;
