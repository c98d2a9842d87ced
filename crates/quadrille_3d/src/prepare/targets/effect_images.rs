//! Additional images of views whose cameras have effects.

use bevy_derive::Deref;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, ImageUsage};
use quadrille::vulkan::{Error, Format};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use super::{PreviousImages, SceneImages, layer_format, take};
use crate::prepare::view_colors::ColorPair;
use crate::scene::camera_history::CameraHistory;
use crate::scene::formats::{COLOR, DEPTH};
use crate::scene::frame::{View3d, ViewOutput};
use crate::scene::lists::QueuedView;

/// Copies of targets, for effects of cameras that keep the target's contents.
#[derive(Resource, Default, Deref)]
pub struct TargetCopies(Vec<GpuImage>);

/// Depth images of the previous frame, of views with valid history, by [`View3d::previous_depth`].
#[derive(Resource, Default, Deref)]
pub struct PreviousDepths3d(Vec<GpuImage>);

/// Depth images of cameras with effects that read the depth of the previous frame.
#[derive(Resource, Default)]
pub(crate) struct DepthHistories(EntityHashMap<DepthHistory>);

impl DepthHistories {
    /// Drops the images of a lost device.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Two depth images, swapped from frame to frame.
struct DepthHistory {
    current: GpuImage,
    previous: GpuImage,
    is_valid: bool,
    /// Whether the camera is in this frame.
    is_listed: bool,
}

impl DepthHistory {
    fn new(gpu: &GpuDevice, desc: &ImageDesc) -> Result<Self, Error> {
        Ok(Self {
            current: gpu.create_image(desc)?,
            previous: gpu.create_image(desc)?,
            is_valid: false,
            is_listed: false,
        })
    }
}

impl SceneImages<'_> {
    /// Begins a frame. Returns the copies of targets of the previous one, for reuse.
    pub(super) fn begin_effects(&mut self) -> Vec<GpuImage> {
        self.previous_depths.0.clear();
        let histories = &mut self.depth_histories.0;
        histories.values_mut().for_each(|it| it.is_listed = false);
        std::mem::take(&mut self.copies.0)
    }

    /// Adds an image for a copy of the target, for a view whose effects read the contents of the target. Returns its
    /// index; `None` if the view has a background or no such effects, or if the target cannot be copied.
    pub(super) fn copy_target(
        &mut self,
        previous: &mut PreviousImages<'_>,
        view: &QueuedView,
        target: &GpuImage,
        warnings: &RateLimitedWarnings,
    ) -> Option<u32> {
        let is_read = view.effects.replaces_color() || view.needs_scene_color();
        if view.background.is_some() || !is_read {
            return None;
        }
        let camera = || entity_name(view.camera);
        if !target.desc().usage.contains(ImageUsage::TRANSFER_SRC) {
            warnings.warn_message(|| {
                format!(
                    "effects of the camera {} do not see what earlier cameras drew: its target `{}` was created \
                     without `ImageUsage::TRANSFER_SRC`. Add it to `ImageDesc::usage`.",
                    camera(),
                    target.desc().name
                )
            });
            return None;
        }
        let [width, height, _] = target.extent();
        let desc = ImageDesc::sampled("3d copy of target", [width, height], target.format());
        match take(previous.gpu, &mut previous.copies, &desc.transient()) {
            Ok(image) => {
                self.copies.0.push(image);
                Some(self.copies.len() as u32 - 1)
            }
            Err(error) => {
                warnings.warn_message(|| {
                    format!(
                        "effects of the camera {} do not see what earlier cameras drew: {error}",
                        camera()
                    )
                });
                None
            }
        }
    }

    /// Returns the depth image of a view, and the index of that of the previous frame in [`PreviousDepths3d`].
    pub(super) fn depth(
        &mut self,
        previous: &mut PreviousImages<'_>,
        view: &QueuedView,
        samples: u32,
    ) -> Result<(GpuImage, Option<u32>), Error> {
        let [width, height] = view.size;
        let mut desc = ImageDesc {
            samples,
            ..ImageDesc::depth("3d depth", [width, height], DEPTH)
        };
        if view.prepass.depth {
            desc = desc.with_usage(ImageUsage::TRANSFER_SRC);
        }
        if !view.effects.depth_history {
            let depth = take(previous.gpu, &mut previous.depths, &desc.transient())?;
            return Ok((depth, None));
        }
        let histories = &mut self.depth_histories.0;
        let known = histories.remove(&view.camera);
        let mut history = match known.filter(|it| it.current.desc() == &desc) {
            Some(mut history) => {
                let camera = self.histories.get(view.camera);
                if camera.is_some_and(CameraHistory::has_advanced) {
                    std::mem::swap(&mut history.current, &mut history.previous);
                    history.is_valid = true;
                }
                history.is_valid &= camera.is_some_and(CameraHistory::is_valid);
                history
            }
            None => DepthHistory::new(previous.gpu, &desc)?,
        };
        history.is_listed = true;
        let previous_depth = history.is_valid.then(|| {
            self.previous_depths.0.push(history.previous.clone());
            self.previous_depths.0.len() as u32 - 1
        });
        let depth = history.current.clone();
        histories.insert(view.camera, history);
        Ok((depth, previous_depth))
    }

    /// Adds the color images that effects write. Effects of a view without them are skipped.
    pub(super) fn add_effect_colors(
        &mut self,
        views: &[View3d],
        previous: &mut PreviousImages<'_>,
        warnings: &RateLimitedWarnings,
    ) {
        self.depth_histories.0.retain(|_, it| it.is_listed);
        self.current.clear();
        for view in views {
            let mut pair = ColorPair::new(view);
            let is_needed = view.queued.effects.replaces_color()
                || (view.is_scaled() && view.is_scene_referred());
            if is_needed && let Err(error) = self.add_pair(&mut pair, view, previous) {
                warnings.warn_message(|| {
                    let camera = entity_name(view.camera());
                    format!("effects of the camera {camera} are skipped: {error}")
                });
            }
            self.current.push(pair);
        }
    }

    fn add_pair(
        &mut self,
        pair: &mut ColorPair,
        view: &View3d,
        previous: &mut PreviousImages<'_>,
    ) -> Result<(), Error> {
        let output_size = view.output_size();
        let mut add = |name, format, size| {
            let desc = effect_color_desc(name, size, format);
            let image = take(previous.gpu, &mut previous.colors, &desc)?;
            self.colors.0.push(image);
            Ok(self.colors.0.len() as u32 - 1)
        };
        let effects = view.queued.effects;
        if view.output != ViewOutput::SceneReferred {
            pair.other = Some(add("3d second color", view.format, view.size())?);
            return Ok(());
        }
        if effects.scene_color {
            pair.other = Some(add("3d second color", COLOR, view.size())?);
        }
        if view.is_upscaled() {
            let first = add("3d upscaled color", COLOR, output_size)?;
            pair.upscaled = Some([first, add("3d second upscaled color", COLOR, output_size)?]);
        }
        if effects.display_color || view.is_scaled() {
            let target = self.targets.get(view.target());
            let format = target.map_or(COLOR, |it| layer_format(view.composite, it.format()));
            let first = add("3d display color", format, output_size)?;
            pair.display = Some((first, None));
            if effects.display_color {
                let second = add("3d display color", format, output_size)?;
                pair.display = Some((first, Some(second)));
            }
        }
        Ok(())
    }
}

/// Describes a color image that effects read and write. All devices can store to half floats, and to few formats of targets.
pub(super) fn effect_color_desc(name: &str, size: [u32; 2], format: Format) -> ImageDesc {
    let desc = ImageDesc::color_target(name, size, format).transient();
    match format == COLOR {
        true => desc.with_usage(ImageUsage::STORAGE),
        false => desc,
    }
}
