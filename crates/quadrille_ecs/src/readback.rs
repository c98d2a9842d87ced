//! Contents of buffers and images for the CPU.

use std::path::PathBuf;

use bevy_ecs::prelude::*;
use quadrille_sync::{Access, Capabilities, PassKind, Preference, QueueRequest, TimelinePoint};
use quadrille_vulkan::{
    Buffer, BufferDesc, CommandList, Error, Format, Gpu, Handle, Image, ImageRegion, texel_bytes,
};

use crate::internal::InternalPass;
use crate::window::PrimaryWindowImage;

/// Reads a buffer back once: spawn it, and observe [`ReadbackComplete`] on its entity.
///
/// The copy runs after all passes of the next frame; the event comes when the device has done it,
/// usually a few frames later. Then the entity is despawned.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::{Buffer, Readback, ReadbackComplete};
/// # #[derive(Resource)] struct Total(Buffer);
/// fn ask(mut commands: Commands, total: Res<Total>) {
///     commands.spawn(Readback::buffer(&total.0)).observe(|done: On<ReadbackComplete>| {
///         let bytes: &[u8] = &done.bytes;
///     });
/// }
/// ```
#[derive(Component, Clone, Debug)]
pub struct Readback {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Buffer(Buffer),
    Image(Image),
    PrimaryWindow,
}

impl Readback {
    /// All bytes of a buffer made with [`BufferUsage::TRANSFER_SRC`].
    pub fn buffer(buffer: &Buffer) -> Self {
        Self {
            source: Source::Buffer(buffer.clone()),
        }
    }

    /// All texels of the first mip level of an image made with
    /// [`ImageUsage::TRANSFER_SRC`](crate::ImageUsage::TRANSFER_SRC), row by row without padding.
    pub fn image(image: &Image) -> Self {
        Self {
            source: Source::Image(image.clone()),
        }
    }

    /// What the primary window shows, or would show if there is none.
    pub fn primary_window() -> Self {
        Self {
            source: Source::PrimaryWindow,
        }
    }
}

/// A [`Readback`] is done.
#[derive(EntityEvent, Clone, Debug)]
pub struct ReadbackComplete {
    /// The entity with the [`Readback`].
    pub entity: Entity,
    /// The contents.
    pub bytes: Vec<u8>,
    /// Width and height in texels, and format, if it is an image.
    pub image: Option<([u32; 2], Format)>,
}

/// The readbacks on their way.
#[derive(Resource, Default)]
pub(crate) struct Readbacks {
    /// Recorded in the frame that is being built.
    building: Vec<Running>,
    /// Submitted.
    running: Vec<Running>,
    free: Vec<Buffer>,
    query: Option<QueryState<(Entity, &'static Readback)>>,
}

struct Running {
    entity: Entity,
    to: Buffer,
    bytes: u64,
    image: Option<([u32; 2], Format)>,
    done: Vec<TimelinePoint>,
}

impl Readbacks {
    /// Lets go of all buffers; what is not done is asked for again.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The passes that copy what was asked for.
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
            if self.running.iter().all(|running| running.entity != entity) {
                asked.push((entity, readback.clone()));
            }
        }
        let mut passes = Vec::new();
        for (entity, readback) in asked {
            let source = match readback.source {
                Source::Buffer(buffer) => Handle::Buffer(buffer),
                Source::Image(image) => Handle::Image(image),
                Source::PrimaryWindow => match world.get_resource::<PrimaryWindowImage>() {
                    Some(image) => Handle::Image((**image).clone()),
                    None => continue,
                },
            };
            if !source.is_of(gpu) {
                // It will never be there again.
                tracing::warn!("{} is not read back: its device is gone", source.name());
                world.despawn(entity);
                continue;
            }
            passes.extend(self.add(gpu, entity, &source)?);
        }
        Ok(passes)
    }

    fn add(
        &mut self,
        gpu: &Gpu,
        entity: Entity,
        source: &Handle,
    ) -> Result<[InternalPass; 2], Error> {
        let (bytes, image) = match source {
            Handle::Buffer(buffer) => (buffer.bytes(), None),
            Handle::Image(image) => {
                let [width, height, _] = image.extent();
                let texel = u64::from(texel_bytes(image.format()).unwrap_or(0));
                let bytes = u64::from(width) * u64::from(height) * texel;
                (bytes, Some(([width, height], image.format())))
            }
        };
        let to = self.buffer(gpu, bytes)?;
        let mut list = CommandList::default();
        match source {
            Handle::Buffer(buffer) => list.copy_buffer(buffer, 0, &to, 0, bytes),
            Handle::Image(image) => {
                list.copy_image_to_buffer(image, ImageRegion::mip(image, 0), &to, 0)
            }
        }
        let target = Handle::Buffer(to.clone());
        self.building.push(Running {
            entity,
            to,
            bytes,
            image,
            done: Vec::new(),
        });
        let queue = QueueRequest {
            required: Capabilities::TRANSFER,
            preference: Preference::Main,
            fixed: None,
        };
        let copy = InternalPass {
            name: format!("read {}", source.name()).into(),
            kind: PassKind::Device,
            queue,
            prologue: false,
            uses: vec![
                (source.clone(), Access::TransferRead, false),
                (target.clone(), Access::TransferWrite, true),
            ],
            undeclared: Vec::new(),
            list,
        };
        let host = InternalPass {
            name: format!("host reads {}", source.name()).into(),
            kind: PassKind::Host,
            queue: QueueRequest::default(),
            prologue: false,
            uses: vec![(target, Access::HostRead, false)],
            undeclared: Vec::new(),
            list: CommandList::default(),
        };
        Ok([copy, host])
    }

    fn buffer(&mut self, gpu: &Gpu, bytes: u64) -> Result<Buffer, Error> {
        if let Some(index) = self.free.iter().position(|buffer| buffer.bytes() >= bytes) {
            return Ok(self.free.remove(index));
        }
        self.free.clear();
        gpu.create_buffer(&BufferDesc::readback("readback", bytes.max(4)))
    }

    /// The frame was submitted: what it reads back is there once these points are reached.
    pub(crate) fn submitted(&mut self, points: &[TimelinePoint]) {
        for mut running in self.building.drain(..) {
            running.done = points.to_vec();
            self.running.push(running);
        }
    }

    /// Takes what the device has done.
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

/// Triggers the events of what is done, and despawns the entities that asked.
pub(crate) fn complete(world: &mut World, done: Vec<ReadbackComplete>) {
    for event in done {
        let entity = event.entity;
        if world.get_entity(entity).is_ok() {
            world.trigger(event);
            world.despawn(entity);
        }
    }
}

/// An observer that writes what was read back from an image as a PNG file.
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
        let saved = crate::png::encode(&done).and_then(|png| crate::png::write(&path, &png));
        match saved {
            Ok(()) => tracing::info!("wrote {}", path.display()),
            Err(error) => tracing::error!("cannot write the picture {}: {error}", path.display()),
        }
    }
}
