//! Clamps font sizes to ones that can be rasterized at the scale factor of the cameras that draw the text.

use bevy_camera::Camera;
use bevy_camera::visibility::RenderLayers;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
#[cfg(feature = "ui")]
use bevy_sprite::Text2d;
use bevy_text::{FontSize, RemSize, TextFont, TextSpan};
#[cfg(feature = "ui")]
use bevy_ui::ComputedUiRenderTargetInfo;
use bevy_window::{PrimaryWindow, Window};
use quadrille::ecs::entity_label;

/// Largest font size in logical pixels. A glyph is rasterized into an atlas whose size is the next power of two; bevy
/// panics if a glyph fits no atlas.
const MAX_PIXELS: f32 = 2000.0;
/// Largest font size in percent of the viewport.
const MAX_PERCENT: f32 = 100.0;
/// Largest font size in physical pixels: larger atlases take gigabytes of memory, and minutes to fill.
const MOST_PHYSICAL: f32 = 4000.0;

/// Largest font sizes at a scale factor, in logical pixels and in percent of the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Most {
    pixels: f32,
    percent: f32,
}

impl Default for Most {
    fn default() -> Self {
        Self::new(1.0, 1.0)
    }
}

impl Most {
    /// `scale`: physical per logical pixel; `viewport`: longer side of the viewport in logical pixels.
    fn new(scale: f32, viewport: f32) -> Self {
        let pixels = MOST_PHYSICAL / scale.max(1.0);
        Self {
            pixels: pixels.min(MAX_PIXELS),
            percent: (100.0 * pixels / viewport.max(1.0)).min(MAX_PERCENT),
        }
    }
}

/// Scale factors by which `Text2d` is rasterized.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Scales {
    /// Physical per logical pixel of each camera's target, with the layers that the camera draws.
    cameras: Vec<(f32, RenderLayers)>,
    /// Longer side of the primary window in logical pixels: `Text2d` takes viewport-relative sizes from it.
    window: f32,
}

impl Scales {
    /// Returns the limits of a `Text2d`. It has one layout, which bevy makes at the largest scale factor of the cameras
    /// that share a layer with it.
    fn most(&self, layers: &RenderLayers) -> Most {
        let cameras = self.cameras.iter();
        let drawing = cameras.filter(|(_, drawn)| drawn.intersects(layers));
        let scale = drawing.map(|(scale, _)| *scale).fold(1.0, f32::max);
        Most::new(scale, self.window)
    }
}

/// Components for finding the root of a text span, and the layers of its cameras.
type TextTarget = (
    Option<&'static RenderLayers>,
    Option<&'static ChildOf>,
    Has<TextSpan>,
);

/// Filter for texts whose drawing cameras may have changed.
#[cfg(feature = "ui")]
type IsMoved = (
    With<TextFont>,
    Or<(
        Changed<RenderLayers>,
        Changed<ChildOf>,
        Changed<ComputedUiRenderTargetInfo>,
    )>,
);
#[cfg(not(feature = "ui"))]
type IsMoved = (
    With<TextFont>,
    Or<(Changed<RenderLayers>, Changed<ChildOf>)>,
);

/// Cameras, windows and texts that limits depend on.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct TextTargets<'w, 's> {
    cameras: Query<'w, 's, (&'static Camera, Option<&'static RenderLayers>)>,
    windows: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
    texts: Query<'w, 's, TextTarget>,
    #[cfg(feature = "ui")]
    nodes: Query<'w, 's, &'static ComputedUiRenderTargetInfo, Without<Text2d>>,
    moved: Query<'w, 's, (), IsMoved>,
    unlayered: RemovedComponents<'w, 's, RenderLayers>,
}

impl TextTargets<'_, '_> {
    /// Updates the scales of cameras. Returns whether limits of any text may have changed.
    fn update(&mut self, scales: &mut Scales) -> bool {
        let cameras = self.cameras.iter().filter_map(|(camera, layers)| {
            let scale = camera.target_scaling_factor()?;
            Some((scale, layers.unwrap_or_default()))
        });
        let sizes = self.windows.iter().map(Window::size);
        let window = sizes.map(Vec2::max_element).fold(1.0, f32::max);
        let mut is_new = std::mem::replace(&mut scales.window, window) != window;
        let known = scales
            .cameras
            .iter()
            .map(|(scale, layers)| (*scale, layers));
        if !cameras.clone().eq(known) {
            let cameras = cameras.map(|(scale, layers)| (scale, layers.clone()));
            scales.cameras = cameras.collect();
            is_new = true;
        }
        let is_unlayered = self.unlayered.read().count() > 0;
        is_new || is_unlayered || !self.moved.is_empty()
    }

    /// Returns the limits of a text or span.
    fn most(&self, scales: &Scales, entity: Entity) -> Most {
        let mut root = entity;
        while let Ok((_, Some(parent), true)) = self.texts.get(root) {
            root = parent.parent();
        }
        #[cfg(feature = "ui")]
        if let Ok(target) = self.nodes.get(root) {
            let viewport = target.logical_size().max_element();
            return Most::new(target.scale_factor(), viewport);
        }
        let layers = self.texts.get(root).ok().and_then(|(layers, ..)| layers);
        scales.most(layers.unwrap_or_default())
    }
}

/// Requested and clamped size of each entity with a clamped size. The requested size is restored when the limit, which
/// depends on scale factors, allows it again.
type Limited = EntityHashMap<[FontSize; 2]>;

/// Clamps font sizes before text layout, and warns once.
pub(crate) fn limit_font_sizes(
    rem: Res<RemSize>,
    mut targets: TextTargets,
    mut fonts: Query<(Entity, Option<&Name>, Mut<TextFont>)>,
    mut gone: RemovedComponents<TextFont>,
    (mut warned, mut scales, mut limited): (Local<bool>, Local<Scales>, Local<Limited>),
) {
    let is_new = targets.update(&mut scales);
    for entity in gone.read() {
        limited.remove(&entity);
    }
    for (entity, name, mut font) in &mut fonts {
        if !(is_new || rem.is_changed() || font.is_changed()) {
            continue;
        }
        let wanted = match limited.get(&entity) {
            Some([wanted, taken]) if *taken == font.font_size => *wanted,
            _ => font.font_size,
        };
        let most = targets.most(&scales, entity);
        let Some(taken) = limit(wanted, rem.0, most) else {
            limited.remove(&entity);
            if font.font_size != wanted {
                font.font_size = wanted;
            }
            continue;
        };
        limited.insert(entity, [wanted, taken]);
        if font.font_size == taken {
            continue;
        }
        if !std::mem::replace(&mut *warned, true) {
            let text = entity_label(entity, name);
            let Most { pixels, percent } = most;
            tracing::warn!(
                "the font size {wanted:?} of {text} is clamped to {taken:?}; the limits are {pixels} \
                 pixels and {percent} % of the viewport. For larger text scale its `Transform`. \
                 Further font sizes are clamped without a warning"
            );
        }
        font.font_size = taken;
    }
}

/// Returns the clamped size of a size that is too large, negative or NaN; `None` if it is valid.
fn limit(size: FontSize, rem: f32, most: Most) -> Option<FontSize> {
    let within = |value: f32, most: f32| match value {
        // `Val::Em` resolves against the font size, so negative sizes would reach the layout of nodes.
        _ if value.is_nan() || value < 0.0 => Some(0.0),
        _ => (value > most).then_some(most),
    };
    let Most { pixels, percent } = most;
    match size {
        FontSize::Px(value) => within(value, pixels).map(FontSize::Px),
        FontSize::Vw(value) => within(value, percent).map(FontSize::Vw),
        FontSize::Vh(value) => within(value, percent).map(FontSize::Vh),
        FontSize::VMin(value) => within(value, percent).map(FontSize::VMin),
        FontSize::VMax(value) => within(value, percent).map(FontSize::VMax),
        FontSize::Rem(value) => within(value * rem, pixels).map(FontSize::Px),
    }
}

#[cfg(test)]
mod tests;
