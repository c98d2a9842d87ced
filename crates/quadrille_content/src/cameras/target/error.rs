//! Errors of render targets.
//!
//! A camera with an invalid target is skipped, with a warning that names both.

use bevy_asset::{AssetId, AssetServer, Assets, LoadState};
use bevy_camera::{NormalizedRenderTarget, RenderTarget};
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::Image as ImageAsset;
use bevy_window::Window;
use quadrille::prelude::{GpuDevice, GpuImage, ImageUsage};
use quadrille::vulkan::Format;

use crate::cameras::target::ManualTextureViews;
use crate::warnings::{RateLimitedWarnings, asset_label, entity_name};

/// Error of a camera's render target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TargetError {
    /// The image was created without the usage `COLOR_ATTACHMENT`.
    MissingUsage,
    /// The device does not support the format as a color attachment.
    Format(Format),
    /// A 3D image of this depth: cameras draw to 2D images.
    Depth(u32),
    /// A multisampled image: cameras resolve to a single-sampled one.
    Samples(u32),
    /// No asset has the handle.
    MissingAsset,
    /// The asset could not be loaded.
    LoadFailed,
    /// [`ManualTextureViews`] has no image of this handle.
    MissingManualTextureView(u32),
    /// The entity has no `Window`.
    MissingWindow(Entity),
}

impl TargetError {
    /// Checks that cameras can draw to an image.
    pub(crate) fn of_image(image: &GpuImage, gpu: &GpuDevice) -> Option<Self> {
        let desc = image.desc();
        let [_, _, depth] = desc.extent;
        if !desc.usage.contains(ImageUsage::COLOR_ATTACHMENT) {
            Some(Self::MissingUsage)
        } else if !gpu.can_draw_to(desc.format) {
            Some(Self::Format(desc.format))
        } else if depth > 1 {
            Some(Self::Depth(depth))
        } else {
            (desc.samples > 1).then_some(Self::Samples(desc.samples))
        }
    }

    /// Describes the error and its fix.
    fn explain(self, is_asset: bool) -> String {
        match self {
            Self::MissingUsage if is_asset => "it was created without `TextureUsages::RENDER_ATTACHMENT`, as are all images \
                 of files; create one with `Image::new_target_texture`"
                .to_owned(),
            Self::MissingUsage => "it was created without `ImageUsage::COLOR_ATTACHMENT`; create it with \
                 `ImageDesc::color_target`"
                .to_owned(),
            Self::Format(format) => format!(
                "the device cannot draw to its format {format:?}; choose one such as R8G8B8A8_SRGB"
            ),
            Self::Depth(depth) => format!("it is a 3D image of {depth} slices; use a 2D image"),
            Self::Samples(samples) => format!(
                "it has {samples} samples per pixel; create it with one, and set `Msaa` of the camera"
            ),
            Self::MissingAsset => {
                "no image belongs to its handle; add one with `Assets::<Image>::add` and keep the handle"
                    .to_owned()
            }
            Self::LoadFailed => "it could not be loaded; see the error about its file".to_owned(),
            Self::MissingManualTextureView(handle) => format!(
                "no image has this handle; insert one: `manual_targets.insert(ManualTextureViewHandle({handle}), image)`"
            ),
            Self::MissingWindow(window) => {
                format!("the entity {window} has no `Window`; spawn one, or draw to `WindowRef::Primary`")
            }
        }
    }
}

/// Checks render targets, and keeps the reported errors.
#[derive(SystemParam)]
pub(crate) struct TargetErrors<'w, 's> {
    assets: Res<'w, Assets<ImageAsset>>,
    server: Res<'w, AssetServer>,
    windows: Query<'w, 's, (), With<Window>>,
    manual: Res<'w, ManualTextureViews>,
    pub(crate) gpu: Res<'w, GpuDevice>,
    reported: Local<'s, EntityHashMap<TargetError>>,
}

impl TargetErrors<'_, '_> {
    /// Returns the reason a target has no image; `None` while it is being loaded.
    fn of_missing(&self, target: &RenderTarget) -> Option<TargetError> {
        match target.normalize(None) {
            Some(NormalizedRenderTarget::Image(image)) => self.of_asset(image.handle.id()),
            Some(NormalizedRenderTarget::TextureView(handle)) => {
                let is_there = self.manual.contains_key(&handle);
                (!is_there).then_some(TargetError::MissingManualTextureView(handle.0))
            }
            Some(NormalizedRenderTarget::Window(window)) => {
                let window = window.entity();
                (!self.windows.contains(window)).then_some(TargetError::MissingWindow(window))
            }
            Some(NormalizedRenderTarget::None { .. }) | None => None,
        }
    }

    fn of_asset(&self, id: AssetId<ImageAsset>) -> Option<TargetError> {
        match self.server.load_state(id) {
            LoadState::Failed(_) => Some(TargetError::LoadFailed),
            LoadState::NotLoaded if !self.assets.contains(id) => Some(TargetError::MissingAsset),
            LoadState::NotLoaded | LoadState::Loading | LoadState::Loaded => None,
        }
    }

    /// Returns whether a camera can draw to its target, whose current image is `image`. Warns once per camera and
    /// reason.
    pub(crate) fn check(
        &mut self,
        (camera, target): (Entity, &RenderTarget),
        image: Option<&GpuImage>,
        warnings: &RateLimitedWarnings,
    ) -> bool {
        let error = match image {
            Some(image) => TargetError::of_image(image, &self.gpu),
            None => self.of_missing(target),
        };
        let Some(error) = error else {
            if !self.reported.is_empty() {
                self.reported.remove(&camera);
            }
            return image.is_some();
        };
        if self.reported.get(&camera) == Some(&error) {
            return false;
        }
        let was_logged = warnings.try_warn_message(|| {
            let is_asset = matches!(target, RenderTarget::Image(_));
            let name = match (target, image) {
                (RenderTarget::Image(image), _) => asset_label(image.handle.id(), &self.server),
                (_, Some(image)) => format!("the image `{}`", image.name()),
                _ => format!("{target:?}"),
            };
            let (camera, why) = (entity_name(camera), error.explain(is_asset));
            format!(
                "the view of camera {camera} is not drawn: its render target, {name}, is invalid: {why}"
            )
        });
        if was_logged {
            self.reported.insert(camera, error);
        }
        false
    }

    /// Removes reported errors of despawned cameras.
    pub(crate) fn retain(&mut self, mut exists: impl FnMut(Entity) -> bool) {
        if !self.reported.is_empty() {
            self.reported.retain(|camera, _| exists(*camera));
        }
    }
}
