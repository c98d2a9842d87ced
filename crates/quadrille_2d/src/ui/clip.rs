//! Clips quads by the ancestors of their node.
//!
//! Each ancestor clips to a rectangle, which may be rotated and is unbounded along axes that do not clip. A quad is
//! clipped by the planes of all of them: planes parallel to its sides leave a rectangle, slanted ones a convex polygon,
//! which is drawn as a triangle fan.

use bevy_math::{Affine2, Affine3A, Rect, Vec2};
use bevy_ui::CalculatedClip;

use crate::instances::mesh_instance::UvRect;

/// Half-plane of a clip: points, y up, with `normal.dot(point) + offset >= 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ClipPlane {
    normal: Vec2,
    offset: f32,
}

/// Clip planes of a node, and scratch memory.
#[derive(Default)]
pub(crate) struct Clip {
    planes: Vec<ClipPlane>,
    polygon: Vec<Vec2>,
    scratch: Vec<Vec2>,
}

/// Clipped quad, in its local space.
#[derive(Debug, PartialEq)]
pub(super) enum Clipped<'a> {
    Nothing,
    Rect(Rect),
    /// The corners of a convex polygon in order.
    Polygon(&'a [Vec2]),
}

/// Number of planes before a [`Clip::push`].
pub(super) struct ClipStackLen(usize);

impl Clip {
    /// Sets the clip of a node's ancestors; false if the node is fully clipped.
    pub(super) fn set(&mut self, clip: Option<&CalculatedClip>) -> bool {
        self.planes.clear();
        let rects = match clip {
            None => return true,
            Some(CalculatedClip::FullyClipped) => return false,
            Some(CalculatedClip::Rects(rects)) => rects,
        };
        for clip in rects {
            self.add(clip.rect, clip.world_to_clip_local);
        }
        true
    }

    fn add(&mut self, rect: Rect, to_local: Affine2) {
        let planes = [
            (Vec2::X, -rect.min.x),
            (Vec2::NEG_X, rect.max.x),
            (Vec2::Y, -rect.min.y),
            (Vec2::NEG_Y, rect.max.y),
        ];
        // Unclipped axes have infinite edges.
        for (normal, edge) in planes.into_iter().filter(|(_, edge)| edge.is_finite()) {
            let down = to_local.matrix2.transpose() * normal;
            self.planes.push(ClipPlane {
                normal: Vec2::new(down.x, -down.y),
                offset: normal.dot(to_local.translation) + edge,
            });
        }
    }

    /// Additionally clips to a rectangle in the space of `transform`, y down, until [`Self::pop`]. A singular
    /// `transform` clips everything.
    pub(super) fn push(&mut self, rect: Rect, transform: Affine2) -> ClipStackLen {
        let clip_stack_len = ClipStackLen(self.planes.len());
        if transform.matrix2.determinant() == 0.0 {
            self.planes.push(ClipPlane {
                normal: Vec2::ZERO,
                offset: -1.0,
            });
        } else {
            self.add(rect, transform.inverse());
        }
        clip_stack_len
    }

    /// Ends a [`Self::push`].
    pub(super) fn pop(&mut self, clip_stack_len: ClipStackLen) {
        self.planes.truncate(clip_stack_len.0);
    }

    /// Clips `bounds`, a rectangle in the local space of `world`.
    pub(super) fn clip_quad(&mut self, world: &Affine3A, bounds: Rect) -> Clipped<'_> {
        let (x, y) = (world.matrix3.x_axis, world.matrix3.y_axis);
        let at = world.translation;
        let local = |plane: &ClipPlane| ClipPlane {
            normal: Vec2::new(
                plane.normal.dot(Vec2::new(x.x, x.y)),
                plane.normal.dot(Vec2::new(y.x, y.y)),
            ),
            offset: plane.normal.dot(Vec2::new(at.x, at.y)) + plane.offset,
        };
        let mut rect = bounds;
        for plane in self.planes.iter().map(local) {
            plane.clip_rect(&mut rect);
        }
        if rect.is_empty() {
            return Clipped::Nothing;
        }
        self.polygon.clear();
        for plane in self.planes.iter().map(local).filter(ClipPlane::is_slanted) {
            if self.polygon.is_empty() {
                let Rect { min, max } = rect;
                let corners = [min, Vec2::new(max.x, min.y), max, Vec2::new(min.x, max.y)];
                self.polygon.extend(corners);
            }
            self.scratch.clear();
            plane.clip_polygon(&self.polygon, &mut self.scratch);
            std::mem::swap(&mut self.polygon, &mut self.scratch);
            if self.polygon.len() < 3 {
                return Clipped::Nothing;
            }
        }
        if self.polygon.is_empty() {
            Clipped::Rect(rect)
        } else {
            Clipped::Polygon(&self.polygon)
        }
    }
}

impl ClipPlane {
    /// Whether the plane is parallel to neither axis.
    fn is_slanted(&self) -> bool {
        self.normal.x != 0.0 && self.normal.y != 0.0
    }

    /// Clips a rectangle; slanted planes are ignored.
    fn clip_rect(&self, rect: &mut Rect) {
        let Self { normal, offset } = *self;
        let end = |length: f32| -offset / length;
        match (normal.x == 0.0, normal.y == 0.0) {
            _ if offset.is_nan() => *rect = Rect::EMPTY,
            (true, true) if offset < 0.0 => *rect = Rect::EMPTY,
            (false, true) if normal.x > 0.0 => rect.min.x = rect.min.x.max(end(normal.x)),
            (false, true) => rect.max.x = rect.max.x.min(end(normal.x)),
            (true, false) if normal.y > 0.0 => rect.min.y = rect.min.y.max(end(normal.y)),
            (true, false) => rect.max.y = rect.max.y.min(end(normal.y)),
            (true, true) | (false, false) => {}
        }
    }

    /// Appends the clipped convex polygon (Sutherland and Hodgman 1974).
    fn clip_polygon(&self, polygon: &[Vec2], out: &mut Vec<Vec2>) {
        let distance = |point: Vec2| self.normal.dot(point) + self.offset;
        let Some(&last) = polygon.last() else {
            return;
        };
        let mut before = (last, distance(last));
        for &point in polygon {
            let now = (point, distance(point));
            // NaN counts as outside.
            if (before.1 >= 0.0) != (now.1 >= 0.0) {
                let part = before.1 / (before.1 - now.1);
                out.push(before.0 + (now.0 - before.0) * part);
            }
            if now.1 >= 0.0 {
                out.push(point);
            }
            before = now;
        }
    }
}

/// Interpolates the texture coordinates of a point in `bounds`, which as a whole shows `uv`.
pub(super) fn uv_at(point: Vec2, bounds: Rect, uv: UvRect) -> Vec2 {
    // v points down, y up.
    let from = Vec2::new(point.x - bounds.min.x, bounds.max.y - point.y);
    uv.min + (uv.max - uv.min) * (from / bounds.size())
}
