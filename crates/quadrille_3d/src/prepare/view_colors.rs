//! Color images of views, which effects read and replace in sequence (ping-pong).

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{AccessList, AnyAccess, access_kind};

use crate::prepare::targets::SceneColors;
use crate::scene::frame::View3d;

/// Current color image of each view in [`SceneColors`], by [`View3d::images`].
#[derive(Resource, Default)]
pub struct CurrentColors(Vec<ColorPair>);

/// Indices of a view's color images in [`SceneColors`].
#[derive(Clone, Copy, Debug)]
struct ColorPair {
    current: u32,
    /// Destination of the next effect; `None` for views without effects.
    other: Option<u32>,
}

impl CurrentColors {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the next view.
    pub(crate) fn push(&mut self, current: u32, other: Option<u32>) {
        self.0.push(ColorPair { current, other });
    }

    /// Index in [`SceneColors`] of a view's color, after the effects so far.
    pub fn of(&self, view: &View3d) -> Option<usize> {
        let pair = self.0.get(view.images())?;
        Some(pair.current as usize)
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

/// Color of each view after all effects: radiance times exposure, single-sampled. For passes after
/// [`Pass3dSystems::PostProcess`](crate::Pass3dSystems::PostProcess), such as tone mapping.
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

/// Color of each view, for effect passes between [`Pass3dSystems::Transparent`](crate::Pass3dSystems::Transparent)
/// and [`Pass3dSystems::Tonemap`](crate::Pass3dSystems::Tonemap).
///
/// Systems with this parameter run one after the other, in the order of their sets, `before` and `after`. Effects of
/// one set without such an order run in an unspecified one.
#[derive(SystemParam)]
pub struct PostProcess<'w> {
    sources: AccessList<'w, SceneColors, access_kind::Sampled>,
    destinations: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    current: ResMut<'w, CurrentColors>,
}

/// Source and destination of an effect in a view: different images of the same size.
#[derive(Clone, Copy)]
pub struct PostProcessWrite<'w> {
    /// Current color: radiance times exposure, linear, alpha is coverage.
    pub source: AnyAccess<'w>,
    /// New color for later effects and tone mapping; initially undefined.
    pub destination: AnyAccess<'w>,
}

impl<'w> PostProcess<'w> {
    /// Swaps the two images of a view. The caller's pass must write every pixel of the destination. `None` for views
    /// without an effect that [replaces the color](crate::CameraEffect::REPLACES_COLOR), or if memory is exhausted.
    pub fn write(&mut self, view: &View3d) -> Option<PostProcessWrite<'w>> {
        let (from, to) = self.current.swap(view)?;
        Some(PostProcessWrite {
            source: self.sources.get(from)?,
            destination: self.destinations.get(to)?,
        })
    }

    /// Current color, to sample.
    pub fn source(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.sources.get(self.current.of(view)?)
    }

    /// Current color, as a color target with its contents.
    pub fn target(&self, view: &View3d) -> Option<AnyAccess<'w>> {
        self.destinations.get(self.current.of(view)?)
    }
}
