//! Ownership of buffers and images that others use between the frames: other processes, APIs and devices
//! (`VK_QUEUE_FAMILY_EXTERNAL`, `VK_QUEUE_FAMILY_FOREIGN_EXT`), or a library in this program.
//!
//! An acquire is a pass without commands before all passes that use the resource, which waits for a value of a timeline
//! semaphore; a release is one after all of them, which signals. So whatever the passes are, the barriers of the
//! transfer come after the wait and before the signal.

use bevy_ecs::prelude::*;
use quadrille_sync::access::{Access, CustomAccess};
use quadrille_sync::flags::{AccessMask, Layout, Stages};
use quadrille_sync::frame::{Preference, TimelineUseKind};
use quadrille_sync::states::States;
use quadrille_sync::topology::{Capabilities, FamilyIndex, QueueIndex, Topology};
use quadrille_vulkan::ash;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::Gpu;
#[cfg(any(target_os = "linux", target_os = "android"))]
use quadrille_vulkan::resources::BinarySemaphore;
use quadrille_vulkan::resources::{Handle, ImageUsage, TimelineSemaphore};

use crate::data::internal::{InternalPass, InternalUse};
use crate::error::RenderError;

/// User of a buffer or an image between the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExternalOwner {
    /// Another process, or another API in this one, with the same driver and device: memory of
    /// `MemoryHandle::OpaqueFd`.
    External,
    /// Another driver or another device: memory of
    /// `MemoryHandle::DmaBuf`. Needs `VK_EXT_queue_family_foreign`.
    Foreign,
    /// This program, or a library in it, that submits to this device by itself, such as OpenXR's compositor. The first
    /// queue's family keeps the ownership.
    Program,
}

impl ExternalOwner {
    fn family(self, topology: &Topology) -> FamilyIndex {
        match self {
            Self::External => FamilyIndex::EXTERNAL,
            Self::Foreign => FamilyIndex::FOREIGN,
            Self::Program => topology.family(QueueIndex(0)),
        }
    }
}

/// Changes of ownership around the passes of the next frame.
///
/// State them again before each frame, or in the schedule [`Render`](crate::Render): a frame that fails has exchanged
/// nothing. The layout is the one that both sides agree on; it is ignored for buffers. A resource that was released
/// cannot be used until it is acquired again.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use quadrille_ecs::{Exchanges, ExternalOwner, Renderer};
/// use quadrille_sync::flags::Layout;
/// use quadrille_vulkan::resources::{GpuImage, TimelineSemaphore};
///
/// #[derive(Resource)]
/// struct Shared {
///     picture: GpuImage,
///     turns: TimelineSemaphore,
/// }
///
/// /// The other side signals 2 n when frame n may begin, and waits for 2 n + 1.
/// fn exchange(shared: Res<Shared>, renderer: Res<Renderer>, mut exchanges: ResMut<Exchanges>) {
///     let (picture, turn) = (&shared.picture, 2 * renderer.submitted_frames());
///     let acquired = exchanges.acquire(picture.clone(), ExternalOwner::External, Layout::General);
///     acquired.at(&shared.turns, turn);
///     let released = exchanges.release(picture.clone(), ExternalOwner::External, Layout::General);
///     released.at(&shared.turns, turn + 1);
/// }
/// ```
#[derive(Resource, Default)]
pub struct Exchanges {
    acquires: Vec<Exchange>,
    releases: Vec<Exchange>,
}

/// One change of ownership: see [`Exchanges`].
#[derive(Clone, Debug)]
pub struct Exchange {
    handle: Handle,
    owner: ExternalOwner,
    layout: Layout,
    timeline: Option<(TimelineSemaphore, u64)>,
}

impl Exchange {
    /// An acquire waits until the timeline reaches the value, with which the owner has released the resource; a release
    /// signals it.
    pub fn at(&mut self, timeline: &TimelineSemaphore, value: u64) {
        self.timeline = Some((timeline.clone(), value));
    }

    /// An acquire waits for a binary semaphore, and a release signals one.
    ///
    /// Each frame takes another sync file: an acquire waits for the one that the owner gave with the resource
    /// ([`Gpu::import_sync_fd`](quadrille_vulkan::device::Gpu::import_sync_fd)), and a release signals a semaphore to be
    /// exported as one ([`Gpu::exportable_semaphore`](quadrille_vulkan::device::Gpu::exportable_semaphore)). A semaphore that
    /// both sides share by an opaque descriptor or by its handle is used again and again, in turns: see
    /// [`BinarySemaphore`].
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn with(&mut self, semaphore: &BinarySemaphore) {
        self.at(semaphore.step(), 1);
    }
}

impl Exchanges {
    /// The next frame acquires a resource that its owner has released in this layout, with its contents. Without a
    /// value of a timeline ([`Exchange::at`]) the owner's work has to be complete.
    pub fn acquire(
        &mut self,
        resource: impl Into<Handle>,
        owner: ExternalOwner,
        layout: Layout,
    ) -> &mut Exchange {
        add(&mut self.acquires, resource.into(), owner, layout)
    }

    /// The next frame releases a resource in this layout, after all passes that use it.
    pub fn release(
        &mut self,
        resource: impl Into<Handle>,
        owner: ExternalOwner,
        layout: Layout,
    ) -> &mut Exchange {
        add(&mut self.releases, resource.into(), owner, layout)
    }

    /// Forgets what was stated for a frame that is over.
    pub(crate) fn clear(&mut self) {
        self.acquires.clear();
        self.releases.clear();
    }

    /// Adds the passes that acquire and release, and notes in the states what arrives.
    pub(crate) fn add_passes(
        &self,
        (gpu, states): (&Gpu, &mut States),
        first: &mut Vec<InternalPass>,
        last: &mut Vec<InternalPass>,
    ) -> Result<(), Vec<RenderError>> {
        let errors = self.errors(gpu);
        if !errors.is_empty() {
            return Err(errors);
        }
        let topology = gpu.topology();
        for one in &self.acquires {
            let family = one.owner.family(topology);
            states.import(one.handle.id(), one.layout, Some(family));
        }
        first.splice(0..0, self.acquires.iter().map(acquire));
        last.extend(self.releases.iter().map(|one| release(one, topology)));
        Ok(())
    }

    fn errors(&self, gpu: &Gpu) -> Vec<RenderError> {
        let foreign = gpu.is_enabled(ash::ext::queue_family_foreign::NAME);
        let mut errors = Vec::new();
        for (verb, all) in [("acquired", &self.acquires), ("released", &self.releases)] {
            for (at, one) in all.iter().enumerate() {
                let is_twice = all[..at].iter().any(|it| it.handle == one.handle);
                let problem = if is_twice {
                    Some(format!("it is {verb} twice in a frame; state it once"))
                } else if !one.handle.is_of(gpu) {
                    // Ids are those of one device: the states of another resource would change.
                    Some("it was made from another device; make it again from this one".to_owned())
                } else if one.owner == ExternalOwner::Foreign && !foreign {
                    Some(format!(
                        "the device `{}` lacks VK_EXT_queue_family_foreign; share it with the same driver \
                         (`ExternalOwner::External`)",
                        gpu.info().name
                    ))
                } else {
                    layout_problem(one)
                };
                errors.extend(problem.map(|problem| RenderError::Exchange {
                    resource: one.handle.name().to_owned(),
                    verb,
                    problem,
                }));
            }
        }
        errors
    }
}

fn add(
    all: &mut Vec<Exchange>,
    handle: Handle,
    owner: ExternalOwner,
    layout: Layout,
) -> &mut Exchange {
    all.push(Exchange {
        handle,
        owner,
        layout,
        timeline: None,
    });
    let last = all.len() - 1;
    &mut all[last]
}

/// Describes why an image cannot be in this layout between frames, by its usage (`VkImageMemoryBarrier2`, VUIDs 01208
/// to 01213 and 03939).
fn layout_problem(one: &Exchange) -> Option<String> {
    let Handle::Image(image) = &one.handle else {
        return None;
    };
    let (layout, usage) = (one.layout, image.desc().usage);
    let attachments = ImageUsage::COLOR_ATTACHMENT | ImageUsage::DEPTH_STENCIL_ATTACHMENT;
    let read = ImageUsage::SAMPLED | ImageUsage::INPUT_ATTACHMENT;
    let needed = match layout {
        Layout::General => return None,
        Layout::ColorAttachmentOptimal => ImageUsage::COLOR_ATTACHMENT,
        Layout::DepthStencilAttachmentOptimal => ImageUsage::DEPTH_STENCIL_ATTACHMENT,
        Layout::ShaderReadOnlyOptimal => read,
        Layout::DepthStencilReadOnlyOptimal => read | ImageUsage::DEPTH_STENCIL_ATTACHMENT,
        Layout::TransferSrcOptimal => ImageUsage::TRANSFER_SRC,
        Layout::TransferDstOptimal => ImageUsage::TRANSFER_DST,
        Layout::AttachmentOptimal => attachments,
        Layout::ReadOnlyOptimal => read | ImageUsage::DEPTH_STENCIL_ATTACHMENT,
        _ => {
            return Some(format!(
                "no image changes its owner in the layout {layout:?}; agree on another one, such as Layout::General"
            ));
        }
    };
    (!usage.intersects(needed)).then(|| {
        format!(
            "the layout {layout:?} takes one of the usages {needed:?}, and it has {usage:?}; add one to \
             `ImageDesc::usage`, or agree on Layout::General"
        )
    })
}

/// The pass that waits and acquires. It counts as a write: the owner has written.
fn acquire(one: &Exchange) -> InternalPass {
    let access = AccessMask::MEMORY_READ | AccessMask::MEMORY_WRITE;
    pass("acquire", one, access, TimelineUseKind::Wait)
}

/// The pass that releases and signals.
fn release(one: &Exchange, topology: &Topology) -> InternalPass {
    let access = AccessMask::MEMORY_READ;
    let mut made = pass("release", one, access, TimelineUseKind::Signal);
    made.prologue = false;
    match one.owner {
        ExternalOwner::Program => {
            made.queue.fixed = Some(QueueIndex(0));
            if matches!(one.handle, Handle::Buffer(_)) {
                // The buffer may lie in memory of the host. The signal of a semaphore makes writes available, but not visible to
                // the host (section "Availability, Visibility, and Domain Operations").
                made.list.make_visible_to_host();
            }
        }
        outside => made.gives = Some((outside.family(topology), one.layout)),
    }
    made
}

fn pass(verb: &str, one: &Exchange, access: AccessMask, kind: TimelineUseKind) -> InternalPass {
    let custom = Access::Custom(CustomAccess {
        stages: Stages::ALL_COMMANDS,
        access,
        layout: one.layout,
        writes: access.contains(AccessMask::MEMORY_WRITE),
    });
    let uses = vec![InternalUse::of(one.handle.clone(), custom)];
    let queue = (Capabilities::empty(), Preference::Main);
    let name = format!("{verb} {}", one.handle.name());
    let timeline = one.timeline.iter().cloned();
    InternalPass {
        timeline_uses: timeline.map(|(of, value)| (of, kind, value)).collect(),
        ..InternalPass::prologue(name, queue, uses, CommandList::default())
    }
}
