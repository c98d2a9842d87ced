//! Keeps bevy from ending the program where layout gives a node a negative size, or one that is not a number.
//!
//! Sizes become negative below a node that is narrower than its scrollbar: percentages of padding and border are parts of
//! what remains of it. They become infinite, and differences of them NaN, where percentages over 100 and aspect ratios multiply
//! from parents to children. With such a size `ComputedNode::border_box` and `ComputedNode::resolve_clip_rect` panic
//! ("Rect size must be positive"), so it becomes zero right after layout.
//!
//! One panic is within layout (`bevy_ui` 0.20): `CornerRadius::resolve` clamps a corner with one radius between zero and half of the
//! node's shorter side, by [`f32::clamp`]. While bevy lays out, such corners hold their radius for both axes: these are clamped
//! without a panic, and in most cases to the same numbers. After that they get their radius back, resolved by bevy's rule.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;
use bevy_math::Vec2;
use bevy_ui::prelude::{BorderRadius, Node};
use bevy_ui::{ComputedNode, ComputedUiRenderTargetInfo, CornerRadius, OverflowAxis, Val};

use quadrille_content::{RateLimitedWarnings, entity_name};

/// Nodes whose round corners bevy may not be able to resolve.
#[derive(Resource, Default)]
pub(crate) struct RiskyCorners {
    /// Nodes whose own size, or that of a descendant, may be negative or not finite.
    roots: EntityHashSet,
    /// Nodes with round corners that are or descend from one of them.
    rounded: Vec<Entity>,
    /// Corners as they were, during layout.
    kept: Vec<(Entity, BorderRadius)>,
}

/// Changes that decide about [`RiskyCorners`].
type ChangedTrees = (With<Node>, Changed<Children>);

/// Finds the nodes with round corners whose size may be no size.
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
        if nodes.get(entity).is_ok_and(|node| is_rounded(node)) {
            rounded.push(entity);
        }
        pending.extend(children.get(entity).into_iter().flatten());
    }
}

/// Gives round corners with one radius the same radius for both axes.
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

/// Makes sizes that are none zero.
pub(crate) fn limit_sizes(
    mut nodes: Query<(Entity, &mut ComputedNode), Changed<ComputedNode>>,
    warnings: Res<RateLimitedWarnings>,
) {
    for (entity, mut node) in &mut nodes {
        let size = node.size();
        // Not so where one of them is NaN.
        if size.x >= 0.0 && size.y >= 0.0 {
            continue;
        }
        // `f32::max` takes the number where the other is NaN.
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
            "{size}. Make percentages over 100 and aspect ratios of it and the nodes around it smaller: they multiply"
        );
    }
    format!(
        "{size}, because a node around it is narrower than its scrollbar. Give that one a `min_width` and `min_height` \
         of its `scrollbar_width`, padding and border"
    )
}

/// Gives corners their one radius back, and resolves it for sizes that [`limit_sizes`] has seen.
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

/// Whether a node may get a size that is no size, or give its descendants one.
fn is_risky(node: &Node) -> bool {
    let scrolls = [node.overflow.x, node.overflow.y].contains(&OverflowAxis::Scroll);
    (scrolls && node.scrollbar_width > 0.0)
        || node.aspect_ratio.is_some_and(|ratio| ratio != 1.0)
        // Percentages of tracks cannot be read.
        || !node.grid_template_rows.is_empty()
        || !node.grid_template_columns.is_empty()
        || !node.grid_auto_rows.is_empty()
        || !node.grid_auto_columns.is_empty()
        || lengths(node).any(|length| matches!(length, Val::Percent(part) if part.abs() > 100.0))
}

/// The lengths of a node that can be parts of its parent's size.
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

/// The radius of a corner that has one for both axes.
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
