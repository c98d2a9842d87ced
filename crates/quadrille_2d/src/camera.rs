//! Fills in what bevy's cameras leave to a renderer: the size of their target and the projection.

use bevy_asset::Assets;
use bevy_camera::{
    Camera, Camera2d, Camera3d, NormalizedRenderTarget, Projection, RenderTarget, RenderTargetInfo,
};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::UVec2;
use bevy_window::{PrimaryWindow, Window};
use quadrille::ecs::HeadlessWindow;

use crate::target::ManualTargets;

/// What targets of cameras are looked up in.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct TargetSizes<'w, 's> {
    primary: Query<'w, 's, Entity, With<PrimaryWindow>>,
    windows: Query<'w, 's, &'static Window>,
    headless: Option<Res<'w, HeadlessWindow>>,
    images: Res<'w, Assets<Image>>,
    manual: Res<'w, ManualTargets>,
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

/// Cameras that are for 3D alone.
type Only3d = (With<Camera3d>, Without<Camera2d>);

/// Tells once of a camera that draws nothing since it is one for 3D.
pub(crate) fn tell_of_3d(
    cameras: Query<(Entity, &Camera), Only3d>,
    mut is_told: Local<bool>,
) {
    let mut active = cameras.iter().filter(|(_, camera)| camera.is_active);
    if let Some((entity, _)) = active.next()
        && !std::mem::replace(&mut *is_told, true)
    {
        tracing::warn!(
            "the camera {entity} is a `Camera3d`, which draws nothing by itself: there are no \
             passes for 3D meshes, materials and lights here, and sprites, 2D meshes, text and \
             nodes are drawn under a `Camera2d`. Spawn one, or draw what this camera sees by \
             passes of your own. There is no further warning"
        );
    }
}

fn info(physical_size: UVec2, scale_factor: f32) -> RenderTargetInfo {
    RenderTargetInfo {
        physical_size,
        scale_factor,
    }
}

/// Fills in `Camera::computed` and updates projections whose view changed its size, as
/// `bevy_render` does it.
pub(crate) fn update_cameras(
    sizes: TargetSizes,
    mut cameras: Query<(&mut Camera, &RenderTarget, &mut Projection)>,
) {
    for (mut camera, target, mut projection) in &mut cameras {
        let new = sizes.info(target);
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
        if let (Some(viewport), Some(new)) = (&mut camera.viewport, &new) {
            viewport.clamp_to_size(new.physical_size);
        }
        camera.computed.target_info = new;
        if let Some(size) = camera.logical_viewport_size()
            && size.min_element() > 0.0
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
