//! Images of nodes (`ImageNode`), and images of other cameras (`ViewportNode`).

use bevy_asset::AssetId;
use bevy_color::{Alpha as _, LinearRgba};
use bevy_image::{Image as ImageAsset, TRANSPARENT_IMAGE_HANDLE};
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_sprite::{BorderRect, SpriteImageMode};
use bevy_ui::prelude::ImageNode;
use bevy_ui::widget::{NodeImageMode, ViewportNode};
use bevy_ui::{ComputedNode, VisualBox};
use quadrille_content::warnings::entity_name;

use super::rounded_box::RoundedBox;
use super::{Writer, clip, rect_y_up};
use crate::instances::mesh_instance::{UvRect, rect_around};
use crate::queue::slices::slices;
use crate::queue::sprites::missing_texture;

impl Writer<'_, '_, '_, '_> {
    pub(super) fn add_image(&mut self, world: &Affine3A, node: &ComputedNode, image: &ImageNode) {
        let id = image.image.id();
        let bounds = rect_y_up(match image.visual_box {
            VisualBox::ContentBox => node.content_box(),
            VisualBox::PaddingBox => node.padding_box(),
            VisualBox::BorderBox => node.border_box(),
        });
        let is_hidden = image.color.is_fully_transparent() || id == TRANSPARENT_IMAGE_HANDLE.id();
        if is_hidden || bounds.size().cmple(Vec2::ZERO).any() {
            return;
        }
        let Some(size) = self.image(id).0.size else {
            return;
        };
        let Some(source_rect) = self.source_rect(image, size) else {
            let atlas = image.texture_atlas.as_ref();
            if let Some(reason) =
                atlas.and_then(|atlas| missing_texture(atlas, &self.nodes.layouts))
            {
                let who = format_args!("the image of the node {}", entity_name(self.entity));
                self.ui.has_invalid = true;
                self.nodes.warnings.warn(who, || reason);
            }
            return;
        };
        let uv =
            |source_rect| UvRect::of_pixels(source_rect, size).flipped(image.flip_x, image.flip_y);
        let tint = image.color.to_linear();
        let Some(mode) = sliced_mode(&image.image_mode) else {
            let drawn = match image.image_mode {
                NodeImageMode::Auto => fit_size(source_rect.size(), bounds.size()),
                _ => bounds.size(),
            };
            let (center, shape) = image_box(node, image.visual_box, drawn);
            let (world, shape, bounds) = center_box(world, center, shape, shape.bounds());
            self.rounded_box = shape;
            self.quad(id, &world, bounds, uv(source_rect), tint);
            self.rounded_box = None;
            return;
        };
        // Corner slices have the size of the image's pixels in logical pixels.
        let scale = node.inverse_scale_factor().recip();
        let mut slices_of_image = std::mem::take(self.slices);
        slices_of_image.clear();
        slices(
            &mode,
            source_rect,
            bounds.size() / scale,
            &mut slices_of_image,
        );
        for slice in &slices_of_image {
            let at = Rect {
                min: slice.dest_rect.min * scale + bounds.center(),
                max: slice.dest_rect.max * scale + bounds.center(),
            };
            let shown = mirror_rect(slice.source_rect, source_rect, image.flip_x, image.flip_y);
            self.quad(id, world, at, uv(shown), tint);
        }
        *self.slices = slices_of_image;
    }

    /// Draws the image of a `ViewportNode`'s camera, at the size of the node, within its border.
    pub(super) fn add_viewport(
        &mut self,
        world: &Affine3A,
        node: &ComputedNode,
        viewport: &ViewportNode,
    ) {
        self.ui.add_sources(viewport.camera);
        let Some(image) = self.viewport_image(viewport) else {
            return;
        };
        let (center, shape) = RoundedBox::of(node).inset(node.border());
        let (world, shape, bounds) = center_box(world, center, shape, shape.bounds());
        let whole = rect_around(-center, node.size());
        let bounds = shape.map_or(bounds, |_| whole);
        let uv_at = |point| clip::uv_at(point, whole, UvRect::WHOLE);
        let uv = UvRect {
            min: uv_at(Vec2::new(bounds.min.x, bounds.max.y)),
            max: uv_at(Vec2::new(bounds.max.x, bounds.min.y)),
        };
        self.rounded_box = shape;
        self.quad(image, &world, bounds, uv, LinearRgba::WHITE);
        self.rounded_box = None;
    }

    /// Returns the target image of a `ViewportNode`'s camera.
    fn viewport_image(&self, viewport: &ViewportNode) -> Option<AssetId<ImageAsset>> {
        let target = self.nodes.targets.get(viewport.camera?).ok()?;
        Some(target.as_image()?.id())
    }

    /// Returns the visible rect of a node's image in pixels.
    fn source_rect(&self, image: &ImageNode, size: Vec2) -> Option<Rect> {
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

/// Largest size within `room` with the image's aspect ratio.
fn fit_size(image: Vec2, room: Vec2) -> Vec2 {
    if image.cmple(Vec2::ZERO).any() {
        return room;
    }
    image * (room / image).min_element()
}

/// Returns the centre (y up) and the box of an image of this size, which is centred in a node's `visual_box`. The
/// node's rounded corners cut off corners of the box where they overlap it.
fn image_box(node: &ComputedNode, visual_box: VisualBox, size: Vec2) -> (Vec2, RoundedBox) {
    let (mut inset, room) = match visual_box {
        VisualBox::ContentBox => (node.content_inset(), node.content_box()),
        VisualBox::PaddingBox => (node.border(), node.padding_box()),
        VisualBox::BorderBox => (BorderRect::ZERO, node.border_box()),
    };
    let beside = (room.size() - size) / 2.0;
    inset.min_inset += beside;
    inset.max_inset += beside;
    let (_, shape) = RoundedBox::of(node).inset(inset);
    let half_size = size / 2.0;
    (rect_y_up(room).center(), RoundedBox { half_size, ..shape })
}

/// Translates `world` to the centre of a box. Returns no shape for a square box that is aligned to pixels: a plain
/// quad needs no antialiasing.
pub(super) fn center_box(
    world: &Affine3A,
    center: Vec2,
    shape: RoundedBox,
    bounds: Rect,
) -> (Affine3A, Option<RoundedBox>, Rect) {
    let world = *world * Affine3A::from_translation(center.extend(0.0));
    let needs_edges = shape.is_rounded() || !is_pixel_aligned(&world, shape.bounds());
    (world, needs_edges.then_some(shape), bounds)
}

/// Whether the sides of a rectangle coincide with pixel boundaries of the target.
pub(super) fn is_pixel_aligned(world: &Affine3A, rect: Rect) -> bool {
    /// In pixels. Smaller than 1/255, so the error of coverage does not show in 8-bit colors.
    const MAX_MISALIGNMENT: f32 = 1.0 / 512.0;
    let (x, y) = (world.matrix3.x_axis, world.matrix3.y_axis);
    let is_straight = x.y == 0.0 && y.x == 0.0;
    let on_pixel = |corner: Vec2| {
        let at = world.transform_point3(corner.extend(0.0)).truncate();
        (at - at.round()).abs().max_element() < MAX_MISALIGNMENT
    };
    is_straight && on_pixel(rect.min) && on_pixel(rect.max)
}

/// Mirrors a source rect within `whole`.
fn mirror_rect(source_rect: Rect, whole: Rect, x: bool, y: bool) -> Rect {
    let sum = whole.min + whole.max;
    let mut shown = source_rect;
    if x {
        (shown.min.x, shown.max.x) = (sum.x - source_rect.max.x, sum.x - source_rect.min.x);
    }
    if y {
        (shown.min.y, shown.max.y) = (sum.y - source_rect.max.y, sum.y - source_rect.min.y);
    }
    shown
}

/// Returns the equivalent image mode of sprites, if the image is sliced or tiled.
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
