//! Font sizes that nobody can draw are brought to ones that can be.

use bevy_ecs::prelude::*;
use bevy_text::{FontSize, RemSize, TextFont};
use quadrille::ecs::entity_label;

/// The largest font size in logical pixels. A glyph becomes a picture of about that size, with one
/// of the next power of two around it; a glyph for which there is no room ends a bevy program.
const MAX_PIXELS: f32 = 2000.0;
/// The largest part of a viewport, in percent.
const MAX_PERCENT: f32 = 100.0;

/// Limits the sizes of text before bevy lays it out, and warns once.
pub(crate) fn limit_font_sizes(
    rem: Res<RemSize>,
    mut fonts: Query<(Entity, Option<&Name>, Mut<TextFont>)>,
    mut warned: Local<bool>,
) {
    for (entity, name, mut font) in &mut fonts {
        if !(rem.is_changed() || font.is_changed()) {
            continue;
        }
        let Some(limited) = limit(font.font_size, rem.0) else {
            continue;
        };
        if !std::mem::replace(&mut *warned, true) {
            let text = entity_label(entity, name);
            tracing::warn!(
                "the font size {:?} of {text} becomes {limited:?}; sizes end at {MAX_PIXELS} \
                 pixels and {MAX_PERCENT} % of the viewport, for larger text scale its \
                 `Transform`. There is no further warning",
                font.font_size,
            );
        }
        font.font_size = limited;
    }
}

/// The size to take instead of one that is too large, negative or no number.
fn limit(size: FontSize, rem: f32) -> Option<FontSize> {
    let within = |value: f32, most: f32| match value {
        // Nodes are laid out by the sizes of their fonts too.
        _ if value.is_nan() || value < 0.0 => Some(0.0),
        _ => (value > most).then_some(most),
    };
    match size {
        FontSize::Px(value) => within(value, MAX_PIXELS).map(FontSize::Px),
        FontSize::Vw(value) => within(value, MAX_PERCENT).map(FontSize::Vw),
        FontSize::Vh(value) => within(value, MAX_PERCENT).map(FontSize::Vh),
        FontSize::VMin(value) => within(value, MAX_PERCENT).map(FontSize::VMin),
        FontSize::VMax(value) => within(value, MAX_PERCENT).map(FontSize::VMax),
        FontSize::Rem(value) => within(value * rem, MAX_PIXELS).map(FontSize::Px),
    }
}

#[cfg(test)]
mod tests;
