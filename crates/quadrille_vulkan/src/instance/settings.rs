//! A program's requests for the device.

use std::path::PathBuf;

use quadrille_sync::{BarrierStyle, Capabilities, OrderPolicy, SubmitPolicy};

use crate::error::SetupError;
use crate::instance::extension::{self, Extension};
use crate::instance::sharing::Sharing;

/// One line of the shopping list of queues: what a queue has to be able to do.
///
/// A wish takes the queue of the narrowest family that fits and has a queue left. A wish that no
/// family can grant any more is dropped, and the passes that would have used the queue run on the
/// others, so a program asks for what it would like and runs everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WantedQueue {
    /// The capabilities that the queue needs.
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

/// How [`Gpu::new`](crate::Gpu::new) sets the device up.
///
/// Environment variables help where a program cannot be changed: `QUADRILLE_DEVICE` names the
/// device if [`Settings::device`] is `None`; `QUADRILLE_VALIDATION` (`1` or `0`) overrides
/// [`Settings::validation`]; `QUADRILLE_QUEUES` replaces the shopping list, either by a number
/// (`1`: the main queue alone) or by families in letters (`gct,ct`: graphics, compute, transfer);
/// `QUADRILLE_BARRIERS` (`merged` or `precise`) overrides [`Settings::barriers`];
/// `QUADRILLE_ALIASING` (`1` or `0`) overrides [`Settings::aliasing`], `QUADRILLE_AUTO_QUEUES`
/// likewise [`Settings::auto_queues`] and `QUADRILLE_CULL_PASSES` [`Settings::cull_passes`]; `QUADRILLE_SHARING` (`exclusive`, `concurrent` or `auto`)
/// overrides [`Settings::sharing`];
/// `QUADRILLE_PRESENT_FENCES=0` does without present fences where the device has them. Another
/// value than these is [`SetupError::Environment`](crate::SetupError::Environment); an empty one
/// counts as none.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the program, for drivers and tools.
    pub app_name: String,
    /// Part of the device's name (upper and lower case are the same) or its index; `None` takes
    /// the most capable one.
    pub device: Option<String>,
    /// The queues wished for; the first is the main queue and is always granted as well as the
    /// device can.
    pub queues: Vec<WantedQueue>,
    /// Move passes that wish for no queue to another one where measured times say that frames get
    /// shorter. On; off, they all stay on the main queue. Takes effect where the device has several
    /// queues and timestamps.
    pub auto_queues: bool,
    /// Leave out passes that write transient resources alone, which no pass that runs reads. On; to turn it
    /// off costs the device their time, and shows whether a fault has to do with it.
    pub cull_passes: bool,
    /// The order in which passes are submitted where no hazard decides.
    pub order: OrderPolicy,
    /// Let transient resources that are never needed at once share memory. On; to turn it off
    /// costs memory, and shows whether a fault has to do with it.
    pub aliasing: bool,
    /// How queue families share what is not described otherwise: buffers and images whose
    /// description says [`Sharing::Auto`].
    pub sharing: Sharing,
    /// How submissions are handed to the queues: in order, or each queue's in one call, which saves
    /// calls where a frame goes to and fro between queues.
    pub submit: SubmitPolicy,
    /// How plain memory dependencies are written down; `None` takes what is known to be good for
    /// the kind of device.
    pub barriers: Option<BarrierStyle>,
    /// Where compiled pipelines are kept between runs; `None` keeps none.
    pub pipeline_cache: Option<PathBuf>,
    /// Give every Vulkan object and every pass its name in debuggers and validation messages.
    /// Always on where the validation layer is.
    pub debug_names: bool,
    /// Ask for the Khronos validation layer, synchronization validation included. A program runs
    /// with a warning where the layer is not installed.
    pub validation: bool,
    /// How many frames the CPU may be ahead of the device; at least 1.
    pub frames_in_flight: u32,
    /// The most images or buffers that a table ([`ImageTable`](crate::ImageTable),
    /// [`BufferTable`](crate::BufferTable)) may have room for; `None` is 16,384 on a device in software, whose driver may keep room for the most in each table
    /// whatever its capacity is, and 1,048,576 on others. The device's own limit holds as well.
    pub table_entries: Option<u32>,
    /// Leave indices of tables as shaders compute them. Off: an index beyond a table finds its last entry,
    /// which takes a comparison for each access: a pass of 2^30 samples of 1,024 images took an H100
    /// 133.359 ms, and 133.358 ms without. On, it is undefined behaviour, which may crash the
    /// program or lose the device; for shaders whose indices are known to be right.
    pub unchecked_tables: bool,
    /// Enable the instance extensions for windows.
    pub windows: bool,
    /// Extensions and features for Vulkan commands of one's own
    /// ([`CommandList::raw`](crate::CommandList::raw)). None.
    pub extensions: Vec<Extension>,
}

impl Default for Settings {
    /// All queues of the usual kinds, two frames in flight, pipelines kept in the user's cache
    /// folder, debug names in debug builds.
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
            aliasing: true,
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

    /// Refuses extensions that have no meaning.
    pub(crate) fn check_extensions(&self) -> Result<(), SetupError> {
        match extension::problem(&self.extensions) {
            Some(problem) => Err(SetupError::Extensions { problem }),
            None => Ok(()),
        }
    }
}

/// `XDG_CACHE_HOME`, else `.cache` in the home folder (XDG base directory specification);
/// relative values are ignored, as the specification demands.
fn user_cache_dir() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}
