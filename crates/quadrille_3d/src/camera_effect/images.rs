//! Images of an effect per view.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use bevy_ecs::prelude::*;
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc, ImageUsage, Uploads};
use quadrille::vulkan::{Error, Format};

/// Description of a per-view image of an effect. By default it has the size of the view and is transient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectImage {
    name: &'static str,
    format: Format,
    size: Size,
    max_mips: u32,
    usage: ImageUsage,
    has_history: bool,
    precedes_upscaling: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// Size of the view, divided by this and rounded up.
    Divided(u32),
    /// Size of the view, scaled to this height.
    Height(u32),
    Fixed([u32; 2]),
}

impl EffectImage {
    /// Image of the view's size, with usages color attachment and sampled.
    pub const fn new(name: &'static str, format: Format) -> Self {
        Self {
            name,
            format,
            size: Size::Divided(1),
            max_mips: 1,
            usage: ImageUsage::empty(),
            has_history: false,
            precedes_upscaling: false,
        }
    }

    /// Divides width and height of the view, rounded up: 2 is half resolution.
    pub const fn divided(mut self, divisor: u32) -> Self {
        self.size = Size::Divided(if divisor == 0 { 1 } else { divisor });
        self
    }

    /// Scales the view's size to a height in pixels, with the aspect ratio of the view.
    pub const fn height(mut self, height: u32) -> Self {
        self.size = Size::Height(height);
        self
    }

    /// Sets a fixed size in pixels.
    pub const fn fixed(mut self, width: u32, height: u32) -> Self {
        self.size = Size::Fixed([width, height]);
        self
    }

    /// Adds a mip chain of at most `max` levels. `u32::MAX` is the complete chain.
    pub const fn mips(mut self, max: u32) -> Self {
        self.max_mips = max;
        self
    }

    /// Adds usages, such as [`ImageUsage::STORAGE`] for a compute pass.
    pub const fn usage(mut self, usage: ImageUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Adds a history: the image of the previous frame is [`EffectView::previous`](crate::EffectView::previous).
    pub const fn history(mut self) -> Self {
        self.has_history = true;
        self
    }

    /// Takes the size of the view before upscaling ([`View3d::size`](crate::View3d::size)), also for an effect that upscales
    /// or follows upscaling.
    pub const fn before_upscaling(mut self) -> Self {
        self.precedes_upscaling = true;
        self
    }

    /// Extent for a view with these sizes: of the color of the effect, and before upscaling.
    fn extent(&self, [color_size, render_size]: [[u32; 2]; 2]) -> [u32; 2] {
        let [width, height] = match self.precedes_upscaling {
            true => render_size,
            false => color_size,
        };
        let size = match self.size {
            Size::Divided(divisor) => [width.div_ceil(divisor), height.div_ceil(divisor)],
            Size::Height(scaled) => {
                let aspect = f64::from(width) / f64::from(height.max(1));
                [(f64::from(scaled) * aspect).round() as u32, scaled]
            }
            Size::Fixed(size) => size,
        };
        size.map(|side| side.max(1))
    }

    fn desc(&self, view_sizes: [[u32; 2]; 2]) -> ImageDesc {
        let extent = self.extent(view_sizes);
        let most = extent[0].max(extent[1]).ilog2() + 1;
        let desc = ImageDesc::color_target(self.name, extent, self.format)
            .with_usage(self.usage)
            .with_mips(self.max_mips.clamp(1, most));
        if self.has_history {
            desc
        } else {
            desc.transient()
        }
    }
}

/// Images of all views of an effect, for [`AccessList`](quadrille::ecs::AccessList). Indices are from
/// [`EffectView::image`](crate::EffectView::image) and [`EffectView::previous`](crate::EffectView::previous).
#[derive(Resource)]
pub struct EffectImages<E: Send + Sync + 'static> {
    images: Vec<GpuImage>,
    effect: PhantomData<fn() -> E>,
}

impl<E: Send + Sync + 'static> Default for EffectImages<E> {
    fn default() -> Self {
        Self {
            images: Vec::new(),
            effect: PhantomData,
        }
    }
}

impl<E: Send + Sync + 'static> Deref for EffectImages<E> {
    type Target = Vec<GpuImage>;

    fn deref(&self) -> &Vec<GpuImage> {
        &self.images
    }
}

impl<E: Send + Sync + 'static> EffectImages<E> {
    pub(super) fn clear(&mut self) {
        self.images.clear();
    }

    fn push(&mut self, image: &GpuImage) -> usize {
        self.images.push(image.clone());
        self.images.len() - 1
    }
}

/// One image of a view, with its history.
pub(super) struct Slot {
    spec: EffectImage,
    current: GpuImage,
    previous: Option<GpuImage>,
    /// Whether `previous` has the contents of the previous frame.
    pub(super) is_valid: bool,
    /// Whether a pass of this frame has requested `current`.
    pub(super) is_used: AtomicBool,
    /// Index of `current` in [`EffectImages`]; that of `previous` follows it.
    pub(super) index: usize,
}

impl Slot {
    fn new(
        spec: EffectImage,
        view_sizes: [[u32; 2]; 2],
        gpu: &GpuDevice,
        uploads: &mut Uploads,
    ) -> Result<Self, Error> {
        let desc = spec.desc(view_sizes);
        let current = gpu.create_image(&desc)?;
        let previous = match spec.has_history {
            true => Some(gpu.create_image(&desc)?),
            false => None,
        };
        for image in previous.iter().chain(spec.has_history.then_some(&current)) {
            // The first frame binds the image before any frame has written it.
            uploads.clear_if_new(image);
        }
        Ok(Self {
            spec,
            current,
            previous,
            is_valid: false,
            is_used: AtomicBool::new(false),
            index: 0,
        })
    }

    /// Image of this frame.
    pub(super) fn current(&self) -> &GpuImage {
        &self.current
    }

    pub(super) fn has_history(&self) -> bool {
        self.previous.is_some()
    }

    /// Swaps the images after a submitted frame, so that its output becomes the history.
    pub(super) fn advance(&mut self, is_submitted: bool) {
        let is_used = self.is_used.swap(false, Ordering::Relaxed);
        if let Some(previous) = &mut self.previous
            && is_used
            && is_submitted
        {
            std::mem::swap(&mut self.current, previous);
            self.is_valid = true;
        }
    }

    /// Adds the images to the frame's list.
    pub(super) fn list<E: Send + Sync + 'static>(&mut self, images: &mut EffectImages<E>) {
        self.index = images.push(&self.current);
        if let Some(previous) = &self.previous {
            images.push(previous);
        }
    }
}

/// Recreates the images of a view whose descriptions have changed.
pub(super) fn update_slots(
    slots: &mut Vec<Slot>,
    specs: &[EffectImage],
    view_sizes: [[u32; 2]; 2],
    (gpu, uploads): (&GpuDevice, &mut Uploads),
) -> Result<(), Error> {
    slots.truncate(specs.len());
    for (at, &spec) in specs.iter().enumerate() {
        let [width, height] = spec.extent(view_sizes);
        let fits = slots
            .get(at)
            .is_some_and(|slot| slot.spec == spec && slot.current.extent() == [width, height, 1]);
        if fits {
            continue;
        }
        let slot = Slot::new(spec, view_sizes, gpu, uploads)?;
        match slots.get_mut(at) {
            Some(old) => *old = slot,
            None => slots.push(slot),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
