//! Cameras with effects.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;

/// Cameras of the frame with an effect that replaces their color. Filled in
/// [`Prepare3dSystems::Extract`](crate::Prepare3dSystems::Extract).
///
/// Such cameras draw linear half floats, with or without `Hdr`, and have two color images.
#[derive(Resource, Default)]
pub struct EffectCameras {
    pub(crate) cameras: EntityHashSet,
    /// Number of submitted frames.
    pub(crate) submitted: u64,
}

impl EffectCameras {
    /// Whether an effect reads the scene-referred color of this camera.
    pub fn needs_linear_light(&self, camera: Entity) -> bool {
        self.cameras.contains(&camera)
    }
}
