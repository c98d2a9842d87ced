//! Validation of KTX2 headers against the file (sections 3 and 4 of the specification). Decoders trust the header for
//! positions and sizes of levels.

use std::fmt::Display;
use std::io::Read;

use quadrille_vulkan::resources::block;
use quadrille_vulkan::vk;

const MAGIC: &[u8] = b"\xABKTX 20\xBB\r\n\x1A\n";

/// Size of the header in bytes; the level index follows it.
const HEADER: u64 = 80;
const ENTRY: u64 = 24;

/// Images with more levels would be smaller than a pixel.
const MAX_LEVELS: u32 = 32;

/// A file with a complete header.
pub(crate) struct Ktx2<'a> {
    file: &'a [u8],
    pub(crate) size: [u32; 2],
    levels: u32,
}

/// Section of a file: name, offset and size in bytes.
type Section = (String, u64, u64);

impl<'a> Ktx2<'a> {
    /// Reads the header. `None` if the file is of another kind or ends within the header, which the decoder reports.
    pub(crate) fn read(file: &'a [u8]) -> Option<Self> {
        if !file.starts_with(MAGIC) || (file.len() as u64) < HEADER {
            return None;
        }
        let mut ktx2 = Self {
            file,
            size: [0; 2],
            levels: 0,
        };
        ktx2.size = [ktx2.word(20), ktx2.word(24)];
        // Level count 0 means that the loader should generate mip levels; the file has one level then.
        ktx2.levels = ktx2.word(40).max(1);
        Some(ktx2)
    }

    /// Decoded size of all levels in bytes, as the header claims.
    pub(crate) fn claimed(&self) -> u64 {
        let levels = 0..self.levels.min(MAX_LEVELS);
        let sizes = levels.map(|level| self.entry(level)[2]);
        sizes.fold(0, u64::saturating_add)
    }

    /// Checks the file against its header. Returns the decoded size of all levels in bytes.
    ///
    /// # Errors
    /// Describes the inconsistency.
    pub(crate) fn check(&self) -> Result<u64, String> {
        let count = self.levels;
        if count > MAX_LEVELS {
            return Err(format!(
                "it has {count} mip levels, and none has more than {MAX_LEVELS}"
            ));
        }
        self.check_sections()?;
        let mut sum: u64 = 0;
        for level in 0..count {
            sum = sum.saturating_add(self.check_level(level)?);
        }
        Ok(sum)
    }

    /// Checks that all sections are within the file and do not overlap.
    fn check_sections(&self) -> Result<(), String> {
        let half = |at: u64| u64::from(self.word(at));
        let index_end = HEADER + ENTRY * u64::from(self.levels);
        let mut sections: Vec<Section> = vec![
            ("its header".to_owned(), 0, index_end),
            ("its data format descriptor".to_owned(), half(48), half(52)),
            ("its key and value data".to_owned(), half(56), half(60)),
            (
                "its supercompression data".to_owned(),
                self.long(64),
                self.long(72),
            ),
        ];
        sections.retain(|&(_, _, bytes)| bytes > 0);
        let length = self.file.len() as u64;
        // The level index must be within the file before it is read.
        if index_end > length {
            return Err(format!(
                "its level index ends at byte {index_end} of {length}"
            ));
        }
        for level in 0..self.levels {
            let [at, bytes, _] = self.entry(level);
            if bytes == 0 {
                return Err(format!("its level {level} has no bytes"));
            }
            sections.push((format!("its level {level}"), at, bytes));
        }
        sections.sort_by_key(|&(_, at, _)| at);
        for (name, at, bytes) in &sections {
            if at.checked_add(*bytes).is_none_or(|end| end > length) {
                return Err(format!(
                    "{name} has {bytes} bytes from byte {at} on, and the file has {length}"
                ));
            }
        }
        for pair in sections.windows(2) {
            let [(first, at, bytes), (second, begin, _)] = pair else {
                continue;
            };
            let end = at + bytes;
            if end > *begin {
                return Err(format!(
                    "{second} begins at byte {begin}, in {first}, which ends at byte {end}"
                ));
            }
        }
        Ok(())
    }

    /// Checks that a level has the size that its pixels need. Returns its decoded size in bytes.
    fn check_level(&self, level: u32) -> Result<u64, String> {
        let [at, bytes, mut decoded] = self.entry(level);
        let data = &self.file[at as usize..][..bytes as usize];
        match self.word(44) {
            0 if decoded != bytes => {
                return Err(format!(
                    "its level {level} has {bytes} bytes, and {decoded} when they are decoded, \
                     though nothing is compressed"
                ));
            }
            2 => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(data);
                let decoder = decoder.map_err(|error| broken(level, error))?;
                count(level, decoder, decoded)?;
            }
            3 => count(level, flate2::bufread::ZlibDecoder::new(data), decoded)?,
            // Transcoded pixels have four bytes at most.
            1 => decoded = self.level_bytes(level, [1, 1], 4),
            _ => {}
        }
        let format = vk::Format::from_raw(self.word(12) as i32);
        let Some(block) = block(format) else {
            // A format defined only by the data format descriptor, for transcoding, or an unknown one.
            return Ok(decoded.max(self.level_bytes(level, [1, 1], 4)));
        };
        let wanted = self.level_bytes(level, block.size, block.bytes);
        if wanted != decoded {
            let [width, height] = self.size.map(|side| (side >> level).max(1));
            return Err(format!(
                "its level {level} has {decoded} bytes, and {width}x{height} pixels of {format:?} \
                 take {wanted}"
            ));
        }
        Ok(decoded)
    }

    /// Size in bytes of a level with all layers and faces, for blocks of this size.
    fn level_bytes(&self, level: u32, block: [u32; 2], bytes: u32) -> u64 {
        let side = |full: u32| (full >> level).max(1);
        let blocks = |full: u32, block: u32| u64::from(side(full).div_ceil(block));
        let [width, height] = self.size;
        let (depth, layers, faces) = (self.word(28), self.word(32), self.word(36));
        [
            blocks(width, block[0]),
            blocks(height, block[1]),
            u64::from(side(depth)),
            u64::from(layers.max(1)),
            u64::from(faces.max(1)),
        ]
        .into_iter()
        .fold(u64::from(bytes), u64::saturating_mul)
    }

    /// Returns offset, size and uncompressed size of a level in bytes, from the level index.
    fn entry(&self, level: u32) -> [u64; 3] {
        let at = HEADER + ENTRY * u64::from(level);
        [at, at + 8, at + 16].map(|at| self.long(at))
    }

    /// Reads a `u32`; 0 beyond the end of the file.
    fn word(&self, at: u64) -> u32 {
        let bytes = self.file.get(at as usize..at as usize + 4);
        let bytes = bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    /// Reads a `u64`.
    fn long(&self, at: u64) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }
}

/// Checks that a compressed level has the uncompressed size that the file claims, without storing the result.
fn count(level: u32, decoder: impl Read, wanted: u64) -> Result<(), String> {
    // One byte more than allowed suffices to detect an excess.
    let mut decoder = decoder.take(wanted.saturating_add(1));
    let count = std::io::copy(&mut decoder, &mut std::io::sink());
    match count.map_err(|error| broken(level, error))? {
        count if count == wanted => Ok(()),
        count if count < wanted => Err(format!(
            "its level {level} has {count} bytes when it is decoded, and says that it has {wanted}"
        )),
        _ => Err(format!(
            "its level {level} has more bytes when it is decoded than the {wanted} that it says"
        )),
    }
}

fn broken(level: u32, error: impl Display) -> String {
    format!("its level {level} is broken: {error}")
}

#[cfg(test)]
mod tests;
