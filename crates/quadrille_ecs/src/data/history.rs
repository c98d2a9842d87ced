//! Resources with a history: a pass can read their contents of the last frame.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Deref;

use bevy_ecs::prelude::*;
use bevy_ecs::system::Command;
use quadrille_sync::resource::ResourceId;
use quadrille_vulkan::Error;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, Handle, ImageDesc, ImageRegion, ImageUsage,
    texel_bytes,
};

use crate::data::upload::Uploads;
use crate::declare::named::GpuResource;

/// A buffer or an image with a history (ping-pong pair).
///
/// Passes write [`Current`] and read [`Previous`] with the same parameters as any other resource. The two have separate
/// memory, so reads of the last frame's value need no order with the pass that writes this frame's. After each frame in
/// which a pass accessed [`Current`], the handles are swapped; nothing is copied. A frame that accesses neither, or
/// fails, changes nothing. Before the first frame, both are zero.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::*;
/// # use quadrille_vulkan::pipeline::ComputePipeline;
/// # use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
/// /// Where everything was.
/// enum Positions {}
///
/// impl History for Positions {
///     type Handle = GpuBuffer;
/// }
///
/// fn setup(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
///     let desc = BufferDesc::storage("positions", 1024);
///     commands.queue(NewHistory::<Positions>::buffer(&gpu, &desc)?);
///     Ok(())
/// }
///
/// # #[derive(Resource)] struct Move(ComputePipeline);
/// fn advance(
///     mut recorder: Recorder,
///     old: StorageRead<Previous<Positions>>,
///     new: StorageWrite<Current<Positions>>,
///     pipeline: Res<Move>,
/// ) {
///     recorder.compute(&pipeline.0).bind("old", &old).bind("new", &new).dispatch([4, 1, 1]);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no history",
    label = "a type that implements `History` is expected here",
    note = "`enum Positions {{}}` and `impl History for Positions {{ type Handle = GpuBuffer; }}`"
)]
pub trait History: Send + Sync + 'static {
    /// [`GpuBuffer`] or [`GpuImage`].
    type Handle: GpuResource;
}

/// This frame's value of a [`History`].
#[derive(Resource)]
pub struct Current<H: History>(H::Handle);

/// The last frame's value of a [`History`]; zero in the first frame.
#[derive(Resource)]
pub struct Previous<H: History>(H::Handle);

impl<H: History> Deref for Current<H> {
    type Target = H::Handle;

    fn deref(&self) -> &H::Handle {
        &self.0
    }
}

impl<H: History> Deref for Previous<H> {
    type Target = H::Handle;

    fn deref(&self) -> &H::Handle {
        &self.0
    }
}

/// Command that inserts [`Current`] and [`Previous`] of a [`History`].
pub struct NewHistory<H: History> {
    current: H::Handle,
    previous: H::Handle,
    name: PhantomData<H>,
}

impl<H: History<Handle = GpuBuffer>> NewHistory<H> {
    /// Creates two buffers of this description.
    ///
    /// # Errors
    /// Returns the errors of [`Gpu::create_buffer`].
    pub fn buffer(gpu: &Gpu, desc: &BufferDesc) -> Result<Self, Error> {
        let make = |which: &str| {
            let mut desc = desc.clone().with_usage(BufferUsage::TRANSFER_DST);
            desc.name = format!("{} {which}", desc.name);
            gpu.create_buffer(&desc)
        };
        Ok(Self {
            current: make("A")?,
            previous: make("B")?,
            name: PhantomData,
        })
    }
}

impl<H: History<Handle = GpuImage>> NewHistory<H> {
    /// Creates two color images of this description, with one mip level each.
    ///
    /// # Errors
    /// Returns the errors of [`Gpu::create_image`], and an error for a format without a known texel size, which cannot
    /// be zeroed.
    pub fn image(gpu: &Gpu, desc: &ImageDesc) -> Result<Self, Error> {
        let mut desc = desc
            .clone()
            .with_usage(ImageUsage::TRANSFER_DST)
            .with_mips(1);
        if texel_bytes(desc.format).is_none() {
            return Err(Error::Invalid {
                problem: format!(
                    "a history begins with zeros, and texels of {:?} cannot be uploaded",
                    desc.format
                ),
                name: desc.name,
            });
        }
        let name = std::mem::take(&mut desc.name);
        let mut make = |which: &str| {
            desc.name = format!("{name} {which}");
            gpu.create_image(&desc)
        };
        Ok(Self {
            current: make("A")?,
            previous: make("B")?,
            name: PhantomData,
        })
    }
}

impl<H: History> Command for NewHistory<H> {
    type Out = ();

    fn apply(self, world: &mut World) {
        let mut uploads = world.get_resource_or_init::<Uploads>();
        for handle in [self.current.to_handle(), self.previous.to_handle()] {
            zero(&mut uploads, &handle);
        }
        world.insert_resource(Current::<H>(self.current));
        world.insert_resource(Previous::<H>(self.previous));
        let mut histories = world.get_resource_or_init::<Histories>();
        let id = TypeId::of::<H>();
        if histories.0.iter().all(|(known, _)| *known != id) {
            histories.0.push((id, exchange::<H>));
        }
    }
}

/// All histories of a world.
#[derive(Resource, Default)]
pub(crate) struct Histories(Vec<(TypeId, Exchange)>);

/// Swaps the two handles of a history, if this frame accessed the current one.
type Exchange = fn(&mut World, &dyn Fn(ResourceId) -> bool);

impl Histories {
    /// Swaps the histories that a submitted frame accessed.
    pub(crate) fn advance(world: &mut World, touches: &dyn Fn(ResourceId) -> bool) {
        let Some(histories) = world.get_resource::<Self>() else {
            return;
        };
        for at in 0..histories.0.len() {
            let exchange = world.get_resource::<Self>().map(|all| all.0[at].1);
            if let Some(exchange) = exchange {
                exchange(world, touches);
            }
        }
    }
}

fn exchange<H: History>(world: &mut World, touches: &dyn Fn(ResourceId) -> bool) {
    let current = world.get_resource::<Current<H>>();
    if !current.is_some_and(|current| touches(current.0.to_handle().id())) {
        return;
    }
    let (Some(current), Some(previous)) = (
        world.remove_resource::<Current<H>>(),
        world.remove_resource::<Previous<H>>(),
    ) else {
        return;
    };
    world.insert_resource(Current::<H>(previous.0));
    world.insert_resource(Previous::<H>(current.0));
}

/// Queues zeros for a resource, written before all passes of the next frame.
fn zero(uploads: &mut Uploads, handle: &Handle) {
    match handle {
        Handle::Buffer(buffer) => {
            uploads.write_buffer(buffer, 0, &vec![0; buffer.bytes() as usize]);
        }
        Handle::Image(image) => {
            let bytes = ImageRegion::whole(image).bytes(image.format());
            uploads.write_image(image, &vec![0; bytes.unwrap_or(0) as usize]);
        }
    }
}
