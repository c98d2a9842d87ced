//! [`ContentPlugin`].

use bevy_app::{App, Last, Plugin, PostStartup, PostUpdate};
use bevy_asset::{AssetApp as _, AssetEventSystems, AssetPlugin, AssetServer, Assets};
use bevy_camera::visibility::VisibilitySystems;
use bevy_camera::{CameraPlugin, CameraUpdateSystems};
use bevy_ecs::prelude::*;
use bevy_image::{Image, ImagePlugin, ImageSamplerDescriptor};
use bevy_mesh::MeshPlugin;
use bevy_transform::{TransformPlugin, TransformSystems};
use quadrille::ecs::{ImageLimits, RenderStartup, TexturePlugin, expect_renderer};
use quadrille::material::ShaderBuffer;
use quadrille::prelude::{Render, RenderSystems};

use crate::cameras::msaa::Msaa;
use crate::cameras::projection::{
    ClampedViewports, InvalidCameras, find_invalid_cameras, update_cameras,
};
use crate::cameras::target::ManualTextureViews;
use crate::cameras::unsupported_fields::warn_unsupported_fields;
use crate::images::{DefaultSampler, DeviceImages, UploadBudget, prepare_images};
use crate::lines::{GizmoLineBatches, init_gizmo_lines, publish_shader_modules};
use crate::materials::buffers::{ShaderBuffers, mark_shader_buffers_dirty, upload_shader_buffers};
use crate::meshes::assets::{DrawnMeshes, release_meshes};
use crate::schedule::ContentSystems;
use crate::shaders::add_shader_assets;
use crate::views::{CameraOverlays, CameraTargets, CameraViews, extract_cameras};
use crate::warnings::{RateLimitedWarnings, log_warnings};

/// Shared plugin of 2D and 3D, added by their plugins: adds missing plugins of bevy (asset, image, mesh, camera,
/// transform), camera systems and image uploads.
#[derive(Clone, Debug)]
pub struct ContentPlugin {
    /// Asset folder, relative to the project. Ignored if the app has an `AssetPlugin` or a [`TexturePlugin`].
    pub asset_folder: String,
    /// Sampler of images with `ImageSampler::Default`: linear, or nearest for pixel art. Ignored if the app has an
    /// `ImagePlugin`.
    pub default_sampler: ImageSamplerDescriptor,
    /// Limits of image sizes. Ignored if the app has a [`TexturePlugin`].
    pub image_limits: ImageLimits,
}

impl Default for ContentPlugin {
    fn default() -> Self {
        Self {
            asset_folder: AssetPlugin::default().file_path,
            default_sampler: ImageSamplerDescriptor::linear(),
            image_limits: ImageLimits::default(),
        }
    }
}

impl Plugin for ContentPlugin {
    fn build(&self, app: &mut App) {
        self.add_bevy_plugins(app);
        add_shader_assets(app);
        add_buffer_assets(app);
        // `ImagePlugin` may have been added by the program or by another plugin.
        let image_plugin = app.get_added_plugins::<ImagePlugin>();
        let default_sampler = image_plugin.first().map(|plugin| &plugin.default_sampler);
        let default_sampler = default_sampler.unwrap_or(&self.default_sampler).clone();
        app.insert_resource(DefaultSampler(default_sampler))
            .init_resource::<DeviceImages>()
            .init_resource::<DrawnMeshes>()
            .init_resource::<ShaderBuffers>()
            .init_resource::<RateLimitedWarnings>()
            .init_resource::<InvalidCameras>()
            .init_resource::<ClampedViewports>()
            .init_resource::<CameraTargets>()
            .init_resource::<CameraOverlays>()
            .init_resource::<CameraViews>()
            .init_resource::<ManualTextureViews>()
            .init_resource::<GizmoLineBatches>()
            .init_resource::<UploadBudget>()
            .register_type::<UploadBudget>()
            .register_type::<Msaa>();
        // The first pipeline that imports a missing module fails.
        if let Err(error) = publish_shader_modules() {
            tracing::error!("shader modules of quadrille_content: {error}");
        }
        let cameras = || {
            update_cameras
                .in_set(CameraUpdateSystems)
                .before(AssetEventSystems)
                .before(VisibilitySystems::UpdateFrusta)
        };
        app.add_systems(PostStartup, cameras()).add_systems(
            PostUpdate,
            (
                cameras(),
                warn_unsupported_fields.after(CameraUpdateSystems),
                find_invalid_cameras
                    .in_set(ContentSystems::CheckCameras)
                    .after(CameraUpdateSystems)
                    .after(TransformSystems::Propagate)
                    .before(VisibilitySystems::UpdateFrusta),
            ),
        );
        app.configure_sets(
            Render,
            (
                (ContentSystems::Images, ContentSystems::Views)
                    .chain()
                    .in_set(RenderSystems::Declare),
                ContentSystems::Meshes.in_set(RenderSystems::Declare),
                (ContentSystems::Draw3d, ContentSystems::Draw2d).chain(),
            ),
        )
        .add_systems(
            RenderStartup,
            (mark_all_dirty, mark_shader_buffers_dirty, init_gizmo_lines),
        )
        .add_systems(
            Render,
            (
                (prepare_images, upload_shader_buffers).in_set(ContentSystems::Images),
                extract_cameras.in_set(ContentSystems::Views),
                release_meshes
                    .in_set(RenderSystems::Declare)
                    .after(ContentSystems::Meshes),
                log_warnings.after(ContentSystems::Draw2d),
            ),
        )
        // Also logs the warnings of frames that are not rendered.
        .add_systems(Last, log_warnings);
    }

    fn finish(&self, app: &mut App) {
        expect_renderer(app, "ContentPlugin");
        #[cfg(feature = "gizmos")]
        crate::lines::add_gizmos(app);
    }
}

fn add_buffer_assets(app: &mut App) {
    app.init_asset::<ShaderBuffer>()
        .register_asset_reflect::<ShaderBuffer>();
}

impl ContentPlugin {
    fn add_bevy_plugins(&self, app: &mut App) {
        let textures = TexturePlugin {
            asset_folder: self.asset_folder.clone(),
            default_sampler: self.default_sampler.clone(),
            limits: self.image_limits,
        };
        add_plugin_if_missing(app, TransformPlugin);
        add_plugin_if_missing(app, textures);
        add_plugin_if_missing(app, MeshPlugin);
        add_plugin_if_missing(app, CameraPlugin);
    }
}

/// Adds a plugin unless the app already has it.
pub fn add_plugin_if_missing<P: Plugin>(app: &mut App, plugin: P) {
    if !app.is_plugin_added::<P>() {
        app.add_plugins(plugin);
    }
}

/// Marks all device data for re-upload after a lost device.
fn mark_all_dirty(
    assets: Res<Assets<Image>>,
    server: Res<AssetServer>,
    mut images: ResMut<DeviceImages>,
) {
    images.mark_all_dirty(&assets, &server);
}
