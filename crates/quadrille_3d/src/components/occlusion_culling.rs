//! Occlusion culling of a camera, by bevy's name.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Two-pass occlusion culling of a camera: bevy's component of this name. bevy's needs a `DepthPrepass`
/// beside it; this one does not.
///
/// Worthwhile where much is hidden, as in cities and indoors; elsewhere its passes only cost.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct OcclusionCulling;
