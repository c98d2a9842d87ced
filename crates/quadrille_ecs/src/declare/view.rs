//! Declared accesses of mip levels, array layers or slices of an image.

use std::ops::Range;

use quadrille_sync::range::{Slices, SubRange};
use quadrille_sync::resource::ResourceId;
use quadrille_vulkan::resources::{GpuImage, Handle, View};

use crate::declare::access::{Access, PassUse, kind, stage};
use crate::declare::any::AnyAccess;
use crate::declare::bind::{Bound, Declared, ResourceRef};
use crate::declare::named::Named;

/// Declared access of some mip levels and array layers of an image, for a binding, an attachment or a copy.
///
/// With [`Recorder::pass`](crate::Recorder::pass) each pass of a system can declare another part,
/// so that mip levels and layers are synchronized separately:
///
/// ```
/// # use bevy_derive::Deref;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::pipeline::ComputePipeline;
/// # use quadrille_vulkan::resources::GpuImage;
/// # #[derive(Resource, Deref)] struct Glow(GpuImage);
/// # #[derive(Resource)] struct Halve(ComputePipeline);
/// /// Each mip level from the one before.
/// fn halve(
///     mut recorder: Recorder,
///     from: Sampled<Glow>,
///     to: StorageWrite<Glow>,
///     pipeline: Res<Halve>,
/// ) {
///     for level in 1..to.desc().mip_levels {
///         let (from, to) = (from.mip(level - 1), to.mip(level));
///         let mut pass = recorder.pass("halve", &[from.as_declared(), to.as_declared()]);
///         pass.compute(&pipeline.0)
///             .bind("from", &from)
///             .bind("to", &to)
///             .dispatch_invocations(to.extent());
///     }
/// }
///
/// # #[derive(Resource, Deref)] struct ShadowMaps(GpuImage);
/// /// A shadow map for each light, in separate layers.
/// fn shadows(mut recorder: Recorder, maps: DepthTarget<ShadowMaps>) {
///     for light in 0..maps.desc().array_layers {
///         let map = maps.layer(light);
///         let mut pass = recorder.pass("shadow", &[map.as_declared()]);
///         let mut rendering = pass.render(map.clear_depth(1.0));
///         // draw what casts shadows
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct DeclaredView<'a> {
    access: AnyAccess<'a>,
    view: View,
    /// First slice and number of slices.
    slices: Option<(u32, u32)>,
}

impl<'a> DeclaredView<'a> {
    /// Selects one mip level.
    ///
    /// The existence of the level is checked when the view is used.
    pub fn mip(self, level: u32) -> Self {
        let level = u8::try_from(level).unwrap_or(u8::MAX);
        Self {
            view: self.view.mip(level),
            ..self
        }
    }

    /// Selects one array layer.
    ///
    /// The existence of the layer is checked when the view is used.
    pub fn layer(self, layer: u32) -> Self {
        let layer = u16::try_from(layer).unwrap_or(u16::MAX);
        Self {
            view: self.view.layer(layer),
            ..self
        }
    }

    /// Selects slices of the first selected mip level of a 3D image.
    ///
    /// Shaders, attachments and copies still access all slices of the level: the caller must ensure that the pass
    /// accesses no others. The declaration orders only these slices, so passes that write different slices may overlap.
    /// Layout and owner are those of the whole mip level. (The validation layer assumes that shaders access all slices
    /// of a binding: with synchronization validation it reports a hazard between passes that write different slices.)
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::ComputePipeline;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// # #[derive(Resource, Deref)] struct Fog(GpuImage);
    /// # #[derive(Resource)] struct Light(ComputePipeline);
    /// /// Each half of a volume in a pass of its own; the shader adds the offset that it is given.
    /// fn light(mut recorder: Recorder, fog: StorageWrite<Fog>, pipeline: Res<Light>) {
    ///     let [_, _, depth] = fog.desc().extent;
    ///     for first in [0, depth / 2] {
    ///         let half = fog.slices(first..first + depth / 2);
    ///         let mut pass = recorder.pass("light", &[half.as_declared()]);
    ///         pass.compute(&pipeline.0)
    ///             .bind("fog", &half)
    ///             .push(&first)
    ///             .dispatch([8, 8, depth / 2]);
    ///     }
    /// }
    /// ```
    pub fn slices(self, slices: Range<u32>) -> Self {
        Self {
            view: self.view.mip(self.view.base_mip),
            slices: Some((slices.start, slices.end.saturating_sub(slices.start))),
            ..self
        }
    }

    /// Extent in texels of the first selected mip level: width, height, depth; zeros for a buffer.
    pub fn extent(&self) -> [u32; 3] {
        match self.access.resource() {
            ResourceRef::Image(image) => self.view.extent(image),
            ResourceRef::Buffer(_) => [0; 3],
        }
    }

    /// Returns the declared access of this part for one pass of the system: see
    /// [`Recorder::pass`](crate::Recorder::pass).
    pub fn as_declared(&self) -> PassUse {
        self.part(self.access.as_declared())
    }

    /// Returns a read of this part for one pass of the system.
    pub fn reads(&self) -> PassUse {
        self.part(self.access.reads())
    }

    /// Returns a write without a read of this part for one pass of the system.
    pub fn writes(&self) -> PassUse {
        self.part(self.access.writes())
    }

    /// Returns a read and write of this part for one pass of the system.
    pub fn reads_and_writes(&self) -> PassUse {
        self.part(self.access.reads_and_writes())
    }

    fn part(&self, used: PassUse) -> PassUse {
        match self.access.resource() {
            ResourceRef::Image(image) => {
                let levels = self.view.subresources(image);
                used.range(match self.slices {
                    None => SubRange::Subresources(levels),
                    Some((base, count)) => SubRange::Slices(Slices {
                        aspects: levels.aspects,
                        mip: levels.base_mip,
                        base,
                        count,
                    }),
                })
            }
            // A buffer has no views; recording reports the error.
            ResourceRef::Buffer(_) => used,
        }
    }
}

impl Declared for DeclaredView<'_> {
    fn bound(&self) -> Bound<'_> {
        Bound {
            view: self.view,
            ..self.access.bound()
        }
    }
}

impl<'a> AnyAccess<'a> {
    /// Selects mip levels and array layers of the image.
    pub fn view(self, view: View) -> DeclaredView<'a> {
        DeclaredView {
            access: self,
            view,
            slices: None,
        }
    }

    /// Selects one mip level of the image: see [`DeclaredView`].
    pub fn mip(self, level: u32) -> DeclaredView<'a> {
        self.view(View::WHOLE).mip(level)
    }

    /// Selects one array layer of the image: see [`DeclaredView`].
    pub fn layer(self, layer: u32) -> DeclaredView<'a> {
        self.view(View::WHOLE).layer(layer)
    }

    /// Selects slices of a 3D image: see [`DeclaredView::slices`].
    pub fn slices(self, slices: Range<u32>) -> DeclaredView<'a> {
        self.view(View::WHOLE).slices(slices)
    }
}

impl<T, K, S> Access<'_, T, K, S>
where
    T: Named<Handle = GpuImage>,
    K: kind::Kind,
    S: stage::Stage,
{
    /// Selects mip levels and array layers of the image.
    pub fn view(&self, view: View) -> DeclaredView<'_> {
        self.any().view(view)
    }

    /// Selects one mip level of the image: see [`DeclaredView`].
    pub fn mip(&self, level: u32) -> DeclaredView<'_> {
        self.any().mip(level)
    }

    /// Selects one array layer of the image: see [`DeclaredView`].
    pub fn layer(&self, layer: u32) -> DeclaredView<'_> {
        self.any().layer(layer)
    }

    /// Selects slices of a 3D image: see [`DeclaredView::slices`].
    pub fn slices(&self, slices: Range<u32>) -> DeclaredView<'_> {
        self.any().slices(slices)
    }
}

/// Whether a view lies within a range of its image.
pub(crate) fn is_within(image: &GpuImage, view: View, range: &SubRange) -> bool {
    let range = match range {
        SubRange::Subresources(range) => *range,
        // The caller of `slices` ensures that the pass accesses no other slices, so the whole level may be bound.
        SubRange::Slices(slices) => slices.level(),
        SubRange::Whole | SubRange::Bytes { .. } => return true,
    };
    let view = view.subresources(image);
    let within = |base: u32, count: u32, from: u32, of: u32| {
        base >= from && u64::from(base) + u64::from(count) <= u64::from(from) + u64::from(of)
    };
    within(
        view.base_mip,
        view.mip_count,
        range.base_mip,
        range.mip_count,
    ) && within(
        view.base_layer,
        view.layer_count,
        range.base_layer,
        range.layer_count,
    )
}

/// Whether attachments overwrite each mip level and layer of a range.
pub(crate) fn is_overwritten(
    handle: &Handle,
    range: &SubRange,
    overwritten: &[(ResourceId, View)],
) -> bool {
    let Handle::Image(image) = handle else {
        return false;
    };
    let of_it = overwritten.iter().filter(|(id, _)| *id == image.id());
    let mut views = of_it.map(|(_, view)| view.subresources(image)).peekable();
    if views.peek().is_none() {
        return false;
    }
    let range = match *range {
        SubRange::Subresources(range) => range,
        SubRange::Slices(slices) => slices.level(),
        SubRange::Whole | SubRange::Bytes { .. } => View::WHOLE.subresources(image),
    };
    let is_in = |at: u32, base: u32, count: u32| at >= base && at - base < count;
    let is_covered = |mip: u32, layer: u32| {
        views.clone().any(|view| {
            is_in(mip, view.base_mip, view.mip_count)
                && is_in(layer, view.base_layer, view.layer_count)
        })
    };
    let mut mips = range.base_mip..range.base_mip.saturating_add(range.mip_count);
    let layers = range.base_layer..range.base_layer.saturating_add(range.layer_count);
    mips.all(|mip| layers.clone().all(|layer| is_covered(mip, layer)))
}

impl Bound<'_> {
    /// Name for messages, with the part of the image.
    pub(crate) fn words(&self) -> String {
        let mut words = self.name().to_owned();
        let mut add = |base: u32, count: u32, one: &str| match count {
            0 => {}
            1 => words += &format!(", {one} {base}"),
            _ => words += &format!(", {one}s {base} to {}", base + count - 1),
        };
        let view = self.view;
        add(view.base_mip.into(), view.mip_count.into(), "mip level");
        add(view.base_layer.into(), view.layer_count.into(), "layer");
        words
    }
}
