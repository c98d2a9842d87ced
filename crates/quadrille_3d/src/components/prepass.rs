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

/// Draws the motion of opaque and alpha mask meshes since the previous frame, before their colors; bevy's component by
/// name. Depth is drawn with it.
///
/// Motion is the difference of texture coordinates, positive towards the right and bottom: a surface was at its
/// coordinates minus the motion. It has the motion of the camera, of instances, and of skins and morph targets. Jitter is
/// no motion. Passes read [`PrepassMotionVectors3d`](crate::resources::PrepassMotionVectors3d)
/// ([`View3d::prepass_motion_vectors`](crate::View3d::prepass_motion_vectors)), materials
/// `bevy_pbr::prepass::utils::prepass_motion_vector`.
///
/// In the first frame of a camera, after a change of its size and a [`CameraCut`](crate::CameraCut), only meshes move. A
/// mesh does not in its own first frame. The background moves as the camera turns, unless the camera has
/// [`NoBackgroundMotionVectors`].
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MotionVectorPrepass;

/// Leaves the motion of the background zero under a camera with [`MotionVectorPrepass`], for passes that draw a background of
/// their own; bevy's component by name.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct NoBackgroundMotionVectors;
