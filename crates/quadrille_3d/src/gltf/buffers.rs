//! Buffers of a glTF file, read for validation.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bevy_asset::{AssetPath, LoadContext};
use bevy_gltf::GltfError;
use bevy_gltf::gltf::json::Root;
use bevy_gltf::gltf::json::buffer::View;
use percent_encoding::percent_decode_str;

use super::loader::{CheckedGltfError, file_too_large};

/// Contents of buffers, by index.
pub(super) struct Buffers<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Buffers<'a> {
    /// Reads the buffers of a file with the binary chunk `blob`. `may_read` must allow each path.
    pub(super) async fn read(
        root: &'a Root,
        blob: Option<&'a [u8]>,
        max_bytes: u64,
        may_read: impl Fn(&str, &AssetPath<'_>) -> Result<(), CheckedGltfError> + Send + Sync,
        load_context: &mut LoadContext<'_>,
    ) -> Result<Self, CheckedGltfError> {
        let mut buffers = Vec::with_capacity(root.buffers.len());
        for (index, buffer) in root.buffers.iter().enumerate() {
            let bytes = match &buffer.uri {
                None => Cow::Borrowed(blob.ok_or(GltfError::MissingBlob)?),
                Some(uri) => {
                    let what = format!("buffer {index}");
                    match Uri::parse(&what, uri)? {
                        Uri::Data { bytes, .. } => Cow::Owned(bytes),
                        Uri::Path(path) => {
                            let path = load_context
                                .path()
                                .resolve_embed_str(&path)
                                .map_err(|error| GltfError::InvalidBufferUri(path, error))?;
                            may_read(&what, &path)?;
                            let read = load_context.read_asset_bytes(path).await;
                            Cow::Owned(read.map_err(GltfError::from)?)
                        }
                    }
                }
            };
            if bytes.len() as u64 > max_bytes {
                return Err(file_too_large(max_bytes));
            }
            if (bytes.len() as u64) < buffer.byte_length.0 {
                return Err(CheckedGltfError::Refused(format!(
                    "buffer {index} has {} bytes, but the file declares {}",
                    bytes.len(),
                    buffer.byte_length.0
                )));
            }
            buffers.push(bytes);
        }
        Ok(Self(buffers))
    }

    /// Total size of all buffers in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|it| it.len() as u64).sum()
    }

    /// Returns the bytes of a view; `None` if it exceeds its buffer.
    pub(super) fn view(&self, view: &View) -> Option<&[u8]> {
        let start = usize::try_from(view.byte_offset.unwrap_or_default().0).ok()?;
        let length = usize::try_from(view.byte_length.0).ok()?;
        let buffer = self.0.get(view.buffer.value())?;
        buffer.get(start..start.checked_add(length)?)
    }

    #[cfg(test)]
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self(vec![Cow::Borrowed(bytes)])
    }
}

/// URI of a buffer or an image (glTF specification, section 2.8).
pub(super) enum Uri {
    /// Data URI (RFC 2397).
    Data { mime_type: String, bytes: Vec<u8> },
    /// Path relative to the file.
    Path(String),
}

impl Uri {
    pub(super) fn parse(what: &str, uri: &str) -> Result<Self, CheckedGltfError> {
        let uri = percent_decode_str(uri).decode_utf8().map_err(|_| {
            CheckedGltfError::Refused(format!("the URI of {what} is not UTF-8 text: {uri:.80}"))
        })?;
        let Some((kind, data)) = uri.strip_prefix("data:").and_then(|it| it.split_once(',')) else {
            return Ok(Self::Path(uri.into_owned()));
        };
        let (mime_type, bytes) = match kind.strip_suffix(";base64") {
            Some(mime_type) => (mime_type, STANDARD.decode(data).map_err(GltfError::from)?),
            None => (kind, data.as_bytes().to_owned()),
        };
        Ok(Self::Data {
            mime_type: mime_type.to_owned(),
            bytes,
        })
    }
}
