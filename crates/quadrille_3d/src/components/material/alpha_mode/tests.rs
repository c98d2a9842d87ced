use bevy_reflect::FromReflect as _;

use super::*;

/// Copy of bevy's type, whose crate is not a dependency: variants in its order.
mod bevy {
    use bevy_reflect::Reflect;

    #[derive(Clone, Debug, PartialEq, Reflect)]
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

#[test]
fn alpha_modes_convert_by_reflection() {
    use bevy::AlphaMode as Theirs;
    for (ours, theirs) in [
        (AlphaMode::Opaque, Theirs::Opaque),
        (AlphaMode::Mask(0.25), Theirs::Mask(0.25)),
        (AlphaMode::Blend, Theirs::Blend),
        (AlphaMode::Premultiplied, Theirs::Premultiplied),
        (AlphaMode::AlphaToCoverage, Theirs::AlphaToCoverage),
        (AlphaMode::Add, Theirs::Add),
        (AlphaMode::Multiply, Theirs::Multiply),
    ] {
        assert_eq!(AlphaMode::from_reflect(&theirs), Some(ours));
        assert_eq!(Theirs::from_reflect(&ours), Some(theirs));
    }
}
