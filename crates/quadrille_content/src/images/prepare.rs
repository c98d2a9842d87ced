//! Upload of image assets.

use std::borrow::Cow;

use bevy_asset::{
    AssetEvent, AssetId, AssetLoadFailedEvent, AssetPath, AssetServer, Assets, RenderAssetUsages,
};
use bevy_ecs::prelude::*;
use bevy_image::{Image as ImageAsset, ImageSamplerDescriptor};
use quadrille::ecs::describe_texture;
use quadrille::prelude::{GpuDevice, ImageDesc, Uploads};

use super::partial_upload::BudgetLeft;
use super::{DefaultSampler, DeviceImages, UploadBudget, UploadedImage};
use crate::images::samplers::Samplers;

/// Events of image assets since the last frame.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct ImageEvents<'w, 's> {
    changed: MessageReader<'w, 's, AssetEvent<ImageAsset>>,
    failed: MessageReader<'w, 's, AssetLoadFailedEvent<ImageAsset>>,
}

/// Applies image asset events, and uploads within the budget.
pub(crate) fn prepare_images(
    mut events: ImageEvents,
    mut images: ResMut<DeviceImages>,
    mut assets: ResMut<Assets<ImageAsset>>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
    server: Res<AssetServer>,
    settings: (Res<UploadBudget>, Res<DefaultSampler>),
) -> Result {
    let (budget, default_sampler) = settings;
    if images.placeholders.is_none() {
        images.placeholders = Some(placeholders(&gpu, &mut images.samplers, &mut uploads)?);
    }
    for event in events.changed.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                images.pending.mark_changed(id)
            }
            AssetEvent::Removed { id } => images.remove(id),
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
    for event in events.failed.read() {
        // The asset server has logged path and reason. After a failed reload the previous image stays.
        if !images.uploaded.contains_key(&event.id) {
            images.failed.insert(event.id);
        }
    }
    let mut upload = Upload {
        images: &mut images,
        assets: &mut assets,
        uploads: &mut uploads,
        gpu: &gpu,
        server: &server,
        default: &default_sampler,
    };
    for id in upload.images.pending.take_changed() {
        upload.begin(id);
    }
    let mut spent = 0;
    while let Some(id) = upload.images.pending.first() {
        let budget_left = BudgetLeft {
            left: budget.bytes.saturating_sub(spent),
            is_first: spent == 0,
        };
        match upload.continue_upload(id, Some(budget_left)) {
            Some(0) => break,
            bytes => spent += bytes.unwrap_or(0),
        }
    }
    Ok(())
}

/// State of the uploads of a frame.
struct Upload<'a> {
    images: &'a mut DeviceImages,
    assets: &'a mut Assets<ImageAsset>,
    uploads: &'a mut Uploads,
    gpu: &'a GpuDevice,
    server: &'a AssetServer,
    default: &'a DefaultSampler,
}

impl Upload<'_> {
    /// Uploads an added or changed image immediately, or queues it.
    fn begin(&mut self, id: AssetId<ImageAsset>) {
        let Some(desc) = self.describe(id) else {
            return;
        };
        let Some(asset) = self.assets.get(id) else {
            return;
        };
        let images = &mut *self.images;
        if asset.data.is_none() {
            let with = (self.gpu, self.server);
            match images.keep_texels((id, asset), with, self.default, &desc) {
                Ok(false) => {}
                Ok(true) => return images.pending.end(id),
                Err(reason) => return self.fail(id, &reason),
            }
        }
        if images.is_immediate_upload(id, asset, &desc) {
            self.continue_upload(id, None);
        } else {
            images.pending.queue(id);
        }
    }

    /// Uploads an image within the budget, or completely. Returns the uploaded bytes; `None` if there is nothing to
    /// upload.
    fn continue_upload(
        &mut self,
        id: AssetId<ImageAsset>,
        budget_left: Option<BudgetLeft>,
    ) -> Option<usize> {
        let desc = self.describe(id)?;
        let asset = self.assets.get(id)?;
        let to = (self.gpu, &mut *self.uploads);
        match self
            .images
            .continue_upload((id, asset), to, self.default, (&desc, budget_left))
        {
            Ok(bytes) => {
                if !self.images.pending.contains(id) {
                    self.images.release(self.assets, id);
                }
                Some(bytes)
            }
            Err(reason) => {
                self.fail(id, &reason);
                None
            }
        }
    }

    /// Describes the device image of an asset. An image that needs none is removed from the queue.
    fn describe(&mut self, id: AssetId<ImageAsset>) -> Option<ImageDesc> {
        let asset = self.assets.get(id);
        let is_wanted = |it: &&ImageAsset| it.asset_usage.contains(RenderAssetUsages::RENDER_WORLD);
        let Some(asset) = asset.filter(is_wanted) else {
            self.images.pending.end(id);
            return None;
        };
        let label = label(asset.texture_descriptor.label, self.server.get_path(id));
        match describe_texture(asset, &label) {
            Ok(desc) => Some(desc),
            Err(reason) => {
                self.fail(id, &reason);
                None
            }
        }
    }

    fn fail(&mut self, id: AssetId<ImageAsset>, reason: &str) {
        self.images.pending.end(id);
        self.images.fail(id, self.server, reason);
    }
}

/// Debug name of an image: its label, or the path of its asset.
fn label<'a>(label: Option<&'a str>, path: Option<AssetPath<'_>>) -> Cow<'a, str> {
    match (label, path) {
        (Some(label), _) => label.into(),
        (None, Some(path)) => path.to_string().into(),
        (None, None) => "image that the program added".into(),
    }
}

/// Creates the placeholders: a grey checkerboard for loading images, and a bright one for failed images.
fn placeholders(
    gpu: &GpuDevice,
    samplers: &mut Samplers,
    uploads: &mut Uploads,
) -> Result<[UploadedImage; 2], quadrille::vulkan::Error> {
    let sampler = samplers.index(gpu, &ImageSamplerDescriptor::nearest())?;
    let mut make = |name, colors: [[u8; 4]; 2]| {
        let desc = ImageDesc::sampled(name, [8, 8], quadrille::vulkan::Format::R8G8B8A8_SRGB);
        let image = gpu.create_image(&desc)?;
        let texels: Vec<u8> = (0..64)
            .flat_map(|at: usize| colors[(at / 2 + at / 16) % 2])
            .collect();
        uploads.write_image(&image, &texels);
        Ok(UploadedImage {
            image,
            sampler,
            version: 0,
        })
    };
    Ok([
        make(
            "placeholder of a loading image",
            [[110, 110, 110, 160], [140, 140, 140, 160]],
        )?,
        make(
            "placeholder of a failed image",
            [[255, 0, 255, 255], [20, 20, 20, 255]],
        )?,
    ])
}

#[cfg(test)]
mod tests;
