//! Hot reload of fonts.
//!
//! bevy's text reads each font asset once, and rebuilds its font collection only when a font asset is removed.
//! So a changed font triggers the addition and removal of a temporary one.

use bevy_asset::{AssetId, Assets, Handle};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bevy_text::{DEFAULT_FONT_DATA, Font};

/// Makes bevy reread all fonts in the frame after the contents of one have changed.
pub(crate) fn refresh_reloaded_fonts(
    mut fonts: ResMut<Assets<Font>>,
    mut known: Local<HashMap<AssetId<Font>, u64>>,
    mut temporary: Local<Option<Handle<Font>>>,
) {
    if let Some(font) = temporary.take() {
        fonts.remove(&font);
    }
    if !fonts.is_changed() {
        return;
    }
    known.retain(|&id, _| fonts.contains(id));
    let mut is_reloaded = false;
    for (id, font) in fonts.iter() {
        let before = known.insert(id, font.data.id());
        is_reloaded |= before.is_some_and(|before| before != font.data.id());
    }
    if is_reloaded {
        *temporary = Some(fonts.add(Font::from_bytes(DEFAULT_FONT_DATA.to_vec())));
    }
}
