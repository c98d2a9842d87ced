//! The colour image of each view, which effects read and replace one after the other.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, access_kind};

use crate::prepare::targets::SceneColors;
use crate::scene::frame::View3d;

/// Index in [`SceneColors`] of the image that holds the colour of each view now, by [`View3d::images`].
#[derive(Resource, Default)]
pub struct CurrentColors(Vec<ColorPair>);

/// Indices of a view's colour images in [`SceneColors`].
#[derive(Clone, Copy, Debug)]
struct ColorPair {
    current: u32,
    /// The image that the next effect writes; none for views without effects.
    other: Option<u32>,
}

impl CurrentColors {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the next view, with its second image.
    pub(crate) fn push(&mut self, current: u32, other: Option<u32>) {
        self.0.push(ColorPair { current, other });
    }

    /// Index in [`SceneColors`] of the colour of a view, after the effects that ran so far.
    pub fn of(&self, view: &View3d) -> Option<usize> {
        let pair = self.0.get(view.images())?;
        Some(pair.current as usize)
    }

    /// Makes the second image the current one. Returns the indices of what an effect reads and writes.
    fn swap(&mut self, view: &View3d) -> Option<(usize, usize)> {
        let pair = self.0.get_mut(view.images())?;
        let from = pair.current;
        let to = pair.other.replace(from)?;
        pair.current = to;
        Some((from as usize, to as usize))
    }
}

/// The colour of each view after all effects: radiance times exposure, one sample per pixel. For a pass that runs
/// after [`Pass3dSystems::PostProcess`](crate::Pass3dSystems::PostProcess), as tone mapping does.
#[derive(SystemParam)]
pub struct ViewColors<'w> {
    images: AccessList<'w, SceneColors, access_kind::Sampled>,
    current: Res<'w, CurrentColors>,
}

impl<'w> ViewColors<'w> {
    /// The image of a view.
    pub fn of(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.images.get(self.current.of(view)?)
    }
}

/// The colour of each view, for the pass of an effect between
/// [`Pass3dSystems::Transparent`](crate::Pass3dSystems::Transparent) and
/// [`Pass3dSystems::Tonemap`](crate::Pass3dSystems::Tonemap).
///
/// Systems with it run one after the other, in the order of their sets and of `before` and `after`: effects of
/// one set need one of these, as without it either may be the first.
#[derive(SystemParam)]
pub struct PostProcess<'w> {
    sources: AccessList<'w, SceneColors, access_kind::Sampled>,
    destinations: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    current: ResMut<'w, CurrentColors>,
}

/// Source and destination of one effect in a view: different images of the same size.
#[derive(Clone, Copy)]
pub struct PostProcessWrite<'w> {
    /// The colour so far: radiance times exposure, linear, alpha is coverage.
    pub source: AnyAccess<'w>,
    /// The colour that later effects and tone mapping read; its contents are undefined before.
    pub destination: AnyAccess<'w>,
}

impl<'w> PostProcess<'w> {
    /// Exchanges the two images of a view: the pass that follows reads the source and writes every pixel of the
    /// destination. None for a view without an effect that
    /// [replaces its colour](crate::CameraEffect::REPLACES_COLOR), and where memory ended.
    pub fn write(&mut self, view: &View3d) -> Option<PostProcessWrite<'w>> {
        let (from, to) = self.current.swap(view)?;
        Some(PostProcessWrite {
            source: self.sources.get(from)?,
            destination: self.destinations.get(to)?,
        })
    }

    /// The colour so far, to sample.
    pub fn source(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.sources.get(self.current.of(view)?)
    }

    /// The colour so far, to draw over.
    pub fn target(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.destinations.get(self.current.of(view)?)
    }
}
