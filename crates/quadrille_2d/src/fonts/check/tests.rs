use bevy_asset::Assets;
use bevy_color::Color;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_math::Vec2;
use bevy_text::{
    ComputedTextBlock, DEFAULT_FONT_DATA, FontAtlasSet, FontHinting, FontSize, FontSource, Justify,
    LayoutCx, LetterSpacing, LineBreak, LineHeight, RemSize, ScaleCx, TextBounds, TextElement,
    TextFont, TextLayoutInfo, TextPipeline,
};

use super::*;

#[test]
fn default_font_passes_check() {
    assert_eq!(check(DEFAULT_FONT_DATA), Ok(()));
}

#[test]
fn non_font_data_is_rejected() {
    let error = check(b"<html>not found</html>").unwrap_err();
    assert!(error.contains("begins with `<htm`"), "{error}");
    assert!(check(b"").unwrap_err().contains("header"));
    assert!(check(b"ttcf").unwrap_err().contains("header"));
    // The offset of a collection's first font is out of bounds.
    let mut collection = b"ttcf\0\x01\0\0\0\0\0\x01".to_vec();
    collection.extend(u32::MAX.to_be_bytes());
    assert!(check(&collection).unwrap_err().contains("header"));
    // No tables at all.
    let empty = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert!(check(&empty).unwrap_err().contains("no font"));
}

#[test]
fn truncated_font_is_rejected_at_any_length() {
    let length = DEFAULT_FONT_DATA.len();
    // Up to three bytes at the end are padding of the last table.
    for cut in (0..length - 4).step_by(97).chain([length - 4]) {
        let result = check(&DEFAULT_FONT_DATA[..cut]);
        assert!(result.is_err(), "the first {cut} bytes of {length}");
    }
}

#[test]
fn oversized_font_is_rejected() {
    let mut long = DEFAULT_FONT_DATA.to_vec();
    long.resize(MAX_FONT_BYTES + 1, 0);
    assert!(check(&long).unwrap_err().contains("the limit of 67108864"));
}

/// Byte range of a table in the default font.
fn table(tag: &[u8; 4]) -> std::ops::Range<usize> {
    let word = |at: usize| {
        let bytes = <[u8; 4]>::try_from(&DEFAULT_FONT_DATA[at..at + 4]);
        u32::from_be_bytes(bytes.expect("4 bytes")) as usize
    };
    let count = word(4) >> 16;
    let mut records = (0..count).map(|table| 12 + 16 * table);
    let record = records.find(|&at| DEFAULT_FONT_DATA[at..].starts_with(tag));
    let record = record.expect("the font has the table");
    word(record + 8)..word(record + 8) + word(record + 12)
}

/// Default font with overwritten bytes in a table.
fn corrupted_font(tag: &[u8; 4], seed: u32, bytes: u32) -> Vec<u8> {
    let mut font = DEFAULT_FONT_DATA.to_vec();
    let range = table(tag);
    // A linear congruential generator, the same on every machine.
    let mut state = seed;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..bytes {
        font[range.start + next(range.len())] = next(256) as u8;
    }
    font
}

/// Lays out and rasterizes all characters of bevy's default font by bevy's code.
fn draw_text(font: Vec<u8>) {
    let mut context = FontCx::default();
    let data = Font::from_bytes(font).data;
    let families = context.collection.register_fonts(data, None);
    let family = context.collection.family_name(families[0].0);
    let text: String = (' '..='~').collect();
    let text_font = TextFont {
        font: FontSource::Family(family.expect("it was checked").into()),
        font_size: FontSize::Px(20.0),
        ..TextFont::default()
    };
    let span = TextElement::Text {
        text: &text,
        font: &text_font,
        color: Color::WHITE,
        line_height: LineHeight::default(),
        letter_spacing: LetterSpacing::default(),
    };
    let mut pipeline = TextPipeline::default();
    let mut block = ComputedTextBlock::default();
    let laid_out = pipeline.update_buffer(
        &Assets::<Font>::default(),
        [(Entity::PLACEHOLDER, 0, span)].into_iter(),
        LineBreak::default(),
        Justify::default(),
        TextBounds::default(),
        1.0,
        &mut block,
        &mut context,
        &mut LayoutCx::default(),
        Vec2::splat(1000.0),
        RemSize::default(),
    );
    assert!(laid_out.is_ok(), "{laid_out:?}");
    let drawn = pipeline.update_text_layout_info(
        &mut TextLayoutInfo::default(),
        &mut FontAtlasSet::default(),
        &mut Assets::<Image>::default(),
        &mut block,
        &mut ScaleCx::default(),
        TextBounds::default(),
        Justify::default(),
        FontHinting::default(),
    );
    assert!(drawn.is_ok(), "{drawn:?}");
}

#[test]
fn accepted_fonts_can_be_drawn() {
    draw_text(DEFAULT_FONT_DATA.to_vec());
    let amount = std::env::var("QUADRILLE_FONTS").ok();
    let amount = amount.and_then(|amount| amount.parse().ok()).unwrap_or(6);
    let mut accepted = 0;
    for tag in [
        b"glyf", b"loca", b"cmap", b"hmtx", b"head", b"maxp", b"GSUB", b"GPOS",
    ] {
        for seed in 0..amount {
            let font = corrupted_font(tag, seed, 1 + seed % 5);
            if check(&font).is_ok() {
                accepted += 1;
                println!("{}, seed {seed}", tag.escape_ascii());
                draw_text(font);
            }
        }
    }
    assert!(accepted > 0, "most wrong bytes only look odd");
}

#[test]
fn corrupted_outlines_are_rejected() {
    for seed in 0..4 {
        let error = check(&corrupted_font(b"glyf", seed, 5000)).unwrap_err();
        assert!(error.contains("its glyph "), "seed {seed}: {error}");
    }
}
