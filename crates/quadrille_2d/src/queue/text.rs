//! Converts text layouts to instances: backgrounds, shadows, glyphs, underlines and strikethroughs.

use bevy_asset::AssetId;
use bevy_color::{Alpha as _, Color, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_image::Image as ImageAsset;
use bevy_math::{Affine3A, Mat3, Rect, Vec2};
use bevy_sprite::{Anchor, Text2dShadow};
use bevy_text::{
    ComputedTextBlock, PositionedGlyph, Strikethrough, StrikethroughColor, TextBackgroundColor,
    TextBounds, TextColor, TextLayoutInfo, Underline, UnderlineColor,
};
use bevy_transform::components::GlobalTransform;

use crate::instances::mesh_instance::rect_around;
use crate::scene::items::Stamp;

/// A block of text.
#[derive(QueryData)]
pub(crate) struct TextBlock {
    layout: &'static TextLayoutInfo,
    block: &'static ComputedTextBlock,
    anchor: &'static Anchor,
    bounds: &'static TextBounds,
    transform: &'static GlobalTransform,
    shadow: Option<&'static Text2dShadow>,
}

/// Components that determine the quads of a text block, with their change ticks.
#[derive(QueryData)]
pub(crate) struct TextTicks {
    layout: Ref<'static, TextLayoutInfo>,
    block: Ref<'static, ComputedTextBlock>,
    anchor: Ref<'static, Anchor>,
    bounds: Ref<'static, TextBounds>,
    pub(crate) transform: Ref<'static, GlobalTransform>,
    shadow: Option<Ref<'static, Text2dShadow>>,
}

/// Components of [`Span`] with their change ticks.
#[derive(QueryData)]
pub(crate) struct SpanTicks {
    color: Option<Ref<'static, TextColor>>,
    background: Option<Ref<'static, TextBackgroundColor>>,
    underline: (
        Option<Ref<'static, Underline>>,
        Option<Ref<'static, UnderlineColor>>,
    ),
    strikethrough: (
        Option<Ref<'static, Strikethrough>>,
        Option<Ref<'static, StrikethroughColor>>,
    ),
}

/// Fingerprint of a block of text and its spans.
pub(crate) fn text_stamp(text: &TextTicksItem<'_, '_>, spans: &Query<'_, '_, SpanTicks>) -> Stamp {
    let stamp = Stamp::default()
        .add(Some(text.layout.last_changed()))
        .add(Some(text.block.last_changed()))
        .add(Some(text.anchor.last_changed()))
        .add(Some(text.bounds.last_changed()))
        .add(Some(text.transform.last_changed()))
        .add(text.shadow.as_ref().map(Ref::last_changed));
    text.block.entities().iter().fold(stamp, |stamp, span| {
        let Ok(span) = spans.get(span.entity) else {
            return stamp.add_number(0);
        };
        let (underline, strikethrough) = (&span.underline, &span.strikethrough);
        stamp
            .add_number(1)
            .add(span.color.as_ref().map(Ref::last_changed))
            .add(span.background.as_ref().map(Ref::last_changed))
            .add(underline.0.as_ref().map(Ref::last_changed))
            .add(underline.1.as_ref().map(Ref::last_changed))
            .add(strikethrough.0.as_ref().map(Ref::last_changed))
            .add(strikethrough.1.as_ref().map(Ref::last_changed))
    })
}

/// Style of a text span.
#[derive(QueryData)]
pub(crate) struct Span {
    pub(crate) color: Option<&'static TextColor>,
    background: Option<&'static TextBackgroundColor>,
    underline: (Has<Underline>, Option<&'static UnderlineColor>),
    strikethrough: (Has<Strikethrough>, Option<&'static StrikethroughColor>),
}

/// Receives quads.
pub(crate) trait QuadSink {
    /// Adds a quad that shows a rect of an image in pixels, or is a solid color if `image` is `None`.
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        rect: Rect,
        tint: LinearRgba,
    );
}

/// Adds the quads of a text block, back to front.
pub(crate) fn add_text(
    text: &TextBlockItem<'_, '_>,
    spans: &Query<'_, '_, Span>,
    sink: &mut impl QuadSink,
) {
    let text_from_layout = text_from_layout_transform(text);
    let positioned = PositionedText {
        layout: text.layout,
        block: text.block,
        world: text.transform.affine() * text_from_layout,
        shadow: text.shadow.map(|shadow| {
            // The offset is in the local space of the text, not of its layout.
            let offset = Affine3A::from_translation(shadow.offset.extend(0.0));
            let world = text.transform.affine() * offset * text_from_layout;
            (world, shadow.color)
        }),
        selected: None,
    };
    positioned.add(spans, sink);
}

/// A text layout with its transform and styles.
pub(crate) struct PositionedText<'a> {
    pub(crate) layout: &'a TextLayoutInfo,
    pub(crate) block: &'a ComputedTextBlock,
    /// From layout space in pixels, y up, to world space.
    pub(crate) world: Affine3A,
    /// Transform and color of the text shadow.
    pub(crate) shadow: Option<(Affine3A, Color)>,
    /// Color of selected glyphs.
    pub(crate) selected: Option<Color>,
}

impl PositionedText<'_> {
    /// Adds the quads, back to front.
    pub(crate) fn add(&self, spans: &Query<'_, '_, Span>, sink: &mut impl QuadSink) {
        let (text, world) = (self, self.world);
        let span = |section: u32| {
            let entity = text.block.entities().get(section as usize)?.entity;
            spans.get(entity).ok()
        };
        for run in &text.layout.run_geometry {
            let background = span(run.section_index).and_then(|span| span.background);
            if let Some(TextBackgroundColor(color)) = background {
                let rect = y_up_rect(run.bounds.center(), run.bounds.size());
                sink.add(None, &world, rect, color.to_linear());
            }
        }
        if let Some((world, color)) = text.shadow {
            add_glyphs(text, &world, |_| color, None, sink);
            add_lines(text, &world, span, Some(color), sink);
        }
        let color = |section| {
            let color = span(section).and_then(|span| span.color);
            color.map_or(Color::WHITE, |color| color.0)
        };
        add_glyphs(text, &world, color, text.selected, sink);
        add_lines(text, &world, span, None, sink);
    }
}

fn add_glyphs(
    text: &PositionedText<'_>,
    world: &Affine3A,
    color: impl Fn(u32) -> Color,
    selected: Option<Color>,
    sink: &mut impl QuadSink,
) {
    // Adjacent glyphs mostly share a span.
    let mut last: Option<(u32, LinearRgba)> = None;
    for glyph in &text.layout.glyphs {
        let tint = match last {
            Some((section, tint)) if section == glyph.section_index => tint,
            _ => color(glyph.section_index).to_linear(),
        };
        last = Some((glyph.section_index, tint));
        let atlas = &glyph.atlas_info;
        let tint = match selected {
            _ if !atlas.is_alpha_mask => LinearRgba::WHITE.with_alpha(tint.alpha),
            Some(color) if is_selected(text.layout, glyph) => color.to_linear(),
            _ => tint,
        };
        let rect = y_up_rect(glyph.position, atlas.rect.size());
        sink.add(Some((atlas.texture, atlas.rect)), world, rect, tint);
    }
}

/// Whether a glyph lies entirely within the selection, as in bevy.
fn is_selected(layout: &TextLayoutInfo, glyph: &PositionedGlyph) -> bool {
    let glyph = rect_around(glyph.position, glyph.atlas_info.rect.size());
    let holds = |rect: &Rect| rect.contains(glyph.min) && rect.contains(glyph.max);
    layout.selection_rects.iter().any(holds)
}

fn add_lines<'w>(
    text: &PositionedText<'_>,
    world: &Affine3A,
    span: impl Fn(u32) -> Option<SpanItem<'w, 'w>>,
    shadow: Option<Color>,
    sink: &mut impl QuadSink,
) {
    for run in &text.layout.run_geometry {
        let Some(span) = span(run.section_index) else {
            continue;
        };
        let own = span.color.map_or(Color::WHITE, |color| color.0);
        let (struck, struck_color) = span.strikethrough;
        if struck {
            let color = shadow.unwrap_or(struck_color.map_or(own, |color| color.0));
            let rect = y_up_rect(run.strikethrough_position(), run.strikethrough_size());
            sink.add(None, world, rect, color.to_linear());
        }
        let (underlined, underline_color) = span.underline;
        if underlined {
            let color = shadow.unwrap_or(underline_color.map_or(own, |color| color.0));
            let rect = y_up_rect(run.underline_position(), run.underline_size());
            sink.add(None, world, rect, color.to_linear());
        }
    }
}

/// Flips a rectangle of the layout to y up.
fn y_up_rect(center: Vec2, size: Vec2) -> Rect {
    rect_around(center * Vec2::new(1.0, -1.0), size)
}

/// Transform from layout space to the local space of the text: places the layout's top left by the anchor.
fn text_from_layout_transform(text: &TextBlockItem<'_, '_>) -> Affine3A {
    let scale = text.layout.scale_factor.max(f32::MIN_POSITIVE).recip();
    let size = Vec2::new(
        text.bounds.width.unwrap_or(text.layout.size.x * scale),
        text.bounds.height.unwrap_or(text.layout.size.y * scale),
    );
    let top_left = (Anchor::TOP_LEFT.as_vec() - text.anchor.as_vec()) * size;
    let scale = Mat3::from_diagonal(Vec2::splat(scale).extend(1.0));
    Affine3A::from_mat3_translation(scale, top_left.extend(0.0))
}
