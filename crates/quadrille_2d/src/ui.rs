//! Nodes of `bevy_ui`: backgrounds, borders, images, text and images of other cameras (`ViewportNode`), drawn over
//! the view of their camera.
//!
//! bevy's layout is in physical pixels of the camera's viewport, y down. This module flips it to y up, as in the
//! rest of the crate, so that sprites and nodes share pipelines.
//!
//! Each node is drawn in bevy's order: shadows, background, border and outline, gradients, image, material, selection, text,
//! caret, inline images. As in bevy, children are not clipped to the rounded corners of their parents.

mod changes;
mod clip;
mod gradient;
mod image;
mod limits;
mod paint;
mod rounded_box;
mod shadow;
mod sizes;
mod text;

use bevy_asset::{AssetId, Assets};
use bevy_color::{Alpha as _, Color, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_image::{Image as ImageAsset, TextureAtlasLayout};
use bevy_input_focus::InputFocus;
use bevy_math::{Affine2, Affine3A, Mat2, Mat4, Rect, Vec2, Vec3};
use bevy_text::{
    ComputedTextBlock, EditableText, TextColor, TextCursorStyle, TextLayoutInfo, TextReadWriteMode,
};
use bevy_ui::prelude::{BackgroundColor, BorderColor, BoxShadow, ImageNode, Node, Outline, Text};
use bevy_ui::widget::{InlineImage, TextShadow, ViewportNode};
use bevy_ui::{
    BackgroundGradient, BorderGradient, CalculatedClip, ComputedNode, ComputedUiTargetCamera,
    Gradient, OuterColor, UiGlobalTransform, UiStack,
};

use bevy_camera::RenderTarget;
use bevy_camera::visibility::InheritedVisibility;

use crate::instances::mesh_instance::UvRect;
use crate::meshes::Meshes2d;
use crate::queue::slices::TextureSlice;
use crate::queue::text::{QuadSink, Span};
use crate::scene::drawn_images::{ImageInfo, TextureLookup};
use crate::scene::materials::{MaterialInstance, MaterialKind, MaterialState, Materials2d};
use crate::scene::node_phase::NodePhase;
use crate::scene::phase::{Phase2d, Texture, Textures2d, View2d};
use changes::NodeChanges;
use clip::Clip;
use gradient::{GradientLines, Stops, gradient_quad};
use image::is_pixel_aligned;
pub(crate) use limits::{limit_images, limit_nodes, limit_scales};
use paint::Paint;
use quadrille_content::images::DeviceImages;
use quadrille_content::views::CameraOverlays;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite};
use rounded_box::{BoxCoverage, RoundedBox};
pub(crate) use sizes::{
    RiskyCorners, find_risky_corners, limit_sizes, resolve_risky_corners, split_risky_corners,
};

/// Components of a node.
#[derive(QueryData)]
pub(crate) struct NodeData {
    entity: Entity,
    node: &'static ComputedNode,
    transform: &'static UiGlobalTransform,
    camera: &'static ComputedUiTargetCamera,
    visibility: &'static InheritedVisibility,
    clip: Option<&'static CalculatedClip>,
    background: Option<&'static BackgroundColor>,
    outside: Option<&'static OuterColor>,
    gradients: (
        Option<&'static BackgroundGradient>,
        Option<&'static BorderGradient>,
    ),
    border: Option<&'static BorderColor>,
    outline: Option<&'static Outline>,
    image: Option<&'static ImageNode>,
    viewport: Option<&'static ViewportNode>,
    material: Option<&'static MaterialInstance>,
    /// bevy keeps `TextLayoutInfo` when `Text` is removed.
    is_text: Has<Text>,
    text: Option<(&'static TextLayoutInfo, &'static ComputedTextBlock)>,
    text_color: Option<&'static TextColor>,
    editable: Option<&'static EditableText>,
    cursor: Option<(&'static TextCursorStyle, &'static TextReadWriteMode)>,
    shadow: Option<&'static TextShadow>,
    shadows: Option<&'static BoxShadow>,
}

/// Extracted inputs of [`queue_ui`].
#[derive(SystemParam)]
pub(crate) struct Nodes<'w, 's> {
    stack: Res<'w, UiStack>,
    nodes: Query<'w, 's, NodeData, With<Node>>,
    spans: Query<'w, 's, Span>,
    inline_images: Query<'w, 's, &'static InlineImage>,
    focus: Option<Res<'w, InputFocus>>,
    targets: Query<'w, 's, &'static RenderTarget>,
    image_assets: Res<'w, Assets<ImageAsset>>,
    layouts: Res<'w, Assets<TextureAtlasLayout>>,
    images: Res<'w, DeviceImages>,
    meshes: Res<'w, Meshes2d>,
    materials: Res<'w, Materials2d>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Filter for root nodes.
type IsRoot = (With<ComputedNode>, Without<ChildOf>);

/// Collects the cameras that have UI nodes.
pub(crate) fn extract_overlay_cameras(
    roots: Query<&ComputedUiTargetCamera, IsRoot>,
    mut overlays: ResMut<CameraOverlays>,
) {
    overlays.clear();
    overlays.extend(roots.iter().filter_map(ComputedUiTargetCamera::get));
}

/// Queues the UI nodes of each camera as a view after the camera's own.
pub(crate) fn queue_ui(
    nodes: Nodes,
    mut changes: NodeChanges,
    mut phase: ResMut<Phase2d>,
    mut textures: ResMut<Textures2d>,
    mut scratch: Local<(Vec<TextureSlice>, Clip, Stops)>,
) {
    let phase = &mut *phase;
    let mut ui = std::mem::take(&mut phase.ui);
    let mut lookup = TextureLookup {
        phase,
        textures: &mut textures,
        images: &nodes.images,
        assets: &nodes.image_assets,
    };
    let has_changed = changes.take(&ui) | ui.images.refresh(0, &mut lookup);
    if has_changed || !ui.is_current(&lookup.phase.views, &nodes.stack.uinodes) {
        ui.begin(&nodes.stack.uinodes);
        for index in 0..lookup.phase.views.len() {
            let View2d {
                camera, viewport, ..
            } = lookup.phase.views[index];
            let [_, _, width, height] = viewport;
            let size = Vec2::new(width as f32, height as f32);
            ui.begin_view(size);
            add_nodes(&nodes, (camera, size), (&mut ui, &mut lookup), &mut scratch);
            ui.end_view(camera, viewport);
        }
        phase.work.built_nodes = nodes.stack.uinodes.len();
        ui.end(&mut phase.rows);
    }
    ui.add_to(phase, clip_from_pixels);
    phase.ui = ui;
}

/// Adds the nodes of a camera.
fn add_nodes(
    nodes: &Nodes,
    (camera, viewport): (Entity, Vec2),
    (ui, lookup): (&mut NodePhase, &mut TextureLookup<'_>),
    (slices, clip, stops): &mut (Vec<TextureSlice>, Clip, Stops),
) {
    let mut writer = Writer {
        nodes,
        viewport,
        ui,
        lookup,
        slices,
        clip,
        stops,
        rounded_box: None,
        entity: Entity::PLACEHOLDER,
    };
    for entity in &nodes.stack.uinodes {
        match nodes.nodes.get(*entity) {
            Ok(node) if node.camera.get() == Some(camera) => writer.add_node(&node),
            _ => {}
        }
    }
}

/// Transform from pixels of a viewport, relative to its top left corner with y up, to clip space.
fn clip_from_pixels([_, _, width, height]: [u32; 4]) -> Mat4 {
    let scale = Vec3::new(2.0 / width as f32, 2.0 / height as f32, 1.0);
    Mat4::from_translation(Vec3::new(-1.0, 1.0, 0.0)) * Mat4::from_scale(scale)
}

/// Converts a transform from y down to y up.
fn y_up(transform: Affine2) -> Affine3A {
    let Affine2 {
        matrix2,
        translation,
    } = transform;
    let flip = Mat2::from_diagonal(Vec2::new(1.0, -1.0));
    let matrix = flip * matrix2 * flip;
    let translation = flip * translation;
    Affine3A::from_mat3_translation(bevy_math::Mat3::from_mat2(matrix), translation.extend(0.0))
}

/// Converts a rectangle from y down to y up.
fn rect_y_up(rect: Rect) -> Rect {
    Rect {
        min: Vec2::new(rect.min.x, -rect.max.y),
        max: Vec2::new(rect.max.x, -rect.min.y),
    }
}

/// Writes the instances of one camera's nodes.
struct Writer<'a, 'l, 'w, 's> {
    nodes: &'a Nodes<'w, 's>,
    /// The size of the viewport in pixels.
    viewport: Vec2,
    ui: &'a mut NodePhase,
    lookup: &'a mut TextureLookup<'l>,
    slices: &'a mut Vec<TextureSlice>,
    /// Clip by the node's ancestors.
    clip: &'a mut Clip,
    /// Scratch memory for the color stops of gradients.
    stops: &'a mut Stops,
    /// Box that shapes the following quads (SDF); `None` draws plain quads.
    rounded_box: Option<RoundedBox>,
    /// Current node, for warnings.
    entity: Entity,
}

impl Writer<'_, '_, '_, '_> {
    fn add_node(&mut self, item: &NodeDataItem<'_, '_>) {
        if !item.visibility.get() {
            return;
        }
        let size = item.node.size();
        if !size.is_finite() {
            // bevy's accessors of box rects panic on such sizes.
            let who = format_args!("the node {}", entity_name(item.entity));
            let what = || first_non_finite(&[("size", &size.to_array())]);
            self.ui.has_invalid = true;
            return self.nodes.warnings.warn(who, what);
        }
        if !self.clip.set(item.clip) {
            return;
        }
        self.entity = item.entity;
        let transform: Affine2 = **item.transform;
        let world = y_up(transform);
        if item.node.is_empty() {
            // As in bevy, an empty node draws only its outline.
            if let Some(outline) = item.outline {
                self.add_outline(&world, item.node, outline.color);
            }
            return;
        }
        if let Some(shadows) = item.shadows {
            self.add_shadows(&world, item.node, shadows);
        }
        self.add_background(&world, item);
        if let Some(border) = item.border {
            self.add_border(&world, item.node, border);
        }
        if let Some(outline) = item.outline {
            self.add_outline(&world, item.node, outline.color);
        }
        let (background, border) = item.gradients;
        if let Some(BackgroundGradient(gradients)) = background {
            self.add_gradients(&world, item.node, gradients, false);
        }
        if let Some(BorderGradient(gradients)) = border {
            self.add_gradients(&world, item.node, gradients, true);
        }
        if let Some(image) = item.image {
            self.add_image(&world, item.node, image);
        }
        if let Some(viewport) = item.viewport {
            self.add_viewport(&world, item.node, viewport);
        }
        let materials = &self.nodes.materials;
        if let Some(material) = materials.get(item.material, MaterialKind::Node, None) {
            self.add_material(&world, item.node, material);
        }
        self.add_text(&world, transform, item);
    }

    /// Draws the background inside the border, and `OuterColor` outside rounded corners.
    fn add_background(&mut self, world: &Affine3A, item: &NodeDataItem<'_, '_>) {
        let whole = RoundedBox::of(item.node);
        if let Some(BackgroundColor(color)) = item.background {
            let (center, inside) = whole.inset(item.node.border());
            self.fill_box(
                world,
                center,
                inside,
                gradient_quad(item.node, center),
                *color,
            );
        }
        if let Some(OuterColor(color)) = item.outside
            && whole.is_rounded()
        {
            let coverage = BoxCoverage::Inverted;
            let outside = RoundedBox { coverage, ..whole };
            self.fill_box(world, Vec2::ZERO, outside, whole.bounds(), *color);
        }
    }

    /// Draws a node by its material. The material's shader gets border widths and radii, and shapes the box itself.
    fn add_material(&mut self, world: &Affine3A, node: &ComputedNode, material: MaterialState) {
        let coverage = BoxCoverage::Border {
            widths: border_widths(node),
            sides: [true; 4],
        };
        let shape = RoundedBox {
            coverage,
            ..RoundedBox::of(node)
        };
        self.rounded_box = Some(shape);
        let paint = Paint::Material(material);
        self.paint(paint, world, shape.bounds(), UvRect::WHOLE);
        self.rounded_box = None;
    }

    fn add_gradients(
        &mut self,
        world: &Affine3A,
        node: &ComputedNode,
        gradients: &[Gradient],
        is_border: bool,
    ) {
        let whole = RoundedBox::of(node);
        let (center, shape) = if is_border {
            let coverage = BoxCoverage::Border {
                widths: border_widths(node),
                sides: [true; 4],
            };
            (Vec2::ZERO, RoundedBox { coverage, ..whole })
        } else {
            whole.inset(node.border())
        };
        if shape.half_size.min_element() <= 0.0 {
            return;
        }
        let world = *world * Affine3A::from_translation(center.extend(0.0));
        let quad = gradient_quad(node, center);
        let lines = GradientLines {
            node,
            viewport: self.viewport,
            center,
        };
        self.rounded_box = Some(shape);
        let mut stops = std::mem::take(self.stops);
        for gradient in gradients.iter().filter(|gradient| !gradient.is_empty()) {
            lines.add(gradient, &mut stops, |segment| {
                self.paint(Paint::Gradient(segment), &world, quad, UvRect::WHOLE);
            });
        }
        *self.stops = stops;
        self.rounded_box = None;
    }

    fn add_border(&mut self, world: &Affine3A, node: &ComputedNode, color: &BorderColor) {
        let colors = [color.left, color.top, color.right, color.bottom];
        self.add_border_box(world, RoundedBox::of(node), border_widths(node), colors);
    }

    fn add_outline(&mut self, world: &Affine3A, node: &ComputedNode, color: Color) {
        let width = node.outline_width();
        let outer = RoundedBox::of(node).inflated(node.outline_offset() + width);
        self.add_border_box(world, outer, [width; 4], [color; 4]);
    }

    /// Draws a border along the inside of a box: left, top, right, bottom. A square, axis-aligned, pixel-aligned border
    /// of one color is four quads; otherwise one SDF ring per distinct color.
    fn add_border_box(
        &mut self,
        world: &Affine3A,
        outer: RoundedBox,
        widths: [f32; 4],
        colors: [Color; 4],
    ) {
        let Rect { min, max } = outer.bounds();
        let [left, top, right, bottom] = widths;
        let inner = Rect {
            min: min + Vec2::new(left, bottom),
            max: max - Vec2::new(right, top),
        };
        let is_single_color = colors.iter().all(|color| *color == colors[0]);
        let is_sharp = is_pixel_aligned(world, outer.bounds()) && is_pixel_aligned(world, inner);
        if outer.is_rounded() || !is_single_color || !is_sharp {
            for (ring, color) in outer.borders(widths, colors.map(|color| color.to_linear())) {
                self.rounded_box = Some(ring);
                self.add(None, world, ring.bounds(), color);
            }
            self.rounded_box = None;
            return;
        }
        let bars = [
            Rect::new(min.x, inner.min.y, inner.min.x, inner.max.y),
            Rect::new(min.x, inner.max.y, max.x, max.y),
            Rect::new(inner.max.x, inner.min.y, max.x, inner.max.y),
            Rect::new(min.x, min.y, max.x, inner.min.y),
        ];
        for ((bar, width), color) in bars.into_iter().zip(widths).zip(colors) {
            if width > 0.0 {
                self.fill(world, bar, color);
            }
        }
    }

    fn fill(&mut self, world: &Affine3A, bounds: Rect, color: Color) {
        if color.alpha() > 0.0 {
            self.add(None, world, bounds, color.to_linear());
        }
    }

    /// Looks up state and texture of an image.
    fn image(&mut self, id: AssetId<ImageAsset>) -> (ImageInfo, Option<Texture>) {
        self.ui.images.look_up(id, self.lookup)
    }

    fn quad(
        &mut self,
        id: AssetId<ImageAsset>,
        world: &Affine3A,
        bounds: Rect,
        uv: UvRect,
        tint: LinearRgba,
    ) {
        let (_, Some(texture)) = self.image(id) else {
            return;
        };
        let uv = if texture.is_placeholder {
            UvRect::WHOLE
        } else {
            uv
        };
        self.paint(Paint::Image(texture, tint), world, bounds, uv);
    }
}

impl QuadSink for Writer<'_, '_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        bounds: Rect,
        tint: LinearRgba,
    ) {
        let (id, uv) = match image {
            // Lines of text are not snapped to pixels; unaligned ones are antialiased as boxes.
            None if self.rounded_box.is_none() && !is_pixel_aligned(world, bounds) => {
                let shape = RoundedBox::square(bounds.size());
                let world = *world * Affine3A::from_translation(bounds.center().extend(0.0));
                self.rounded_box = Some(shape);
                self.quad(
                    AssetId::default(),
                    &world,
                    shape.bounds(),
                    UvRect::WHOLE,
                    tint,
                );
                self.rounded_box = None;
                return;
            }
            None => (AssetId::default(), UvRect::WHOLE),
            Some((id, pixels)) => {
                let (info, _) = self.image(id);
                // Glyphs have no placeholder.
                if info.is_placeholder {
                    return;
                }
                (
                    id,
                    UvRect::of_pixels(pixels, info.size.unwrap_or(Vec2::ONE)),
                )
            }
        };
        self.quad(id, world, bounds, uv, tint);
    }
}

/// Widths of a node's border: left, top, right, bottom.
fn border_widths(node: &ComputedNode) -> [f32; 4] {
    let (first, last) = (node.border().min_inset, node.border().max_inset);
    [first.x, first.y, last.x, last.y]
}

#[cfg(test)]
mod tests;
