//! Keeps the layer in memory once it is loaded.
//!
//! The loader unloads layers with the last instance. State that the layer keeps for the lifetime of the process (logs
//! that it has truncated once) would be lost. LeakSanitizer would report it as leaked, because nothing references it
//! after unloading.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
