//! Occlusion culling of a camera, by bevy's name.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// A camera does not draw what is hidden behind other things: bevy's component of this name. bevy's needs
/// a `DepthPrepass` beside it; this one does not.
///
/// It pays where much is hidden, as in cities and indoors; elsewhere its passes only cost.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct OcclusionCulling;
