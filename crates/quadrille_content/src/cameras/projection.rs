//! Computed values of cameras, which bevy leaves to the renderer: target info and projection.

use bevy_asset::Assets;
use bevy_camera::{
    Camera, NormalizedRenderTarget, Projection, RenderTarget, RenderTargetInfo, Viewport,
};
use bevy_ecs::entity::{EntityHashMap, EntityHashSet};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::{AspectRatio, UVec2, Vec3};
use bevy_transform::components::{GlobalTransform, Transform};
use bevy_window::{PrimaryWindow, Window};
use quadrille::ecs::HeadlessWindow;

use crate::cameras::target::ManualTextureViews;
use crate::warnings::{RateLimitedWarnings, entity_name};

/// Sources of target sizes and scale factors.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct TargetSizes<'w, 's> {
    primary: Query<'w, 's, Entity, With<PrimaryWindow>>,
    windows: Query<'w, 's, &'static Window>,
    headless: Option<Res<'w, HeadlessWindow>>,
    images: Res<'w, Assets<Image>>,
    manual: Res<'w, ManualTextureViews>,
}

impl TargetSizes<'_, '_> {
    /// Returns the size and scale factor of a target; `None` while it does not exist.
    fn info(&self, target: &RenderTarget) -> Option<RenderTargetInfo> {
        let primary = self.primary.iter().next();
        match (target.normalize(primary), target) {
            (Some(NormalizedRenderTarget::Window(window)), _) => self.window(window.entity()),
            // Headless: an image substitutes the missing window.
            (None, RenderTarget::Window(_)) => self.headless_window(),
            (Some(NormalizedRenderTarget::Image(image)), _) => {
                let size = self.images.get(&image.handle)?.size();
                Some(info(size, image.scale_factor))
            }
            (Some(NormalizedRenderTarget::TextureView(id)), _) => {
                let [width, height, _] = self.manual.get(&id)?.extent();
                Some(info(UVec2::new(width, height), 1.0))
            }
            (Some(NormalizedRenderTarget::None { width, height }), _) => {
                Some(info(UVec2::new(width, height), 1.0))
            }
            (None, _) => None,
        }
    }

    fn window(&self, entity: Entity) -> Option<RenderTargetInfo> {
        // Also headless: the substitute image has the window's size.
        match self.windows.get(entity) {
            Ok(window) => Some(info(
                window.physical_size(),
                window.resolution.scale_factor(),
            )),
            Err(_) => self.headless_window(),
        }
    }

    fn headless_window(&self) -> Option<RenderTargetInfo> {
        let extent = self.headless.as_ref()?.extent;
        Some(info(UVec2::from_array(extent), 1.0))
    }
}

/// Clamps a viewport to its target like bevy's `Viewport::clamp_to_size`, but without overflow of position plus size.
fn clamp_viewport(viewport: &Viewport, target: UVec2) -> Viewport {
    let mut clamped = viewport.clone();
    let position = viewport
        .physical_position
        .min(target.saturating_sub(UVec2::ONE));
    clamped.physical_size = viewport.physical_size.min(target - position);
    // A viewport outside of the target keeps one pixel.
    let is_outside = viewport.physical_position.cmpge(target);
    let pixel = clamped.physical_size.min(UVec2::ONE);
    clamped.physical_size = UVec2::select(is_outside, pixel, clamped.physical_size);
    clamped.physical_position = position;
    clamped
}

/// Cameras with invalid transforms, which draw nothing.
#[derive(Resource, Default)]
pub struct InvalidCameras(EntityHashSet);

impl InvalidCameras {
    /// Whether the transform of a camera is invalid.
    pub fn contains(&self, camera: Entity) -> bool {
        self.0.contains(&camera)
    }
}

/// Entity and transform of a camera.
type CameraTransformQuery = (Entity, &'static mut GlobalTransform);

/// Filter for cameras whose transform may have changed, including disabled ones: enabling a camera triggers no change
/// detection.
type ChangedCameras = (
    With<Camera>,
    Or<(Changed<GlobalTransform>, Added<Camera>)>,
    Allow<Disabled>,
);

/// Finds cameras without a valid direction, on which bevy's visibility systems panic in debug builds. Their
/// `GlobalTransform` is set to the identity, and they draw nothing.
pub(crate) fn find_invalid_cameras(
    mut cameras: Query<CameraTransformQuery, ChangedCameras>,
    all: Query<(), (With<Camera>, Allow<Disabled>)>,
    mut transforms: Query<&mut Transform, Allow<Disabled>>,
    mut gone: RemovedComponents<Camera>,
    mut invalid_cameras: ResMut<InvalidCameras>,
    warnings: Res<RateLimitedWarnings>,
) {
    for camera in gone.read() {
        if !all.contains(camera)
            && invalid_cameras.0.remove(&camera)
            && let Ok(mut transform) = transforms.get_mut(camera)
        {
            // Makes bevy recompute the `GlobalTransform` that was replaced below.
            transform.set_changed();
        }
    }
    for (entity, mut transform) in &mut cameras {
        if invalid_cameras.0.contains(&entity) && !transform.is_changed() {
            // Only its `Camera` has changed; the transform is the identity set below.
            continue;
        }
        let affine = transform.affine();
        let direction = Vec3::from(affine.matrix3.z_axis).normalize();
        if direction.is_normalized() && affine.is_finite() {
            invalid_cameras.0.remove(&entity);
            continue;
        }
        invalid_cameras.0.insert(entity);
        warnings.warn(
            format_args!("the view of camera {}", entity_name(entity)),
            || {
                let transform = affine.to_cols_array();
                format!("its transform {transform:?} has no valid forward direction")
            },
        );
        // bevy recomputes it when its `Transform` changes.
        *transform.bypass_change_detection() = GlobalTransform::IDENTITY;
    }
}

fn info(physical_size: UVec2, scale_factor: f32) -> RenderTargetInfo {
    RenderTargetInfo {
        physical_size,
        scale_factor: limited_scale(scale_factor),
    }
}

/// Clamps a scale factor so that sizes in bevy's UI layout stay finite: it panics on others.
pub fn limited_scale(scale: f32) -> f32 {
    const MOST: f32 = 64.0;
    const LEAST: f32 = 1.0 / 1024.0;
    if scale.is_nan() {
        1.0
    } else {
        scale.clamp(LEAST, MOST)
    }
}

/// Clamped viewports by camera, with the requested ones, which are restored when the target is large enough again.
#[derive(Resource, Default)]
pub(crate) struct ClampedViewports(EntityHashMap<ClampedViewport>);

struct ClampedViewport {
    requested: Viewport,
    clamped: Viewport,
}

impl ClampedViewports {
    /// Returns the viewport of a camera, clamped to its target. As in bevy, it is scaled by `scale`, the change of the
    /// target's scale factor.
    fn clamp_viewport(
        &mut self,
        camera: Entity,
        viewport: &Viewport,
        target: UVec2,
        scale: Option<f32>,
    ) -> Viewport {
        // A viewport that differs from the last clamped one was set by the program.
        let known = self.0.remove(&camera);
        let known = known.filter(|it| is_same(&it.clamped, viewport));
        let mut requested = known.map_or_else(|| viewport.clone(), |it| it.requested);
        requested.depth = viewport.depth.clone();
        if let Some(scale) = scale {
            let scaled = |it: UVec2| (it.as_vec2() * scale).as_uvec2();
            requested.physical_position = scaled(requested.physical_position);
            requested.physical_size = scaled(requested.physical_size);
        }
        let clamped = clamp_viewport(&requested, target);
        if !is_same(&clamped, &requested) {
            let clamped = clamped.clone();
            self.0
                .insert(camera, ClampedViewport { requested, clamped });
        }
        clamped
    }
}

/// Whether two viewports have the same rectangle.
fn is_same(one: &Viewport, other: &Viewport) -> bool {
    (one.physical_position, one.physical_size) == (other.physical_position, other.physical_size)
}

/// Camera components with computed values.
type CameraQuery = (
    Entity,
    &'static mut Camera,
    Ref<'static, RenderTarget>,
    &'static mut Projection,
);

/// Updates `Camera::computed`, and projections on a change of the viewport's size, like `camera_system` of
/// `bevy_render`.
pub(crate) fn update_cameras(
    sizes: TargetSizes,
    mut cameras: Query<CameraQuery>,
    mut clamped: ResMut<ClampedViewports>,
    mut gone: RemovedComponents<Camera>,
    warnings: Res<RateLimitedWarnings>,
) {
    for camera in gone.read() {
        clamped.0.remove(&camera);
    }
    for (entity, mut camera, target, mut projection) in &mut cameras {
        let new = sizes.info(&target);
        if let (RenderTarget::Image(image), Some(new)) = (&*target, &new) {
            warn_about_scale(entity, image.scale_factor, new.scale_factor, &warnings);
        }
        if let (Some(viewport), Some(new)) = (&camera.viewport, &new) {
            let old = camera.computed.target_info.as_ref();
            let scale = old.map(|old| new.scale_factor / old.scale_factor);
            // Only windows change their scale factor, by moving to another monitor.
            let is_moved = matches!(*target, RenderTarget::Window(_)) && !target.is_changed();
            let scale = scale.filter(|scale| is_moved && scale.is_finite() && *scale != 1.0);
            let viewport = clamped.clamp_viewport(entity, viewport, new.physical_size, scale);
            if !camera
                .viewport
                .as_ref()
                .is_some_and(|it| is_same(it, &viewport))
            {
                camera.viewport = Some(viewport);
            }
        }
        let old = camera.computed.target_info.as_ref();
        let is_same = match (old, &new) {
            (Some(old), Some(new)) => {
                old.physical_size == new.physical_size && old.scale_factor == new.scale_factor
            }
            (None, None) => true,
            _ => false,
        };
        let viewport_size = camera
            .viewport
            .as_ref()
            .map(|viewport| viewport.physical_size);
        let unchanged = is_same
            && camera.computed.old_viewport_size == viewport_size
            && camera.computed.old_sub_camera_view == camera.sub_camera_view
            && !camera.is_added()
            && !projection.is_changed();
        if unchanged {
            continue;
        }
        camera.computed.target_info = new;
        // An empty viewport has no aspect ratio; bevy's projections panic on it.
        if let Some(size) = camera.logical_viewport_size()
            && AspectRatio::try_new(size.x, size.y).is_ok()
        {
            projection.update(size.x, size.y);
            camera.computed.clip_from_view = match &camera.sub_camera_view {
                Some(part) => projection.get_clip_from_view_for_sub(part),
                None => projection.get_clip_from_view(),
            };
        }
        camera.computed.old_viewport_size = camera
            .viewport
            .as_ref()
            .map(|viewport| viewport.physical_size);
        camera.computed.old_sub_camera_view = camera.sub_camera_view;
    }
}

fn warn_about_scale(camera: Entity, requested: f32, taken: f32, warnings: &RateLimitedWarnings) {
    if requested != taken {
        warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!(
                "the target image of camera {camera} has scale factor {requested}; clamped to {taken}"
            )
        });
    }
}

#[cfg(test)]
mod tests;
