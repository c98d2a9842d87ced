//! Loading fonts: each is checked in the background before anybody lays out text with it.

use std::sync::{Arc, Mutex, PoisonError};

use bevy_asset::io::Reader;
use bevy_asset::{AssetLoader, AsyncReadExt as _, LoadContext};
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashSet;
use bevy_reflect::TypePath;
use bevy_text::Font;
use thiserror::Error;

use crate::fonts::check::{MAX_FONT_BYTES, check};

/// The contents of fonts that were found to be right, by the number that bevy's text gives them.
#[derive(Resource, Clone, Default)]
pub(crate) struct CheckedFonts(Arc<Mutex<HashSet<u64>>>);

impl CheckedFonts {
    /// Whether the contents of a font were checked when it was loaded. Asks once: nobody asks
    /// again before they change.
    pub(crate) fn take(&self, font: &Font) -> bool {
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checked.remove(&font.data.id())
    }

    fn add(&self, font: &Font) {
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checked.insert(font.data.id());
    }
}

/// Why a font file is refused.
#[derive(Debug, Error)]
pub enum CheckedFontError {
    /// Text drawn with it would go wrong.
    #[error("{0}")]
    Unusable(String),
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// bevy's font loader behind [`check`].
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
        // One byte more than may be: that it is too long is known without the rest.
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
