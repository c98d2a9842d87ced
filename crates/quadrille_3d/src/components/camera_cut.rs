//! Cuts of a camera's history.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;

/// Invalidates the history of a camera's effects by [`CameraCut::cut`], for example after teleporting the camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct CameraCut {
    pub(crate) count: u32,
}

impl CameraCut {
    /// Makes the next frame ignore the history.
    pub fn cut(&mut self) {
        self.count = self.count.wrapping_add(1);
    }
}
