//! Glyph atlases bypass the upload budget, so that new text is complete in its first frame.

use bevy_ecs::prelude::*;
use bevy_text::FontAtlasSet;
use quadrille_content::images::DeviceImages;

/// Requests immediate upload of changed glyph atlases.
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
