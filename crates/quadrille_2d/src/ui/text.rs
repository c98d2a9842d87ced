//! Text of nodes: glyphs, selection, caret and inline images.

use bevy_color::{Alpha as _, Color, LinearRgba};
use bevy_image::TRANSPARENT_IMAGE_HANDLE;
use bevy_math::{Affine2, Affine3A, Rect, Vec2, Vec3};
use bevy_text::{TextCursorStyle, TextLayoutInfo, TextReadWriteMode};

use super::image::center_box;
use super::paint::bounds_in;
use super::rounded_box::{BoxCoverage, RoundedBox};
use super::{NodeDataItem, Writer, rect_y_up};
use crate::instances::mesh_instance::UvRect;
use crate::queue::text::{PositionedText, QuadSink as _};

/// Pixels by which glyphs usually reach out of the lines of their text at most.
const OVERHANG: f32 = 3.0;

impl Writer<'_, '_, '_, '_> {
    /// Adds the text of a node. Editable text scrolls in the node's content box and is clipped to it.
    pub(super) fn add_text(
        &mut self,
        world: &Affine3A,
        transform: Affine2,
        item: &NodeDataItem<'_, '_>,
    ) {
        let is_text = item.is_text || item.editable.is_some();
        let Some((layout, block)) = item.text.filter(|_| is_text) else {
            return;
        };
        for span in block.entities() {
            let color = self.nodes.spans.get(span.entity).ok();
            let color = color.and_then(|span| span.color.copied());
            self.ui.add_span(span.entity, color);
        }
        let content = item.node.content_box();
        let scrolled = item.editable.map(|text| text.viewport.offset);
        let clip_stack_len = scrolled.map(|_| self.clip.push(content, transform));
        let text_world = translate_y_down(world, content.min - scrolled.unwrap_or_default());
        let style = item.cursor.map(|(style, mode)| (style, *mode));
        if let Some((style, mode)) = style {
            self.add_selection(&text_world, layout, style, mode);
        }
        let shadow = item.shadow.map(|shadow| {
            let offset = shadow.offset / item.node.inverse_scale_factor();
            (translate_y_down(&text_world, offset), shadow.color)
        });
        let text = PositionedText {
            layout,
            block,
            world: text_world,
            shadow,
            selected: style.and_then(|(style, _)| style.selected_text_color),
        };
        let bounds = rect_y_up(Rect::from_corners(Vec2::ZERO, layout.size).inflate(OVERHANG));
        self.ui.set_group(Some(bounds_in(&text_world, bounds)));
        text.add(&self.nodes.spans, self);
        self.ui.set_group(None);
        if item.editable.is_some() {
            let color = item.text_color.map_or(Color::WHITE, |color| color.0);
            for rect in &layout.preedit_underline_rects {
                self.add(None, &text_world, rect_y_up(*rect), color.to_linear());
            }
        }
        if let Some((style, mode)) = style {
            self.add_caret(&text_world, layout, style, mode);
        }
        if let Some(clip_stack_len) = clip_stack_len {
            self.clip.pop(clip_stack_len);
        }
        // As in bevy, inline images ignore the scroll offset and the content-box clip; ancestor clips apply.
        self.add_inline_images(&translate_y_down(world, content.min), layout);
    }

    fn add_selection(
        &mut self,
        world: &Affine3A,
        layout: &TextLayoutInfo,
        style: &TextCursorStyle,
        mode: TextReadWriteMode,
    ) {
        let focus = self.nodes.focus.as_ref().and_then(|focus| focus.get());
        let is_edited = focus == Some(self.entity) && mode == TextReadWriteMode::Editable;
        let color = match is_edited {
            true => style.selection_color,
            false => style.unfocused_selection_color,
        };
        if mode == TextReadWriteMode::Static || color.is_fully_transparent() {
            return;
        }
        let rects = &layout.selection_rects;
        for (at, rect) in rects.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| rects[at]);
            let shape = RoundedBox {
                half_size: rect.size() / 2.0,
                radii: selection_radii(
                    *rect,
                    before,
                    rects.get(at + 1).copied(),
                    style.selection_radius,
                ),
                coverage: BoxCoverage::Whole,
            };
            self.fill_box(
                world,
                rect_y_up(*rect).center(),
                shape,
                shape.bounds(),
                color,
            );
        }
    }

    fn add_caret(
        &mut self,
        world: &Affine3A,
        layout: &TextLayoutInfo,
        style: &TextCursorStyle,
        mode: TextReadWriteMode,
    ) {
        if let Some((true, rect)) = layout.cursor
            && mode != TextReadWriteMode::Static
            && !style.color.is_fully_transparent()
            && !rect.is_empty()
        {
            self.add(None, world, rect_y_up(rect), style.color.to_linear());
        }
    }

    fn add_inline_images(&mut self, world: &Affine3A, layout: &TextLayoutInfo) {
        for (entity, _, rect) in &layout.inline_boxes {
            let Ok(image) = self.nodes.inline_images.get(*entity) else {
                continue;
            };
            let id = image.image.id();
            let is_hidden = image.color.is_fully_transparent()
                || id == TRANSPARENT_IMAGE_HANDLE.id()
                || rect.is_empty();
            let size = self.image(id).0.size;
            if is_hidden || size.is_none_or(|size| size.min_element() == 0.0) {
                continue;
            }
            let uv = UvRect::WHOLE.flipped(image.flip_x, image.flip_y);
            let shape = RoundedBox::square(rect.size());
            let center = rect_y_up(*rect).center();
            let (world, shape, bounds) = center_box(world, center, shape, shape.bounds());
            self.rounded_box = shape;
            self.quad(id, &world, bounds, uv, image.color.to_linear());
            self.rounded_box = None;
        }
    }
}

/// Translates `world` by an offset with y down.
fn translate_y_down(world: &Affine3A, at: Vec2) -> Affine3A {
    *world * Affine3A::from_translation(Vec3::new(at.x, -at.y, 0.0))
}

/// Corner radii of a selected line: the fraction `part` of its height, less where the line before or after continues
/// the edge. Order: top left, top right, bottom right, bottom left. Rectangles are in layout space, y down.
fn selection_radii(line: Rect, before: Option<Rect>, after: Option<Rect>, part: f32) -> [Vec2; 4] {
    let radius = line.height() * part.clamp(0.0, 0.5);
    let mut radii = [Vec2::splat(radius); 4];
    // Radius along x at a corner that is adjacent to another selected line.
    let left = |other: Rect| {
        let reaches = line.min.x <= other.max.x;
        reaches.then(|| (other.min.x - line.min.x).clamp(0.0, radius))
    };
    let right = |other: Rect| {
        let reaches = other.min.x <= line.max.x;
        reaches.then(|| (line.max.x - other.max.x).clamp(0.0, radius))
    };
    let corners = [
        before.and_then(left),
        before.and_then(right),
        after.and_then(right),
        after.and_then(left),
    ];
    for (radius, x) in radii.iter_mut().zip(corners) {
        radius.x = x.unwrap_or(radius.x);
        if radius.x == 0.0 {
            *radius = Vec2::ZERO;
        }
    }
    radii
}

/// Solid boxes.
impl Writer<'_, '_, '_, '_> {
    /// Fills `shape`, centred at `center` in the node. A rounded or unaligned shape rasterizes `quad` and antialiases
    /// by its SDF; otherwise its bounds are drawn as a plain quad.
    pub(super) fn fill_box(
        &mut self,
        world: &Affine3A,
        center: Vec2,
        shape: RoundedBox,
        quad: Rect,
        color: Color,
    ) {
        let color: LinearRgba = color.to_linear();
        if color.alpha <= 0.0 || shape.half_size.min_element() <= 0.0 {
            return;
        }
        let (world, shape, bounds) = center_box(world, center, shape, shape.bounds());
        self.rounded_box = shape;
        self.add(None, &world, shape.map_or(bounds, |_| quad), color);
        self.rounded_box = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_corners_are_rounded_at_free_ends() {
        let first = Rect::new(20.0, 0.0, 60.0, 10.0);
        let second = Rect::new(0.0, 10.0, 30.0, 20.0);
        let [none, round] = [Vec2::ZERO, Vec2::splat(5.0)];
        assert_eq!(selection_radii(first, None, None, 0.5), [round; 4]);
        // The second line continues below its left corner.
        let upper = selection_radii(first, None, Some(second), 0.5);
        assert_eq!(upper, [round, round, round, none]);
        let lower = selection_radii(second, Some(first), None, 0.5);
        assert_eq!(lower, [round, none, round, round]);
        assert_eq!(selection_radii(first, None, None, 0.0), [none; 4]);
    }
}
