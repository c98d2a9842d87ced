//! Whether bytes are a font with which nothing can go wrong.
//!
//! bevy ends the program when a glyph of a text has no outline that can be drawn, so all of them
//! are drawn here once, to nowhere, before bevy sees the font.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_text::{Font, FontCx};
use skrifa::charmap::MapVariant;
use skrifa::instance::{LocationRef, NormalizedCoord, Size};
use skrifa::outline::pen::ControlBoundsPen;
use skrifa::outline::{DrawSettings, OutlineGlyphCollection};
use skrifa::raw::TableProvider as _;
use skrifa::raw::tables::cmap::{CmapIterLimits, CmapSubtable};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};

/// Bytes of the longest font that is used: the largest families of East Asia have 20 MB a face.
pub(crate) const MAX_FONT_BYTES: usize = 64 << 20;

/// The widest and highest glyph, in em: the longest ligatures have ten. A glyph becomes a picture,
/// so a wrong point far away would take all memory.
const MAX_GLYPH_EM: f32 = 16.0;

/// Whether a file can be used as a font.
///
/// # Errors
/// Why not, in words that follow a name and a colon.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > MAX_FONT_BYTES {
        let length = bytes.len();
        return Err(format!(
            "the file has {length} bytes, more than the limit of {MAX_FONT_BYTES}"
        ));
    }
    check_tables(bytes)?;
    // Libraries that read fonts are careful, but what they add up may overflow.
    let is_read = catch_unwind(AssertUnwindSafe(|| {
        check_name(bytes)?;
        check_glyphs(bytes)
    }));
    is_read.unwrap_or_else(|_| Err("its tables hold numbers that make no sense".to_owned()))
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

fn check_name(bytes: &[u8]) -> Result<(), String> {
    let font = Font::from_bytes(bytes.to_vec());
    match FontCx::default().collection.register_fonts(font.data, None) {
        families if families.is_empty() => Err("the file holds no font with a name".to_owned()),
        _ => Ok(()),
    }
}

/// Draws all glyphs, after a look whether characters have those only.
fn check_glyphs(bytes: &[u8]) -> Result<(), String> {
    let font = FontRef::from_index(bytes, 0).map_err(|error| error.to_string())?;
    let count = font.maxp().map_err(|error| error.to_string())?.num_glyphs();
    let outlines = font.outline_glyphs();
    if outlines.format().is_none() {
        return Err("it has no outlines, and glyphs that are pictures are not drawn".to_owned());
    }
    check_characters(&font, count)?;
    let em = f32::from(
        font.head()
            .map_err(|error| error.to_string())?
            .units_per_em(),
    );
    // A variable font is tried at the far end of all its axes as well: what is added there has
    // tables of its own.
    let far = vec![NormalizedCoord::ONE; font.axes().len()];
    let mut locations = vec![LocationRef::default()];
    locations.extend((!far.is_empty()).then(|| LocationRef::new(&far)));
    for glyph in 0..count {
        for &location in &locations {
            check_outline(&outlines, GlyphId::from(glyph), location, em)?;
        }
    }
    Ok(())
}

/// Looks whether the glyphs of all characters are among the font's, in each of its tables of
/// characters: text layout may read another than a lookup of all characters.
fn check_characters(font: &FontRef<'_>, count: u16) -> Result<(), String> {
    let is_beyond = |glyph: GlyphId| glyph.to_u32() >= u32::from(count);
    let refuse = |character: u32, glyph: GlyphId| {
        let character = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
        Err(format!(
            "its character {character:?} is glyph {glyph}, and it has {count} glyphs"
        ))
    };
    let cmap = font.cmap().map_err(|error| error.to_string())?;
    for record in cmap.encoding_records() {
        let Ok(table) = record.subtable(cmap.offset_data()) else {
            // The file is too small to read.
            continue;
        };
        let in_bytes = (0..=0xFF).filter_map(|c| Some((c, table.map_codepoint(c)?)));
        let mut all = table
            .iter_with_limits(CmapIterLimits::default())
            .chain(in_bytes);
        if let Some((character, glyph)) = all.find(|(_, glyph)| is_beyond(*glyph)) {
            return refuse(character, glyph);
        }
        if let CmapSubtable::Format14(variants) = &table {
            for (character, _, variant) in variants.iter() {
                match variant {
                    MapVariant::Variant(glyph) if is_beyond(glyph) => {
                        return refuse(character, glyph);
                    }
                    MapVariant::Variant(_) | MapVariant::UseDefault => {}
                }
            }
        }
    }
    Ok(())
}

fn check_outline(
    outlines: &OutlineGlyphCollection<'_>,
    glyph: GlyphId,
    location: LocationRef<'_>,
    em: f32,
) -> Result<(), String> {
    let outline = outlines
        .get(glyph)
        .ok_or_else(|| format!("the outline of its glyph {glyph} cannot be found"))?;
    let mut pen = ControlBoundsPen::default();
    let settings = DrawSettings::unhinted(Size::unscaled(), location);
    outline
        .draw(settings, &mut pen)
        .map_err(|error| format!("the outline of its glyph {glyph} cannot be drawn: {error}"))?;
    let Some(bounds) = pen.bounding_box() else {
        return Ok(());
    };
    let length = (bounds.x_max - bounds.x_min).max(bounds.y_max - bounds.y_min) / em;
    // No comparison holds for what is no number.
    if length <= MAX_GLYPH_EM {
        Ok(())
    } else {
        Err(format!(
            "its glyph {glyph} is {length} em long, more than the limit of {MAX_GLYPH_EM}"
        ))
    }
}

#[cfg(test)]
mod tests;
