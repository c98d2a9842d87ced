//! [`OpaqueRendererMethod`] without the feature `bevy_material`.

use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Path of opaque surfaces through bevy's renderer, with the values of bevy's type of this name. With the feature
/// `bevy_material` it is that type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum OpaqueRendererMethod {
    /// Lit where the mesh is drawn.
    #[default]
    Forward,
    /// Lit from the G-buffer of cameras with [`DeferredPrepass`](crate::DeferredPrepass).
    Deferred,
    /// As [`DefaultOpaqueRendererMethod`](crate::DefaultOpaqueRendererMethod) says.
    Auto,
}
