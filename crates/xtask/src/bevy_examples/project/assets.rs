//! Data files that programs load.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::super::programs;

/// Copies the files of a folder that are missing in another folder, or differ in size.
pub(super) fn copy_changed(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let size = |path: &Path| fs::metadata(path).map(|data| data.len()).ok();
    for path in programs::entries(from)? {
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_changed(&path, &copy)?;
        } else if size(&path) != size(&copy) {
            fs::copy(&path, &copy).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Data files that bevy's repository has and a copy may lack, with files that take their place on both renderers.
const SUBSTITUTES: [(&str, &str); 2] = [
    (
        "environment_maps/pisa_specular_rgb9e5_zstd.ktx2",
        "environment_maps/pisa_diffuse_rgb9e5_zstd.ktx2",
    ),
    (
        "sounds/Windless Slopes.ogg",
        "sounds/breakout_collision.ogg",
    ),
];

/// Puts other files in the place of missing ones, so that programs that load them can be compared.
pub(super) fn substitute_missing(assets: &Path) -> Result<()> {
    for (missing, other) in SUBSTITUTES.map(|pair| (assets.join(pair.0), assets.join(pair.1))) {
        if !missing.exists() && other.exists() {
            fs::copy(&other, &missing)
                .with_context(|| format!("cannot copy {}", other.display()))?;
        }
    }
    Ok(())
}
