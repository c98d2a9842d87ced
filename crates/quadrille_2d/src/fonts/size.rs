//! Clamps font sizes to ones that can be rasterized.

use bevy_camera::Camera;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_text::{FontSize, RemSize, TextFont};
use bevy_window::{PrimaryWindow, Window};
use quadrille::ecs::entity_label;

/// Largest font size in logical pixels. A glyph is rasterized at about that size into an atlas of the next
/// power of two; bevy panics if a glyph fits no atlas.
const MAX_PIXELS: f32 = 2000.0;
/// Largest font size in percent of the viewport.
const MAX_PERCENT: f32 = 100.0;
/// Largest font size in physical pixels: beyond, an atlas takes gigabytes, and minutes to fill.
const MOST_PHYSICAL: f32 = 4000.0;

/// Largest font sizes at a scale factor, in logical pixels and in percent of the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Most {
    pixels: f32,
    percent: f32,
}

impl Default for Most {
    fn default() -> Self {
        Self::new(1.0, 1.0)
    }
}

impl Most {
    /// `scale`: physical per logical pixel; `viewport`: longer side of the window in logical pixels.
    fn new(scale: f32, viewport: f32) -> Self {
        let pixels = MOST_PHYSICAL / scale.max(1.0);
        Self {
            pixels: pixels.min(MAX_PIXELS),
            percent: (100.0 * pixels / viewport.max(1.0)).min(MAX_PERCENT),
        }
    }
}

/// Inputs of the limits: scale factors of the cameras' targets, `UiScale`, and the primary window for
/// viewport-relative sizes.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct Scales<'w, 's> {
    cameras: Query<'w, 's, &'static Camera>,
    windows: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
    #[cfg(feature = "ui")]
    ui: Option<Res<'w, bevy_ui::UiScale>>,
}

impl Scales<'_, '_> {
    fn most(&self) -> Most {
        let scales = self
            .cameras
            .iter()
            .filter_map(Camera::target_scaling_factor);
        let scale = scales.fold(1.0, f32::max);
        #[cfg(feature = "ui")]
        let scale = scale * self.ui.as_ref().map_or(1.0, |ui| ui.0.max(1.0));
        let sizes = self
            .windows
            .iter()
            .map(|window| window.size().max_element());
        Most::new(scale, sizes.fold(1.0, f32::max))
    }
}

/// Clamped sizes by entity: requested and clamped. The requested size is restored when the limit, which depends on
/// scale factors, allows it again.
type Limited = EntityHashMap<[FontSize; 2]>;

/// Clamps font sizes before text layout, and warns once.
pub(crate) fn limit_font_sizes(
    rem: Res<RemSize>,
    scales: Scales,
    mut fonts: Query<(Entity, Option<&Name>, Mut<TextFont>)>,
    mut gone: RemovedComponents<TextFont>,
    (mut warned, mut last, mut limited): (Local<bool>, Local<Most>, Local<Limited>),
) {
    let most = scales.most();
    let is_new = std::mem::replace(&mut *last, most) != most;
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

/// Returns the clamped size of one that is too large, negative or NaN; `None` if it is valid.
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
