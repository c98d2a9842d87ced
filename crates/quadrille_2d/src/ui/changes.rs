//! Changes of all inputs of node instances.

use bevy_asset::Assets;
use bevy_camera::RenderTarget;
use bevy_camera::visibility::InheritedVisibility;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::TextureAtlasLayout;
use bevy_text::{
    ComputedTextBlock, EditableText, Strikethrough, StrikethroughColor, TextBackgroundColor,
    TextColor, TextCursorStyle, TextLayoutInfo, Underline, UnderlineColor,
};
use bevy_ui::prelude::{BackgroundColor, BorderColor, BoxShadow, ImageNode, Node, Outline, Text};
use bevy_ui::widget::{InlineImage, TextShadow, ViewportNode};
use bevy_ui::{
    BackgroundGradient, BorderGradient, CalculatedClip, ComputedNode, ComputedUiTargetCamera,
    OuterColor, UiGlobalTransform,
};

use crate::queue::enabled::EnablingChanges;
use crate::scene::materials::{MaterialInstance, Materials2d};
use crate::scene::node_phase::NodePhase;

/// Filter for nodes with changed components.
type ChangedNode = (
    With<Node>,
    Or<(
        Or<(
            Changed<ComputedNode>,
            Changed<UiGlobalTransform>,
            Changed<ComputedUiTargetCamera>,
            Changed<InheritedVisibility>,
            Changed<CalculatedClip>,
            Changed<BackgroundColor>,
            Changed<OuterColor>,
            Changed<BackgroundGradient>,
            Changed<BorderGradient>,
            Changed<BorderColor>,
        )>,
        Or<(
            Changed<Outline>,
            Changed<ImageNode>,
            Changed<ViewportNode>,
            Changed<Text>,
            Changed<TextLayoutInfo>,
            Changed<ComputedTextBlock>,
            Changed<TextShadow>,
            Changed<BoxShadow>,
            Changed<MaterialInstance>,
        )>,
    )>,
);

/// Filter for changed spans of text, images in text, and cameras of `ViewportNode`s. Colors of spans are compared by
/// value, since many systems write them in each frame.
type ChangedOther = Or<(
    Changed<TextBackgroundColor>,
    Changed<Underline>,
    Changed<UnderlineColor>,
    Changed<Strikethrough>,
    Changed<StrikethroughColor>,
    Changed<InlineImage>,
    Changed<RenderTarget>,
)>;

/// Filter for texts that are edited, or have a caret.
type IsEdited = Or<(With<EditableText>, With<TextCursorStyle>)>;

/// Removed components of nodes.
type RemovedNodeParts<'w, 's> = (
    RemovedComponents<'w, 's, CalculatedClip>,
    RemovedComponents<'w, 's, BackgroundColor>,
    RemovedComponents<'w, 's, OuterColor>,
    RemovedComponents<'w, 's, BackgroundGradient>,
    RemovedComponents<'w, 's, BorderGradient>,
    RemovedComponents<'w, 's, BorderColor>,
    RemovedComponents<'w, 's, Outline>,
    RemovedComponents<'w, 's, ImageNode>,
    RemovedComponents<'w, 's, ViewportNode>,
    RemovedComponents<'w, 's, Text>,
    RemovedComponents<'w, 's, TextShadow>,
    RemovedComponents<'w, 's, BoxShadow>,
    RemovedComponents<'w, 's, MaterialInstance>,
);

/// Removed components of texts, images in text, and cameras of `ViewportNode`s.
type RemovedOthers<'w, 's> = (
    RemovedComponents<'w, 's, TextLayoutInfo>,
    RemovedComponents<'w, 's, EditableText>,
    RemovedComponents<'w, 's, TextCursorStyle>,
    RemovedComponents<'w, 's, TextColor>,
    RemovedComponents<'w, 's, TextBackgroundColor>,
    RemovedComponents<'w, 's, Underline>,
    RemovedComponents<'w, 's, UnderlineColor>,
    RemovedComponents<'w, 's, Strikethrough>,
    RemovedComponents<'w, 's, StrikethroughColor>,
    RemovedComponents<'w, 's, InlineImage>,
    RemovedComponents<'w, 's, RenderTarget>,
    RemovedComponents<'w, 's, InheritedVisibility>,
    RemovedComponents<'w, 's, ComputedNode>,
);

/// Detects changes of components and atlas layouts that determine node instances. Images, cameras, colors of text and
/// the order of nodes are compared by value.
#[derive(SystemParam)]
pub(crate) struct NodeChanges<'w, 's> {
    nodes: Query<'w, 's, (), ChangedNode>,
    others: Query<'w, 's, Entity, ChangedOther>,
    text_colors: Query<'w, 's, (Entity, &'static TextColor), Changed<TextColor>>,
    /// Edited texts: bevy scrolls them without change detection.
    edited: Query<'w, 's, (), IsEdited>,
    layouts: Res<'w, Assets<TextureAtlasLayout>>,
    materials: Res<'w, Materials2d>,
    /// [`Materials2d::changes`] of the last call.
    material_changes: Local<'s, u64>,
    enabling: ResMut<'w, EnablingChanges>,
    removed: RemovedNodeParts<'w, 's>,
    removed_others: RemovedOthers<'w, 's>,
}

/// Whether any of the components was removed from a source of the instances. Reads all messages.
macro_rules! any_removed {
    ($removed:expr, $is_source:expr, $($index:tt)*) => {
        false $(| ($removed.$index.read().filter(|&entity| $is_source(entity)).count() > 0))*
    };
}

impl NodeChanges<'_, '_> {
    /// Whether anything has changed since the last call that the instances follow from. Sprites and texts of the world
    /// have some of the components, too.
    pub(crate) fn take(&mut self, ui: &NodePhase) -> bool {
        let is_source = |entity| ui.has_source(entity);
        let is_removed = any_removed!(self.removed, is_source, 0 1 2 3 4 5 6 7 8 9 10 11 12)
            | any_removed!(self.removed_others, is_source, 0 1 2 3 4 5 6 7 8 9 10 11 12);
        let is_enabled = std::mem::take(&mut self.enabling.0);
        let material_changes = self.materials.changes();
        let is_other_material =
            std::mem::replace(&mut *self.material_changes, material_changes) != material_changes;
        is_removed
            || is_enabled
            || is_other_material
            || self.layouts.is_changed()
            || !self.edited.is_empty()
            || !self.nodes.is_empty()
            || self.others.iter().any(is_source)
            || self
                .text_colors
                .iter()
                .any(|(span, color)| ui.is_recolored(span, *color))
    }
}
