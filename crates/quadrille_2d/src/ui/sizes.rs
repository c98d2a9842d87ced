//! Prevents panics of bevy on nodes whose layout yields a negative or NaN size.
//!
//! Sizes become negative below a node that is narrower than its scrollbar, because percentages of padding and border
//! resolve against the remaining width. They become infinite, and their differences NaN, where percentages over 100 and
//! aspect ratios multiply from parents to children. `ComputedNode::border_box` and `ComputedNode::resolve_clip_rect`
//! panic on such a size ("Rect size must be positive"), so it is set to zero right after layout.
//!
//! One panic is within layout (`bevy_ui` 0.20): `CornerRadius::resolve` clamps single-radius corners to between zero
//! and half of the node's shorter side by [`f32::clamp`], which panics if that is negative or NaN. So during layout
//! such corners hold explicit radii for both axes, which bevy clamps without a panic, mostly to the same values.
//! Afterwards they are restored and resolved by bevy's rule.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_ui::prelude::{BorderRadius, Node};
use bevy_ui::{ComputedNode, ComputedUiRenderTargetInfo, CornerRadius, OverflowAxis, Val};

use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

/// Nodes whose rounded corners may make bevy's layout panic.
#[derive(Resource, Default)]
pub(crate) struct RiskyCorners {
    /// Nodes whose own size, or that of a descendant, may be negative or not finite.
    roots: EntityHashSet,
    /// Nodes in the subtrees of `roots` with single-radius corners.
    rounded: Vec<Entity>,
    /// Original corners, kept during layout.
    kept: Vec<(Entity, BorderRadius)>,
}

/// Filter for changed hierarchies, which affect [`RiskyCorners`].
type ChangedTrees = (With<Node>, Changed<Children>);

/// Finds the nodes with single-radius corners whose size may become negative or NaN.
pub(crate) fn find_risky_corners(
    changed: Query<(Entity, &Node), Changed<Node>>,
    trees: Query<(), ChangedTrees>,
    mut removed: (RemovedComponents<Node>, RemovedComponents<Children>),
    nodes: Query<&Node>,
    children: Query<&Children>,
    mut risky: ResMut<RiskyCorners>,
) {
    let RiskyCorners { roots, rounded, .. } = &mut *risky;
    let has_removed = removed.0.read().count() + removed.1.read().count() > 0;
    if has_removed {
        roots.retain(|entity| nodes.contains(*entity));
    }
    for (entity, node) in &changed {
        if is_risky(node) {
            roots.insert(entity);
        } else {
            roots.remove(&entity);
        }
    }
    if !has_removed && changed.is_empty() && trees.is_empty() {
        return;
    }
    rounded.clear();
    let mut known = EntityHashSet::default();
    let mut pending: Vec<Entity> = roots.iter().copied().collect();
    while let Some(entity) = pending.pop() {
        if !known.insert(entity) {
            continue;
        }
        if nodes.get(entity).is_ok_and(is_rounded) {
            rounded.push(entity);
        }
        pending.extend(children.get(entity).into_iter().flatten());
    }
}

/// Replaces single-radius corners by explicit equal radii for both axes.
pub(crate) fn split_risky_corners(mut nodes: Query<&mut Node>, mut risky: ResMut<RiskyCorners>) {
    let RiskyCorners { rounded, kept, .. } = &mut *risky;
    for &entity in &*rounded {
        if let Ok(mut node) = nodes.get_mut(entity) {
            let node = node.bypass_change_detection();
            kept.push((entity, node.border_radius));
            corners_mut(&mut node.border_radius).for_each(split);
        }
    }
}

/// Sets negative and NaN sizes to zero, with a warning.
pub(crate) fn limit_sizes(
    mut nodes: Query<(Entity, &mut ComputedNode), Changed<ComputedNode>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (entity, mut node) in &mut nodes {
        let size = node.size();
        // False for NaN.
        if size.x >= 0.0 && size.y >= 0.0 {
            continue;
        }
        // `f32::max` returns zero for NaN.
        node.size = size.max(Vec2::ZERO);
        node.unrounded_size = node.unrounded_size.max(Vec2::ZERO);
        let who = format_args!("the node {}", entity_name(entity));
        warnings.warn(who, || odd_size(size));
    }
}

fn odd_size(size: Vec2) -> String {
    let Vec2 { x, y } = size;
    let size = format!("layout gave it a size of {x} by {y} pixels");
    if x.is_nan() || y.is_nan() {
        return format!(
            "{size}. Reduce percentages over 100 and aspect ratios of the node and its ancestors: they multiply"
        );
    }
    format!(
        "{size}, because an ancestor is smaller than its scrollbar. Set its `min_width` and `min_height` to at least \
         its `scrollbar_width`, padding and border"
    )
}

/// Restores single-radius corners, and resolves them for the sizes from [`limit_sizes`].
pub(crate) fn resolve_risky_corners(
    mut nodes: Query<(&mut Node, &mut ComputedNode, &ComputedUiRenderTargetInfo)>,
    mut risky: ResMut<RiskyCorners>,
) {
    for (entity, radius) in risky.kept.drain(..) {
        let Ok((mut node, mut computed, target)) = nodes.get_mut(entity) else {
            continue;
        };
        node.bypass_change_detection().border_radius = radius;
        let resolved = radius.resolve(
            computed.inverse_scale_factor().recip(),
            computed.size(),
            target.physical_size().as_vec2(),
            computed.em_size,
            computed.rem_size,
        );
        if computed.border_radius != resolved {
            computed.border_radius = resolved;
        }
    }
}

/// Whether a node or its descendants may get a negative or NaN size.
fn is_risky(node: &Node) -> bool {
    let scrolls = [node.overflow.x, node.overflow.y].contains(&OverflowAxis::Scroll);
    (scrolls && node.scrollbar_width > 0.0)
        || node.aspect_ratio.is_some_and(|ratio| ratio != 1.0)
        // The percentages of tracks are private.
        || !node.grid_template_rows.is_empty()
        || !node.grid_template_columns.is_empty()
        || !node.grid_auto_rows.is_empty()
        || !node.grid_auto_columns.is_empty()
        || lengths(node).any(|length| matches!(length, Val::Percent(part) if part.abs() > 100.0))
}

/// Lengths of a node that can be percentages of its parent's size.
fn lengths(node: &Node) -> impl Iterator<Item = Val> {
    let sides = [node.margin, node.padding, node.border];
    let sides = sides.map(|rect| [rect.left, rect.right, rect.top, rect.bottom]);
    let sizes = [
        node.left,
        node.right,
        node.top,
        node.bottom,
        node.width,
        node.height,
        node.min_width,
        node.min_height,
        node.max_width,
        node.max_height,
        node.flex_basis,
        node.row_gap,
        node.column_gap,
    ];
    sizes.into_iter().chain(sides.into_iter().flatten())
}

fn is_rounded(node: &Node) -> bool {
    let mut radius = node.border_radius;
    corners_mut(&mut radius).any(|corner| one_radius(*corner).is_some())
}

fn corners_mut(radius: &mut BorderRadius) -> impl Iterator<Item = &mut CornerRadius> {
    let BorderRadius {
        top_left,
        top_right,
        bottom_right,
        bottom_left,
    } = radius;
    [top_left, top_right, bottom_right, bottom_left].into_iter()
}

/// Returns the radius of a single-radius corner.
fn one_radius(corner: CornerRadius) -> Option<Val> {
    match corner {
        CornerRadius {
            x: Val::Auto,
            y: Val::Auto,
        } => None,
        CornerRadius {
            x: radius,
            y: Val::Auto,
        }
        | CornerRadius {
            x: Val::Auto,
            y: radius,
        } => Some(radius),
        _ => None,
    }
}

fn split(corner: &mut CornerRadius) {
    if let Some(radius) = one_radius(*corner) {
        *corner = CornerRadius::new(radius, radius);
    }
}
