//! Facts about earlier frames, for systems that draw to a resource only when its contents must change.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille_sync::resource::ResourceId;

use super::Collector;
use crate::declare::declaration::DeclarationVersion;

/// System parameter for passes that retain contents over frames, such as cached shadow maps: tells whether what they
/// recorded took effect, and which other passes may have written.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Recorder, RetainedContents};
/// # use quadrille_vulkan::resources::GpuImage;
/// # #[derive(Resource)] struct Backdrop(GpuImage);
/// /// Draws the backdrop again if the frame that drew it failed, or a pass of others writes it.
/// fn draw_backdrop(
///     mut recorder: Recorder,
///     retained: RetainedContents,
///     backdrop: Res<Backdrop>,
///     mut drawn_at: Local<Option<u64>>,
/// ) {
///     let frame = retained.submitted_frames();
///     let has_failed = drawn_at.is_none_or(|drawn| drawn >= frame);
///     let is_written = retained.written_resources().is_none_or(|mut written| {
///         written.any(|(pass, id)| pass != "draw_backdrop" && id == backdrop.0.id())
///     });
///     if has_failed || is_written {
///         *drawn_at = Some(frame);
///         // Draw with `recorder`.
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct RetainedContents<'w> {
    collector: Res<'w, Collector>,
    version: Res<'w, DeclarationVersion>,
}

impl RetainedContents<'_> {
    /// Returns the number of submitted frames since the device was created. What a pass recorded when this was `n` has
    /// taken effect if it is greater than `n` in the next frame; otherwise that frame failed.
    pub fn submitted_frames(&self) -> u64 {
        self.collector.submitted_frames
    }

    /// Returns a number that changes with the declarations of passes: systems added or removed, access entities changed,
    /// passes disabled or enabled.
    pub fn declaration_version(&self) -> u64 {
        self.version.0
    }

    /// Returns the resources that pass systems declare to write, whether or not they recorded anything, each with the
    /// name of the pass, as they were bound in the last frame. `None` if declarations have changed since then, so that
    /// any resource may be written. Uploads are not included.
    pub fn written_resources(&self) -> Option<impl Iterator<Item = (&str, ResourceId)>> {
        let collector = &*self.collector;
        if collector.version != self.version.0 {
            return None;
        }
        let enabled = collector.passes.iter().filter(|pass| !pass.disabled);
        Some(enabled.flat_map(|pass| {
            let writes = pass.uses.iter().filter(|used| used.is_write());
            let handles = writes.flat_map(|used| {
                let handles = collector.resolved.get(used.binding as usize);
                handles.and_then(Option::as_ref).into_iter().flatten()
            });
            handles.map(|handle| (&*pass.name, handle.id()))
        }))
    }
}

impl Collector {
    /// Counts a frame whose submissions succeeded.
    pub(crate) fn count_submitted(&mut self) {
        self.submitted_frames += 1;
    }
}
