//! Display transform of views, for passes whose shaders apply tone mapping; the effect `tonemapping` fills its resources.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, PassUse, Rendering, access_kind};
use quadrille::prelude::{GpuBuffer, GpuImage, Uniform};

use crate::pipelines::Pipelines3d;
use crate::scene::frame::View3d;
use crate::scene::lists::ViewMap;
use crate::tables::table::uniform_row;

/// Color grading of views, 256 bytes per row.
#[derive(Resource, Deref)]
pub struct Gradings3d(pub(crate) GpuBuffer);

/// LUTs of this frame's tone mapping methods: 3D images from scene-referred to display-referred
/// color. The first one is a placeholder for methods without a LUT.
#[derive(Resource, Deref)]
pub struct TonemappingLutImages {
    #[deref]
    pub(crate) luts: Vec<GpuImage>,
    /// LUT index by view.
    pub(crate) by_view: ViewMap<u32>,
}

/// Exposure of views in stops, which tone mapping applies: images of one texel. The first one holds 0, for views without
/// auto exposure.
#[derive(Resource, Deref)]
pub struct ViewExposures {
    #[deref]
    pub(crate) images: Vec<GpuImage>,
    /// Image index by view.
    pub(crate) by_view: ViewMap<u32>,
}

impl ViewExposures {
    /// Drops the images of views.
    pub(crate) fn clear(&mut self) {
        self.images.truncate(1);
        self.by_view.clear();
    }

    /// Sets the image of a view.
    pub(crate) fn insert(&mut self, view: &View3d, image: &GpuImage) {
        self.by_view
            .insert(view.queued.row, self.images.len() as u32);
        self.images.push(image.clone());
    }

    /// Index of the image of a view.
    pub(crate) fn index(&self, view: &View3d) -> usize {
        let index = self.by_view.get(view.queued.row);
        index.copied().unwrap_or_default() as usize
    }
}

/// Grading and LUT of a view, for the shaders that import `quadrille_3d::display`.
#[derive(SystemParam)]
pub struct DisplayTransform3d<'w> {
    gradings: Uniform<'w, Gradings3d>,
    luts: AccessList<'w, TonemappingLutImages, access_kind::Sampled>,
    lut_of_view: Res<'w, TonemappingLutImages>,
}

impl<'w> DisplayTransform3d<'w> {
    fn lut(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        let lut_index = self.lut_of_view.by_view.get(view.queued.row);
        self.luts
            .get(lut_index.copied().unwrap_or_default() as usize)
    }

    pub(crate) fn add_uses(&self, view: &View3d, uses: &mut Vec<PassUse>) {
        uses.push(self.gradings.any().as_declared());
        uses.extend(self.lut(view).map(|lut| lut.as_declared()));
    }

    /// Binds the grading and LUT of a view. A pipeline must be bound.
    pub(crate) fn bind(
        &self,
        rendering: &mut Rendering<'_>,
        pipelines: &Pipelines3d,
        view: &View3d,
    ) {
        rendering.bind_bytes("grading", &self.gradings, uniform_row(view.queued.row));
        if let Some(lut) = self.lut(view) {
            rendering.bind("tonemapping_lut", &lut);
        }
        rendering.sampler("clamped_sampler", &pipelines.clamped_sampler);
    }
}
