//! Converts quads of nodes to instances, clipped by the node's ancestors.

use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_math::{Affine3A, Rect, Vec2};
use quadrille_content::meshes::MeshAllocation;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name, first_non_finite};

use super::Writer;
use super::clip::{self, Clipped};
use super::gradient::GradientSegment;
use super::rounded_box::RoundedBox;
use crate::instances::mesh_instance::{AlphaMode, Instance, UvRect};
use crate::instances::node::NodeInstance;
use crate::scene::materials::MaterialState;
use crate::scene::node_phase::NodePhase;
use crate::scene::phase::{Batch, BatchKind, Texture};

/// Fill of a quad.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    /// Tinted image.
    Image(Texture, LinearRgba),
    Gradient(GradientSegment),
    /// Shader of a material.
    Material(MaterialState),
}

impl Writer<'_, '_, '_, '_> {
    /// Draws a quad, clipped by the node's ancestors and shaped by [`Writer::rounded_box`].
    pub(super) fn paint(&mut self, paint: Paint, world: &Affine3A, bounds: Rect, uv: UvRect) {
        let mut parts = QuadWriter {
            ui: self.ui,
            paint,
            rounded_box: self.rounded_box,
            world,
            bounds,
            warnings: &self.nodes.warnings,
            entity: self.entity,
        };
        let uv_at = |point| clip::uv_at(point, bounds, uv);
        let meshes = &self.nodes.meshes;
        match self.clip.clip_quad(world, bounds) {
            Clipped::Nothing => {}
            Clipped::Rect(whole) if whole == bounds => parts.add_rect(meshes.quad(), whole, uv),
            Clipped::Rect(rect) => {
                let min = uv_at(Vec2::new(rect.min.x, rect.max.y));
                let max = uv_at(Vec2::new(rect.max.x, rect.min.y));
                parts.add_rect(meshes.quad(), rect, UvRect { min, max });
            }
            Clipped::Polygon(corners) => {
                for side in corners[1..].windows(2) {
                    let corners = [corners[0], side[0], side[1]];
                    parts.add_triangle(meshes.triangle(), corners, corners.map(uv_at));
                }
            }
        }
    }
}

/// Adds the rectangle or triangles that remain of a clipped quad.
struct QuadWriter<'a> {
    ui: &'a mut NodePhase,
    paint: Paint,
    rounded_box: Option<RoundedBox>,
    world: &'a Affine3A,
    /// Unclipped quad.
    bounds: Rect,
    warnings: &'a RateLimitedWarnings,
    entity: Entity,
}

impl QuadWriter<'_> {
    fn add_rect(&mut self, mesh: MeshAllocation, rect: Rect, uv: UvRect) {
        match (self.rounded_box, self.paint) {
            (None, Paint::Image(texture, tint)) => {
                let quad = Instance::quad(self.world, rect, uv, tint, AlphaMode::Blend);
                self.add_instance(mesh, quad, (texture, self.covered(&rect_corners(rect))));
            }
            (rounded_box, _) => {
                let Rect { min, max } = rect;
                let corners = [Vec2::new(min.x, max.y), max, min];
                let right_top = Vec2::new(uv.max.x, uv.min.y);
                let left_bottom = Vec2::new(uv.min.x, uv.max.y);
                let uvs = [uv.min, right_top, left_bottom];
                let covered = self.covered(&rect_corners(rect));
                self.add_box(mesh, (rounded_box, covered), corners, uvs);
            }
        }
    }

    fn add_triangle(&mut self, mesh: MeshAllocation, corners: [Vec2; 3], uvs: [Vec2; 3]) {
        match (self.rounded_box, self.paint) {
            (None, Paint::Image(texture, tint)) => {
                let alpha = AlphaMode::Blend;
                let triangle = Instance::triangle(self.world, corners, uvs, tint, alpha);
                self.add_instance(mesh, triangle, (texture, self.covered(&corners)));
            }
            (rounded_box, _) => {
                let covered = self.covered(&corners);
                self.add_box(mesh, (rounded_box, covered), corners, uvs);
            }
        }
    }

    fn add_box(
        &mut self,
        mesh: MeshAllocation,
        (rounded_box, covered): (Option<RoundedBox>, Rect),
        corners: [Vec2; 3],
        uvs: [Vec2; 3],
    ) {
        let shape = rounded_box.unwrap_or_else(|| RoundedBox::square(self.bounds.size()));
        match self.paint {
            Paint::Image(texture, tint) => {
                let node = shape.to_node(self.world, corners, uvs, tint);
                self.add_node(
                    node,
                    Batch::of(mesh, Some(texture), BatchKind::Nodes),
                    covered,
                );
            }
            Paint::Gradient(segment) => {
                let mut node = shape.to_node(self.world, corners, uvs, LinearRgba::WHITE);
                segment.write_to(&mut node);
                self.add_node(node, Batch::of(mesh, None, BatchKind::Gradients), covered);
            }
            Paint::Material(material) => {
                let mut node = shape.to_node(self.world, corners, uvs, LinearRgba::WHITE);
                node.flags_and_sigma = [material.row as f32, 0.0];
                let batch = Batch {
                    bind_group: Some(material.bind_group),
                    ..Batch::of(mesh, None, BatchKind::Nodes)
                };
                self.add_node(node, batch, covered);
            }
        }
    }

    fn add_node(&mut self, node: NodeInstance, batch: Batch, covered: Rect) {
        if !node.is_finite() {
            return self.warn_invalid(
                &node.tint,
                &node.end_color,
                node.corners_and_uvs.as_flattened(),
            );
        }
        self.ui.push_node(node, batch, covered);
    }

    fn add_instance(
        &mut self,
        mesh: MeshAllocation,
        instance: Instance,
        (texture, covered): (Texture, Rect),
    ) {
        if !instance.is_finite() {
            return self.warn_invalid(&instance.tint, &[], &[]);
        }
        let batch = Batch::of(mesh, Some(texture), BatchKind::World);
        self.ui.push_quad(instance, batch, covered);
    }

    /// Returns the smallest rectangle of the view around points of the node.
    fn covered(&self, points: &[Vec2]) -> Rect {
        bounds_of(self.world, points)
    }

    fn warn_invalid(&mut self, color: &[f32], end_color: &[f32], corners: &[f32]) {
        self.ui.has_invalid = true;
        let Rect { min, max } = self.bounds;
        let radii = self
            .rounded_box
            .map_or([Vec2::ZERO; 4], |rounded_box| rounded_box.radii);
        let what = || {
            first_non_finite(&[
                ("transform", &self.world.to_cols_array()),
                ("rectangle", &[min.x, min.y, max.x, max.y]),
                ("color", color),
                ("end color of the gradient segment", end_color),
                (
                    "corners, with texture coordinates or the gradient line",
                    corners,
                ),
                (
                    "border_radius",
                    bytemuck::cast_slice(&radii.map(|radius| radius.to_array())),
                ),
            ])
        };
        let who = format_args!("a quad of the node {}", entity_name(self.entity));
        self.warnings.warn(who, what);
    }
}

/// Returns the smallest rectangle around points, transformed.
fn bounds_of(world: &Affine3A, points: &[Vec2]) -> Rect {
    let mut bounds = Rect::EMPTY;
    for point in points {
        let point = world.transform_point3(point.extend(0.0)).truncate();
        bounds = bounds.union_point(point);
    }
    bounds
}

/// Returns the smallest rectangle around another one, transformed.
pub(super) fn bounds_in(world: &Affine3A, rect: Rect) -> Rect {
    bounds_of(world, &rect_corners(rect))
}

/// Corners of a rectangle.
fn rect_corners(Rect { min, max }: Rect) -> [Vec2; 4] {
    [min, Vec2::new(max.x, min.y), max, Vec2::new(min.x, max.y)]
}
