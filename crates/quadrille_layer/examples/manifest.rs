//! Prints the manifest with which the Vulkan loader finds the layer.
//!
//! ```sh
//! cargo run -p quadrille_layer --example manifest -- target/debug/libquadrille_layer.so
//! ```
#![expect(clippy::print_stdout, reason = "the output is the result")]

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("say where the library is")?;
    // The loader resolves a relative path against the manifest's folder, not the current one.
    let library = std::fs::canonicalize(PathBuf::from(path))?;
    print!("{}", quadrille_layer::manifest(&library));
    Ok(())
}
