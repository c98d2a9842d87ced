//! A headless app with two buffers of numbers and pipelines that work on them.

use bevy_app::{App, Startup};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage};
use quadrille_vulkan::shader::GpuShader;

/// 256 numbers: 0, 1, 2, ..
#[derive(Resource, Deref)]
pub(crate) struct Numbers(pub(crate) GpuBuffer);

/// 256 numbers that nothing has written yet.
#[derive(Resource, Deref)]
pub(crate) struct Squares(pub(crate) GpuBuffer);

/// Pipelines that work on 256 numbers with 4 workgroups.
#[derive(Resource)]
pub(crate) struct Add {
    /// Adds the push constant to binding 0.
    pub(crate) add: ComputePipeline,
    /// Squares binding 0 into binding 1.
    pub(crate) square: ComputePipeline,
}

/// Errors of frames.
#[derive(Resource, Default)]
pub(crate) struct Errors(pub(crate) Vec<String>);

/// A headless app.
pub(crate) struct Rig {
    pub(crate) app: App,
}

const SHADER: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    @group(0) @binding(1) var<storage, read_write> squares: array<u32>;
    @group(0) @binding(2) var<storage, read> inputs: array<u32>;
    var<immediate> amount: u32;

    @compute @workgroup_size(64)
    fn add(@builtin(global_invocation_id) id: vec3u) {
        numbers[id.x] += amount;
    }";

const SQUARE: &str = "
    @group(0) @binding(0) var<storage, read> numbers: array<u32>;
    @group(0) @binding(1) var<storage, read_write> squares: array<u32>;

    @compute @workgroup_size(64)
    fn square(@builtin(global_invocation_id) id: vec3u) {
        squares[id.x] = numbers[id.x] * numbers[id.x];
    }";

impl Rig {
    pub(crate) fn new() -> Self {
        Self::recording_on(RecordOn::default())
    }

    pub(crate) fn recording_on(record_on: RecordOn) -> Self {
        Self::with(|plugins| plugins.record_on = record_on)
    }

    /// An app with other plugins than the usual ones.
    pub(crate) fn with(change: impl FnOnce(&mut QuadrillePlugin)) -> Self {
        Self::with_more(change, |_| {})
    }

    /// An app with other plugins, and more in it before it is finished.
    pub(crate) fn with_more(
        change: impl FnOnce(&mut QuadrillePlugin),
        add: impl FnOnce(&mut App),
    ) -> Self {
        let mut renderer = QuadrillePlugin::default();
        change(&mut renderer);
        let plugins = QuadrillePlugins::headless(64, 48)
            .disable::<LogPlugin>()
            .set(renderer);
        let mut app = App::new();
        // Errors are collected, not logged; the log can be set up once per process only.
        app.add_plugins(plugins)
            .init_resource::<Errors>()
            .insert_resource(RenderErrorHandler(|error, world| {
                world.resource_mut::<Errors>().0.push(error.to_string());
                RenderErrorPolicy::Ignore
            }))
            .add_systems(Startup, setup);
        add(&mut app);
        app.finish();
        app.cleanup();
        assert!(
            app.world().contains_resource::<GpuDevice>(),
            "this test needs a device"
        );
        Self { app }
    }

    /// Runs frames.
    pub(crate) fn update(&mut self, frames: u32) {
        for _ in 0..frames {
            self.app.update();
        }
    }

    pub(crate) fn expect_no_errors(&self) {
        let errors = &self.app.world().resource::<Errors>().0;
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let numbers = gpu.create_buffer(&BufferDesc::storage("numbers", 1024))?;
    let start: Vec<u8> = (0..256_u32).flat_map(u32::to_ne_bytes).collect();
    uploads.write_buffer(&numbers, 0, &start);
    commands.insert_resource(Numbers(numbers));
    commands.insert_resource(Squares(
        gpu.create_buffer(&BufferDesc::storage("squares", 1024))?,
    ));
    let pipeline = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?;
        Ok(gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader))?)
    };
    let (add, square) = (pipeline("add", SHADER)?, pipeline("square", SQUARE)?);
    commands.insert_resource(Add { add, square });
    Ok(())
}

/// Writes the squares of all numbers.
pub(crate) fn square(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Squares>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

/// Records that squares of all numbers of one buffer are written into another.
pub(crate) fn record_square(
    recorder: &mut Recorder,
    pass: &Add,
    from: &impl Declared,
    to: &impl Declared,
) {
    recorder
        .compute(&pass.square)
        .bind(0, from)
        .bind(1, to)
        .dispatch([4, 1, 1]);
}

/// Adds 1 to all numbers.
pub(crate) fn add(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
    recorder
        .compute(&pass.add)
        .bind(0, &numbers)
        .push(&1_u32)
        .dispatch([4, 1, 1]);
}

/// The contents of a buffer, after as many frames as reading takes.
pub(crate) fn read(rig: &mut Rig, buffer: impl FnOnce(&World) -> GpuBuffer) -> Vec<u32> {
    #[derive(Resource, Default)]
    struct Bytes(Option<Vec<u8>>);
    let buffer = buffer(rig.app.world());
    let world = rig.app.world_mut();
    world.init_resource::<Bytes>();
    world.spawn(Readback::buffer(&buffer)).observe(
        |done: On<ReadbackComplete>, mut bytes: ResMut<Bytes>| {
            bytes.0 = Some(done.bytes.clone());
        },
    );
    for _ in 0..10 {
        rig.update(1);
        if let Some(bytes) = rig.app.world_mut().resource_mut::<Bytes>().0.take() {
            let word = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).expect("4 bytes");
            return bytes.chunks_exact(4).map(word).collect();
        }
    }
    panic!(
        "nothing is read back: {:#?}",
        rig.app.world().resource::<Errors>().0
    );
}

/// The texels of an image, after as many frames as reading takes.
pub(crate) fn read_image(rig: &mut Rig, image: &GpuImage) -> Vec<u8> {
    let texels = read_back(rig, Readback::image(image));
    texels.expect("an image is read back within ten frames")
}

/// Reads back a source within ten frames.
pub(crate) fn read_back(rig: &mut Rig, readback: Readback) -> Option<Vec<u8>> {
    #[derive(Resource, Default)]
    struct Texels(Option<Vec<u8>>);
    let world = rig.app.world_mut();
    world.init_resource::<Texels>();
    world
        .spawn(readback)
        .observe(|done: On<ReadbackComplete>, mut texels: ResMut<Texels>| {
            texels.0 = Some(done.bytes.clone());
        });
    let mut frames = 0..10;
    frames.find_map(|_| {
        rig.update(1);
        rig.app.world_mut().resource_mut::<Texels>().0.take()
    })
}
