//! Cameras with effects.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;

use crate::schedule::Pass3dSystems;

/// Cameras of the frame with effects. Filled in [`Prepare3dSystems::Extract`](crate::Prepare3dSystems::Extract).
///
/// A camera with an effect before tone mapping draws linear half floats, with or without `Hdr`. Cameras have two color
/// images (ping-pong) for each kind of color that effects replace: scene-referred and display-referred.
#[derive(Resource, Default)]
pub(crate) struct EffectCameras {
    cameras: EntityHashMap<EffectNeeds>,
    /// Number of submitted frames.
    pub(crate) submitted: u64,
}

/// Images that the effects of a camera need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EffectNeeds {
    /// An effect replaces scene-referred color.
    pub(crate) scene_color: bool,
    /// An effect replaces display-referred color.
    pub(crate) display_color: bool,
    /// An effect reads the depth of the previous frame.
    pub(crate) depth_history: bool,
    /// An atmosphere is drawn to the samples of the view.
    pub(crate) atmosphere: bool,
    /// Fraction of the viewport's width and height at which views are drawn that an effect upscales.
    pub(crate) render_scale: Option<f32>,
}

impl EffectNeeds {
    /// Whether an effect replaces any color.
    pub(crate) fn replaces_color(self) -> bool {
        self.scene_color || self.display_color
    }
}

impl EffectCameras {
    /// Images that the effects of this camera need.
    pub(crate) fn needs(&self, camera: Entity) -> EffectNeeds {
        self.cameras.get(&camera).copied().unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.cameras.clear();
    }

    /// Whether a camera has any effect.
    pub(crate) fn contains(&self, camera: Entity) -> bool {
        self.cameras.contains_key(&camera)
    }

    /// Adds an atmosphere of a camera, which is blended over scene-referred color with its background.
    pub(crate) fn add_atmosphere(&mut self, camera: Entity) {
        let needs = self.cameras.entry(camera).or_default();
        needs.scene_color = true;
        needs.atmosphere = true;
    }

    /// Draws a camera at this fraction of its viewport's width and height, for an effect that upscales it.
    pub(crate) fn set_render_scale(&mut self, camera: Entity, scale: f32) {
        self.cameras.entry(camera).or_default().render_scale = Some(scale);
    }

    /// Adds an effect of a camera, with the set of the passes that replace its color.
    pub(crate) fn add(
        &mut self,
        camera: Entity,
        replaces_color_in: Option<Pass3dSystems>,
        depth_history: bool,
    ) {
        let needs = self.cameras.entry(camera).or_default();
        needs.depth_history |= depth_history;
        match replaces_color_in {
            None => {}
            Some(Pass3dSystems::AfterTonemapping) => needs.display_color = true,
            Some(_) => needs.scene_color = true,
        }
    }
}
