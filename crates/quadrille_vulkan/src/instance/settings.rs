//! [`Settings`] of a device.

use std::path::PathBuf;

use quadrille_sync::topology::{BarrierStyle, Capabilities, OrderPolicy, SubmitPolicy};

use crate::error::SetupError;
use crate::instance::extension::{self, Extension};
use crate::instance::sharing::Sharing;

/// Request for one queue, by capabilities.
///
/// A request gets a queue of the family with the fewest capabilities that suffices and has a queue left. An
/// unfulfillable request is dropped, and its passes run on other queues. So a program may request more queues than a
/// device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WantedQueue {
    /// Required capabilities.
    pub capabilities: Capabilities,
}

impl WantedQueue {
    /// The main queue: graphics, compute and transfer.
    pub const MAIN: Self = Self {
        capabilities: Capabilities::GRAPHICS
            .union(Capabilities::COMPUTE)
            .union(Capabilities::TRANSFER),
    };
    /// A queue for compute beside the main queue.
    pub const ASYNC_COMPUTE: Self = Self {
        capabilities: Capabilities::COMPUTE.union(Capabilities::TRANSFER),
    };
    /// A queue for copies beside the others.
    pub const TRANSFER: Self = Self {
        capabilities: Capabilities::TRANSFER,
    };
}

/// Settings of [`Gpu::new`](crate::device::Gpu::new).
///
/// Environment variables override them:
///
/// | variable | values | overrides |
/// | --- | --- | --- |
/// | `QUADRILLE_DEVICE` | name or index | [`Settings::device`], if that is `None` |
/// | `QUADRILLE_VALIDATION` | `1`, `0` | [`Settings::validation`] |
/// | `QUADRILLE_QUEUES` | number of queues, or their capabilities in letters (`gct,ct`) | [`Settings::queues`] |
/// | `QUADRILLE_BARRIERS` | `merged`, `precise` | [`Settings::barriers`] |
/// | `QUADRILLE_ALIASING` | `1`, `0` | [`Settings::aliasing`] |
/// | `QUADRILLE_AUTO_QUEUES` | `1`, `0` | [`Settings::auto_queues`] |
/// | `QUADRILLE_CULL_PASSES` | `1`, `0` | [`Settings::cull_passes`] |
/// | `QUADRILLE_SHARING` | `exclusive`, `concurrent`, `auto` | [`Settings::sharing`] |
/// | `QUADRILLE_PRESENT_FENCES` | `0` | disables present fences |
///
/// The letters are `g` for graphics, `c` for compute and `t` for transfer. Any other value is
/// [`SetupError::Environment`](crate::SetupError::Environment); an empty one counts as unset.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the program, for drivers and tools.
    pub app_name: String,
    /// Part of the device's name (case-insensitive) or its index; `None` chooses the most capable device.
    pub device: Option<String>,
    /// The requested queues. The first is the main queue, which always exists.
    pub queues: Vec<WantedQueue>,
    /// Moves passes without a queue preference to other queues when measured frame times get shorter. On by default;
    /// if off, they stay on the main queue. Has no effect on devices with one queue or without timestamps.
    pub auto_queues: bool,
    /// Culls passes that write only transient resources which no executed pass reads. On by default; turn it off to
    /// check whether a problem is related to it.
    pub cull_passes: bool,
    /// The order of passes that no hazard orders.
    pub order: OrderPolicy,
    /// Lets transient resources with disjoint lifetimes share memory. `None`, the default, is on without the
    /// validation layer and off with it: the layer does not know that images share memory, and reports
    /// `SYNC-HAZARD-WRITE-AFTER-WRITE` between frames in flight although dependencies of the images in
    /// between order them.
    pub aliasing: Option<bool>,
    /// Sharing mode of buffers and images whose description says [`Sharing::Auto`].
    pub sharing: Sharing,
    /// Grouping of submissions into `vkQueueSubmit2` calls: in plan order, or one call per queue, which saves calls in
    /// frames that alternate between queues.
    pub submit: SubmitPolicy,
    /// Granularity of memory barriers without layout or ownership changes; `None` chooses by the kind of device.
    pub barriers: Option<BarrierStyle>,
    /// Folder of the pipeline cache; `None` keeps no cache on disk.
    pub pipeline_cache: Option<PathBuf>,
    /// Names every Vulkan object and pass in debuggers and validation messages. Always on with the validation
    /// layer.
    pub debug_names: bool,
    /// Enables the Khronos validation layer with synchronization validation. A missing layer is a warning, not an
    /// error.
    pub validation: bool,
    /// Maximum number of frames that the CPU is ahead of the device; at least 1.
    pub frames_in_flight: u32,
    /// Maximum capacity of a table ([`ImageTable`](crate::resources::ImageTable), [`BufferTable`](crate::resources::BufferTable)), in
    /// images or buffers. `None` is 1,048,576, and 16,384 on a software device, whose driver may allocate the maximum
    /// for each table whatever its capacity. The device's own limit applies as well.
    pub table_entries: Option<u32>,
    /// Disables bounds checks of table indices in shaders. Off by default: an index beyond a table accesses the last
    /// entry, at the cost of one comparison (a pass of 2^30 samples of 1,024 images takes an H100
    /// 133.359 ms, and 133.358 ms unchecked). If on, such an index is undefined behavior, which may crash the
    /// program or lose the device; use it only for shaders whose indices are always in bounds.
    pub unchecked_tables: bool,
    /// Enables the instance extensions for windows.
    pub windows: bool,
    /// Extensions and features for your own Vulkan commands
    /// ([`CommandList::raw`](crate::commands::CommandList::raw)). Empty by default.
    pub extensions: Vec<Extension>,
}

impl Default for Settings {
    /// A main, an async compute and a transfer queue; two frames in flight; pipeline cache in the user's cache
    /// folder; debug names in debug builds.
    fn default() -> Self {
        Self {
            app_name: "quadrille".to_owned(),
            device: None,
            queues: vec![
                WantedQueue::MAIN,
                WantedQueue::ASYNC_COMPUTE,
                WantedQueue::TRANSFER,
            ],
            auto_queues: true,
            cull_passes: true,
            submit: SubmitPolicy::default(),
            order: OrderPolicy::default(),
            aliasing: None,
            sharing: Sharing::default(),
            barriers: None,
            pipeline_cache: user_cache_dir().map(|dir| dir.join("quadrille")),
            debug_names: cfg!(debug_assertions),
            validation: false,
            frames_in_flight: 2,
            table_entries: None,
            unchecked_tables: false,
            windows: true,
            extensions: Vec::new(),
        }
    }
}

impl Settings {
    /// The default settings for a program that opens no window.
    pub fn headless(app_name: &str) -> Self {
        Self {
            app_name: app_name.to_owned(),
            windows: false,
            ..Self::default()
        }
    }

    /// Validates [`Settings::extensions`].
    pub(crate) fn check_extensions(&self) -> Result<(), SetupError> {
        match extension::problem(&self.extensions) {
            Some(problem) => Err(SetupError::Extensions { problem }),
            None => Ok(()),
        }
    }
}

/// Returns `XDG_CACHE_HOME`, else `.cache` in the home folder (XDG base directory specification). Relative values are
/// ignored, as the specification requires.
fn user_cache_dir() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}
