//! Steps of cameras: passes draw all 3D cameras of a step, whose viewports lie side by side, then all 2D cameras.

use super::compositing::{Layer, TargetKind};

/// Assigns steps to the cameras of a frame, in order.
#[derive(Default)]
pub(super) struct Steps {
    step: u32,
    /// Targets of 3D cameras in this step, with their viewports.
    drawn_by_3d: Vec<(u32, [u32; 4])>,
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
            drawn_by_3d: std::mem::take(&mut self.drawn_by_3d),
            drawn_by_2d: std::mem::take(&mut self.drawn_by_2d),
            drawn_assets: std::mem::take(&mut self.drawn_assets),
        };
        self.clear();
    }

    fn clear(&mut self) {
        self.drawn_by_3d.clear();
        self.drawn_by_2d.clear();
        self.drawn_assets.clear();
    }

    /// Returns the step of the next camera.
    pub(super) fn next(&mut self, camera: &Layer, has_overlay: bool) -> u32 {
        // 2D cameras are drawn in order after all 3D of their step, so a later 2D camera needs no new step.
        let shows_earlier = self.drawn_assets.iter().any(|it| *it != camera.target);
        let is_over = self.drawn_by_2d.contains(&camera.target);
        // 3D is drawn pass by pass, so that only viewports which lie side by side share a step.
        let overlaps = self.drawn_by_3d.iter().any(|(target, viewport)| {
            *target == camera.target && intersect(*viewport, camera.viewport)
        });
        if camera.is_3d && (shows_earlier || is_over || overlaps) {
            self.step += 1;
            self.clear();
        }
        if !camera.is_3d || has_overlay {
            self.drawn_by_2d.push(camera.target);
        }
        if camera.is_3d {
            self.drawn_by_3d.push((camera.target, camera.viewport));
        }
        if camera.kind == TargetKind::Asset {
            self.drawn_assets.push(camera.target);
        }
        self.step
    }
}

/// Whether two viewports (left, top, width, height) have a pixel in common.
fn intersect(a: [u32; 4], b: [u32; 4]) -> bool {
    let overlaps = |axis: usize| {
        a[axis] < b[axis].saturating_add(b[axis + 2])
            && b[axis] < a[axis].saturating_add(a[axis + 2])
    };
    overlaps(0) && overlaps(1)
}

#[cfg(test)]
mod tests;
