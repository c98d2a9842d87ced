//! Culling by frustum, range and layers: rows of [`cull_3d`](crate::systems::cull_3d), and the equivalent test on the CPU.

use bevy_camera::primitives::Frustum;
use bevy_math::{Mat4, Vec3, Vec4};
use bevy_shape::ViewFrustum;
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;

use crate::constants::{
    CAMERAS, CULL_EPSILON, EARLY_PHASE, LATE_PHASE, NO_FRUSTUM_CULLING, SHADOWS, SINGLE_PHASE,
};
use crate::scene::rows::InstanceRow;
use crate::scene::visibility_range::is_outside_visibility_range;

/// Bytes of `VkDrawIndexedIndirectCommand`.
pub(crate) const DRAW_ARGS_BYTES: u64 = 20;

/// Bounds, layers and flags of an instance.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/cull.wgsl", "Bounds")]
pub(crate) struct BoundsRow {
    /// Centre of the bounding box in local space.
    pub(crate) center: [f32; 3],
    /// Index of its render layer set.
    pub(crate) layers: u32,
    pub(crate) half_extents: [f32; 3],
    /// [`CAMERAS`], [`SHADOWS`], [`NO_FRUSTUM_CULLING`]; 0 hides it.
    pub(crate) flags: u32,
}

/// Culled view row of `cull_3d`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/cull.wgsl", "CullView")]
pub(crate) struct CullViewRow {
    /// Frustum planes: inward normal, and distance of the origin.
    planes: [[f32; 4]; 6],
    /// Range of a light: centre and radius; instances outside are culled.
    sphere: [f32; 4],
    /// Origin of visibility range distances; w is 0 if they do not apply.
    pub(crate) eye: [f32; 4],
    /// [`CAMERAS`] or [`SHADOWS`].
    kind: u32,
    /// Offset of its layer visibility bits.
    pub(crate) layer_masks_offset: u32,
    /// [`SINGLE_PHASE`], [`EARLY_PHASE`] or [`LATE_PHASE`].
    phase: u32,
    /// Offset of its previous visibility bits.
    visibility_offset: u32,
    /// Index in the list of views, for a camera with occlusion culling.
    camera: u32,
    unused: [u32; 3],
}

/// Plane that culls nothing.
const NO_PLANE: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Sphere that culls nothing.
const NO_SPHERE: [f32; 4] = [0.0, 0.0, 0.0, 1e30];

impl CullViewRow {
    /// View of a camera; without culling by the far plane, as in bevy.
    pub(crate) fn camera(frustum: &Frustum) -> Self {
        let mut row = Self::new(CAMERAS, frustum);
        row.planes[ViewFrustum::FAR_PLANE_IDX] = NO_PLANE;
        row
    }

    /// View of a cascade; without culling by the near plane, because casters in front of it count.
    pub(crate) fn cascade(clip_from_world: &Mat4) -> Self {
        let mut row = Self::new(SHADOWS, &frustum(clip_from_world));
        row.planes[ViewFrustum::NEAR_PLANE_IDX] = NO_PLANE;
        row
    }

    /// View of a point or spot light's shadow map, limited to the light's range.
    pub(crate) fn light(clip_from_world: &Mat4, position: Vec3, range: f32) -> Self {
        let mut row = Self::new(SHADOWS, &frustum(clip_from_world));
        row.planes[ViewFrustum::FAR_PLANE_IDX] = NO_PLANE;
        row.sphere = position.extend(range.min(NO_SPHERE[3])).to_array();
        row
    }

    fn new(kind: u32, frustum: &Frustum) -> Self {
        Self {
            planes: frustum.half_spaces.map(|plane| {
                let plane = plane.normal_d();
                if plane.is_finite() {
                    plane.to_array()
                } else {
                    NO_PLANE
                }
            }),
            sphere: NO_SPHERE,
            eye: [0.0; 4],
            kind,
            layer_masks_offset: 0,
            phase: SINGLE_PHASE,
            visibility_offset: 0,
            camera: 0,
            unused: [0; 3],
        }
    }

    /// Makes this view an early phase, and returns the row of its late phase.
    pub(crate) fn split_late_phase(&mut self, visibility_offset: u32, camera: u32) -> Self {
        *self = Self {
            phase: EARLY_PHASE,
            visibility_offset,
            camera,
            ..*self
        };
        Self {
            phase: LATE_PHASE,
            ..*self
        }
    }

    /// Row without what depends on the frame rather than the view: the offset of layer bits, and, unless an instance has
    /// a visibility range, the eye.
    pub(crate) fn without_frame_state(self, has_ranges: bool) -> Self {
        Self {
            layer_masks_offset: 0,
            eye: if has_ranges { self.eye } else { [0.0; 4] },
            ..self
        }
    }

    /// Excludes the view from culling: nothing is drawn for it in this frame.
    pub(crate) fn disable(&mut self) {
        self.kind = 0;
    }

    /// Reverts to a single phase.
    pub(crate) fn merge_phases(&mut self) {
        self.phase = SINGLE_PHASE;
    }

    /// Same test as `is_visible` of `cull.wgsl`, for transparent instances, which the CPU lists.
    pub(crate) fn is_visible(
        &self,
        instance: &InstanceRow,
        bounds: &BoundsRow,
        layers: &[u32],
    ) -> bool {
        let word = layers.get((self.layer_masks_offset + bounds.layers / 32) as usize);
        if bounds.flags & self.kind == 0
            || word.is_none_or(|word| word >> (bounds.layers % 32) & 1 == 0)
        {
            return false;
        }
        if is_outside_visibility_range(instance, self.eye) {
            return false;
        }
        if bounds.flags & NO_FRUSTUM_CULLING != 0 {
            return true;
        }
        let [x, y, z] = instance.world_from_local.map(Vec4::from);
        let local = Vec3::from(bounds.center).extend(1.0);
        let center = Vec3::new(x.dot(local), y.dot(local), z.dot(local));
        let half_extents = Vec3::from(bounds.half_extents);
        let radius = |direction: Vec3| {
            let turned = direction.x * x.truncate()
                + direction.y * y.truncate()
                + direction.z * z.truncate();
            turned.abs().dot(half_extents.abs())
        };
        for plane in self.planes.map(Vec4::from) {
            let radius = radius(plane.truncate());
            let slack = CULL_EPSILON * (radius + plane.w.abs());
            if plane.dot(center.extend(1.0)) + radius < -slack {
                return false;
            }
        }
        let [.., range] = self.sphere;
        let direction = center - Vec4::from(self.sphere).truncate();
        let square = direction.length_squared();
        square <= (range * square.sqrt() + radius(direction)) * (1.0 + CULL_EPSILON)
    }
}

fn frustum(clip_from_world: &Mat4) -> Frustum {
    Frustum(ViewFrustum::from_clip_from_world(clip_from_world))
}

#[cfg(test)]
mod tests;
