//! Extraction of `bevy_gizmos`.
//!
//! bevy finishes the gizmo lists of a frame in the schedule `Last`. So apps with `GizmoPlugin` render after `Last`
//! ([`draw_after_last`]); other apps keep their order.

use std::fmt::Display;

use bevy_app::{App, Last, MainScheduleOrder, PostUpdate};
use bevy_asset::Assets;
use bevy_camera::visibility::RenderLayers;
use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel as _;
use bevy_ecs::system::SystemParam;
use bevy_gizmos::config::{GizmoConfigStore, GizmoLineConfig, GizmoLineJoint, GizmoLineStyle};
use bevy_gizmos::gizmos::GizmoBufferView;
use bevy_gizmos::retained::Gizmo;
use bevy_gizmos::{GizmoAsset, GizmoHandles, GizmoPlugin};
use bevy_math::{Affine3A, Vec3};
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::{GpuDevice, Render, Uploads};

use super::{GizmoLineBatch, GizmoLineBatches, GizmoLines, Line, LineKind};
use crate::schedule::ContentSystems;
use crate::warnings::{RateLimitedWarnings, entity_name, first_non_finite};

/// Maximum wedges of a round joint; more make no visible difference.
const MAX_JOINT_PARTS: u32 = 64;

/// Gizmos of a frame; empty without bevy's `GizmoPlugin`.
#[derive(SystemParam)]
struct Gizmos<'w, 's> {
    handles: Option<Res<'w, GizmoHandles>>,
    assets: Option<Res<'w, Assets<GizmoAsset>>>,
    configs: Option<Res<'w, GizmoConfigStore>>,
    retained: Query<
        'w,
        's,
        (
            &'static Gizmo,
            &'static GlobalTransform,
            Option<&'static RenderLayers>,
        ),
    >,
    entities: Query<'w, 's, Entity, With<Gizmo>>,
    /// Scratch memory for sorting.
    order: Local<'s, Vec<Entity>>,
}

impl Gizmos<'_, '_> {
    /// Extracts the lines of all gizmos in a stable order, since later lines cover earlier ones: immediate gizmos by
    /// config group, then retained ones by entity index.
    fn list(&mut self, to: &mut GizmoLineBatches, warnings: &RateLimitedWarnings) {
        to.batches.clear();
        to.lines.clear();
        let (Some(handles), Some(assets), Some(configs)) =
            (&self.handles, &self.assets, &self.configs)
        else {
            return;
        };
        for (group, handle) in handles.handles() {
            let asset = handle.as_ref().and_then(|handle| assets.get(handle));
            let config = configs.get_config_dyn(group);
            if let (Some(asset), Some((config, _))) = (asset, config)
                && config.enabled
            {
                let state = LineState {
                    config: &config.line,
                    depth_bias: config.depth_bias,
                    layers: config.render_layers.clone(),
                    world: Affine3A::IDENTITY,
                };
                let who = &"a line of the immediate gizmos";
                add_batch(to, warnings, who, asset, state);
            }
        }
        self.order.clear();
        self.order.extend(&self.entities);
        self.order.sort_unstable_by_key(|entity| entity.index_u32());
        for &entity in self.order.iter() {
            if let Ok((gizmo, transform, layers)) = self.retained.get(entity)
                && let Some(asset) = assets.get(&gizmo.handle)
            {
                let state = LineState {
                    config: &gizmo.line_config,
                    depth_bias: gizmo.depth_bias,
                    layers: layers.cloned().unwrap_or_default(),
                    world: transform.affine(),
                };
                let who = format_args!("a line of the gizmo {}", entity_name(entity));
                add_batch(to, warnings, &who, asset, state);
            }
        }
    }
}

/// Draw state of a line list.
struct LineState<'a> {
    config: &'a GizmoLineConfig,
    depth_bias: f32,
    layers: RenderLayers,
    world: Affine3A,
}

/// Adds the lines of a list as a batch; lines with non-finite values are skipped with a warning.
fn add_batch(
    to: &mut GizmoLineBatches,
    warnings: &RateLimitedWarnings,
    who: &dyn Display,
    asset: &GizmoAsset,
    state: LineState<'_>,
) {
    let lines = &mut *to.lines;
    let first = lines.len() as u32;
    add_lines(&asset.buffer().buffer(), state.config, &state.world, lines);
    let mut invalid = lines.extract_if(first as usize.., |line| !line.is_finite());
    if let Some(line) = invalid.next() {
        warnings.warn(who, || describe_invalid_line(&line));
    }
    invalid.for_each(drop);
    let depth_bias = state.depth_bias;
    to.batches.push(GizmoLineBatch {
        layers: state.layers,
        lines: first..lines.len() as u32,
        depth_bias: if depth_bias.is_nan() {
            0.0
        } else {
            depth_bias.clamp(-1.0, 1.0)
        },
        perspective: state.config.perspective,
    });
}

/// Extracts and uploads the lines of all gizmos.
fn extract_gizmo_lines(
    mut gizmos: Gizmos,
    mut batches: ResMut<GizmoLineBatches>,
    mut buffer: ResMut<GizmoLines>,
    warnings: Res<RateLimitedWarnings>,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    gizmos.list(&mut batches, &warnings);
    batches.lines.upload(&gpu, &mut uploads, &mut buffer.0)?;
    Ok(())
}

/// Names the first non-finite value of a line.
fn describe_invalid_line(line: &Line) -> String {
    first_non_finite(&[
        ("width", &[line.width]),
        ("style", &line.pattern),
        ("color", line.colors.as_flattened()),
        ("positions", line.positions.as_flattened()),
    ])
}

/// Adds the lines and strips of a list, and the joints of strips.
fn add_lines(
    from: &GizmoBufferView<'_>,
    config: &GizmoLineConfig,
    world: &Affine3A,
    lines: &mut Vec<Line>,
) {
    if config.width.is_nan() || config.width <= 0.0 {
        return;
    }
    let (kind, pattern) = style(config);
    let mut add = |positions: &[Vec3], colors: &[LinearRgba], kind, pattern| {
        // bevy separates strips by NaN positions.
        if positions.iter().all(|point| point.is_finite()) {
            let point = |at: usize| {
                let point = positions.get(at).or(positions.last());
                point.map_or([0.0; 3], |&point| world.transform_point3(point).to_array())
            };
            let color = |at: usize| {
                colors
                    .get(at)
                    .or(colors.last())
                    .copied()
                    .unwrap_or_default()
            };
            lines.push(Line {
                positions: [point(0), point(1), point(2)],
                colors: [color(0).to_f32_array(), color(1).to_f32_array()],
                width: config.width,
                pattern,
                kind: kind as u32,
            });
        }
    };
    let list = from.list_positions.chunks_exact(2);
    for (positions, colors) in list.zip(from.list_colors.chunks_exact(2)) {
        add(positions, colors, kind, pattern);
    }
    let strip = from.strip_positions.windows(2);
    for (positions, colors) in strip.zip(from.strip_colors.windows(2)) {
        add(positions, colors, kind, pattern);
    }
    let (joint, parts) = match config.joints {
        GizmoLineJoint::None => return,
        GizmoLineJoint::Miter => (LineKind::Miter, 1),
        GizmoLineJoint::Bevel => (LineKind::Bevel, 1),
        GizmoLineJoint::Round(parts) => (LineKind::Round, parts.min(MAX_JOINT_PARTS)),
    };
    let corners = from.strip_positions.windows(3);
    for (positions, colors) in corners.zip(from.strip_colors.windows(3)) {
        for part in 0..parts {
            add(
                positions,
                &colors[1..2],
                joint,
                [part as f32, parts as f32, 0.0],
            );
        }
    }
}

/// Kind and dash pattern of a line. bevy's offset is in halves of the period.
fn style(config: &GizmoLineConfig) -> (LineKind, [f32; 3]) {
    let dashes = |dash: f32, gap: f32| {
        let period = dash + gap;
        (
            LineKind::Dashed,
            [dash, period, config.animation_offset * period / 2.0],
        )
    };
    match config.style {
        GizmoLineStyle::Dotted => dashes(1.0, 1.0),
        GizmoLineStyle::Dashed {
            gap_scale,
            line_scale,
        } if gap_scale > 0.0 && line_scale > 0.0 => dashes(line_scale, gap_scale),
        // Dashes without length or without gaps are drawn solid.
        _ => (LineKind::Solid, [0.0; 3]),
    }
}

/// Adds the extraction of gizmos to an app.
pub(crate) fn add_gizmos(app: &mut App) {
    app.add_systems(Render, extract_gizmo_lines.in_set(ContentSystems::Views));
    if app.is_plugin_added::<GizmoPlugin>() {
        draw_after_last(app);
    }
}

/// Moves rendering after bevy's schedule `Last`, where gizmo lists are finished: before it, gizmos would be those of
/// the previous frame.
fn draw_after_last(app: &mut App) {
    let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
    order.labels.retain(|label| *label != Last.intern());
    order.insert_after(PostUpdate, Last);
}

#[cfg(test)]
mod tests;
