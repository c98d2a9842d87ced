//! Images of nodes, and what other cameras see.

use bevy_asset::AssetId;
use bevy_color::{Alpha as _, LinearRgba};
use bevy_image::{Image as ImageAsset, TRANSPARENT_IMAGE_HANDLE};
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_sprite::{BorderRect, SpriteImageMode};
use bevy_ui::prelude::ImageNode;
use bevy_ui::widget::{NodeImageMode, ViewportNode};
use bevy_ui::{ComputedNode, VisualBox};
use quadrille_content::named;

use super::rounded::RoundBox;
use super::{Writer, clip, rect_y_up};
use crate::instance::{UvRect, rect_around};
use crate::slices::slices;
use crate::sprites::missing_texture;

impl Writer<'_, '_, '_> {
    pub(super) fn add_image(&mut self, world: &Affine3A, node: &ComputedNode, image: &ImageNode) {
        let id = image.image.id();
        let place = rect_y_up(match image.visual_box {
            VisualBox::ContentBox => node.content_box(),
            VisualBox::PaddingBox => node.padding_box(),
            VisualBox::BorderBox => node.border_box(),
        });
        let is_hidden = image.color.is_fully_transparent() || id == TRANSPARENT_IMAGE_HANDLE.id();
        if is_hidden || place.size().cmple(Vec2::ZERO).any() {
            return;
        }
        let Some(size) = self.nodes.image_assets.get(id).map(ImageAsset::size_f32) else {
            return;
        };
        let Some(part) = self.part(image, size) else {
            let atlas = image.texture_atlas.as_ref();
            if let Some(reason) =
                atlas.and_then(|atlas| missing_texture(atlas, &self.nodes.layouts))
            {
                let who = format_args!("the image of the node {}", named(self.entity));
                self.nodes.complaints.warn(who, || reason);
            }
            return;
        };
        let uv = |part| UvRect::of_pixels(part, size).flipped(image.flip_x, image.flip_y);
        let tint = image.color.to_linear();
        let Some(mode) = sliced_mode(&image.image_mode) else {
            let drawn = match image.image_mode {
                NodeImageMode::Auto => fitted(part.size(), place.size()),
                _ => place.size(),
            };
            let (center, shape) = image_box(node, image.visual_box, drawn);
            let (world, shape, place) = on_pixels(world, center, shape, shape.place());
            self.round = shape;
            self.quad(id, &world, place, uv(part), tint);
            self.round = None;
            return;
        };
        // Corners are as large as in the image, in logical pixels.
        let scale = node.inverse_scale_factor().recip();
        let mut slices_of_image = std::mem::take(self.slices);
        slices_of_image.clear();
        slices(&mode, part, place.size() / scale, &mut slices_of_image);
        for slice in &slices_of_image {
            let at = Rect {
                min: slice.place.min * scale + place.center(),
                max: slice.place.max * scale + place.center(),
            };
            let shown = mirrored(slice.part, part, image.flip_x, image.flip_y);
            self.quad(id, world, at, uv(shown), tint);
        }
        *self.slices = slices_of_image;
    }

    /// Draws the picture of a node's camera inside of its border. It is as large as the node.
    pub(super) fn add_viewport(
        &mut self,
        world: &Affine3A,
        node: &ComputedNode,
        viewport: &ViewportNode,
    ) {
        let Some(image) = self.seen_in(viewport) else {
            return;
        };
        let (center, shape) = RoundBox::of(node).inside(node.border());
        let (world, shape, place) = on_pixels(world, center, shape, shape.place());
        let whole = rect_around(-center, node.size());
        let place = shape.map_or(place, |_| whole);
        let uv_at = |point| clip::uv_at(point, whole, UvRect::WHOLE);
        let uv = UvRect {
            min: uv_at(Vec2::new(place.min.x, place.max.y)),
            max: uv_at(Vec2::new(place.max.x, place.min.y)),
        };
        self.round = shape;
        self.quad(image, &world, place, uv, LinearRgba::WHITE);
        self.round = None;
    }

    /// The image that a node's camera draws to.
    fn seen_in(&self, viewport: &ViewportNode) -> Option<AssetId<ImageAsset>> {
        let target = self.nodes.targets.get(viewport.camera?).ok()?;
        Some(target.as_image()?.id())
    }

    /// The pixels that a node shows of its image.
    fn part(&self, image: &ImageNode, size: Vec2) -> Option<Rect> {
        let atlas = match &image.texture_atlas {
            Some(atlas) => atlas.texture_rect(&self.nodes.layouts)?.as_rect(),
            None => Rect::from_corners(Vec2::ZERO, size),
        };
        Some(match image.rect {
            None => atlas,
            Some(rect) => Rect {
                min: rect.min + atlas.min,
                max: rect.max + atlas.min,
            },
        })
    }
}

/// The largest size within `room` that has the image's proportions.
fn fitted(image: Vec2, room: Vec2) -> Vec2 {
    if image.cmple(Vec2::ZERO).any() {
        return room;
    }
    image * (room / image).min_element()
}

/// Box of an image of this size in the middle of a node's box, and its centre, y up. It has the node's round corners, as
/// far as they reach into it.
fn image_box(node: &ComputedNode, visual_box: VisualBox, size: Vec2) -> (Vec2, RoundBox) {
    let (mut inset, room) = match visual_box {
        VisualBox::ContentBox => (node.content_inset(), node.content_box()),
        VisualBox::PaddingBox => (node.border(), node.padding_box()),
        VisualBox::BorderBox => (BorderRect::ZERO, node.border_box()),
    };
    let beside = (room.size() - size) / 2.0;
    inset.min_inset += beside;
    inset.max_inset += beside;
    let (_, shape) = RoundBox::of(node).inside(inset);
    let half = size / 2.0;
    (rect_y_up(room).center(), RoundBox { half, ..shape })
}

/// Moves a box to its centre. One without round corners whose sides lie between pixels of the target needs no smooth
/// edges: its quad does.
pub(super) fn on_pixels(
    world: &Affine3A,
    center: Vec2,
    shape: RoundBox,
    place: Rect,
) -> (Affine3A, Option<RoundBox>, Rect) {
    let world = *world * Affine3A::from_translation(center.extend(0.0));
    let needs_edges = shape.is_round() || !is_on_pixels(&world, shape.place());
    (world, needs_edges.then_some(shape), place)
}

/// Whether the sides of a rectangle lie between pixels of the target.
pub(super) fn is_on_pixels(world: &Affine3A, rect: Rect) -> bool {
    /// Less than a pixel's 255th part covers nothing more.
    const LEAST: f32 = 1.0 / 512.0;
    let (x, y) = (world.matrix3.x_axis, world.matrix3.y_axis);
    let is_straight = x.y == 0.0 && y.x == 0.0;
    let on_pixel = |corner: Vec2| {
        let at = world.transform_point3(corner.extend(0.0)).truncate();
        (at - at.round()).abs().max_element() < LEAST
    };
    is_straight && on_pixel(rect.min) && on_pixel(rect.max)
}

/// The part of an image that is at the place of another when the whole is mirrored.
fn mirrored(part: Rect, whole: Rect, x: bool, y: bool) -> Rect {
    let sum = whole.min + whole.max;
    let mut shown = part;
    if x {
        (shown.min.x, shown.max.x) = (sum.x - part.max.x, sum.x - part.min.x);
    }
    if y {
        (shown.min.y, shown.max.y) = (sum.y - part.max.y, sum.y - part.min.y);
    }
    shown
}

/// The mode of sprites that cuts an image alike, if it is cut at all.
fn sliced_mode(mode: &NodeImageMode) -> Option<SpriteImageMode> {
    match mode {
        NodeImageMode::Auto | NodeImageMode::Stretch => None,
        NodeImageMode::Sliced(slicer) => Some(SpriteImageMode::Sliced(slicer.clone())),
        NodeImageMode::Tiled {
            tile_x,
            tile_y,
            stretch_value,
        } => Some(SpriteImageMode::Tiled {
            tile_x: *tile_x,
            tile_y: *tile_y,
            stretch_value: *stretch_value,
        }),
    }
}

#[cfg(test)]
mod tests;
