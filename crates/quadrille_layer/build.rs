//! Keeps the layer in memory once it is loaded.
//!
//! The loader unloads layers with the last instance. What the layer remembers for as long as the
//! process lives (the logs that it has emptied once) would be forgotten, and LeakSanitizer, which
//! then finds nobody who holds it, would call it leaked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
