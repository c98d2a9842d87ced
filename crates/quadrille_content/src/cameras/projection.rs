//! Fills in what bevy's cameras leave to a renderer: the size of their target and the projection.

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

/// Sources of the sizes of cameras' targets.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct TargetSizes<'w, 's> {
    primary: Query<'w, 's, Entity, With<PrimaryWindow>>,
    windows: Query<'w, 's, &'static Window>,
    headless: Option<Res<'w, HeadlessWindow>>,
    images: Res<'w, Assets<Image>>,
    manual: Res<'w, ManualTextureViews>,
}

impl TargetSizes<'_, '_> {
    /// The size and scale factor of a target; none while it does not exist.
    fn info(&self, target: &RenderTarget) -> Option<RenderTargetInfo> {
        let primary = self.primary.iter().next();
        match (target.normalize(primary), target) {
            (Some(NormalizedRenderTarget::Window(window)), _) => self.window(window.entity()),
            // Without a window entity there is still the image that stands for one.
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
        // Also without a display: the image that stands for a window is as large as it would be.
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

/// Clamps a viewport to its target like bevy, whose function adds position and size without a check
/// for overflow.
fn clamp_viewport(viewport: &Viewport, target: UVec2) -> Viewport {
    let mut clamped = viewport.clone();
    let position = viewport
        .physical_position
        .min(target.saturating_sub(UVec2::ONE));
    clamped.physical_size = viewport.physical_size.min(target - position);
    // A viewport that begins outside keeps one pixel.
    let is_outside = viewport.physical_position.cmpge(target);
    let pixel = clamped.physical_size.min(UVec2::ONE);
    clamped.physical_size = UVec2::select(is_outside, pixel, clamped.physical_size);
    clamped.physical_position = position;
    clamped
}

/// Cameras whose transforms make no sense.
#[derive(Resource, Default)]
pub struct InvalidCameras(EntityHashSet);

impl InvalidCameras {
    /// Whether this camera sees nothing.
    pub fn contains(&self, camera: Entity) -> bool {
        self.0.contains(&camera)
    }
}

/// A camera and where it is.
type CameraTransformQuery = (Entity, &'static mut GlobalTransform);

/// Cameras whose transform may be another one, disabled ones as well: enabling one changes no transform.
type ChangedCameras = (
    With<Camera>,
    Or<(Changed<GlobalTransform>, Added<Camera>)>,
    Allow<Disabled>,
);

/// Finds cameras without a valid direction. bevy's visibility systems ask for that direction,
/// without which debug builds panic; so they get a transform that has one, and draw nothing.
pub(crate) fn find_blind(
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
            // bevy computes again the transform that was replaced below.
            transform.set_changed();
        }
    }
    for (entity, mut transform) in &mut cameras {
        if invalid_cameras.0.contains(&entity) && !transform.is_changed() {
            // Only its `Camera` is new; the transform is what this system left.
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
            format_args!("what the camera {} sees", entity_name(entity)),
            || {
                let transform = affine.to_cols_array();
                format!("its transform {transform:?} looks into no direction")
            },
        );
        // The identity stays until its `Transform` changes.
        *transform.bypass_change_detection() = GlobalTransform::IDENTITY;
    }
}

fn info(physical_size: UVec2, scale_factor: f32) -> RenderTargetInfo {
    RenderTargetInfo {
        physical_size,
        scale_factor: limited_scale(scale_factor),
    }
}

/// A scale factor by which sizes stay numbers: bevy lays nodes out by it, and ends the program where one has none.
pub fn limited_scale(scale: f32) -> f32 {
    const MOST: f32 = 64.0;
    const LEAST: f32 = 1.0 / 1024.0;
    if scale.is_nan() {
        1.0
    } else {
        scale.clamp(LEAST, MOST)
    }
}

/// Viewports that are limited to their targets, each with the one that the program asked for: a viewport returns
/// to its size when its target does.
#[derive(Resource, Default)]
pub(crate) struct ClampedViewports(EntityHashMap<ClampedViewport>);

struct ClampedViewport {
    requested: Viewport,
    clamped: Viewport,
}

impl ClampedViewports {
    /// The viewport of a camera within its target. If the scale factor of the target has changed by `scale`,
    /// the viewport changes with it, as in bevy.
    fn clamp_viewport(
        &mut self,
        camera: Entity,
        viewport: &Viewport,
        target: UVec2,
        scale: Option<f32>,
    ) -> Viewport {
        // One that is not as it was left here is what the program wants from now on.
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

/// Whether two viewports are the same part of a target.
fn is_same(one: &Viewport, other: &Viewport) -> bool {
    (one.physical_position, one.physical_size) == (other.physical_position, other.physical_size)
}

/// A camera whose values are computed.
type CameraQuery = (
    Entity,
    &'static mut Camera,
    Ref<'static, RenderTarget>,
    &'static mut Projection,
);

/// Fills in `Camera::computed` and updates projections whose view changed its size, as
/// `bevy_render` does it.
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
            tell_of_scale(entity, image.scale_factor, new.scale_factor, &warnings);
        }
        if let (Some(viewport), Some(new)) = (&camera.viewport, &new) {
            let old = camera.computed.target_info.as_ref();
            let scale = old.map(|old| new.scale_factor / old.scale_factor);
            // Windows move to monitors with another density; images do not.
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
        // Others have no proportions, without which bevy's projections end the program.
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

fn tell_of_scale(camera: Entity, requested: f32, taken: f32, warnings: &RateLimitedWarnings) {
    if requested != taken {
        warnings.warn_message(|| {
            let camera = entity_name(camera);
            format!(
                "the image that the camera {camera} draws to has a scale factor of {requested}, which is taken as {taken}"
            )
        });
    }
}

#[cfg(test)]
mod tests;
