//! bevy's glTF loader with prior validation, on a larger stack.
//!
//! bevy_gltf trusts files: nodes are loaded recursively on a 2 MiB stack, which 200 nested ones overflow in debug
//! builds; embedded images are decoded regardless of size; buffers are read from any path; a panic leaves the asset
//! loading forever. Validation rejects such files, and remaining panics become load errors.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, Builder};

use async_lock::OnceCell;
use bevy_app::{App, Plugin};
use bevy_asset::io::Reader;
use bevy_asset::{
    AssetApp as _, AssetLoader, AssetPath, AssetPlugin, AsyncReadExt as _, LoadContext,
    UnapprovedPathMode,
};
use bevy_ecs::prelude::*;
use bevy_gltf::extensions::GltfExtensionHandlers;
use bevy_gltf::gltf::json::Root;
use bevy_gltf::gltf::{self, json};
use bevy_gltf::{
    DefaultGltfImageSampler, Gltf, GltfAssetLabel, GltfError, GltfLoader, GltfLoaderSettings,
    GltfPlugin,
};
use bevy_image::Image;
use bevy_reflect::Reflect;
use bevy_reflect::TypePath;
use bevy_reflect::prelude::ReflectDefault;
use quadrille::ecs::{AssetFolder, CheckedImageError, EmbeddedImages};
use thiserror::Error;

use super::buffers::Buffers;
use super::{geometry, images, nodes};

/// Limits of glTF files, checked before memory is allocated. Insert the resource before the app runs to override the
/// defaults. [`ImageLimits`](quadrille::ecs::ImageLimits) apply to single embedded images.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct GltfLimits {
    /// Maximum bytes of a file, and of each of its buffers.
    pub file_bytes: u64,
    /// Maximum bytes of all loaded images, vertices, keyframes and entities of a file. `None`: 1 GiB, or 64 times the
    /// size of the file and its buffers if that is more.
    pub loaded_bytes: Option<u64>,
    /// Maximum nesting depth of nodes. The loader's stack allows 512.
    pub node_depth: u32,
}

impl Default for GltfLimits {
    /// 1 GiB, and nodes 256 deep.
    fn default() -> Self {
        Self {
            file_bytes: 1 << 30,
            loaded_bytes: None,
            node_depth: 256,
        }
    }
}

impl GltfLimits {
    fn loaded_bytes(&self, file_bytes: u64) -> u64 {
        let default = || file_bytes.saturating_mul(64).max(1 << 30);
        self.loaded_bytes.unwrap_or_else(default)
    }
}

/// Stack size of the loader in bytes: a nested node takes about 10 KiB in debug builds.
const STACK: usize = 16 << 20;

/// Required extensions that the `gltf` crate does not support, but the handler does.
const HANDLED: [&str; 1] = ["KHR_mesh_quantization"];

/// Error of a rejected glTF file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckedGltfError {
    /// The file is invalid or exceeds the limits.
    #[error("{0}")]
    Refused(String),
    /// An embedded image is rejected.
    #[error("texture {texture}: {error}")]
    Image {
        /// Index of a texture with the image.
        texture: usize,
        /// Error of the image.
        error: CheckedImageError,
    },
    /// bevy's loader failed.
    #[error(transparent)]
    Load(#[from] GltfError),
    /// The loader panicked.
    #[error("the glTF loader panicked, so the file is probably invalid: {0}")]
    Panicked(String),
}

impl From<std::io::Error> for CheckedGltfError {
    fn from(error: std::io::Error) -> Self {
        Self::Load(error.into())
    }
}

/// Replaces bevy's loader by the validating one. Add it after `GltfPlugin`.
pub(super) struct CheckedGltfPlugin;

/// State of the loader that is available once all plugins are finished.
struct Parts {
    loader: GltfLoader,
    images: EmbeddedImages,
    limits: GltfLimits,
    folder: AssetFolder,
    allows_outside: bool,
}

/// Cell of [`Parts`] that loads wait for.
#[derive(Resource, Clone)]
struct Pending(Arc<OnceCell<Parts>>);

impl Plugin for CheckedGltfPlugin {
    /// Claims the preregistration of the file extensions by `GltfPlugin`. bevy's loader, which it registers later, is
    /// preregistered without extensions.
    fn build(&self, app: &mut App) {
        let pending = Pending(Arc::default());
        app.register_asset_loader(CheckedGltfLoader(Arc::clone(&pending.0)))
            .preregister_asset_loader::<GltfLoader>(&[])
            .insert_resource(pending);
    }

    /// Replaces bevy's loader by name, for meta files, and completes [`Parts`].
    fn finish(&self, app: &mut App) {
        let Some(Pending(pending)) = app.world_mut().remove_resource() else {
            return;
        };
        app.preregister_asset_loader::<CheckedGltfLoader>(&[])
            .register_asset_loader(CheckedGltfLoader(Arc::clone(&pending)));
        if let Some(parts) = parts(app) {
            let _ = pending.set_blocking(parts);
        }
    }
}

fn parts(app: &App) -> Option<Parts> {
    let world = app.world();
    let images = world.resource::<EmbeddedImages>().clone();
    let plugins = app.get_added_plugins::<GltfPlugin>();
    let plugin = plugins.first()?;
    let assets = app.get_added_plugins::<AssetPlugin>();
    let mode = assets.first().map(|it| it.unapproved_path_mode);
    let loader = GltfLoader {
        supported_compressed_formats: images.compressed_formats(),
        custom_vertex_attributes: plugin.custom_vertex_attributes.clone(),
        default_sampler: world.resource::<DefaultGltfImageSampler>().get_internal(),
        default_convert_coordinates: plugin.convert_coordinates,
        extensions: Arc::clone(&world.resource::<GltfExtensionHandlers>().0),
        default_skinned_mesh_bounds_policy: plugin.skinned_mesh_bounds_policy,
        default_mesh_compression: plugin.mesh_compression.clone(),
    };
    Some(Parts {
        loader,
        images,
        limits: world.get_resource().copied().unwrap_or_default(),
        folder: AssetFolder::of(app),
        allows_outside: matches!(mode, Some(UnapprovedPathMode::Allow)),
    })
}

/// bevy's loader with prior validation.
struct CheckedGltfLoader(Arc<OnceCell<Parts>>);

impl TypePath for CheckedGltfLoader {
    /// Type path of bevy's loader, which this one replaces in meta files.
    fn type_path() -> &'static str {
        GltfLoader::type_path()
    }

    fn short_type_path() -> &'static str {
        GltfLoader::short_type_path()
    }
}

impl AssetLoader for CheckedGltfLoader {
    type Asset = Gltf;
    type Settings = GltfLoaderSettings;
    type Error = CheckedGltfError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &GltfLoaderSettings,
        load_context: &mut LoadContext<'_>,
    ) -> Result<Gltf, CheckedGltfError> {
        let parts = self.0.wait().await;
        let mut bytes = Vec::new();
        let limit = parts.limits.file_bytes;
        reader
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .await?;
        if bytes.len() as u64 > limit {
            return Err(file_too_large(limit));
        }
        poll_on_large_stack(parts.load(&bytes, settings, load_context)).await?
    }

    fn extensions(&self) -> &[&str] {
        &["gltf", "glb"]
    }
}

pub(super) fn file_too_large(limit: u64) -> CheckedGltfError {
    CheckedGltfError::Refused(format!(
        "the file or one of its buffers exceeds the limit of {limit} bytes, which \
         `GltfLimits::file_bytes` sets"
    ))
}

impl Parts {
    /// Loads a validated file.
    async fn load(
        &self,
        bytes: &[u8],
        settings: &GltfLoaderSettings,
        load_context: &mut LoadContext<'_>,
    ) -> Result<Gltf, CheckedGltfError> {
        let coded = self.check(bytes, settings, load_context).await?;
        let settings = resolved(settings, &self.loader);
        let gltf = GltfLoader::load_gltf(&self.loader, bytes, load_context, &settings).await?;
        for (texture, file) in coded {
            make_linear(&self.images, load_context, texture, &file);
        }
        Ok(gltf)
    }

    /// Checks a file against the limits. Returns the sRGB textures whose embedded images have 16 bits per channel, with
    /// the encoded images.
    async fn check(
        &self,
        bytes: &[u8],
        settings: &GltfLoaderSettings,
        load_context: &mut LoadContext<'_>,
    ) -> Result<Vec<(usize, Vec<u8>)>, CheckedGltfError> {
        let file = gltf::Gltf::from_slice_without_validation(bytes).map_err(GltfError::from)?;
        if settings.validate {
            validate(file.document.as_json())?;
        }
        let refused = CheckedGltfError::Refused;
        let root = file.document.as_json();
        let mut loaded = nodes::check(root, self.limits.node_depth).map_err(refused)?;
        let limit = self.limits.file_bytes;
        let may_read = |what: &str, path: &AssetPath<'_>| self.may_read(what, path);
        let blob = file.blob.as_deref();
        let buffers = Buffers::read(root, blob, limit, may_read, load_context).await?;
        let most = self
            .limits
            .loaded_bytes(bytes.len() as u64 + buffers.bytes());
        geometry::check(root, &buffers).map_err(refused)?;
        loaded = loaded.saturating_add(geometry::loaded_bytes(root));
        within(loaded, most)?;
        let (pixels, coded) = images::check(&file.document, &buffers, &self.images)?;
        within(loaded.saturating_add(pixels), most)?;
        Ok(coded)
    }
}

impl Parts {
    /// Checks that a buffer may be read from a path.
    fn may_read(&self, what: &str, path: &AssetPath<'_>) -> Result<(), CheckedGltfError> {
        if path.is_unapproved() && !self.allows_outside {
            return Err(CheckedGltfError::Refused(format!(
                "{what} is in `{path}`, outside of the folder of assets; move it into the folder"
            )));
        }
        self.folder.check(path).map_err(CheckedGltfError::from)
    }
}

fn within(loaded: u64, most: u64) -> Result<(), CheckedGltfError> {
    if loaded <= most {
        return Ok(());
    }
    Err(CheckedGltfError::Refused(format!(
        "the file takes {loaded} bytes once it is loaded, more than the limit of {most}; \
         `GltfLimits::loaded_bytes` sets another"
    )))
}

/// Validates a file like the `gltf` crate, but allows the extensions in [`HANDLED`].
fn validate(root: &Root) -> Result<(), CheckedGltfError> {
    use json::validation::{Error, Validate as _};
    let mut errors = Vec::new();
    root.validate(root, json::Path::new, &mut |path, error| {
        let path = path();
        let is_handled = error == Error::Unsupported
            && path.as_str().starts_with("extensionsRequired")
            && HANDLED.iter().any(|it| path.as_str().contains(it));
        if !is_handled {
            errors.push((path, error));
        }
    });
    if errors.is_empty() {
        Ok(())
    } else {
        Err(GltfError::Gltf(gltf::Error::Validation(errors)).into())
    }
}

/// Resolves the settings of a load with the app's defaults. The `gltf` crate's validation is disabled, since the file
/// is already validated.
fn resolved(settings: &GltfLoaderSettings, loader: &GltfLoader) -> GltfLoaderSettings {
    let convert = settings.convert_coordinates;
    GltfLoaderSettings {
        load_meshes: settings.load_meshes,
        load_materials: settings.load_materials,
        load_cameras: settings.load_cameras,
        load_lights: settings.load_lights,
        load_animations: settings.load_animations,
        include_source: settings.include_source,
        default_sampler: settings.default_sampler.clone(),
        override_sampler: settings.override_sampler,
        validate: false,
        convert_coordinates: Some(convert.unwrap_or(loader.default_convert_coordinates)),
        skinned_mesh_bounds_policy: settings.skinned_mesh_bounds_policy,
        mesh_compression: settings.mesh_compression.clone(),
    }
}

/// Converts an embedded image with 16 bits per channel from sRGB to linear values.
fn make_linear(
    images: &EmbeddedImages,
    load_context: &mut LoadContext<'_>,
    texture: usize,
    file: &[u8],
) {
    let label = GltfAssetLabel::Texture(texture).to_string();
    let added = load_context.get_labeled(&label);
    if let Some(image) = added.and_then(|it| it.get::<Image>()) {
        let mut image = image.clone();
        images.linear(&mut image, file);
        load_context.add_labeled_asset(label, image);
    }
}

/// Polls a future on threads with a stack of [`STACK`] bytes; each poll blocks until its thread returns. A panic is
/// returned as an error.
async fn poll_on_large_stack<T: Send>(
    future: impl Future<Output = T> + Send,
) -> Result<T, CheckedGltfError> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let waker = context.waker().clone();
        let poll = AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker)));
        let polled = thread::scope(|scope| {
            let builder = Builder::new().name("glTF".to_owned()).stack_size(STACK);
            Ok::<_, CheckedGltfError>(builder.spawn_scoped(scope, poll)?.join())
        });
        match polled {
            Ok(Ok(Poll::Pending)) => Poll::Pending,
            Ok(Ok(Poll::Ready(value))) => Poll::Ready(Ok(value)),
            Ok(Err(panic)) => Poll::Ready(Err(CheckedGltfError::Panicked(message(&*panic)))),
            Err(error) => Poll::Ready(Err(error)),
        }
    })
    .await
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "it does not say why".to_owned()
    }
}

#[cfg(test)]
mod tests;
