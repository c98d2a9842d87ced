//! Occlusion culling of a camera.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Enables two-pass occlusion culling of a camera; bevy's component by name. Unlike bevy's, it does not require
/// `DepthPrepass`.
///
/// Beneficial in scenes with many occluded meshes, such as cities and interiors; elsewhere its passes only add cost.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct OcclusionCulling;
