//! Font loader that validates files on the asset I/O task, before text layout uses them.

use std::sync::{Arc, Mutex, PoisonError};

use bevy_asset::io::Reader;
use bevy_asset::{AssetLoader, AsyncReadExt as _, LoadContext};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashSet;
use bevy_reflect::TypePath;
use bevy_text::Font;
use thiserror::Error;

use crate::fonts::check::{MAX_FONT_BYTES, check};

/// Blob IDs of font data that the loader has validated.
#[derive(Resource, Clone, Default)]
pub(crate) struct CheckedFonts(Arc<Mutex<HashSet<u64>>>);

impl CheckedFonts {
    /// Returns whether a font was validated when it was loaded, and removes its entry: each content is queried
    /// once.
    pub(crate) fn take(&self, font: &Font) -> bool {
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checked.remove(&font.data.id())
    }

    fn add(&self, font: &Font) {
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checked.insert(font.data.id());
    }
}

/// Errors of the font loader.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckedFontError {
    /// The font failed validation.
    #[error("{0}")]
    Unusable(String),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// bevy's font loader with validation by [`check`].
#[derive(TypePath)]
pub(crate) struct CheckedFontLoader {
    checked: CheckedFonts,
}

impl CheckedFontLoader {
    pub(crate) fn new(checked: CheckedFonts) -> Self {
        Self { checked }
    }
}

impl AssetLoader for CheckedFontLoader {
    type Asset = Font;
    type Settings = ();
    type Error = CheckedFontError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _settings: &(),
        _load_context: &mut LoadContext<'_>,
    ) -> Result<Font, CheckedFontError> {
        let mut bytes = Vec::new();
        // One byte past the limit suffices to detect an oversized file.
        let most = MAX_FONT_BYTES as u64 + 1;
        reader.take(most).read_to_end(&mut bytes).await?;
        check(&bytes).map_err(CheckedFontError::Unusable)?;
        let font = Font::from_bytes(bytes);
        self.checked.add(&font);
        Ok(font)
    }

    fn extensions(&self) -> &[&str] {
        &["ttf", "otf"]
    }
}
