//! Color images of views, which effects read and replace in sequence (ping-pong).

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, access_kind};
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::prepare::targets::SceneColors;
use crate::scene::frame::View3d;

/// Current color image of each view in [`SceneColors`], by [`View3d::images`].
#[derive(Resource, Default)]
pub struct CurrentColors(Vec<ColorPair>);

/// Indices of a view's color images in [`SceneColors`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorPair {
    current: u32,
    /// Destination of the next effect; `None` for views without effects on the current kind of color.
    pub(crate) other: Option<u32>,
    /// Images of the viewport's size: destination of upscaling, and of the first effect after it.
    pub(crate) upscaled: Option<[u32; 2]>,
    /// Images that follow those of scene-referred color, for effects after tone mapping: destination of tone mapping, and
    /// of the first effect.
    pub(crate) display: Option<(u32, Option<u32>)>,
    is_display_referred: bool,
    /// Whether the current image has [`View3d::output_size`].
    has_output_size: bool,
}

impl ColorPair {
    /// Images of a view without effects.
    pub(crate) fn new(view: &View3d) -> Self {
        Self {
            current: view.images,
            other: None,
            upscaled: None,
            display: None,
            is_display_referred: !view.is_scene_referred(),
            has_output_size: !view.is_upscaled(),
        }
    }
}

impl CurrentColors {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the next view.
    pub(crate) fn push(&mut self, pair: ColorPair) {
        self.0.push(pair);
    }

    /// Index in [`SceneColors`] of a view's color, after the effects so far.
    pub fn of(&self, view: &View3d) -> Option<usize> {
        let pair = self.0.get(view.images())?;
        Some(pair.current as usize)
    }

    /// Index in [`SceneColors`] of the image that the next effect writes, before it does; `None` for views without effects
    /// on the current kind of color.
    pub(crate) fn spare(&self, view: &View3d) -> Option<usize> {
        Some(self.0.get(view.images())?.other? as usize)
    }

    /// Index in [`SceneColors`] of the image that tone mapping writes for a view with effects after it. `None`: it
    /// writes the target.
    pub(crate) fn display_image(&self, view: &View3d) -> Option<usize> {
        let (first, _) = self.0.get(view.images())?.display?;
        Some(first as usize)
    }

    /// Whether the current color of a view is display-referred.
    pub(crate) fn is_display_referred(&self, view: &View3d) -> bool {
        let pair = self.0.get(view.images());
        pair.is_some_and(|pair| pair.is_display_referred)
    }

    /// Makes the images for effects after tone mapping the current ones.
    pub(crate) fn set_tone_mapped(&mut self, view: &View3d) {
        if let Some(pair) = self.0.get_mut(view.images())
            && let Some((first, second)) = pair.display
        {
            pair.current = first;
            pair.other = second;
            pair.is_display_referred = true;
            pair.has_output_size = true;
        }
    }

    /// Size of the current color of a view.
    pub(crate) fn size(&self, view: &View3d) -> [u32; 2] {
        let pair = self.0.get(view.images());
        match pair.is_some_and(|pair| pair.has_output_size) {
            true => view.output_size(),
            false => view.size(),
        }
    }

    /// Makes the images of the viewport's size the current ones. Returns the indices of source and destination; `None` for
    /// views that are not upscaled, or are already.
    fn upscale(&mut self, view: &View3d) -> Option<(usize, usize)> {
        let pair = self.0.get_mut(view.images())?;
        let [first, second] = pair.upscaled.filter(|_| !pair.has_output_size)?;
        let from = std::mem::replace(&mut pair.current, first);
        pair.other = Some(second);
        pair.has_output_size = true;
        Some((from as usize, first as usize))
    }

    /// Swaps the images of a view. Returns the indices of source and destination.
    fn swap(&mut self, view: &View3d) -> Option<(usize, usize)> {
        let pair = self.0.get_mut(view.images())?;
        let from = pair.current;
        let to = pair.other.replace(from)?;
        pair.current = to;
        Some((from as usize, to as usize))
    }
}

/// Color of each view after the effects of earlier sets, single-sampled: radiance times exposure if it
/// [is scene-referred](View3d::is_scene_referred) and not tone mapped yet. For passes that read it, such as tone mapping.
#[derive(SystemParam)]
pub struct ViewColors<'w> {
    images: AccessList<'w, SceneColors, access_kind::Sampled>,
    current: Res<'w, CurrentColors>,
}

impl<'w> ViewColors<'w> {
    /// Returns the color image of a view.
    pub fn of(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.images.get(self.current.of(view)?)
    }
}

/// Color of each view, for effect passes in the set of [`CameraEffect::STAGE`](crate::CameraEffect::STAGE): scene-referred
/// before [`Pass3dSystems::Tonemap`](crate::Pass3dSystems::Tonemap), display-referred after it.
///
/// Systems with this parameter run one after the other, in the order of their sets, `before` and `after`. Effects of
/// one set without such an order run in an unspecified one.
#[derive(SystemParam)]
pub struct PostProcess<'w> {
    sources: AccessList<'w, SceneColors, access_kind::Sampled>,
    destinations: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    stored: AccessList<'w, SceneColors, access_kind::StorageWrite>,
    current: ResMut<'w, CurrentColors>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Source and destination of an effect in a view: different images, of the same size unless it upscales.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PostProcessWrite<'w> {
    /// Current color, linear: radiance times exposure before tone mapping, color of the screen after it. Alpha is that of
    /// the clear color and what covers it: 1 with an opaque clear color.
    pub source: AnyAccess<'w>,
    /// New color for later effects, tone mapping or the target, as a color attachment; initially undefined.
    pub destination: AnyAccess<'w>,
    /// The same image for a compute pass, which writes it as a storage image of the format `rgba16float` instead. Before tone
    /// mapping alone: not all formats of targets can be stored to.
    pub storage: AnyAccess<'w>,
}

impl<'w> PostProcess<'w> {
    /// Swaps the two images of a view. The caller's pass must write every pixel of the destination. `None` for views
    /// without an effect that [replaces the color](crate::CameraEffect::REPLACES_COLOR), or if memory is exhausted.
    pub fn write(&mut self, view: &View3d) -> Option<PostProcessWrite<'w>> {
        let Some((from, to)) = self.current.swap(view) else {
            self.warn_of_other_stage(view);
            return None;
        };
        self.images(from, to)
    }

    /// Replaces the images of a view by two of its viewport's size. The caller's pass must write every pixel of the destination
    /// from the source, which has the [size of the view](View3d::size). `None` for views without an effect whose
    /// [`STAGE`](crate::CameraEffect::STAGE) is [`Upscale`](crate::Pass3dSystems::Upscale), with several samples per pixel, or
    /// if memory is exhausted.
    pub fn upscale(&mut self, view: &View3d) -> Option<PostProcessWrite<'w>> {
        let (from, to) = self.current.upscale(view)?;
        self.images(from, to)
    }

    /// The images at these indices.
    fn images(&self, from: usize, to: usize) -> Option<PostProcessWrite<'w>> {
        Some(PostProcessWrite {
            source: self.sources.get(from)?,
            destination: self.destinations.get(to)?,
            storage: self.stored.get(to)?,
        })
    }

    /// Current color, to sample.
    pub fn source(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.sources.get(self.current.of(view)?)
    }

    /// Warns if the effects of a view replace its color in another stage than the current one.
    fn warn_of_other_stage(&self, view: &View3d) {
        let effects = view.queued.effects;
        let (stage, is_mapped) = match self.current.is_display_referred(view) {
            true => (effects.display_color, true),
            false => (effects.scene_color, false),
        };
        if stage || !effects.replaces_color() {
            return;
        }
        let (place, set) = match is_mapped {
            true => ("after", "AfterTonemapping"),
            false => ("before", "EarlyPostProcess or PostProcess"),
        };
        self.warnings.warn_message(|| {
            let camera = entity_name(view.camera());
            format!(
                "a pass {place} tone mapping writes the color of the camera {camera}, none of whose effects has its \
                 `CameraEffect::STAGE` there, so it is skipped. Set `STAGE` to {set}, or add the pass to the set `STAGE`."
            )
        });
    }
}
