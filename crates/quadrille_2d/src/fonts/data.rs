//! Replaces unusable fonts with bevy's default font.

use bevy_asset::{AssetId, AssetLoadFailedEvent, AssetServer, Assets};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bevy_text::{DEFAULT_FONT_DATA, Font};

use crate::fonts::check::check;
use crate::fonts::loader::CheckedFonts;

/// Replaces missing, broken and oversized fonts with bevy's default font before bevy reads them, and logs the
/// reason. In bevy, text in a missing font never appears, and a font with tables outside its file or with
/// invalid outlines panics.
pub(crate) fn replace_broken_fonts(
    mut fonts: ResMut<Assets<Font>>,
    mut failed: MessageReader<AssetLoadFailedEvent<Font>>,
    mut known_contents: Local<HashMap<AssetId<Font>, u64>>,
    checked: Res<CheckedFonts>,
    server: Res<AssetServer>,
) {
    for event in failed.read() {
        // bevy has already logged the path and the reason.
        let default = Font::from_bytes(DEFAULT_FONT_DATA.to_vec());
        known_contents.insert(event.id, default.data.id());
        if !fonts.contains(event.id) && fonts.insert(event.id, default).is_err() {
            tracing::debug!("the handle of the font {} was dropped", event.path);
        }
    }
    if !fonts.is_changed() {
        return;
    }
    known_contents.retain(|&id, _| fonts.contains(id));
    let mut broken = Vec::new();
    for (id, font) in fonts.iter() {
        let is_new = known_contents.insert(id, font.data.id()) != Some(font.data.id());
        let is_trusted = font.data.data() == DEFAULT_FONT_DATA;
        if is_new
            && !checked.take(font)
            && !is_trusted
            && let Err(reason) = check(font.data.data())
        {
            broken.push((id, reason));
        }
    }
    for (id, reason) in broken {
        let path = server.get_path(id);
        let name = path.map_or_else(|| id.to_string(), |path| path.to_string());
        tracing::error!("font {name} is replaced by bevy's default font: {reason}");
        if let Some(font) = fonts.get_mut_untracked(id) {
            font.data = Font::from_bytes(DEFAULT_FONT_DATA.to_vec()).data;
            known_contents.insert(id, font.data.id());
        }
    }
}
