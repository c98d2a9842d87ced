//! Cameras of the frame that have effects.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;

/// The cameras of the frame whose colour an effect replaces: filled in
/// [`Prepare3dSystems::Extract`](crate::Prepare3dSystems::Extract).
///
/// Such a camera draws linear light in half floats, with or without `Hdr`, and has two colour images.
#[derive(Resource, Default)]
pub struct EffectCameras {
    pub(crate) cameras: EntityHashSet,
    /// Frames that were submitted before this one.
    pub(crate) submitted: u64,
}

impl EffectCameras {
    /// Whether an effect reads the colour of this camera as linear light, before tone mapping.
    pub fn needs_linear_light(&self, camera: Entity) -> bool {
        self.cameras.contains(&camera)
    }
}
