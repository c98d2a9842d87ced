//! Box shadows of nodes.

use bevy_math::{Affine3A, Rect, Vec2, Vec3};
use bevy_ui::prelude::{BoxShadow, ShadowStyle};
use bevy_ui::{ComputedNode, Val};

use super::Writer;
use super::rounded_box::{BoxCoverage, RoundedBox};
use crate::queue::text::QuadSink as _;

impl Writer<'_, '_, '_, '_> {
    /// Adds the box shadows of a node, below the node itself.
    pub(super) fn add_shadows(
        &mut self,
        world: &Affine3A,
        node: &ComputedNode,
        shadows: &BoxShadow,
    ) {
        // The first shadow is on top.
        for shadow in shadows.iter().rev() {
            let Some((offset, rounded_box, bounds)) = shadow_box(node, shadow, self.viewport)
            else {
                continue;
            };
            let world = *world * Affine3A::from_translation(offset);
            self.rounded_box = Some(rounded_box);
            self.add(None, &world, bounds, shadow.color.to_linear());
        }
        self.rounded_box = None;
    }
}

/// Minimum standard deviation of a blur in pixels, as in bevy: a hard edge.
const MIN_BLUR: f32 = 0.01;

/// Returns transform, box and quad of a shadow; `None` if its lengths cannot be resolved.
fn shadow_box(
    node: &ComputedNode,
    shadow: &ShadowStyle,
    viewport: Vec2,
) -> Option<(Vec3, RoundedBox, Rect)> {
    let scale = node.inverse_scale_factor().recip();
    let length = |value: Val, base: f32| {
        if value == Val::Auto {
            return Some(0.0);
        }
        let length = value.resolve(scale, base, viewport, node.em_size, node.rem_size);
        length.ok().filter(|length| length.is_finite())
    };
    let size = node.size();
    let offset = Vec3::new(
        length(shadow.x_offset, size.x)?,
        // CSS y points down.
        -length(shadow.y_offset, size.y)?,
        0.0,
    );
    // As in bevy: the spread is added once to the width, and scales the height by the same ratio.
    let ratio = 1.0 + length(shadow.spread_radius, size.x)? / size.x;
    if ratio <= 0.0 {
        return None;
    }
    let blur = length(shadow.blur_radius, size.x)?;
    let mut rounded_box = RoundedBox::of(node);
    rounded_box.half_size *= ratio;
    for radius in &mut rounded_box.radii {
        *radius *= ratio;
    }
    rounded_box.coverage = BoxCoverage::Shadow(blur.max(MIN_BLUR));
    // Beyond three standard deviations a Gaussian is below 1/255. As in bevy, a negative blur crops the edges.
    let half_size = (rounded_box.half_size + 3.0 * blur).abs();
    let bounds = Rect::from_center_half_size(Vec2::ZERO, half_size);
    Some((offset, rounded_box, bounds))
}
