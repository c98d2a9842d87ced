//! Plugin that loads textures.

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

/// Loads image files, including PNG and KTX2, for [`LoadTexture`](super::LoadTexture).
///
/// Add it after [`QuadrillePlugins`](crate::QuadrillePlugins). It adds bevy's asset and image plugins if they are
/// missing; existing ones keep their settings. Other file formats need features of bevy_image, such as `jpeg`.
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
    /// Asset folder relative to the project; ignored if the app already has an `AssetPlugin`.
    pub asset_folder: String,
    /// Default sampler of images, for crates that draw images with their own samplers. If the app already has an
    /// `ImagePlugin`, its sampler applies.
    pub default_sampler: ImageSamplerDescriptor,
    /// Limits of image sizes.
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
        // Another plugin, such as `Quadrille3dPlugin`, may have added one, and bevy panics if a unique plugin is added
        // twice.
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
                // `AssetPlugin` panics without task pools. Adding `TaskPoolPlugin` here would make a later one of the
                // program a duplicate, which panics too. A later plugin keeps existing pools.
                TaskPoolOptions::default().create_default_pools();
            }
            self.add_source(app);
            let folder = FileAssetReader::get_base_path().join(&self.asset_folder);
            app.add_plugins(AssetPlugin {
                file_path: self.asset_folder.clone(),
                // Watching a missing folder would log a warning.
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
        // Other loaders of bevy read this resource in `finish`.
        app.insert_resource(CompressedImageFormatSupport(device.formats()));
        let folder = AssetFolder::of(app);
        app.register_asset_loader(CheckedImageLoader::new(self.limits, device.clone(), folder))
            .insert_resource(EmbeddedImages::new(self.limits, device.clone()))
            .insert_resource(device)
            .init_resource::<Textures>()
            .add_systems(RenderStartup, set_limits)
            .add_systems(PostUpdate, follow.after(AssetEventSystems));
    }

    // The renderer may have been added after this plugin, so its device is read here. bevy's loaders read the formats
    // in their own `finish`, which runs later.
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
    /// Adds an asset source that enforces [`AssetFileRules`], unless the app has a default source of its own.
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

/// Updates the loaders' limits to those of the current device.
fn set_limits(limits: Res<DeviceLimits>, gpu: Res<GpuDevice>) {
    limits.set(&gpu);
}
