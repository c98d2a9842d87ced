//! Render targets of cameras.

pub(crate) mod error;

use bevy_asset::AssetId;
use bevy_camera::{ManualTextureViewHandle, NormalizedRenderTarget, RenderTarget};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_platform::collections::HashMap;
use bevy_window::PrimaryWindow;
use quadrille::prelude::{GpuImage, PrimaryWindowImage, WindowImage};

use crate::images::DeviceImages;

/// Images of the app as render targets: a camera with `RenderTarget::TextureView(ManualTextureViewHandle(7))`
/// draws to the image with handle 7.
///
/// The image needs [`ImageUsage::COLOR_ATTACHMENT`](quadrille::prelude::ImageUsage). Also keep it in a resource
/// of your own, through which a post-processing pass can read it.
///
/// ```
/// use bevy_camera::{ManualTextureViewHandle, RenderTarget};
/// use bevy_derive::Deref;
/// use bevy_ecs::prelude::*;
/// use quadrille::prelude::*;
/// use quadrille::vulkan::Format;
/// use quadrille_content::cameras::ManualTextureViews;
/// use bevy_camera::Camera2d;
///
/// #[derive(Resource, Deref)]
/// struct Scene(GpuImage);
///
/// const SCENE: ManualTextureViewHandle = ManualTextureViewHandle(0);
///
/// fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut targets: ResMut<ManualTextureViews>) -> Result {
///     let desc = ImageDesc::color_target("scene", [640, 360], Format::R16G16B16A16_SFLOAT);
///     let scene = gpu.create_image(&desc)?;
///     targets.insert(SCENE, scene.clone());
///     commands.insert_resource(Scene(scene));
///     commands.spawn((Camera2d, RenderTarget::TextureView(SCENE)));
///     Ok(())
/// }
///
/// fn develop(mut recorder: Recorder, scene: Sampled<Scene>, window: ColorTarget<PrimaryWindowImage>) {
///     // draws the scene to the window
/// }
/// ```
#[derive(Resource, Default, Deref, DerefMut)]
pub struct ManualTextureViews(pub HashMap<ManualTextureViewHandle, GpuImage>);

/// Resolves render targets to images.
#[derive(bevy_ecs::system::SystemParam)]
pub struct TargetImages<'w, 's> {
    primary: Query<'w, 's, Entity, With<PrimaryWindow>>,
    window: Option<Res<'w, PrimaryWindowImage>>,
    windows: Query<'w, 's, &'static WindowImage>,
    manual: Res<'w, ManualTextureViews>,
}

impl TargetImages<'_, '_> {
    /// Returns the image of a render target, and its asset if it is one; `None` while there is no image.
    pub fn find(
        &self,
        target: &RenderTarget,
        images: &DeviceImages,
    ) -> Option<(GpuImage, Option<AssetId<ImageAsset>>)> {
        let primary = self.primary.iter().next();
        let window = || Some(((***self.window.as_ref()?).clone(), None));
        match target.normalize(primary) {
            None => matches!(target, RenderTarget::Window(_)).then(window)?,
            Some(NormalizedRenderTarget::Window(reference)) => {
                let entity = reference.entity();
                if Some(entity) == primary {
                    return window();
                }
                let image = self.windows.get(entity).ok()?;
                Some(((**image).clone(), None))
            }
            Some(NormalizedRenderTarget::Image(target)) => {
                let id = target.handle.id();
                Some((images.image(id)?.clone(), Some(id)))
            }
            Some(NormalizedRenderTarget::TextureView(id)) => {
                Some((self.manual.get(&id)?.clone(), None))
            }
            Some(NormalizedRenderTarget::None { .. }) => None,
        }
    }
}
