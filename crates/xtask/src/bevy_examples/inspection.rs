//! Human verdicts on images.
//!
//! The correctness of an image needs a human verdict. `inspections.txt` has the verdicts with a checksum of the image; a
//! changed image has to be inspected again.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::scenarios::picture;

const VERDICTS: &str = include_str!("inspections.txt");

/// A verdict on a picture.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inspection {
    /// This image was inspected.
    Verdict(String),
    /// Another image of the program was inspected.
    Changed(u64),
    /// No image of the program was inspected.
    Never(u64),
}

impl Inspection {
    /// Looks up the verdict on a program's image.
    ///
    /// # Errors
    /// When the picture cannot be read.
    pub(super) fn of(program: &str, picture: &Path) -> Result<Self> {
        let checksum = checksum(&picture::pixels(picture)?);
        Ok(Self::find(VERDICTS, program, checksum))
    }

    fn find(verdicts: &str, program: &str, checksum: u64) -> Self {
        let mut known = false;
        for line in verdicts.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.splitn(3, ' ');
            if words.next() != Some(program) {
                continue;
            }
            known = true;
            let number = words.next().unwrap_or_default();
            if u64::from_str_radix(number, 16) == Ok(checksum) {
                return Self::Verdict(words.next().unwrap_or_default().to_owned());
            }
        }
        if known {
            Self::Changed(checksum)
        } else {
            Self::Never(checksum)
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(verdict) => write!(f, "by eye: {verdict}"),
            Self::Changed(checksum) => {
                write!(f, "not the picture looked at (now {checksum:016x})")
            }
            Self::Never(checksum) => write!(f, "not looked at yet ({checksum:016x})"),
        }
    }
}

/// FNV-1a: equal on all machines and in all versions.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
