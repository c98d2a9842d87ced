//! Readback of buffers and images to the CPU.

use std::path::PathBuf;

use bevy_ecs::prelude::*;
use bytemuck::Pod;
use quadrille_sync::access::Access;
use quadrille_sync::frame::{PassKind, Preference, QueueRequest};
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_sync::states::TimelinePoint;
use quadrille_sync::topology::Capabilities;
use quadrille_sync::{PlanError, PlanErrors};
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::file::write_file;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, Handle, ImageRegion, ImageUsage, View,
};
use quadrille_vulkan::{Error, Format};

use crate::data::internal::{InternalPass, InternalUse, copy_needs};
use crate::declare::window_image::PrimaryWindowImage;

/// Reads a buffer back once: spawn it, and observe [`ReadbackComplete`] on its entity.
///
/// The copy runs after all passes of the next frame; the event is triggered when the copy is complete,
/// usually a few frames later. Then the entity is despawned.
///
/// A source that cannot be read back, for instance because it has no contents yet, is reported by a
/// warning and [`ReadbackFailed`]; frames continue.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Readback, ReadbackComplete};
/// # use quadrille_vulkan::resources::GpuBuffer;
/// # #[derive(Resource)] struct Total(GpuBuffer);
/// fn ask(mut commands: Commands, total: Res<Total>) {
///     commands.spawn(Readback::buffer(&total.0)).observe(|done: On<ReadbackComplete>| {
///         let numbers: Vec<u32> = done.values();
///     });
/// }
/// ```
#[derive(Component, Clone, Debug)]
pub struct Readback {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Buffer(GpuBuffer),
    Image(GpuImage, View),
    PrimaryWindow,
}

impl Readback {
    /// Reads back all bytes of a buffer with [`BufferUsage::TRANSFER_SRC`].
    pub fn buffer(buffer: &GpuBuffer) -> Self {
        Self {
            source: Source::Buffer(buffer.clone()),
        }
    }

    /// Reads back all texels of the first mip level of an image with
    /// [`ImageUsage::TRANSFER_SRC`](quadrille_vulkan::resources::ImageUsage::TRANSFER_SRC), row by row without padding,
    /// slice by slice, layer by layer.
    pub fn image(image: &GpuImage) -> Self {
        Self::view(image, View::WHOLE)
    }

    /// Reads back the first mip level of a view, with the view's layers, like [`Readback::image`].
    ///
    /// ```
    /// # use quadrille_ecs::Readback;
    /// # use quadrille_vulkan::resources::{GpuImage, View};
    /// fn smallest(pyramid: &GpuImage) -> Readback {
    ///     Readback::view(pyramid, View::WHOLE.mip(pyramid.desc().mip_levels as u8 - 1))
    /// }
    /// ```
    pub fn view(image: &GpuImage, view: View) -> Self {
        Self {
            source: Source::Image(image.clone(), view),
        }
    }

    /// Reads back the image of the primary window, or the image that replaces it in headless apps.
    pub fn primary_window() -> Self {
        Self {
            source: Source::PrimaryWindow,
        }
    }

    /// Whether it waits for an image of the primary window: a minimized or closed one has none.
    pub fn is_of_primary_window(&self) -> bool {
        matches!(self.source, Source::PrimaryWindow)
    }
}

/// Event: a [`Readback`] is complete.
#[derive(EntityEvent, Clone, Debug)]
#[non_exhaustive]
pub struct ReadbackComplete {
    /// The entity with the [`Readback`].
    pub entity: Entity,
    /// The contents.
    pub bytes: Vec<u8>,
    /// Width and height of the mip level in texels, and the format; `None` for a buffer.
    pub image: Option<([u32; 2], Format)>,
}

/// Event: a [`Readback`] is impossible. The entity is despawned after it.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Readback, ReadbackFailed};
/// # use quadrille_vulkan::resources::GpuBuffer;
/// # #[derive(Resource)] struct Total(GpuBuffer);
/// fn ask(mut commands: Commands, total: Res<Total>) {
///     let asked = Readback::buffer(&total.0);
///     commands.spawn(asked).observe(|failed: On<ReadbackFailed>| {
///         panic!("there is no total: {}", failed.problem);
///     });
/// }
/// ```
#[derive(EntityEvent, Clone, Debug)]
#[non_exhaustive]
pub struct ReadbackFailed {
    /// The entity with the [`Readback`].
    pub entity: Entity,
    /// The reason why nothing can be read back, and how to fix it.
    pub problem: String,
}

impl ReadbackComplete {
    /// The contents as values; incomplete trailing bytes are dropped.
    pub fn values<T: Pod>(&self) -> Vec<T> {
        let bytes = self.bytes.chunks_exact(size_of::<T>().max(1));
        bytes.map(bytemuck::pod_read_unaligned).collect()
    }
}

/// Source of a readback.
enum Copied {
    Buffer(GpuBuffer),
    Image(GpuImage, View),
}

impl Copied {
    fn handle(&self) -> Handle {
        match self {
            Self::Buffer(buffer) => Handle::Buffer(buffer.clone()),
            Self::Image(image, _) => Handle::Image(image.clone()),
        }
    }

    /// Describes why the source can never be read back; `None` if it can.
    fn problem(&self, gpu: &Gpu) -> Option<String> {
        if !self.handle().is_of(gpu) {
            return Some("it was made from another device".to_owned());
        }
        let is_source = match self {
            Self::Buffer(buffer) => buffer.desc().usage.contains(BufferUsage::TRANSFER_SRC),
            Self::Image(image, _) => image.desc().usage.contains(ImageUsage::TRANSFER_SRC),
        };
        if !is_source {
            let problem = "it was made without the usage TRANSFER_SRC; add it to its description";
            return Some(problem.to_owned());
        }
        let Self::Image(image, view) = self else {
            return None;
        };
        let (levels, layers) = (image.desc().mip_levels, image.desc().array_layers);
        if !view.is_within(image) {
            return Some(format!(
                "{view:?} is not within its {levels} mip levels and {layers} layers"
            ));
        }
        if image.desc().samples > 1 {
            return Some("it has several samples; resolve it, and read that".to_owned());
        }
        let problem = || format!("texels of {:?} have no size in copies", image.format());
        self.bytes().is_none().then(problem)
    }

    /// Size in bytes without padding; `None` for formats without a texel size in copies.
    fn bytes(&self) -> Option<u64> {
        match self {
            Self::Buffer(buffer) => Some(buffer.bytes()),
            Self::Image(image, view) => ImageRegion::of(image, *view).bytes(image.format()),
        }
    }

    /// Width, height and format of the mip level.
    fn level(&self) -> Option<([u32; 2], Format)> {
        match self {
            Self::Buffer(_) => None,
            Self::Image(image, view) => {
                let [width, height, _] = view.extent(image);
                Some(([width, height], image.format()))
            }
        }
    }

    /// Returns the read access of the copy.
    fn read(&self) -> InternalUse {
        let read = InternalUse::of(self.handle(), Access::TransferRead);
        match self {
            Self::Buffer(_) => read,
            Self::Image(image, view) => InternalUse {
                range: SubRange::Subresources(SubresourceRange {
                    mip_count: 1,
                    ..view.subresources(image)
                }),
                ..read
            },
        }
    }

    /// Capabilities that a queue needs for the copy.
    fn needs(&self) -> Capabilities {
        match self {
            Self::Buffer(_) => Capabilities::TRANSFER,
            Self::Image(image, _) => copy_needs(image, None),
        }
    }

    /// Records the copy to a buffer.
    fn record(&self, to: &GpuBuffer, bytes: u64) -> CommandList {
        let mut list = CommandList::default();
        match self {
            Self::Buffer(buffer) => list.copy_buffer(buffer, 0, to, 0, bytes),
            Self::Image(image, view) => {
                list.copy_image_to_buffer(image, ImageRegion::of(image, *view), to, 0);
            }
        }
        list
    }
}

/// Readbacks in progress.
#[derive(Resource, Default)]
pub(crate) struct Readbacks {
    /// Readbacks recorded in the current frame, which is not submitted yet.
    building: Vec<Running>,
    /// Readbacks of submitted frames.
    running: Vec<Running>,
    failed: Vec<ReadbackFailed>,
    free: Vec<GpuBuffer>,
    query: Option<QueryState<(Entity, &'static Readback)>>,
}

struct Running {
    entity: Entity,
    to: GpuBuffer,
    bytes: u64,
    image: Option<([u32; 2], Format)>,
    done: Vec<TimelinePoint>,
}

impl Readbacks {
    /// Drops all buffers; incomplete readbacks are copied again.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the passes of pending readbacks: a copy and a host read each.
    pub(crate) fn passes(
        &mut self,
        world: &mut World,
        gpu: &Gpu,
    ) -> Result<Vec<InternalPass>, Error> {
        self.free
            .extend(self.building.drain(..).map(|running| running.to));
        let mut asked: Vec<(Entity, Readback)> = Vec::new();
        let query = self.query.get_or_insert_with(|| world.query());
        for (entity, readback) in query.iter(world) {
            let is_entity = |failed: &ReadbackFailed| failed.entity == entity;
            let is_running = self.running.iter().any(|running| running.entity == entity);
            if !is_running && !self.failed.iter().any(is_entity) {
                asked.push((entity, readback.clone()));
            }
        }
        let mut passes = Vec::new();
        for (entity, readback) in asked {
            let copied = match readback.source {
                Source::Buffer(buffer) => Copied::Buffer(buffer),
                Source::Image(image, view) => Copied::Image(image, view),
                Source::PrimaryWindow => match world.get_resource::<PrimaryWindowImage>() {
                    Some(image) => Copied::Image((**image).clone(), View::WHOLE),
                    None => continue,
                },
            };
            if let Some(problem) = copied.problem(gpu) {
                self.fail(entity, copied.handle().name(), &problem);
                continue;
            }
            passes.extend(self.add(gpu, entity, copied)?);
        }
        Ok(passes)
    }

    fn add(
        &mut self,
        gpu: &Gpu,
        entity: Entity,
        copied: Copied,
    ) -> Result<[InternalPass; 2], Error> {
        let bytes = copied.bytes().unwrap_or(0);
        let image = copied.level();
        let to = self.buffer(gpu, bytes)?;
        let list = copied.record(&to, bytes);
        let from = copied.handle();
        let name = from.name();
        let target = Handle::Buffer(to.clone());
        self.building.push(Running {
            entity,
            to,
            bytes,
            image,
            done: Vec::new(),
        });
        let uses = vec![
            copied.read(),
            InternalUse::of(target.clone(), Access::TransferWrite).discarding(),
        ];
        let queue = (copied.needs(), Preference::Main);
        let copy = InternalPass {
            prologue: false,
            ..InternalPass::prologue(format!("read {name}"), queue, uses, list)
        };
        let host = InternalPass {
            name: format!("host reads {name}").into(),
            kind: PassKind::Host,
            queue: QueueRequest::default(),
            prologue: false,
            uses: vec![InternalUse::of(target, Access::HostRead)],
            undeclared: Vec::new(),
            timeline_uses: Vec::new(),
            gives: None,
            list: CommandList::default(),
        };
        Ok([copy, host])
    }

    /// Records that a readback is impossible.
    fn fail(&mut self, entity: Entity, name: &str, problem: &str) {
        let problem = format!("{name} is not read back: {problem}");
        tracing::warn!("{problem}");
        self.failed.push(ReadbackFailed { entity, problem });
    }

    /// Fails readbacks of resources without contents, and removes their passes from those of
    /// [`Readbacks::passes`]. Returns whether there were any.
    pub(crate) fn give_up_unwritten(
        &mut self,
        errors: &PlanErrors,
        passes: &mut Vec<InternalPass>,
    ) -> bool {
        let is_unwritten = |copy: &InternalPass| {
            errors.iter().any(|error| {
                matches!(error, PlanError::NeverWritten { reader, .. } if reader.pass == copy.name)
            })
        };
        let before = self.building.len();
        for at in (0..before).rev() {
            // Passes come in pairs: a copy, and the host read of its result.
            let copy = &passes[2 * at];
            if is_unwritten(copy) {
                let name = copy.uses[0].handle.name().to_owned();
                passes.drain(2 * at..2 * at + 2);
                let Running { entity, to, .. } = self.building.remove(at);
                self.free.push(to);
                self.fail(entity, &name, UNWRITTEN);
            }
        }
        self.building.len() < before
    }

    /// Takes the failed readbacks.
    pub(crate) fn take_failed(&mut self) -> Vec<ReadbackFailed> {
        std::mem::take(&mut self.failed)
    }

    fn buffer(&mut self, gpu: &Gpu, bytes: u64) -> Result<GpuBuffer, Error> {
        if let Some(index) = self.free.iter().position(|buffer| buffer.bytes() >= bytes) {
            return Ok(self.free.remove(index));
        }
        self.free.clear();
        gpu.create_buffer(&BufferDesc::readback("readback", bytes.max(4)))
    }

    /// Marks the frame's readbacks as submitted; they are complete once these points are reached.
    pub(crate) fn submitted(&mut self, points: &[TimelinePoint]) {
        for mut running in self.building.drain(..) {
            running.done = points.to_vec();
            self.running.push(running);
        }
    }

    /// Takes the readbacks whose copies are complete.
    pub(crate) fn take_done(
        &mut self,
        reached: impl Fn(TimelinePoint) -> bool,
    ) -> Result<Vec<ReadbackComplete>, Error> {
        let is_done = |running: &mut Running| running.done.iter().all(|&point| reached(point));
        let mut events = Vec::new();
        for running in self.running.extract_if(.., is_done) {
            let mut bytes = vec![0; running.bytes as usize];
            running.to.read(0, &mut bytes)?;
            self.free.push(running.to);
            let (entity, image) = (running.entity, running.image);
            events.push(ReadbackComplete {
                entity,
                bytes,
                image,
            });
        }
        Ok(events)
    }
}

/// Problem of a source without contents.
const UNWRITTEN: &str = "no pass of this frame and no earlier frame has written all of that, and \
    contents begin undefined, not zero; ask for it once a pass writes it, or have `Uploads` write it \
    first";

/// Triggers [`ReadbackFailed`] for impossible readbacks, and despawns their entities.
pub(crate) fn fail(world: &mut World) {
    for event in world.resource_mut::<Readbacks>().take_failed() {
        let entity = event.entity;
        if world.get_entity(entity).is_ok() {
            world.trigger(event);
            world.despawn(entity);
        }
    }
}

/// Triggers [`ReadbackComplete`] for finished readbacks, and despawns their entities.
pub(crate) fn complete(world: &mut World, done: Vec<ReadbackComplete>) {
    for event in done {
        let entity = event.entity;
        if world.get_entity(entity).is_ok() {
            world.trigger(event);
            world.despawn(entity);
        }
    }
}

/// Returns an observer that saves an image readback as a PNG file.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Readback, save_to_disk};
/// fn take_picture(mut commands: Commands) {
///     commands.spawn(Readback::primary_window()).observe(save_to_disk("picture.png"));
/// }
/// ```
pub fn save_to_disk(path: impl Into<PathBuf>) -> impl FnMut(On<ReadbackComplete>) {
    let path = path.into();
    move |done: On<ReadbackComplete>| {
        let saved = crate::data::png::encode(&done).and_then(|png| write_file(&path, &png));
        match saved {
            Ok(()) => tracing::info!("wrote {}", path.display()),
            Err(error) => tracing::error!("cannot write the picture {}: {error}", path.display()),
        }
    }
}
