//! Images of glyphs: text is whole in the frame in which it appears.

use bevy_ecs::prelude::*;
use bevy_text::FontAtlasSet;
use quadrille_content::DeviceImages;

/// Has atlases of glyphs uploaded outside the budget.
pub(crate) fn upload_glyphs_immediately(
    atlases: Res<FontAtlasSet>,
    mut images: ResMut<DeviceImages>,
) {
    if !atlases.is_changed() {
        return;
    }
    for atlas in atlases.values().flatten() {
        images.upload_immediately(&atlas.texture);
    }
}
