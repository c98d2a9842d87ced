//! Buffers and images that two devices share: two apps, each with an instance and a device of its own, as two
//! processes have. Also memory of the host, and buffers that the program makes by Vulkan's own calls.

#![expect(
    unsafe_code,
    reason = "memory and buffers of others are handed over by address and handle"
)]

use std::alloc;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::flags::Layout;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, MemoryHandle, TimelineSemaphore,
};
use quadrille_vulkan::{Format, ash, vk};

use crate::common::{Add, Errors, Numbers, Rig, Squares, add, read, read_image, record_square};

/// Longer than any of this takes.
const LONG: Duration = Duration::from_secs(60);

/// The buffer that both apps use in turn.
#[derive(Resource, Deref)]
pub(crate) struct Shared(pub(crate) GpuBuffer);

/// The turn of an app: value 2 n + 1 says that the first app has written frame n, 2 n + 2 that the second has read it.
#[derive(Resource)]
struct Turn {
    timeline: TimelineSemaphore,
    frame: u64,
}

pub(crate) fn gpu(rig: &Rig) -> Gpu {
    (**rig.app.world().resource::<GpuDevice>()).clone()
}

fn take_errors(rig: &mut Rig) -> Vec<String> {
    std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0)
}

fn add_turn(rig: &mut Rig) -> TimelineSemaphore {
    let timeline = gpu(rig).timeline_semaphore("turns", 0).expect("it is made");
    rig.app.insert_resource(Turn {
        timeline: timeline.clone(),
        frame: 0,
    });
    timeline
}

fn desc() -> BufferDesc {
    BufferDesc::storage("shared", 1024)
}

pub(crate) fn write_shared(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Shared>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

pub(crate) fn read_shared(
    mut recorder: Recorder,
    from: StorageRead<Shared>,
    to: StorageWrite<Squares>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

/// The turn of the app that writes.
fn first_turn(shared: Res<Shared>, turn: Res<Turn>, mut exchanges: ResMut<Exchanges>) {
    let (owner, layout) = (ExternalOwner::External, Layout::Undefined);
    if turn.frame > 0 {
        let acquired = exchanges.acquire(shared.0.clone(), owner, layout);
        acquired.at(&turn.timeline, 2 * turn.frame);
    }
    let released = exchanges.release(shared.0.clone(), owner, layout);
    released.at(&turn.timeline, 2 * turn.frame + 1);
}

/// The turn of the app that reads.
fn second_turn(shared: Res<Shared>, turn: Res<Turn>, mut exchanges: ResMut<Exchanges>) {
    let (owner, layout) = (ExternalOwner::External, Layout::Undefined);
    let acquired = exchanges.acquire(shared.0.clone(), owner, layout);
    acquired.at(&turn.timeline, 2 * turn.frame + 1);
    let released = exchanges.release(shared.0.clone(), owner, layout);
    released.at(&turn.timeline, 2 * turn.frame + 2);
}

#[test]
#[ignore = "needs a device"]
fn two_devices_take_turns_with_one_buffer() {
    let (mut first, mut second) = (Rig::new(), Rig::new());
    let made = gpu(&first).create_exportable_buffer(&desc(), MemoryHandle::OpaqueFd);
    let made = made.expect("the device exports buffers");
    let memory = made.export().expect("it is exportable");
    first.app.insert_resource(Shared(made));
    let imported = gpu(&second).import_buffer(&desc(), memory);
    second
        .app
        .insert_resource(Shared(imported.expect("it is imported")));
    let (one, other) = (add_turn(&mut first), add_turn(&mut second));
    first.app.add_systems(
        Render,
        (
            first_turn.in_set(RenderSystems::Declare),
            add,
            write_shared.after(add).run_if(resource_exists::<Turn>),
        ),
    );
    let beside = QueuePreference::Async;
    second.app.add_systems(
        Render,
        (
            second_turn
                .in_set(RenderSystems::Declare)
                .run_if(resource_exists::<Turn>),
            read_shared.on_queue(beside).run_if(resource_exists::<Turn>),
        ),
    );
    second
        .app
        .world_mut()
        .resource_mut::<Renderer>()
        .keep_frames(true);
    for frame in 0..8 {
        for rig in [&mut first, &mut second] {
            rig.app.world_mut().resource_mut::<Turn>().frame = frame;
        }
        // The reader is submitted before the writer.
        second.update(1);
        first.update(1);
        assert!(one.wait(2 * frame + 1, LONG).expect("it is there"));
        assert_eq!(other.value().ok(), Some(2 * frame), "it waits");
        other.signal(2 * frame + 1).expect("it rises");
        assert!(other.wait(2 * frame + 2, LONG).expect("it is there"));
        one.signal(2 * frame + 2).expect("it rises");
        first.expect_no_errors();
        second.expect_no_errors();
    }
    let renderer = second.app.world().resource::<Renderer>();
    let plan = renderer.plan_text().expect("it is kept");
    assert_eq!(plan.matches("acquire EXTERNAL -> ").count(), 1, "{plan}");
    assert_eq!(plan.matches("-> EXTERNAL\n").count(), 1, "{plan}");
    let reused = renderer.report()["plans_reused"].as_u64();
    assert!(reused >= Some(1), "frames repeat: {reused:?}");
    second.app.world_mut().remove_resource::<Turn>();
    let squares = read(&mut second, |world| world.resource::<Squares>().0.clone());
    // 8 was added to each number, and both apps have squared it.
    assert_eq!(squares[..3], [8_u32.pow(4), 9_u32.pow(4), 10_u32.pow(4)]);
    second.expect_no_errors();
}

#[derive(Resource, Deref)]
struct Picture(GpuImage);

/// The owner between the two apps.
#[derive(Resource)]
struct Between(ExternalOwner);

fn clear(
    mut recorder: Recorder,
    target: ColorTarget<Picture>,
    picture: Res<Picture>,
    between: Res<Between>,
    mut exchanges: ResMut<Exchanges>,
) {
    recorder.render(target.clear([0.0, 1.0, 0.0, 1.0]));
    exchanges.release(picture.0.clone(), between.0, Layout::General);
}

fn picture() -> ImageDesc {
    ImageDesc::color_target("picture", [8, 4], Format::R8G8B8A8_UNORM)
}

/// Draws in one app and reads in another what was drawn; the first one is gone by then.
fn pass_on(handle: MemoryHandle, owner: ExternalOwner, made: GpuImage, mut first: Rig) {
    let mut second = Rig::new();
    let memory = made.export().expect("it is exportable");
    assert_eq!(memory.layout.handle, handle);
    first.app.insert_resource(Picture(made));
    first.app.insert_resource(Between(owner));
    first.app.add_systems(Render, clear);
    first.update(1);
    first.expect_no_errors();
    let renderer = first.app.world().resource::<Renderer>();
    assert_eq!(renderer.submitted_frames(), 1);
    // The next frame would use what was released.
    first.update(1);
    let said = take_errors(&mut first).join("\n");
    assert!(said.contains("`picture` has been given to"), "{said}");
    assert!(said.contains("`Exchanges::acquire`"), "{said}");
    drop(first);
    // The memory outlives its maker.
    let imported = gpu(&second).import_image(&picture(), memory);
    let imported = imported.expect("it is imported");
    let mut exchanges = second.app.world_mut().resource_mut::<Exchanges>();
    exchanges.acquire(imported.clone(), owner, Layout::General);
    let texels = read_image(&mut second, &imported);
    assert_eq!(texels[..8], [0, 255, 0, 255, 0, 255, 0, 255]);
    second.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn image_keeps_its_contents_from_one_device_to_another() {
    let first = Rig::new();
    let handle = MemoryHandle::OpaqueFd;
    let made = gpu(&first).create_exportable_image(&picture(), handle);
    let made = made.expect("the device exports images");
    pass_on(handle, ExternalOwner::External, made, first);
}

/// Not every device has dma-bufs, and a device that lacks them says so.
#[test]
#[ignore = "needs a device"]
fn dma_buf_keeps_an_image_or_names_what_is_missing() {
    let first = Rig::new();
    let handle = MemoryHandle::DmaBuf;
    let made = gpu(&first).create_exportable_image(&picture(), handle);
    let lacks = |extension| !gpu(&first).is_enabled(extension);
    let needed = [
        ash::ext::external_memory_dma_buf::NAME,
        ash::ext::image_drm_format_modifier::NAME,
    ];
    let missing = needed.into_iter().find(|extension| lacks(extension));
    match (made, missing) {
        (Ok(made), None) => {
            let foreign = !lacks(ash::ext::queue_family_foreign::NAME);
            let owner = if foreign {
                ExternalOwner::Foreign
            } else {
                ExternalOwner::External
            };
            pass_on(handle, owner, made, first);
        }
        (Err(error), Some(_)) => {
            let said = error.to_string();
            let names = |name: &&std::ffi::CStr| said.contains(&*name.to_string_lossy());
            assert!(needed.iter().any(names), "{said}");
        }
        // The device has the extensions, and no modifier for such images.
        (Err(error), None) => assert!(error.to_string().contains("DRM format modifier"), "{error}"),
        (Ok(_), Some(missing)) => panic!("{missing:?} is missing"),
    }
}

#[test]
#[ignore = "needs a device"]
fn mistakes_of_sharing_are_one_message_each() {
    let mut rig = Rig::new();
    let gpu = gpu(&rig);
    let plain = gpu.create_buffer(&desc()).expect("it is made");
    let said = plain
        .export()
        .expect_err("it is not exportable")
        .to_string();
    assert!(
        said.contains("its memory is not exportable; make it with"),
        "{said}"
    );
    let made = gpu.create_exportable_buffer(&desc(), MemoryHandle::OpaqueFd);
    let made = made.expect("the device exports buffers");
    let mut memory = made.export().expect("it is exportable");
    memory.layout.device[3] ^= 1;
    let said = gpu
        .import_buffer(&desc(), memory)
        .expect_err("it is of another device");
    assert!(
        said.to_string().contains("is of another device than"),
        "{said}"
    );
    let memory = made.export().expect("it is exportable");
    let larger = BufferDesc::storage("larger", 1 << 20);
    let said = gpu
        .import_buffer(&larger, memory)
        .expect_err("it is too small");
    assert!(
        said.to_string()
            .contains("it takes 1048576; import it with the description"),
        "{said}"
    );
    let memory = made.export().expect("it is exportable");
    let smaller = BufferDesc::storage("smaller", 256);
    let said = gpu
        .import_buffer(&smaller, memory)
        .expect_err("dedicated memory has the size of its buffer");
    assert!(
        said.to_string()
            .contains("it takes 256; import it with the description"),
        "{said}"
    );
    let memory = made.export().expect("it is exportable");
    let mut others = desc();
    others.usage |= BufferUsage::INDIRECT;
    let said = gpu
        .import_buffer(&others, memory)
        .expect_err("it has another usage");
    assert!(
        said.to_string()
            .contains("its description is another one than that of the exported resource"),
        "{said}"
    );
    let layers = ImageDesc {
        array_layers: 2,
        ..picture()
    };
    let has_dma_bufs = [
        ash::ext::external_memory_dma_buf::NAME,
        ash::ext::image_drm_format_modifier::NAME,
    ]
    .iter()
    .all(|name| gpu.is_enabled(name));
    if has_dma_bufs {
        let said = gpu
            .create_exportable_image(&layers, MemoryHandle::DmaBuf)
            .expect_err("a dma-buf holds one layer");
        assert!(said.to_string().contains("it has 2 layers"), "{said}");
    }
    let image = gpu.create_exportable_image(&picture(), MemoryHandle::OpaqueFd);
    let image = image.expect("the device exports images");
    let other = Rig::new();
    let others = self::gpu(&other).create_buffer(&desc());
    let others = others.expect("it is made");
    let mut exchanges = rig.app.world_mut().resource_mut::<Exchanges>();
    let (owner, layout) = (
        ExternalOwner::External,
        Layout::DepthStencilAttachmentOptimal,
    );
    exchanges.acquire(image.clone(), owner, layout);
    exchanges.acquire(others, owner, Layout::Undefined);
    exchanges.release(image.clone(), owner, Layout::PresentSrc);
    exchanges.release(image, owner, Layout::General);
    rig.update(1);
    let errors = take_errors(&mut rig);
    assert_eq!(errors.len(), 4, "{errors:#?}");
    let expected = [
        "`picture` cannot be acquired: the layout DepthStencilAttachmentOptimal takes one of the usages",
        "`shared` cannot be acquired: it was made from another device",
        "`picture` cannot be released: no image changes its owner in the layout PresentSrc",
        "`picture` cannot be released: it is released twice in a frame",
    ];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.starts_with(expected), "{error}");
    }
    rig.update(1);
    rig.expect_no_errors();
}

/// Memory of the host, at an address that every device can import.
struct Pages(NonNull<u8>);

// SAFETY: the pointer is to memory that this value owns.
unsafe impl Send for Pages {}
// SAFETY: likewise.
unsafe impl Sync for Pages {}

impl Pages {
    /// Most that `minImportedHostPointerAlignment` may be, in bytes.
    const BYTES: usize = 1 << 16;

    fn layout() -> alloc::Layout {
        alloc::Layout::from_size_align(Self::BYTES, Self::BYTES).expect("a power of two")
    }

    fn new() -> Self {
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc::alloc_zeroed(Self::layout()) };
        Self(NonNull::new(memory).expect("there is memory"))
    }

    /// The number with this index; no device may use the memory.
    fn number(&self, index: usize) -> *mut u32 {
        self.0.as_ptr().cast::<u32>().wrapping_add(index)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { alloc::dealloc(self.0.as_ptr(), Self::layout()) };
    }
}

#[test]
#[ignore = "needs a device"]
fn host_memory_is_a_buffer_until_the_device_is_done_with_it() {
    fn double(mut recorder: Recorder, numbers: StorageReadWrite<Shared>, pass: Res<Add>) {
        let mut compute = recorder.compute(&pass.add);
        compute.bind(0, &numbers).push(&5_u32).dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    let pages = Arc::new(Pages::new());
    // SAFETY: no device uses the memory yet.
    (0..256).for_each(|index| unsafe { pages.number(index).write(index as u32) });
    let memory = (pages.0, Pages::BYTES as u64);
    let import = |(address, bytes), keep| {
        // SAFETY: the memory lives as long as `keep`.
        unsafe { gpu(&rig).import_host_buffer(&desc(), (address, bytes), keep) }
    };
    let odd = (memory.0, memory.1 - 4);
    let said = import(odd, Box::new(Arc::clone(&pages))).expect_err("it is not aligned");
    assert!(
        said.to_string()
            .contains("65532 bytes; make both a multiple of"),
        "{said}"
    );
    let shared = import(memory, Box::new(Arc::clone(&pages))).expect("it is imported");
    assert_eq!(Arc::strong_count(&pages), 2);
    rig.app.add_systems(Render, double);
    // The host has written it, and nobody else will: one acquire, before the first frame.
    let mut exchanges = rig.app.world_mut().resource_mut::<Exchanges>();
    exchanges.acquire(shared.clone(), ExternalOwner::Program, Layout::Undefined);
    rig.app.insert_resource(Shared(shared.clone()));
    rig.update(2);
    // After a release the host reads at once, while the device lives on.
    let done = gpu(&rig).timeline_semaphore("done", 0).expect("it is made");
    let mut exchanges = rig.app.world_mut().resource_mut::<Exchanges>();
    let released = exchanges.release(shared, ExternalOwner::Program, Layout::Undefined);
    released.at(&done, 1);
    rig.update(1);
    assert!(done.wait(1, LONG).expect("the device is there"));
    // SAFETY: the release is complete, and no later frame uses the buffer.
    let first = unsafe { pages.number(0).read() };
    assert_eq!(first, 3 * 5);
    rig.expect_no_errors();
    // The last holder of the device beside the rig.
    drop(done);
    drop(rig);
    assert_eq!(Arc::strong_count(&pages), 1, "the device is done with it");
    // SAFETY: the device is gone.
    let last = unsafe { pages.number(255).read() };
    assert_eq!(last, 255 + 3 * 5);
}

/// A buffer of a library, which destroys it when it is free.
struct Library {
    device: ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Library {
    fn new(gpu: &Gpu, desc: &BufferDesc) -> Self {
        let device = gpu.device().clone();
        let info = vk::BufferCreateInfo::default()
            .size(desc.bytes)
            .usage(vk::BufferUsageFlags::from_raw(desc.usage.bits()));
        // SAFETY: the create info is complete.
        let buffer = unsafe { device.create_buffer(&info, None) }.expect("it is made");
        // SAFETY: the buffer was just made.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        // SAFETY: the buffer allows the memory type.
        let memory = unsafe { device.allocate_memory(&info, None) }.expect("there is memory");
        // SAFETY: the memory was allocated for the buffer.
        let bound = unsafe { device.bind_buffer_memory(buffer, memory, 0) };
        bound.expect("the memory is for it");
        Self {
            device,
            buffer,
            memory,
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the renderer has dropped this, so nothing uses it.
        unsafe { self.device.destroy_buffer(self.buffer, None) };
        // SAFETY: likewise.
        unsafe { self.device.free_memory(self.memory, None) };
    }
}

#[test]
#[ignore = "needs a device"]
fn buffer_of_a_library_is_used_and_given_back() {
    let mut rig = Rig::new();
    let library = Arc::new(Library::new(&gpu(&rig), &desc()));
    let keep = Box::new(Arc::clone(&library));
    // SAFETY: the buffer is of this description, and lives as long as `keep`.
    let wrapped = unsafe { gpu(&rig).wrap_buffer(&desc(), library.buffer, keep) };
    rig.app.insert_resource(Shared(wrapped.expect("it fits")));
    rig.app.add_systems(Render, write_shared);
    let squares = read(&mut rig, |world| world.resource::<Shared>().0.clone());
    assert_eq!(squares[..4], [0, 1, 4, 9]);
    assert_eq!(Arc::strong_count(&library), 2);
    // The library is dropped last by the renderer, before the device.
    let counted = Arc::downgrade(&library);
    drop(library);
    drop(rig);
    assert_eq!(counted.strong_count(), 0, "it is given back");
}
