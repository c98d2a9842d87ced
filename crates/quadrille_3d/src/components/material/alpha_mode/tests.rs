use bevy_reflect::FromReflect as _;

use super::*;

#[cfg(feature = "bevy_material")]
use bevy_material as bevy;

/// Copy of bevy's type, for builds without its crate: variants in its order.
#[cfg(not(feature = "bevy_material"))]
mod bevy {
    use bevy_reflect::Reflect;

    #[derive(Clone, Copy, Debug, PartialEq, Reflect)]
    pub(super) enum AlphaMode {
        Opaque,
        Mask(f32),
        Blend,
        Premultiplied,
        AlphaToCoverage,
        Add,
        Multiply,
    }
}

/// Returns the equal value of this crate's type. The match is exhaustive, so that a new value of bevy's does not
/// compile.
fn ours(theirs: bevy::AlphaMode) -> AlphaMode {
    use bevy::AlphaMode as Theirs;
    match theirs {
        Theirs::Opaque => AlphaMode::Opaque,
        Theirs::Mask(threshold) => AlphaMode::Mask(threshold),
        Theirs::Blend => AlphaMode::Blend,
        Theirs::Premultiplied => AlphaMode::Premultiplied,
        Theirs::AlphaToCoverage => AlphaMode::AlphaToCoverage,
        Theirs::Add => AlphaMode::Add,
        Theirs::Multiply => AlphaMode::Multiply,
    }
}

#[test]
fn alpha_modes_convert_to_and_from_bevys_by_reflection() {
    use bevy::AlphaMode as Theirs;
    for theirs in [
        Theirs::Opaque,
        Theirs::Mask(0.25),
        Theirs::Blend,
        Theirs::Premultiplied,
        Theirs::AlphaToCoverage,
        Theirs::Add,
        Theirs::Multiply,
    ] {
        assert_eq!(AlphaMode::from_reflect(&theirs), Some(ours(theirs)));
        assert_eq!(Theirs::from_reflect(&ours(theirs)), Some(theirs));
    }
    assert_eq!(AlphaMode::default(), AlphaMode::Opaque);
}
