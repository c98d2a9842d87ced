//! Tests on a real device, software or hardware. They are marked `ignore`, so that a plain `cargo test` needs no
//! driver. Run explicitly, they fail without a device:
//!
//! ```text
//! cargo test -p quadrille_vulkan --test gpu -- --ignored
//! ```

#![expect(unsafe_code, reason = "programs may call Vulkan beside Quadrille")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "gpu/rig.rs"]
mod rig;
#[path = "../src/test_folder.rs"]
mod test_folder;

#[path = "gpu/anything.rs"]
mod anything;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/binary_semaphores.rs"]
mod binary_semaphores;
#[path = "gpu/cache.rs"]
mod cache;
#[path = "gpu/clears.rs"]
mod clears;
#[path = "gpu/commands.rs"]
mod commands;
#[path = "gpu/compute.rs"]
mod compute;
#[path = "gpu/cost.rs"]
mod cost;
#[path = "gpu/deep_shaders.rs"]
mod deep_shaders;
#[path = "gpu/depth_stencil.rs"]
mod depth_stencil;
#[path = "gpu/exit.rs"]
mod exit;
#[path = "gpu/extension.rs"]
mod extension;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/external.rs"]
mod external;
#[path = "gpu/faults.rs"]
mod faults;
#[path = "gpu/graphics.rs"]
mod graphics;
#[path = "gpu/import.rs"]
mod import;
#[path = "gpu/lifetime.rs"]
mod lifetime;
#[path = "gpu/pace.rs"]
mod pace;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/peers.rs"]
mod peers;
#[path = "gpu/random_frames.rs"]
mod random_frames;
#[path = "gpu/reload.rs"]
mod reload;
#[path = "gpu/repeat.rs"]
mod repeat;
#[path = "gpu/repeat_draws.rs"]
mod repeat_draws;
#[path = "gpu/robust.rs"]
mod robust;
#[path = "gpu/sharing.rs"]
mod sharing;
#[path = "gpu/stream.rs"]
mod stream;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "gpu/sync_files.rs"]
mod sync_files;
#[path = "gpu/timelines.rs"]
mod timelines;
#[path = "gpu/transient.rs"]
mod transient;
#[path = "gpu/window.rs"]
mod window;
