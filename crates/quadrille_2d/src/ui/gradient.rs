//! Gradients of backgrounds and borders: one instance of the node's box per segment between two color stops, as in
//! `bevy_ui_render` (`gradient.wgsl`).

use std::f32::consts::{FRAC_PI_2, TAU};

use bevy_color::{
    Alpha as _, ColorToComponents as _, Hsla, Hsva, LinearRgba, Mix as _, Okhsla, Oklaba, Oklcha,
    Srgba,
};
use bevy_math::{FloatOrd, Rect, Vec2};
use bevy_ui::{
    AngularColorStop, ColorStop, ComputedNode, ConicGradient, Gradient, InterpolationColorSpace,
    LinearGradient, RadialGradient,
};

use crate::constants::{self, COLOR_SPACE_SHIFT, CONIC, FILL_END, FILL_START, HUE_GUARD, RADIAL};
use crate::instances::node::NodeInstance;

/// Segments per turn of hue in Okhsl. The shader has no Okhsl: such gradients are sampled on the CPU and
/// interpolated in Oklab.
const OKHSL_SEGMENTS_PER_TURN: f32 = 96.0;
/// Minimum number of segments, for changes of lightness and saturation.
const MIN_OKHSL_SEGMENTS: f32 = 12.0;

/// Color stop with its position: pixels along the gradient line, or radians. Automatic positions are NaN until they are
/// resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GradientStop {
    color: LinearRgba,
    at: f32,
    hint: f32,
}

/// One segment of a gradient (`gradient.wgsl`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GradientSegment {
    /// Origin, y up, then two parameters of the gradient kind.
    line: [f32; 4],
    ends: [f32; 2],
    flags: u32,
    hint: f32,
    start_color: [f32; 4],
    end_color: [f32; 4],
}

impl GradientSegment {
    /// Writes the segment to the instance of its box.
    pub(super) fn write_to(&self, node: &mut NodeInstance) {
        let [x, y, z, w] = self.line;
        let [start, end] = self.ends;
        for (corner, uv) in node
            .corners_and_uvs
            .iter_mut()
            .zip([[x, y], [z, w], [start, end]])
        {
            corner[2..].copy_from_slice(&uv);
        }
        node.flags_and_sigma = [node.flags_and_sigma[0] + self.flags as f32, self.hint];
        node.tint = self.start_color;
        node.end_color = self.end_color;
    }
}

/// Interpolation spaces of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum ColorSpace {
    Linear = constants::LINEAR,
    Srgb = constants::SRGB,
    Oklab = constants::OKLAB,
    Oklch = constants::OKLCH,
    OklchLong = constants::OKLCH_LONG,
    Hsl = constants::HSL,
    HslLong = constants::HSL_LONG,
    Hsv = constants::HSV,
    HsvLong = constants::HSV_LONG,
}

impl ColorSpace {
    /// Returns the shader's interpolation space; Oklab for Okhsl.
    fn of(space: InterpolationColorSpace) -> Self {
        use InterpolationColorSpace as I;
        match space {
            I::LinearRgba => Self::Linear,
            I::Srgba => Self::Srgb,
            I::Oklaba | I::Okhsla | I::OkhslaLong => Self::Oklab,
            I::Oklcha => Self::Oklch,
            I::OklchaLong => Self::OklchLong,
            I::Hsla => Self::Hsl,
            I::HslaLong => Self::HslLong,
            I::Hsva => Self::Hsv,
            I::HsvaLong => Self::HsvLong,
        }
    }

    /// Converts a color to this space; hue is in turns.
    fn convert(self, color: LinearRgba) -> [f32; 4] {
        match self {
            Self::Linear => color.to_f32_array(),
            Self::Srgb => Srgba::from(color).to_f32_array(),
            Self::Oklab => Oklaba::from(color).to_f32_array(),
            Self::Oklch | Self::OklchLong => {
                let Oklcha {
                    lightness,
                    chroma,
                    hue,
                    alpha,
                } = color.into();
                [lightness, chroma, hue / 360.0, alpha]
            }
            Self::Hsl | Self::HslLong => {
                let Hsla {
                    hue,
                    saturation,
                    lightness,
                    alpha,
                } = color.into();
                [hue / 360.0, saturation, lightness, alpha]
            }
            Self::Hsv | Self::HsvLong => {
                let Hsva {
                    hue,
                    saturation,
                    value,
                    alpha,
                } = color.into();
                [hue / 360.0, saturation, value, alpha]
            }
        }
    }
}

/// Geometry of the gradients of one node.
pub(super) struct GradientLines<'a> {
    pub(super) node: &'a ComputedNode,
    /// The size of the viewport in pixels.
    pub(super) viewport: Vec2,
    /// Centre of the filled box relative to the node's centre, y up.
    pub(super) center: Vec2,
}

/// Scratch memory for color stops, reused between nodes.
#[derive(Default)]
pub(crate) struct Stops {
    placed: Vec<GradientStop>,
    explicit: Vec<GradientStop>,
}

impl GradientLines<'_> {
    /// Emits the segments of a gradient in draw order.
    pub(super) fn add(
        &self,
        gradient: &Gradient,
        stops: &mut Stops,
        mut add: impl FnMut(GradientSegment),
    ) {
        let size = self.node.size();
        let (line, kind, space) = match gradient {
            // A single stop is a solid color.
            _ if gradient.get_single().is_some() => {
                let color = gradient.get_single().unwrap_or_default().to_linear();
                stops.placed.clear();
                stops.placed.extend([0.0, 1.0].map(|at| GradientStop {
                    color,
                    at,
                    hint: 0.5,
                }));
                ([0.0; 4], 0, InterpolationColorSpace::LinearRgba)
            }
            Gradient::Linear(LinearGradient {
                angle,
                stops: list,
                color_space,
            }) => {
                self.place_stops(list, line_length(*angle, size), stops);
                (self.linear(*angle), 0, *color_space)
            }
            Gradient::Radial(RadialGradient {
                position,
                shape,
                stops: list,
                color_space,
            }) => {
                let center = self.resolve(position);
                let (scale, node) = (self.scale(), self.node);
                let radii = shape.resolve(
                    center,
                    scale,
                    size,
                    self.viewport,
                    node.em_size,
                    node.rem_size,
                );
                self.place_stops(list, radii.x, stops);
                let ratio = if radii.y == 0.0 {
                    1.0
                } else {
                    radii.x / radii.y
                };
                (self.line(center, [ratio, 0.0]), RADIAL, *color_space)
            }
            Gradient::Conic(ConicGradient {
                position,
                start,
                stops: list,
                color_space,
            }) => {
                place_angular_stops(list, stops);
                (
                    self.line(self.resolve(position), [*start, 0.0]),
                    CONIC,
                    *color_space,
                )
            }
        };
        let segments = Segments { line, kind, space };
        segments.add(&stops.placed, &mut add);
    }

    /// Line parameters with the origin relative to the box's centre.
    fn line(&self, from: Vec2, [z, w]: [f32; 2]) -> [f32; 4] {
        [from.x - self.center.x, -from.y - self.center.y, z, w]
    }

    /// Line from the corner opposite to the direction of `angle`, which is clockwise from the top.
    fn linear(&self, angle: f32) -> [f32; 4] {
        let half_size = self.node.size() / 2.0;
        let quarter = ((angle - FRAC_PI_2).rem_euclid(TAU) / FRAC_PI_2) as u32;
        let corner = match quarter {
            0 => Vec2::new(-half_size.x, -half_size.y),
            1 => Vec2::new(half_size.x, -half_size.y),
            2 => Vec2::new(half_size.x, half_size.y),
            _ => Vec2::new(-half_size.x, half_size.y),
        };
        self.line(corner, [angle.sin(), angle.cos()])
    }

    fn scale(&self) -> f32 {
        self.node.inverse_scale_factor().recip()
    }

    fn resolve(&self, position: &bevy_ui::UiPosition) -> Vec2 {
        let node = self.node;
        position.resolve(
            self.scale(),
            node.size(),
            self.viewport,
            node.em_size,
            node.rem_size,
        )
    }

    /// Resolves the positions of color stops along a gradient line of this length.
    fn place_stops(&self, list: &[ColorStop], length: f32, stops: &mut Stops) {
        let node = self.node;
        let resolve = |stop: &ColorStop| {
            let at = stop.point.resolve(
                self.scale(),
                length,
                self.viewport,
                node.em_size,
                node.rem_size,
            );
            at.ok()
        };
        stops.place_stops(
            list.iter()
                .map(|stop| (stop.color.to_linear(), resolve(stop), stop.hint)),
            length,
        );
    }
}

/// Resolves the positions of the color stops of a conic gradient.
fn place_angular_stops(list: &[AngularColorStop], stops: &mut Stops) {
    let angle = |stop: &AngularColorStop| stop.angle.map(|angle| angle.clamp(0.0, TAU));
    stops.place_stops_between(
        list.iter()
            .map(|stop| (stop.color.to_linear(), angle(stop), stop.hint)),
        |_| [0.0, TAU],
    );
}

impl Stops {
    fn place_stops(
        &mut self,
        list: impl Iterator<Item = (LinearRgba, Option<f32>, f32)> + Clone,
        length: f32,
    ) {
        self.place_stops_between(list, |explicit| {
            let first = explicit.first().map_or(0.0, |stop| stop.at);
            let last = explicit.last().map_or(length, |stop| stop.at);
            [first.min(0.0), last.max(length)]
        });
    }

    /// Resolves positions: explicit ones are sorted, the first and last automatic ones are at the ends, the others
    /// evenly spaced between explicit ones.
    fn place_stops_between(
        &mut self,
        list: impl Iterator<Item = (LinearRgba, Option<f32>, f32)> + Clone,
        ends: impl FnOnce(&[GradientStop]) -> [f32; 2],
    ) {
        let Self { placed, explicit } = self;
        explicit.clear();
        let known = |(color, at, hint): (LinearRgba, Option<f32>, f32)| {
            Some(GradientStop {
                color,
                at: at?,
                hint,
            })
        };
        explicit.extend(list.clone().filter_map(known));
        explicit.sort_by_key(|stop| FloatOrd(stop.at));
        let [first, last] = ends(explicit);
        let mut sorted = explicit.iter().copied();
        placed.clear();
        placed.extend(list.filter_map(|(color, at, hint)| match at {
            Some(_) => sorted.next(),
            None => Some(GradientStop {
                color,
                at: f32::NAN,
                hint,
            }),
        }));
        if let Some(stop) = placed.first_mut().filter(|stop| stop.at.is_nan()) {
            stop.at = first;
        }
        if let Some(stop) = placed.last_mut().filter(|stop| stop.at.is_nan()) {
            stop.at = last;
        }
        place_automatic_stops(placed);
    }
}

/// Spaces automatic stops evenly between explicit ones.
fn place_automatic_stops(stops: &mut [GradientStop]) {
    let mut before = 0;
    for at in 1..stops.len() {
        if stops[at].at.is_nan() {
            continue;
        }
        let (first, last) = (stops[before].at, stops[at].at);
        let step = (last - first) / (at - before) as f32;
        for (number, stop) in stops[before + 1..at].iter_mut().enumerate() {
            stop.at = first + step * (number + 1) as f32;
        }
        before = at;
    }
}

/// Parameters common to all segments of a gradient.
struct Segments {
    line: [f32; 4],
    kind: u32,
    space: InterpolationColorSpace,
}

impl Segments {
    fn add(&self, stops: &[GradientStop], add: &mut impl FnMut(GradientSegment)) {
        let last = stops.len().saturating_sub(2);
        let mut is_first = true;
        for (index, pair) in stops.windows(2).enumerate() {
            let (mut start, end) = (pair[0], pair[1]);
            if start.at == end.at {
                if index != last {
                    continue;
                }
                if !is_first {
                    start.color = LinearRgba::NONE;
                }
            }
            let mut fill = 0;
            if start.at > 0.0 && is_first {
                fill |= FILL_START;
            }
            if index == last {
                fill |= FILL_END;
            }
            is_first = false;
            use InterpolationColorSpace::{Okhsla, OkhslaLong};
            if matches!(self.space, Okhsla | OkhslaLong) && start.at < end.at {
                self.add_okhsl(start, end, fill, add);
            } else {
                add(self.segment(start, end, fill));
            }
        }
    }

    fn segment(&self, start: GradientStop, end: GradientStop, fill: u32) -> GradientSegment {
        let space = ColorSpace::of(self.space);
        GradientSegment {
            line: self.line,
            ends: [start.at, end.at],
            flags: self.kind | fill | (space as u32) << COLOR_SPACE_SHIFT,
            hint: start.hint,
            start_color: space.convert(start.color),
            end_color: space.convert(end.color),
        }
    }

    /// Subdivides an Okhsl segment so finely that interpolation in Oklab is indistinguishable.
    fn add_okhsl(
        &self,
        start: GradientStop,
        end: GradientStop,
        fill: u32,
        add: &mut impl FnMut(GradientSegment),
    ) {
        let is_long = self.space == InterpolationColorSpace::OkhslaLong;
        let [first, last] = [start.color, end.color].map(Okhsla::from);
        let (from, turn) = okhsl_hues(first, last, is_long);
        // Non-finite colors make one segment, which is rejected with a warning later.
        let count =
            ((turn.abs() * OKHSL_SEGMENTS_PER_TURN + MIN_OKHSL_SEGMENTS).ceil() as u32).max(1);
        let stop = |number: u32| {
            let part = number as f32 / count as f32;
            let mixed = first.mix(&last, apply_hint(part, start.hint));
            let hue = (from + turn * apply_hint(part, start.hint)).rem_euclid(1.0) * 360.0;
            let color = Oklaba::from(Okhsla { hue, ..mixed });
            let color = LinearRgba::from(color).with_alpha(mixed.alpha);
            let at = start.at + (end.at - start.at) * part;
            GradientStop {
                color,
                at,
                hint: 0.5,
            }
        };
        for number in 0..count {
            let mut fill = fill;
            if number > 0 {
                fill &= !FILL_START;
            }
            if number + 1 < count {
                fill &= !FILL_END;
            }
            add(self.segment(stop(number), stop(number + 1), fill));
        }
    }
}

/// Returns the first hue and the difference to the last, in turns. An achromatic end takes the other's hue.
fn okhsl_hues(first: Okhsla, last: Okhsla, is_long: bool) -> (f32, f32) {
    let [mut from, mut to] = [first.hue, last.hue].map(|hue| hue / 360.0);
    if first.saturation < HUE_GUARD {
        from = to;
    } else if last.saturation < HUE_GUARD {
        to = from;
    }
    let short = (to - from + 0.5).rem_euclid(1.0) - 0.5;
    let long = if short > 0.0 {
        short - 1.0
    } else {
        short + 1.0
    };
    (from, if is_long { long } else { short })
}

/// Applies a color hint: the interpolation factor at fraction `part` of a segment, 0.5 at `hint`.
fn apply_hint(part: f32, hint: f32) -> f32 {
    if part < hint {
        0.5 * part / hint
    } else {
        0.5 + 0.5 * (part - hint) / (1.0 - hint).max(f32::MIN_POSITIVE)
    }
}

/// Length of the gradient line of a linear gradient (CSS Images 3, section 3.1.1).
fn line_length(angle: f32, size: Vec2) -> f32 {
    size.x * angle.sin().abs() + size.y * angle.cos().abs()
}

/// Quad of a gradient: the whole node, relative to the centre of its filled box.
pub(super) fn gradient_quad(node: &ComputedNode, center: Vec2) -> Rect {
    let half_size = node.size() / 2.0;
    Rect {
        min: -half_size - center,
        max: half_size - center,
    }
}

#[cfg(test)]
mod tests;
