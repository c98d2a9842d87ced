//! Adding textures to an app.

use bevy_app::{App, Plugin, PostUpdate, TaskPoolOptions, TaskPoolPlugin};
use bevy_asset::io::file::FileAssetReader;
use bevy_asset::io::{AssetSourceBuilders, AssetSourceId};
use bevy_asset::{AssetApp as _, AssetEventSystems, AssetPlugin};
use bevy_ecs::prelude::*;
use bevy_image::{CompressedImageFormatSupport, ImagePlugin, ImageSamplerDescriptor};

use super::checks::EmbeddedImages;
use super::files::{AssetFileRules, AssetFolder, checked_asset_source, reads_outside};
use super::load::{Textures, follow};
use super::loader::{CheckedImageLoader, DeviceLimits, ImageLimits};
use crate::app::plugin::{StartError, refuse};
use crate::gpu_device::GpuDevice;
use crate::schedule::RenderStartup;

/// Loads image files, PNG and KTX2 among them, and makes [`LoadTexture`](super::LoadTexture) work.
///
/// Add it after [`QuadrillePlugins`](crate::QuadrillePlugins). It adds bevy's asset and image plugins if
/// they are not there yet; one that is there keeps what it was set to. Other kinds of files are loaded
/// where a feature of bevy_image is on, `jpeg` for instance.
///
/// ```no_run
/// use bevy_app::{App, AppExit};
/// use quadrille_ecs::{QuadrillePlugins, TexturePlugin};
///
/// fn main() -> AppExit {
///     App::new()
///         .add_plugins((QuadrillePlugins, TexturePlugin::default()))
///         .run()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TexturePlugin {
    /// The folder of assets, relative to the project, unless the app has an `AssetPlugin`.
    pub asset_folder: String,
    /// The sampler of images that name none, for crates that draw images with the samplers that
    /// these name. Where the app has an `ImagePlugin`, its sampler counts.
    pub default_sampler: ImageSamplerDescriptor,
    /// How large images may be.
    pub limits: ImageLimits,
}

impl Default for TexturePlugin {
    fn default() -> Self {
        Self {
            asset_folder: AssetPlugin::default().file_path,
            default_sampler: ImageSamplerDescriptor::linear(),
            limits: ImageLimits::default(),
        }
    }
}

impl Plugin for TexturePlugin {
    fn build(&self, app: &mut App) {
        // Another plugin, such as `Quadrille3dPlugin`, added one: bevy panics at the second of a unique plugin.
        let is_first_equal = app
            .get_added_plugins::<Self>()
            .first()
            .map(|first| *first == self);
        match is_first_equal {
            None => {}
            Some(true) => return,
            Some(false) => return refuse(app, &StartError::LateTextures),
        }
        if !app.is_plugin_added::<AssetPlugin>() {
            if !app.is_plugin_added::<TaskPoolPlugin>() {
                // `AssetPlugin` panics without pools, and adding their plugin here would make a later one of the
                // program's a duplicate, which panics too. A later plugin keeps the pools that exist.
                TaskPoolOptions::default().create_default_pools();
            }
            self.add_source(app);
            let folder = FileAssetReader::get_base_path().join(&self.asset_folder);
            app.add_plugins(AssetPlugin {
                file_path: self.asset_folder.clone(),
                // A folder that does not exist cannot be watched, which is no reason for a warning.
                watch_for_changes_override: (!folder.exists()).then_some(false),
                ..AssetPlugin::default()
            });
        } else if reads_outside(app) {
            tracing::warn!(
                "assets are read by a reader that follows paths out of their folder and waits for pipes, since \
                 `AssetPlugin` was added before Quadrille's plugins: `AssetFileRules` hold for images and the \
                 buffers of glTF files alone. Let Quadrille's plugins add it, or register \
                 `checked_asset_source` before it"
            );
        }
        if !app.is_plugin_added::<ImagePlugin>() {
            let sampler = self.default_sampler.clone();
            app.add_plugins(ImagePlugin::default().with_default_sampler(sampler));
        }
        let device = DeviceLimits::default();
        if let Some(gpu) = app.world().get_resource::<GpuDevice>() {
            device.set(gpu);
        }
        // Other loaders of bevy's look for it when the app is finished.
        app.insert_resource(CompressedImageFormatSupport(device.formats()));
        let folder = AssetFolder::of(app);
        app.register_asset_loader(CheckedImageLoader::new(self.limits, device.clone(), folder))
            .insert_resource(EmbeddedImages::new(self.limits, device.clone()))
            .insert_resource(device)
            .init_resource::<Textures>()
            .add_systems(RenderStartup, set_limits)
            .add_systems(PostUpdate, follow.after(AssetEventSystems));
    }

    // The renderer may have been added after this plugin; bevy's loaders, which look for the formats in their
    // own `finish`, come later.
    fn finish(&self, app: &mut App) {
        let world = app.world();
        if let (Some(device), Some(gpu)) = (
            world.get_resource::<DeviceLimits>().cloned(),
            world.get_resource::<GpuDevice>(),
        ) {
            device.set(gpu);
            app.insert_resource(CompressedImageFormatSupport(device.formats()));
        }
    }

    fn is_unique(&self) -> bool {
        false
    }
}

impl TexturePlugin {
    /// Has files read by [`AssetFileRules`], unless the app has a default source of its own.
    fn add_source(&self, app: &mut App) {
        let rules = *app.world_mut().get_resource_or_init::<AssetFileRules>();
        let mut sources = app
            .world_mut()
            .get_resource_or_init::<AssetSourceBuilders>();
        if sources.get_mut(AssetSourceId::Default).is_none() {
            let source = checked_asset_source(&self.asset_folder, rules);
            sources.insert(AssetSourceId::Default, source);
        }
    }
}

/// Loaders go by the device that there is now.
fn set_limits(limits: Res<DeviceLimits>, gpu: Res<GpuDevice>) {
    limits.set(&gpu);
}
