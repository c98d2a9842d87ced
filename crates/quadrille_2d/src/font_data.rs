//! Fonts that cannot be used: text shows in bevy's default font instead.

use bevy_asset::{AssetId, AssetLoadFailedEvent, AssetServer, Assets};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use bevy_text::{DEFAULT_FONT_DATA, Font, FontCx};

/// Bytes of the longest font that is used: the largest families of East Asia have 20 MB a face.
const MOST_BYTES: usize = 64 << 20;

/// Puts bevy's default font in the place of fonts that are missing, broken or too long, before
/// bevy looks at them; a line in the log says which and why. What bevy would do: text in a missing
/// font never shows, and a font whose glyphs lie outside its file ends the program.
pub(crate) fn replace_broken_fonts(
    mut fonts: ResMut<Assets<Font>>,
    mut failed: MessageReader<AssetLoadFailedEvent<Font>>,
    mut seen: Local<HashMap<AssetId<Font>, u64>>,
    server: Res<AssetServer>,
) {
    for event in failed.read() {
        // bevy has logged the path and the reason.
        let default = Font::from_bytes(DEFAULT_FONT_DATA.to_vec());
        if !fonts.contains(event.id) && fonts.insert(event.id, default).is_err() {
            tracing::debug!("nobody needs the font {} any more", event.path);
        }
    }
    if !fonts.is_changed() {
        return;
    }
    seen.retain(|&id, _| fonts.contains(id));
    let mut broken = Vec::new();
    for (id, font) in fonts.iter() {
        let is_new = seen.insert(id, font.data.id()) != Some(font.data.id());
        if is_new && let Err(reason) = check(font.data.data()) {
            broken.push((id, reason));
        }
    }
    for (id, reason) in broken {
        let path = server.get_path(id);
        let name = path.map_or_else(|| id.to_string(), |path| path.to_string());
        tracing::error!("the font {name} is drawn as the default font: {reason}");
        if let Some(font) = fonts.get_mut_untracked(id) {
            font.data = Font::from_bytes(DEFAULT_FONT_DATA.to_vec()).data;
            seen.insert(id, font.data.id());
        }
    }
}

/// Whether a file can be used as a font.
fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > MOST_BYTES {
        let length = bytes.len();
        return Err(format!(
            "the file has {length} bytes, more than the limit of {MOST_BYTES}"
        ));
    }
    check_tables(bytes)?;
    let font = Font::from_bytes(bytes.to_vec());
    match FontCx::default().collection.register_fonts(font.data, None) {
        families if families.is_empty() => Err("the file holds no font with a name".to_owned()),
        _ => Ok(()),
    }
}

/// Looks whether the tables of a font are inside its file (OpenType specification, "Table
/// Directory"). Of a collection of fonts it looks at the first, which is the one that is used.
fn check_tables(bytes: &[u8]) -> Result<(), String> {
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(<[u8; 4]>::try_from(word).ok()?))
    };
    let ends = || "the file ends in its header".to_owned();
    let start = match bytes.get(..4) {
        Some(b"ttcf") => word(12).ok_or_else(ends)? as usize,
        _ => 0,
    };
    match word(start).ok_or_else(ends)?.to_be_bytes() {
        [0, 1, 0, 0] | [b'O', b'T', b'T', b'O'] | [b't', b'r', b'u', b'e'] => {}
        other => {
            let tag = other.escape_ascii();
            return Err(format!("the file begins with `{tag}`, which no font does"));
        }
    }
    let count = word(start + 4).ok_or_else(ends)? >> 16;
    for table in 0..count as usize {
        let record = start + 12 + 16 * table;
        let (Some(tag), Some(offset), Some(length)) =
            (word(record), word(record + 8), word(record + 12))
        else {
            return Err(ends());
        };
        if u64::from(offset) + u64::from(length) > bytes.len() as u64 {
            let tag = tag.to_be_bytes();
            let tag = tag.escape_ascii();
            return Err(format!("its table `{tag}` goes beyond the end of the file"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
