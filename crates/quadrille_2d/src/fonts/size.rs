//! Font sizes that nobody can draw are brought to ones that can be.

use bevy_camera::Camera;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_text::{FontSize, RemSize, TextFont};
use bevy_window::{PrimaryWindow, Window};
use quadrille::ecs::entity_label;

/// The largest font size in logical pixels. A glyph becomes a picture of about that size, with one
/// of the next power of two around it; a glyph for which there is no room ends a bevy program.
const MAX_PIXELS: f32 = 2000.0;
/// The largest part of a viewport, in percent.
const MAX_PERCENT: f32 = 100.0;
/// The largest font size in physical pixels: with more, an atlas takes gigabytes, and minutes to fill.
const MOST_PHYSICAL: f32 = 4000.0;

/// The largest sizes where a logical pixel is a number of physical ones.
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
    /// `viewport` is the longer side of the window in logical pixels.
    fn new(scale: f32, viewport: f32) -> Self {
        let pixels = MOST_PHYSICAL / scale.max(1.0);
        Self {
            pixels: pixels.min(MAX_PIXELS),
            percent: (100.0 * pixels / viewport.max(1.0)).min(MAX_PERCENT),
        }
    }
}

/// The scale of all cameras' targets, and the window whose parts sizes are.
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

/// Sizes that are limited: the one that the program asked for, and the one that is taken. A size returns when its
/// limit does, which may depend on scales of targets.
type Limited = EntityHashMap<[FontSize; 2]>;

/// Limits the sizes of text before bevy lays it out, and warns once.
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
                "the font size {wanted:?} of {text} becomes {taken:?}; sizes end at {pixels} \
                 pixels and {percent} % of the viewport, for larger text scale its \
                 `Transform`. There is no further warning"
            );
        }
        font.font_size = taken;
    }
}

/// The size to take instead of one that is too large, negative or no number.
fn limit(size: FontSize, rem: f32, most: Most) -> Option<FontSize> {
    let within = |value: f32, most: f32| match value {
        // Nodes are laid out by the sizes of their fonts too.
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
