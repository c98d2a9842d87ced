//! Fonts whose files changed while the program runs.
//!
//! bevy's text reads each font asset once. It begins again when a font asset is gone; so where the
//! contents of one change, another one comes and goes.

use bevy_asset::{AssetId, Assets, Handle};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bevy_text::{DEFAULT_FONT_DATA, Font};

/// Has bevy read all fonts again, a frame after the contents of one have changed.
pub(crate) fn refresh_reloaded_fonts(
    mut fonts: ResMut<Assets<Font>>,
    mut known: Local<HashMap<AssetId<Font>, u64>>,
    mut passing: Local<Option<Handle<Font>>>,
) {
    if let Some(font) = passing.take() {
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
        *passing = Some(fonts.add(Font::from_bytes(DEFAULT_FONT_DATA.to_vec())));
    }
}
