//! Nodes of `bevy_ui`: backgrounds, borders, images, text and what other cameras see (`ViewportNode`), drawn over
//! what their camera sees.
//!
//! bevy lays nodes out in pixels of the camera's viewport, y down. Here the same pixels are used
//! with y up, as everywhere else in this crate, so that sprites and nodes share the pass.
//!
//! Absent: gradients; nodes that have them are drawn without. Children are not cut to the round
//! corners of their parents, as in bevy.

mod clip;
mod numbers;
mod rounded;
mod shadow;

use bevy_asset::{AssetId, Assets};
use bevy_color::{Alpha as _, Color, ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_image::{Image as ImageAsset, TextureAtlasLayout};
use bevy_math::{Affine2, Affine3A, Mat2, Mat4, Rect, Vec2, Vec3};
use bevy_sprite::SpriteImageMode;
use bevy_text::{ComputedTextBlock, TextLayoutInfo};
use bevy_ui::prelude::{BackgroundColor, BorderColor, BoxShadow, ImageNode, Outline};
use bevy_ui::widget::{NodeImageMode, TextShadow, ViewportNode};
use bevy_ui::{
    CalculatedClip, ComputedNode, ComputedUiTargetCamera, UiGlobalTransform, UiStack, VisualBox,
};

use bevy_camera::RenderTarget;
use bevy_camera::visibility::InheritedVisibility;

use crate::instance::{AlphaMode, Instance, UvRect, rect_around};
use crate::meshes::Meshes2d;
use crate::node::Node;
use crate::phase::{Batch, BatchKind, Phase2d, Texture, Textures2d, View2d};
use crate::slices::{Slice, slices};
use crate::sprites::missing_texture;
use crate::text::{LaidOut, Sink, Span};
use clip::{Clip, Left};
pub(crate) use numbers::{limit_images, limit_nodes};
use quadrille_content::DeviceImages;
use quadrille_content::MeshPlace;
use quadrille_content::{Complaints, first_odd};
use rounded::RoundBox;

/// A node with all that is drawn of it.
#[derive(QueryData)]
pub(crate) struct NodeData {
    entity: Entity,
    node: &'static ComputedNode,
    transform: &'static UiGlobalTransform,
    camera: &'static ComputedUiTargetCamera,
    visibility: &'static InheritedVisibility,
    clip: Option<&'static CalculatedClip>,
    background: Option<&'static BackgroundColor>,
    border: Option<&'static BorderColor>,
    outline: Option<&'static Outline>,
    image: Option<&'static ImageNode>,
    viewport: Option<&'static ViewportNode>,
    text: Option<(&'static TextLayoutInfo, &'static ComputedTextBlock)>,
    shadow: Option<&'static TextShadow>,
    shadows: Option<&'static BoxShadow>,
}

/// All nodes, and what they show.
#[derive(SystemParam)]
pub(crate) struct Nodes<'w, 's> {
    stack: Res<'w, UiStack>,
    nodes: Query<'w, 's, NodeData>,
    spans: Query<'w, 's, Span>,
    targets: Query<'w, 's, &'static RenderTarget>,
    image_assets: Res<'w, Assets<ImageAsset>>,
    layouts: Res<'w, Assets<TextureAtlasLayout>>,
    images: Res<'w, DeviceImages>,
    meshes: Res<'w, Meshes2d>,
    complaints: Res<'w, Complaints>,
}

/// Lists the nodes of each camera right after what the camera sees.
pub(crate) fn queue_ui(
    nodes: Nodes,
    mut phase: ResMut<Phase2d>,
    mut textures: ResMut<Textures2d>,
    mut scratch: Local<(Vec<Slice>, Clip)>,
) {
    let (slices, clip) = &mut *scratch;
    let mut at = 0;
    while let Some(view) = phase.views.get(at) {
        at += 1;
        let start = phase.batches.len() as u32;
        let mut over = View2d {
            clip_from_world: clip_from_pixels(view.viewport),
            clear: None,
            batches: start..start,
            ..view.clone()
        };
        let mut writer = Writer {
            nodes: &nodes,
            viewport: Vec2::new(over.viewport[2] as f32, over.viewport[3] as f32),
            phase: &mut phase,
            textures: &mut textures,
            slices,
            view_start: start,
            clip,
            round: None,
            entity: Entity::PLACEHOLDER,
        };
        for entity in &nodes.stack.uinodes {
            match nodes.nodes.get(*entity) {
                Ok(node) if node.camera.get() == Some(over.camera) => writer.add_node(&node),
                _ => {}
            }
        }
        over.batches.end = phase.batches.len() as u32;
        if !over.batches.is_empty() {
            phase.views.insert(at, over);
            at += 1;
        }
    }
}

/// From pixels of a viewport, y up from its top left corner, to clip space.
fn clip_from_pixels([_, _, width, height]: [u32; 4]) -> Mat4 {
    let scale = Vec3::new(2.0 / width as f32, 2.0 / height as f32, 1.0);
    Mat4::from_translation(Vec3::new(-1.0, 1.0, 0.0)) * Mat4::from_scale(scale)
}

/// The same transform for y up.
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

/// The same rectangle for y up.
fn rect_y_up(rect: Rect) -> Rect {
    Rect {
        min: Vec2::new(rect.min.x, -rect.max.y),
        max: Vec2::new(rect.max.x, -rect.min.y),
    }
}

/// Writes the instances of one camera's nodes.
struct Writer<'a, 'w, 's> {
    nodes: &'a Nodes<'w, 's>,
    /// The size of the viewport in pixels.
    viewport: Vec2,
    phase: &'a mut Phase2d,
    textures: &'a mut Textures2d,
    slices: &'a mut Vec<Slice>,
    view_start: u32,
    /// What the node's ancestors let through.
    clip: &'a mut Clip,
    /// What is drawn is cut to this box of the node.
    round: Option<RoundBox>,
    /// The node.
    entity: Entity,
}

impl Writer<'_, '_, '_> {
    fn add_node(&mut self, item: &NodeDataItem<'_, '_>) {
        if !item.visibility.get() || item.node.is_empty() {
            return;
        }
        let size = item.node.size();
        if !size.is_finite() {
            // bevy's functions that give parts of a node end the program for this one.
            let who = format_args!("the node {}", item.entity);
            let what = || first_odd(&[("size", &size.to_array())]);
            return self.nodes.complaints.warn(who, what);
        }
        if !self.clip.set(item.clip) {
            return;
        }
        self.entity = item.entity;
        let transform: Affine2 = **item.transform;
        let world = y_up(transform);
        let whole = rect_around(Vec2::ZERO, size);
        if let Some(shadows) = item.shadows {
            self.add_shadows(&world, item.node, shadows);
        }
        self.round = RoundBox::of(item.node);
        if let Some(BackgroundColor(color)) = item.background {
            self.fill(&world, whole, *color);
        }
        if let Some(border) = item.border {
            self.add_border(&world, item.node, border);
        }
        if let Some(image) = item.image {
            self.add_image(&world, item.node, image);
        }
        if let Some(image) = item.viewport.and_then(|viewport| self.seen_in(viewport)) {
            // The picture is as large as the node, whose border lies over it.
            let inside = rect_y_up(item.node.padding_box());
            let uv_at = |point| clip::uv_at(point, whole, UvRect::WHOLE);
            let uv = UvRect {
                min: uv_at(Vec2::new(inside.min.x, inside.max.y)),
                max: uv_at(Vec2::new(inside.max.x, inside.min.y)),
            };
            self.quad(image, &world, inside, uv, LinearRgba::WHITE);
        }
        let round = self.round.take();
        if let Some((layout, block)) = item.text {
            let inset = rect_y_up(item.node.content_box());
            let top_left = Vec2::new(inset.min.x, inset.max.y);
            let world = world * Affine3A::from_translation(top_left.extend(0.0));
            let shadow = item.shadow.map(|shadow| {
                let offset = shadow.offset / item.node.inverse_scale_factor();
                let offset = Vec3::new(offset.x, -offset.y, 0.0);
                (world * Affine3A::from_translation(offset), shadow.color)
            });
            let text = LaidOut {
                layout,
                block,
                world,
                shadow,
            };
            text.add(&self.nodes.spans, self);
        }
        self.round = round;
        if let Some(outline) = item.outline {
            self.add_outline(&world, item.node, outline.color);
        }
        self.round = None;
    }

    fn add_border(&mut self, world: &Affine3A, node: &ComputedNode, color: &BorderColor) {
        let inset = node.border();
        let outer = rect_around(Vec2::ZERO, node.size());
        let (thin, thick) = (inset.min_inset, inset.max_inset);
        let colors = [color.left, color.top, color.right, color.bottom];
        let widths = [thin.x, thin.y, thick.x, thick.y];
        self.frame(world, outer, widths, colors);
    }

    fn add_outline(&mut self, world: &Affine3A, node: &ComputedNode, color: Color) {
        let width = node.outline_width();
        let by = node.outline_offset() + width;
        let outer = rect_around(Vec2::ZERO, node.size()).inflate(by);
        self.round = self.round.map(|round| round.inflated(by));
        self.frame(world, outer, [width; 4], [color; 4]);
    }

    /// Four bars along the inside of a rectangle: left, top, right, bottom; or a ring, where corners
    /// are round or colours meet.
    fn frame(&mut self, world: &Affine3A, outer: Rect, widths: [f32; 4], colors: [Color; 4]) {
        // Sides of two colours meet in a slanted line, which only the shader of boxes draws.
        let is_plain = colors.iter().all(|color| *color == colors[0]);
        let square = (!is_plain).then(|| RoundBox::square(outer.size()));
        if let Some(round) = self.round.or(square) {
            let before = self.round;
            for (ring, color) in round.borders(widths, colors.map(|color| color.to_linear())) {
                self.round = Some(ring);
                self.add(None, world, ring.place(), color);
            }
            self.round = before;
            return;
        }
        let Rect { min, max } = outer;
        let [left, top, right, bottom] = widths;
        let bars = [
            Rect::new(min.x, min.y + bottom, min.x + left, max.y - top),
            Rect::new(min.x, max.y - top, max.x, max.y),
            Rect::new(max.x - right, min.y + bottom, max.x, max.y - top),
            Rect::new(min.x, min.y, max.x, min.y + bottom),
        ];
        for ((bar, width), color) in bars.into_iter().zip(widths).zip(colors) {
            if width > 0.0 {
                self.fill(world, bar, color);
            }
        }
    }

    fn fill(&mut self, world: &Affine3A, place: Rect, color: Color) {
        if color.alpha() > 0.0 {
            self.add(None, world, place, color.to_linear());
        }
    }

    fn add_image(&mut self, world: &Affine3A, node: &ComputedNode, image: &ImageNode) {
        let id = image.image.id();
        let place = rect_y_up(match image.visual_box {
            VisualBox::ContentBox => node.content_box(),
            VisualBox::PaddingBox => node.padding_box(),
            VisualBox::BorderBox => node.border_box(),
        });
        if place.size().cmple(Vec2::ZERO).any() {
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
                let who = format_args!("the image of the node {}", self.entity);
                self.nodes.complaints.warn(who, || reason);
            }
            return;
        };
        let tint = image.color.to_linear();
        let mut slices_of_image = std::mem::take(self.slices);
        slices_of_image.clear();
        let mode = sprite_mode(&image.image_mode);
        slices(&mode, part, place.size(), &mut slices_of_image);
        for Slice { part, place: at } in &slices_of_image {
            let at = Rect {
                min: at.min + place.center(),
                max: at.max + place.center(),
            };
            let uv = UvRect::of_pixels(*part, size).flipped(image.flip_x, image.flip_y);
            self.quad(id, world, at, uv, tint);
        }
        *self.slices = slices_of_image;
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

    fn quad(
        &mut self,
        id: AssetId<ImageAsset>,
        world: &Affine3A,
        place: Rect,
        uv: UvRect,
        tint: LinearRgba,
    ) {
        let Some(texture) = self.phase.texture(id, &self.nodes.images, self.textures) else {
            return;
        };
        let uv = if texture.is_placeholder {
            UvRect::WHOLE
        } else {
            uv
        };
        let mut parts = Parts {
            phase: self.phase,
            view_start: self.view_start,
            texture,
            round: self.round,
            world,
            place,
            tint,
            complaints: &self.nodes.complaints,
            entity: self.entity,
        };
        let uv_at = |point| clip::uv_at(point, place, uv);
        let meshes = &self.nodes.meshes;
        match self.clip.cut(world, place) {
            Left::Nothing => {}
            Left::Rect(whole) if whole == place => parts.add_rect(meshes.quad(), whole, uv),
            Left::Rect(rect) => {
                let min = uv_at(Vec2::new(rect.min.x, rect.max.y));
                let max = uv_at(Vec2::new(rect.max.x, rect.min.y));
                parts.add_rect(meshes.quad(), rect, UvRect { min, max });
            }
            Left::Polygon(corners) => {
                for side in corners[1..].windows(2) {
                    let corners = [corners[0], side[0], side[1]];
                    parts.add_triangle(meshes.triangle(), corners, corners.map(uv_at));
                }
            }
        }
    }
}

/// Adds what is left of a quad.
struct Parts<'a> {
    phase: &'a mut Phase2d,
    view_start: u32,
    texture: Texture,
    round: Option<RoundBox>,
    world: &'a Affine3A,
    /// The quad.
    place: Rect,
    tint: LinearRgba,
    complaints: &'a Complaints,
    entity: Entity,
}

impl Parts<'_> {
    fn add_rect(&mut self, mesh: MeshPlace, rect: Rect, uv: UvRect) {
        match self.round {
            Some(round) => {
                let Rect { min, max } = rect;
                let corners = [Vec2::new(min.x, max.y), max, min];
                let right_top = Vec2::new(uv.max.x, uv.min.y);
                let left_bottom = Vec2::new(uv.min.x, uv.max.y);
                let uvs = [uv.min, right_top, left_bottom];
                self.add_node(mesh, round.to_node(self.world, corners, uvs, self.tint));
            }
            None => {
                let quad = Instance::quad(self.world, rect, uv, self.tint, AlphaMode::Blend);
                self.add_instance(mesh, quad);
            }
        }
    }

    fn add_triangle(&mut self, mesh: MeshPlace, corners: [Vec2; 3], uvs: [Vec2; 3]) {
        let (world, tint) = (self.world, self.tint);
        match self.round {
            Some(round) => self.add_node(mesh, round.to_node(world, corners, uvs, tint)),
            None => {
                let triangle = Instance::triangle(world, corners, uvs, tint, AlphaMode::Blend);
                self.add_instance(mesh, triangle);
            }
        }
    }

    fn add_node(&mut self, mesh: MeshPlace, node: Node) {
        if !node.is_finite() {
            return self.refuse();
        }
        self.phase.nodes.push(node);
        self.close(mesh, BatchKind::Nodes, self.phase.nodes.len() as u32);
    }

    fn add_instance(&mut self, mesh: MeshPlace, instance: Instance) {
        if !instance.is_finite() {
            return self.refuse();
        }
        self.phase.instances.push(instance);
        self.close(mesh, BatchKind::World, self.phase.instances.len() as u32);
    }

    fn refuse(&self) {
        let Rect { min, max } = self.place;
        let radii = self.round.map_or([Vec2::ZERO; 4], |round| round.radii);
        let what = || {
            first_odd(&[
                ("transform", &self.world.to_cols_array()),
                ("place", &[min.x, min.y, max.x, max.y]),
                ("color", &self.tint.to_f32_array()),
                (
                    "border_radius",
                    bytemuck::cast_slice(&radii.map(|radius| radius.to_array())),
                ),
            ])
        };
        let who = format_args!("a part of the node {}", self.entity);
        self.complaints.warn(who, what);
    }

    /// The last one of a list of so many is drawn with this mesh.
    fn close(&mut self, mesh: MeshPlace, kind: BatchKind, length: u32) {
        let batch = Batch {
            mesh,
            texture: Some(self.texture),
            kind,
            instances: length - 1..length,
        };
        self.phase.add(batch, self.view_start);
    }
}

impl Sink for Writer<'_, '_, '_> {
    fn add(
        &mut self,
        image: Option<(AssetId<ImageAsset>, Rect)>,
        world: &Affine3A,
        place: Rect,
        tint: LinearRgba,
    ) {
        let (id, uv) = match image {
            None => (AssetId::default(), UvRect::WHOLE),
            Some((id, pixels)) => {
                let size = self.nodes.image_assets.get(id).map(ImageAsset::size_f32);
                (id, UvRect::of_pixels(pixels, size.unwrap_or(Vec2::ONE)))
            }
        };
        self.quad(id, world, place, uv, tint);
    }
}

/// How sprites call it.
fn sprite_mode(mode: &NodeImageMode) -> SpriteImageMode {
    match mode {
        NodeImageMode::Auto | NodeImageMode::Stretch => SpriteImageMode::Auto,
        NodeImageMode::Sliced(slicer) => SpriteImageMode::Sliced(slicer.clone()),
        NodeImageMode::Tiled {
            tile_x,
            tile_y,
            stretch_value,
        } => SpriteImageMode::Tiled {
            tile_x: *tile_x,
            tile_y: *tile_y,
            stretch_value: *stretch_value,
        },
    }
}

#[cfg(test)]
mod tests;
