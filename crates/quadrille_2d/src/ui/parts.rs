//! Parts of nodes: what ancestors let through of a quad, as instances.

use bevy_color::LinearRgba;
use bevy_ecs::prelude::*;
use bevy_math::{Affine3A, Rect, Vec2};
use quadrille_content::{Complaints, MeshPlace, first_odd, named};

use super::Writer;
use super::clip::{self, Left};
use super::gradient::Segment;
use super::rounded::RoundBox;
use crate::instance::{AlphaMode, Instance, UvRect};
use crate::node::Node;
use crate::phase::{Batch, BatchKind, Phase2d, Texture};

/// Fill of a quad.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    /// An image, in a tint.
    Image(Texture, LinearRgba),
    Gradient(Segment),
}

impl Writer<'_, '_, '_> {
    /// Draws what ancestors let through of a quad, cut to [`Writer::round`].
    pub(super) fn paint(&mut self, paint: Paint, world: &Affine3A, place: Rect, uv: UvRect) {
        let mut parts = Parts {
            phase: self.phase,
            view_start: self.view_start,
            paint,
            round: self.round,
            world,
            place,
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
    paint: Paint,
    round: Option<RoundBox>,
    world: &'a Affine3A,
    /// The quad.
    place: Rect,
    complaints: &'a Complaints,
    entity: Entity,
}

impl Parts<'_> {
    fn add_rect(&mut self, mesh: MeshPlace, rect: Rect, uv: UvRect) {
        match (self.round, self.paint) {
            (None, Paint::Image(texture, tint)) => {
                let quad = Instance::quad(self.world, rect, uv, tint, AlphaMode::Blend);
                self.add_instance(mesh, quad, texture);
            }
            (round, _) => {
                let Rect { min, max } = rect;
                let corners = [Vec2::new(min.x, max.y), max, min];
                let right_top = Vec2::new(uv.max.x, uv.min.y);
                let left_bottom = Vec2::new(uv.min.x, uv.max.y);
                self.add_box(mesh, round, corners, [uv.min, right_top, left_bottom]);
            }
        }
    }

    fn add_triangle(&mut self, mesh: MeshPlace, corners: [Vec2; 3], uvs: [Vec2; 3]) {
        match (self.round, self.paint) {
            (None, Paint::Image(texture, tint)) => {
                let alpha = AlphaMode::Blend;
                let triangle = Instance::triangle(self.world, corners, uvs, tint, alpha);
                self.add_instance(mesh, triangle, texture);
            }
            (round, _) => self.add_box(mesh, round, corners, uvs),
        }
    }

    fn add_box(
        &mut self,
        mesh: MeshPlace,
        round: Option<RoundBox>,
        corners: [Vec2; 3],
        uvs: [Vec2; 3],
    ) {
        let shape = round.unwrap_or_else(|| RoundBox::square(self.place.size()));
        match self.paint {
            Paint::Image(texture, tint) => {
                let node = shape.to_node(self.world, corners, uvs, tint);
                self.add_node(mesh, node, Some(texture), BatchKind::Nodes);
            }
            Paint::Gradient(segment) => {
                let mut node = shape.to_node(self.world, corners, uvs, LinearRgba::WHITE);
                segment.put(&mut node);
                self.add_node(mesh, node, None, BatchKind::Gradients);
            }
        }
    }

    fn add_node(&mut self, mesh: MeshPlace, node: Node, texture: Option<Texture>, kind: BatchKind) {
        if !node.is_finite() {
            return self.refuse(
                &node.tint,
                &node.end_color,
                node.corners_and_uvs.as_flattened(),
            );
        }
        self.phase.nodes.push(node);
        self.close(mesh, kind, texture, self.phase.nodes.len() as u32);
    }

    fn add_instance(&mut self, mesh: MeshPlace, instance: Instance, texture: Texture) {
        if !instance.is_finite() {
            return self.refuse(&instance.tint, &[], &[]);
        }
        self.phase.instances.push(instance);
        let length = self.phase.instances.len() as u32;
        self.close(mesh, BatchKind::World, Some(texture), length);
    }

    fn refuse(&self, color: &[f32], end_color: &[f32], corners: &[f32]) {
        let Rect { min, max } = self.place;
        let radii = self.round.map_or([Vec2::ZERO; 4], |round| round.radii);
        let what = || {
            first_odd(&[
                ("transform", &self.world.to_cols_array()),
                ("place", &[min.x, min.y, max.x, max.y]),
                ("color", color),
                ("end color of the gradient's segment", end_color),
                ("corners, with uv or the gradient's line", corners),
                (
                    "border_radius",
                    bytemuck::cast_slice(&radii.map(|radius| radius.to_array())),
                ),
            ])
        };
        let who = format_args!("a part of the node {}", named(self.entity));
        self.complaints.warn(who, what);
    }

    /// The last one of a list of so many is drawn with this mesh.
    fn close(&mut self, mesh: MeshPlace, kind: BatchKind, texture: Option<Texture>, length: u32) {
        let batch = Batch {
            mesh,
            texture,
            kind,
            instances: length - 1..length,
        };
        self.phase.add(batch, self.view_start);
    }
}
