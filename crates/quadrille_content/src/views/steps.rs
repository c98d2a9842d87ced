//! Steps of cameras: passes draw all 3D cameras of a step, then all 2D cameras.

use super::compositing::{Layer, TargetKind};

/// Assigns steps to the cameras of a frame, in order.
#[derive(Default)]
pub(super) struct Steps {
    step: u32,
    /// Targets of 2D cameras and overlays in this step, which are drawn after all 3D.
    drawn_by_2d: Vec<u32>,
    /// Image assets that are targets in this step, which materials may sample.
    drawn_assets: Vec<u32>,
}

impl Steps {
    /// Begins a frame.
    pub(super) fn begin(&mut self) {
        *self = Self {
            step: 0,
            drawn_by_2d: std::mem::take(&mut self.drawn_by_2d),
            drawn_assets: std::mem::take(&mut self.drawn_assets),
        };
        self.clear();
    }

    fn clear(&mut self) {
        self.drawn_by_2d.clear();
        self.drawn_assets.clear();
    }

    /// Returns the step of the next camera.
    pub(super) fn next(&mut self, camera: &Layer, has_overlay: bool) -> u32 {
        // 2D cameras are drawn in order after all 3D of their step, so a later 2D camera needs no new step.
        let shows_earlier = self.drawn_assets.iter().any(|it| *it != camera.target);
        let is_over = self.drawn_by_2d.contains(&camera.target);
        if camera.is_3d && (shows_earlier || is_over) {
            self.step += 1;
            self.clear();
        }
        if !camera.is_3d || has_overlay {
            self.drawn_by_2d.push(camera.target);
        }
        if camera.kind == TargetKind::Asset {
            self.drawn_assets.push(camera.target);
        }
        self.step
    }
}

#[cfg(test)]
mod tests;
