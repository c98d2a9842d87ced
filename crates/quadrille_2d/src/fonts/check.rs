//! Validation of font files.
//!
//! bevy panics when it rasterizes a glyph whose outline is invalid, so each outline is traversed once
//! before bevy gets the font.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_text::{Font, FontCx};
use skrifa::charmap::MapVariant;
use skrifa::instance::{LocationRef, NormalizedCoord, Size};
use skrifa::outline::pen::ControlBoundsPen;
use skrifa::outline::{DrawSettings, OutlineGlyphCollection};
use skrifa::raw::TableProvider as _;
use skrifa::raw::tables::cmap::{CmapIterLimits, CmapSubtable};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};

/// Largest accepted font file in bytes: the largest CJK fonts have about 20 MB per face.
pub(crate) const MAX_FONT_BYTES: usize = 64 << 20;

/// Largest width or height of a glyph in em: the longest ligatures have ten. Glyphs are rasterized, so a
/// misplaced point could exhaust memory.
const MAX_GLYPH_EM: f32 = 16.0;

/// Checks that a file is a usable font.
///
/// # Errors
/// The reason, phrased to follow "name: ".
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > MAX_FONT_BYTES {
        let length = bytes.len();
        return Err(format!(
            "the file has {length} bytes, more than the limit of {MAX_FONT_BYTES}"
        ));
    }
    check_tables(bytes)?;
    // Arithmetic in the font libraries may overflow on malformed tables, which panics in debug builds.
    let is_read = catch_unwind(AssertUnwindSafe(|| {
        check_name(bytes)?;
        check_glyphs(bytes)
    }));
    is_read.unwrap_or_else(|_| Err("its tables have invalid values".to_owned()))
}

/// Checks that the tables of a font lie within its file (OpenType specification, "Table
/// Directory"). Of a font collection only the first font is used and checked.
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
            return Err(format!(
                "the file begins with `{tag}`, which is no font format"
            ));
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
            return Err(format!(
                "its table `{tag}` extends past the end of the file"
            ));
        }
    }
    Ok(())
}

fn check_name(bytes: &[u8]) -> Result<(), String> {
    let font = Font::from_bytes(bytes.to_vec());
    match FontCx::default().collection.register_fonts(font.data, None) {
        families if families.is_empty() => {
            Err("the file contains no font with a family name".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks the character map and traverses the outlines of all glyphs.
fn check_glyphs(bytes: &[u8]) -> Result<(), String> {
    let font = FontRef::from_index(bytes, 0).map_err(|error| error.to_string())?;
    let count = font.maxp().map_err(|error| error.to_string())?.num_glyphs();
    let outlines = font.outline_glyphs();
    if outlines.format().is_none() {
        return Err("it has no outlines; bitmap glyphs are not supported".to_owned());
    }
    check_characters(&font, count)?;
    let em = f32::from(
        font.head()
            .map_err(|error| error.to_string())?
            .units_per_em(),
    );
    // Variable fonts are also checked at the maximum of all axes: variation deltas have their own tables.
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

/// Checks that all `cmap` subtables map to glyphs of the font: text layout may read another subtable than
/// a plain lookup.
fn check_characters(font: &FontRef<'_>, count: u16) -> Result<(), String> {
    let is_beyond = |glyph: GlyphId| glyph.to_u32() >= u32::from(count);
    let refuse = |character: u32, glyph: GlyphId| {
        let character = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
        Err(format!(
            "its character {character:?} maps to glyph {glyph}, but it has {count} glyphs"
        ))
    };
    let cmap = font.cmap().map_err(|error| error.to_string())?;
    for record in cmap.encoding_records() {
        let Ok(table) = record.subtable(cmap.offset_data()) else {
            // The subtable is truncated or of an unsupported format.
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
    // Not `>`: NaN must be rejected.
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
