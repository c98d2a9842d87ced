//! Clamps numeric fields of UI nodes to the range that bevy's layout accepts.
//!
//! bevy panics on NaN sizes of nodes and on infinite corner radii.

use bevy_ecs::prelude::*;
use bevy_reflect::{PartialReflect, ReflectMut};
use bevy_text::{EditableText, RemSize};
use bevy_ui::prelude::{ImageNode, Node, Outline, ScrollPosition, Text, UiRect, UiTransform, Val};
use bevy_ui::{ContentSize, UiScale};

use bevy_ui::widget::ImageNodeSize;

use quadrille_content::cameras::limited_scale;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Largest length in pixels, and largest percentage. Sums and products of lengths must stay finite.
const MAX_LAYOUT_VALUE: f32 = 1e6;
/// Smaller magnitudes become zero, because bevy divides by some of these numbers.
const MIN_LAYOUT_VALUE: f32 = 1e-6;

/// Components that bevy's node layout reads.
type NodeLayoutQuery = (
    Entity,
    &'static mut Node,
    Option<&'static mut UiTransform>,
    Option<&'static mut Outline>,
    Option<&'static mut ScrollPosition>,
);

/// Editable texts; their lines and columns determine the size of their nodes.
type ChangedTexts = (Entity, &'static mut EditableText);

/// Filter for nodes that bevy lays out again.
type ChangedNodes = Or<(
    Changed<Node>,
    Changed<UiTransform>,
    Changed<Outline>,
    Changed<ScrollPosition>,
)>;

/// Clamps numeric fields of changed nodes before layout.
pub(crate) fn limit_nodes(
    mut nodes: Query<NodeLayoutQuery, ChangedNodes>,
    mut texts: Query<ChangedTexts, Changed<EditableText>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (entity, mut text) in &mut texts {
        let mut limits = LayoutClamp(None);
        limits.edited(text.bypass_change_detection());
        limits.warn(entity, &warnings);
    }
    for (entity, mut node, transform, outline, scroll) in &mut nodes {
        // Changes are already detected by the query; clamping is not another one.
        let mut limits = LayoutClamp(None);
        limits.node(node.bypass_change_detection());
        if let Some(mut transform) = transform {
            limits.transform(transform.bypass_change_detection());
        }
        if let Some(mut outline) = outline {
            let outline = outline.bypass_change_detection();
            limits.val("outline width", NonNegative, &mut outline.width);
            limits.val("outline offset", Any, &mut outline.offset);
        }
        if let Some(mut scroll) = scroll {
            let scroll = scroll.bypass_change_detection();
            limits.float("scroll position", Any, &mut scroll.0.x);
            limits.float("scroll position", Any, &mut scroll.0.y);
        }
        limits.warn(entity, &warnings);
    }
}

/// Clamps the global factors of lengths: `UiScale` and `RemSize`.
pub(crate) fn limit_scales(
    mut scale: ResMut<UiScale>,
    mut rem: ResMut<RemSize>,
    warnings: Res<RateLimitedWarnings>,
) {
    if scale.is_changed() {
        let (wanted, taken) = (scale.0, limited_scale(scale.0));
        if wanted != taken {
            warnings.warn_message(|| format!("`UiScale` is {wanted}; clamped to {taken}"));
            scale.bypass_change_detection().0 = taken;
        }
    }
    if rem.is_changed() {
        let mut limits = LayoutClamp(None);
        limits.float("RemSize", NonNegative, &mut rem.bypass_change_detection().0);
        if let Some((name, number)) = limits.0 {
            warnings.warn_message(|| {
                format!("`{name}` is {number}; clamped to 0 to {MAX_LAYOUT_VALUE}")
            });
        }
    }
}

/// Filter for nodes that bevy measures by their image. `ImageNodeSize` remains on nodes that have `Text` instead.
type Measured = (With<ImageNode>, Without<Text>, Changed<ContentSize>);

/// Clears the measure of zero-sized images, whose aspect ratio is undefined.
pub(crate) fn limit_images(mut nodes: Query<(&ImageNodeSize, &mut ContentSize), Measured>) {
    for (image, mut content) in &mut nodes {
        if image.size().min_element() == 0 {
            content.bypass_change_detection().clear();
        }
    }
}

/// Clamps numbers, and records the first one out of range for a warning.
struct LayoutClamp(Option<(&'static str, f32)>);

/// Whether a number may be negative.
#[derive(Clone, Copy)]
enum Sign {
    Any,
    NonNegative,
}
use Sign::{Any, NonNegative};

impl LayoutClamp {
    fn warn(&self, entity: Entity, warnings: &RateLimitedWarnings) {
        if let Some((name, number)) = self.0 {
            warnings.warn_message(|| {
                let node = entity_name(entity);
                format!(
                    "the {name} of the node {node} is {number}; clamped (limit ±{MAX_LAYOUT_VALUE}, sizes from 0)"
                )
            });
        }
    }

    fn float(&mut self, name: &'static str, sign: Sign, number: &mut f32) {
        let limited = match number.abs() {
            // NaN and divisors close to zero become zero.
            size if size.is_nan() || size < MIN_LAYOUT_VALUE => 0.0,
            _ => match sign {
                Any => number.clamp(-MAX_LAYOUT_VALUE, MAX_LAYOUT_VALUE),
                NonNegative => number.clamp(0.0, MAX_LAYOUT_VALUE),
            },
        };
        if limited != *number {
            // `f32::MAX` is intended as "largest possible", as in `BorderRadius::MAX`: clamped without a warning.
            if *number != f32::MAX {
                self.0.get_or_insert((name, *number));
            }
            *number = limited;
        }
    }

    fn val(&mut self, name: &'static str, sign: Sign, val: &mut Val) {
        match val {
            Val::Px(number)
            | Val::Percent(number)
            | Val::Vw(number)
            | Val::Vh(number)
            | Val::VMin(number)
            | Val::VMax(number)
            | Val::Em(number)
            | Val::Rem(number) => self.float(name, sign, number),
            Val::Auto => {}
        }
    }

    fn rect(&mut self, name: &'static str, sign: Sign, rect: &mut UiRect) {
        for side in [
            &mut rect.left,
            &mut rect.right,
            &mut rect.top,
            &mut rect.bottom,
        ] {
            self.val(name, sign, side);
        }
    }

    fn transform(&mut self, transform: &mut UiTransform) {
        self.val("translation", Any, &mut transform.translation.x);
        self.val("translation", Any, &mut transform.translation.y);
        self.float("scale", Any, &mut transform.scale.x);
        self.float("scale", Any, &mut transform.scale.y);
        self.float("rotation", Any, &mut transform.rotation.cos);
        self.float("rotation", Any, &mut transform.rotation.sin);
    }

    /// Clamps all numbers of grid tracks by reflection, because their fields are private.
    fn tracks(&mut self, name: &'static str, tracks: &mut dyn PartialReflect) {
        if let Some(number) = tracks.try_downcast_mut::<f32>() {
            return self.float(name, NonNegative, number);
        }
        match tracks.reflect_mut() {
            ReflectMut::List(list) => {
                (0..list.len()).for_each(|at| {
                    list.get_mut(at)
                        .into_iter()
                        .for_each(|it| self.tracks(name, it))
                });
            }
            ReflectMut::Struct(fields) => {
                (0..fields.field_len()).for_each(|at| {
                    fields
                        .field_at_mut(at)
                        .into_iter()
                        .for_each(|it| self.tracks(name, it));
                });
            }
            ReflectMut::Enum(variant) => {
                (0..variant.field_len()).for_each(|at| {
                    variant
                        .field_at_mut(at)
                        .into_iter()
                        .for_each(|it| self.tracks(name, it));
                });
            }
            _ => {}
        }
    }

    fn edited(&mut self, text: &mut EditableText) {
        let numbers = [
            ("cursor_width", Some(&mut text.cursor_width)),
            ("cursor_margin", Some(&mut text.cursor_margin.x)),
            ("cursor_margin", Some(&mut text.cursor_margin.y)),
            ("visible_lines", text.visible_lines.as_mut()),
            ("visible_width", text.visible_width.as_mut()),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                self.float(name, NonNegative, number);
            }
        }
    }

    fn node(&mut self, node: &mut Node) {
        self.tracks("grid_template_rows", &mut node.grid_template_rows);
        self.tracks("grid_template_columns", &mut node.grid_template_columns);
        self.tracks("grid_auto_rows", &mut node.grid_auto_rows);
        self.tracks("grid_auto_columns", &mut node.grid_auto_columns);
        let radius = &mut node.border_radius;
        let places = [
            ("left", &mut node.left),
            ("right", &mut node.right),
            ("top", &mut node.top),
            ("bottom", &mut node.bottom),
        ];
        for (name, val) in places {
            self.val(name, Any, val);
        }
        let lengths = [
            ("width", &mut node.width),
            ("height", &mut node.height),
            ("min_width", &mut node.min_width),
            ("min_height", &mut node.min_height),
            ("max_width", &mut node.max_width),
            ("max_height", &mut node.max_height),
            ("flex_basis", &mut node.flex_basis),
            ("row_gap", &mut node.row_gap),
            ("column_gap", &mut node.column_gap),
            ("border_radius", &mut radius.top_left.x),
            ("border_radius", &mut radius.top_left.y),
            ("border_radius", &mut radius.top_right.x),
            ("border_radius", &mut radius.top_right.y),
            ("border_radius", &mut radius.bottom_right.x),
            ("border_radius", &mut radius.bottom_right.y),
            ("border_radius", &mut radius.bottom_left.x),
            ("border_radius", &mut radius.bottom_left.y),
        ];
        for (name, val) in lengths {
            self.val(name, NonNegative, val);
        }
        self.rect("margin", Any, &mut node.margin);
        self.rect("padding", NonNegative, &mut node.padding);
        self.rect("border", NonNegative, &mut node.border);
        self.float("scrollbar_width", NonNegative, &mut node.scrollbar_width);
        self.float(
            "overflow_clip_margin",
            NonNegative,
            &mut node.overflow_clip_margin.margin,
        );
        self.float("flex_grow", NonNegative, &mut node.flex_grow);
        self.float("flex_shrink", NonNegative, &mut node.flex_shrink);
        if let Some(mut ratio) = node.aspect_ratio {
            self.float("aspect_ratio", NonNegative, &mut ratio);
            node.aspect_ratio = (ratio > 0.0).then_some(ratio);
        }
    }
}

#[cfg(test)]
mod tests;
