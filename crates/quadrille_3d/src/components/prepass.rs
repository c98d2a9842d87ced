//! Prepasses of a camera.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

/// Draws the depth of opaque and alpha mask meshes before their colors; bevy's component by name.
///
/// Fragment shaders of hidden surfaces then do not run. [`PrepassDepths3d`](crate::resources::PrepassDepths3d) is a copy
/// of the depth for passes ([`View3d::prepass_depth`](crate::View3d::prepass_depth)) and materials
/// (`bevy_pbr::prepass::utils::prepass_depth`), made only if one of them reads it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct DepthPrepass;

/// Draws the world normals of opaque and alpha mask meshes, normal maps included, before their colors; bevy's component
/// by name. Depth is drawn with them.
///
/// Passes read [`PrepassNormals3d`](crate::resources::PrepassNormals3d)
/// ([`View3d::prepass_normal`](crate::View3d::prepass_normal)), materials `bevy_pbr::prepass::utils::prepass_normal`.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct NormalPrepass;
