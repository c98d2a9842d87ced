//! Rounded boxes: backgrounds, borders, outlines and shadows of nodes.

use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_math::{Affine3A, Rect, Vec2};
use bevy_sprite::BorderRect;
use bevy_ui::ComputedNode;

use crate::constants::INVERTED;
use crate::instances::mesh_instance::rect_around;
use crate::instances::node::NodeInstance;

/// Box with rounded corners, drawn by its signed distance (SDF).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundedBox {
    /// Half width and half height.
    pub(super) half_size: Vec2,
    /// Corner radii along x and y: top left, top right, bottom right, bottom left.
    pub(super) radii: [Vec2; 4],
    /// Covered region.
    pub(super) coverage: BoxCoverage,
}

/// Covered region of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BoxCoverage {
    /// Inside of the box.
    Whole,
    /// Outside of the box, within its quad.
    Inverted,
    /// Border along the inside.
    Border {
        /// Left, top, right, bottom.
        widths: [f32; 4],
        /// Whether each side is drawn, in the same order.
        sides: [bool; 4],
    },
    /// Gaussian blur of the box, with this standard deviation in pixels.
    Shadow(f32),
}

impl RoundedBox {
    /// Border box of a node.
    pub(super) fn of(node: &ComputedNode) -> Self {
        let radius = node.border_radius();
        Self {
            half_size: node.size() / 2.0,
            radii: [
                radius.top_left,
                radius.top_right,
                radius.bottom_right,
                radius.bottom_left,
            ],
            coverage: BoxCoverage::Whole,
        }
    }

    /// Box of this size with square corners.
    pub(super) fn square(size: Vec2) -> Self {
        Self {
            half_size: size / 2.0,
            radii: [Vec2::ZERO; 4],
            coverage: BoxCoverage::Whole,
        }
    }

    /// Grows the box by pixels on each side; rounded corners keep their centres.
    pub(super) fn inflated(mut self, by: f32) -> Self {
        self.half_size = (self.half_size + by).max(Vec2::ZERO);
        for radius in &mut self.radii {
            // Square corners stay square.
            *radius = if radius.min_element() > 0.0 {
                (*radius + by).clamp(Vec2::ZERO, self.half_size)
            } else {
                Vec2::ZERO
            };
        }
        self
    }

    /// Whether any corner is rounded.
    pub(super) fn is_rounded(&self) -> bool {
        self.radii.iter().any(|radius| *radius != Vec2::ZERO)
    }

    /// Shrinks the box by an inset per side. Returns its centre, y up, and the box. Rounded corners keep their centres.
    pub(super) fn inset(self, inset: BorderRect) -> (Vec2, Self) {
        let (first, last) = (inset.min_inset, inset.max_inset);
        let half_size = (self.half_size - (first + last) / 2.0).max(Vec2::ZERO);
        let center = (first - last) / 2.0 * Vec2::new(1.0, -1.0);
        let taken = [
            first,
            Vec2::new(last.x, first.y),
            last,
            Vec2::new(first.x, last.y),
        ];
        let radii = [0, 1, 2, 3].map(|corner| {
            let left = (self.radii[corner] - taken[corner]).min(half_size);
            // A corner is rounded along both axes or not at all.
            if left.min_element() > 0.0 {
                left
            } else {
                Vec2::ZERO
            }
        });
        (
            center,
            Self {
                half_size,
                radii,
                ..self
            },
        )
    }

    /// Bounding rectangle.
    pub(super) fn bounds(&self) -> Rect {
        rect_around(Vec2::ZERO, self.half_size * 2.0)
    }

    /// Borders of this box, one per distinct color of visible sides.
    pub(super) fn borders(
        self,
        widths: [f32; 4],
        colors: [LinearRgba; 4],
    ) -> impl Iterator<Item = (Self, LinearRgba)> {
        (0..4).filter_map(move |first| {
            let color = colors[first];
            let sides = [0, 1, 2, 3].map(|side| colors[side] == color && widths[side] > 0.0);
            let is_seen = color.alpha > 0.0 && sides.contains(&true);
            let is_known = colors[..first].contains(&color);
            let coverage = BoxCoverage::Border { widths, sides };
            (is_seen && !is_known).then_some((Self { coverage, ..self }, color))
        })
    }

    /// Converts to an instance by three corners and their texture coordinates: top left, top right and bottom left of a
    /// rectangle, or all of a triangle.
    pub(super) fn to_node(
        self,
        world: &Affine3A,
        corners: [Vec2; 3],
        uvs: [Vec2; 3],
        tint: LinearRgba,
    ) -> NodeInstance {
        let (x, y, at) = (
            world.matrix3.x_axis,
            world.matrix3.y_axis,
            world.translation,
        );
        let (widths, flags, sigma) = match self.coverage {
            BoxCoverage::Whole => ([0.0; 4], 0, 0.0),
            BoxCoverage::Inverted => ([0.0; 4], INVERTED, 0.0),
            BoxCoverage::Border { widths, sides } => {
                let bits = (0..4).filter(|&side| sides[side]).map(|side| 1 << side);
                (widths, bits.sum::<u32>(), 0.0)
            }
            BoxCoverage::Shadow(sigma) => ([0.0; 4], 0, sigma),
        };
        NodeInstance {
            axes: [x.x, x.y, y.x, y.y],
            origin_and_half_size: [at.x, at.y, self.half_size.x, self.half_size.y],
            corners_and_uvs: [0, 1, 2].map(|corner| {
                let (point, uv) = (corners[corner], uvs[corner]);
                [point.x, point.y, uv.x, uv.y]
            }),
            radii_x: self.radii.map(|radii| radii.x),
            radii_y: self.radii.map(|radii| radii.y),
            widths,
            tint: tint.to_f32_array(),
            flags_and_sigma: [flags as f32, sigma],
            end_color: [0.0; 4],
        }
    }
}

#[cfg(test)]
mod tests;
