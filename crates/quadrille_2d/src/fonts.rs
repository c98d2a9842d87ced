//! Fonts: checks of their files and sizes, and the atlases of their glyphs.

pub(crate) mod check;
pub(crate) mod data;
pub(crate) mod glyph_atlases;
pub(crate) mod loader;
pub(crate) mod reload;
pub(crate) mod size;
pub(crate) mod text_limits;
