//! Clamps numeric fields of text to the range that bevy's layout accepts: NaN or infinite line sizes make
//! it loop or panic.

use bevy_ecs::prelude::*;
use bevy_text::{InlineBox, LetterSpacing, LineHeight, TextBounds};

use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Largest length in logical pixels, and largest multiple of a font size.
const MAX_LAYOUT_VALUE: f32 = 1e5;

/// Components that bevy's text layout reads.
type TextLayoutQuery = (
    Entity,
    Option<&'static mut LineHeight>,
    Option<&'static mut LetterSpacing>,
    Option<&'static mut TextBounds>,
    Option<&'static mut InlineBox>,
);

/// Filter for text that bevy lays out again.
type ChangedTexts = Or<(
    Changed<LineHeight>,
    Changed<LetterSpacing>,
    Changed<TextBounds>,
    Changed<InlineBox>,
)>;

/// Clamps numeric fields of text before its layout.
pub(crate) fn limit_text(
    mut texts: Query<TextLayoutQuery, ChangedTexts>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (entity, line, letter, bounds, inline) in &mut texts {
        let mut odd = None;
        // Changes are already detected by the query; clamping is not another one.
        if let Some(mut line) = line {
            let (LineHeight::Px(number) | LineHeight::RelativeToFont(number)) =
                line.bypass_change_detection();
            limit("line height", number, 0.0, &mut odd);
        }
        if let Some(mut letter) = letter {
            let (LetterSpacing::Px(number) | LetterSpacing::Rem(number)) =
                letter.bypass_change_detection();
            limit("letter spacing", number, -MAX_LAYOUT_VALUE, &mut odd);
        }
        if let Some(mut bounds) = bounds {
            let TextBounds { width, height } = bounds.bypass_change_detection();
            for number in [width, height].into_iter().flatten() {
                limit("bounds", number, 0.0, &mut odd);
            }
        }
        if let Some(mut inline) = inline {
            let size = &mut inline.bypass_change_detection().size;
            limit("inline box", &mut size.x, 0.0, &mut odd);
            limit("inline box", &mut size.y, 0.0, &mut odd);
        }
        if let Some((name, number)) = odd {
            warnings.warn_message(|| {
                let text = entity_name(entity);
                format!(
                    "the {name} of the text {text} is {number}; clamped (limit {MAX_LAYOUT_VALUE})"
                )
            });
        }
    }
}

/// Clamps a number to at least `least`; NaN becomes 0. Records the first invalid one in `odd`.
fn limit(name: &'static str, number: &mut f32, least: f32, odd: &mut Option<(&'static str, f32)>) {
    let limited = if number.is_nan() {
        0.0
    } else {
        number.clamp(least, MAX_LAYOUT_VALUE)
    };
    if limited != *number {
        odd.get_or_insert((name, *number));
        *number = limited;
    }
}

#[cfg(test)]
mod tests;
