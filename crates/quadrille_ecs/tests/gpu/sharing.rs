//! Resources that leave it open how families share them: what frames compute stays the same, and
//! where there are several families, ownership stops going to and fro.

use std::collections::BTreeSet;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage, ImageDesc, Sharing};

use crate::common::{Add, Errors, Numbers, Rig, Squares, add, read, record_square, square};

/// Enough frames for all looks that a decision takes.
const DECIDED: u32 = 400;

/// Returns the decision about a resource.
fn stage(rig: &Rig, name: &str) -> String {
    let report = rig.app.world().resource::<Renderer>().report();
    let stage = &report["open_sharing"][name];
    stage.as_str().unwrap_or("unknown").to_owned()
}

/// How often the last frame changed the owner of anything.
fn transfers(rig: &mut Rig) -> usize {
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    rig.update(1);
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    let plan = renderer.plan_text().expect("the frame is kept");
    renderer.keep_frames(false);
    let marks = plan.matches("acquire ").count() + plan.matches("release ").count();
    assert!(plan.contains("pass"), "{plan}");
    marks
}

/// Whether several families can do this, so that passes with wishes are on different ones.
fn has_families(rig: &Rig, can: Capabilities) -> bool {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let queues = gpu.topology().queues.iter();
    let able = queues.filter(|queue| queue.capabilities.contains(can));
    let families: BTreeSet<_> = able.map(|queue| queue.family).collect();
    families.len() > 1
}

#[test]
#[ignore = "needs a device"]
fn a_buffer_that_goes_to_and_fro_is_shared_and_keeps_its_contents() {
    let mut rig = Rig::new();
    rig.app.add_systems(
        Render,
        (add.on_queue(QueuePreference::Async), square.after(add)),
    );
    let several = has_families(&rig, Capabilities::COMPUTE);
    rig.update(20);
    let before = transfers(&mut rig);
    assert_eq!(before > 0, several, "{before} transfers at first");
    rig.update(DECIDED);
    assert_eq!(stage(&rig, "numbers") == "concurrent", several);
    let after = transfers(&mut rig);
    assert!(after < before || !several, "{before} become {after}");
    rig.expect_no_errors();
    // Increments from before and after are all there.
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    let frames = numbers[0];
    assert!(frames > DECIDED, "{frames}");
    let grown: Vec<u32> = (0..256).map(|at| at + frames).collect();
    assert_eq!(numbers, grown);
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    let root = squares[0].isqrt();
    assert!(root > frames, "{root}");
    let expected: Vec<u32> = (root..root + 256).map(|it| it * it).collect();
    assert_eq!(squares, expected);
}

#[test]
#[ignore = "needs a device"]
fn frames_that_fail_meanwhile_lose_no_contents() {
    fn fails_often(mut count: Local<u32>) -> Result {
        *count += 1;
        match *count % 3 {
            0 => Ok(()),
            _ => Err("not now".into()),
        }
    }
    let mut rig = Rig::new();
    rig.app.add_systems(
        Render,
        (
            add.on_queue(QueuePreference::Async),
            square.after(add),
            fails_often,
        ),
    );
    rig.update(3 * DECIDED);
    let several = has_families(&rig, Capabilities::COMPUTE);
    assert_eq!(stage(&rig, "numbers") == "concurrent", several);
    let errors = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    assert_eq!(errors.len() as u32, 2 * DECIDED);
    assert!(errors.iter().all(|it| it.contains("not now")), "{errors:?}");
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    let grown: Vec<u32> = (0..256).map(|at| at + numbers[0]).collect();
    assert_eq!(numbers, grown);
    assert!(numbers[0] >= DECIDED, "{}", numbers[0]);
}

#[test]
#[ignore = "needs a device"]
fn resources_with_fixed_sharing_stay_exclusive() {
    let mut rig = Rig::with(|plugins| plugins.settings.sharing = Sharing::Exclusive);
    rig.app.add_systems(
        Render,
        (add.on_queue(QueuePreference::Async), square.after(add)),
    );
    let several = has_families(&rig, Capabilities::COMPUTE);
    rig.update(20 + DECIDED);
    assert_eq!(transfers(&mut rig) > 0, several);
    assert_eq!(stage(&rig, "numbers"), "unknown");
    rig.expect_no_errors();
}

/// Squares of numbers, for one frame.
#[derive(Resource, Deref)]
struct Between(GpuBuffer);

fn square_between(
    mut recorder: Recorder,
    from: StorageRead<Numbers>,
    to: StorageWrite<Between>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

fn square_again(
    mut recorder: Recorder,
    from: StorageRead<Between>,
    to: StorageWrite<Squares>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

#[test]
#[ignore = "needs a device"]
fn a_transient_buffer_is_shared_without_a_copy() {
    let mut rig = Rig::with(|plugins| plugins.settings.aliasing = Some(false));
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let between = BufferDesc::storage("between", 1024);
    let between = gpu.create_buffer(&between.transient()).expect("it is made");
    rig.app.insert_resource(Between(between)).add_systems(
        Render,
        (
            square_between.on_queue(QueuePreference::Async),
            square_again,
        ),
    );
    rig.update(20 + DECIDED);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    let expected: Vec<u32> = (0..256_u32).map(|it| it.pow(4)).collect();
    assert_eq!(squares, expected);
    let several = has_families(&rig, Capabilities::COMPUTE);
    assert_eq!(stage(&rig, "between") == "concurrent", several);
}

/// A picture that is filled once and read by two families ever after.
#[derive(Resource, Deref)]
struct Picture(GpuImage);

/// Copy of the picture by one family.
#[derive(Resource, Deref)]
struct Here(GpuImage);

/// Copy of the picture by another family.
#[derive(Resource, Deref)]
struct There(GpuImage);

fn fill(mut recorder: Recorder, picture: TransferWrite<Picture>, mut count: Local<u32>) {
    *count += 1;
    if *count == 1 {
        recorder
            .transfer()
            .clear_image(&picture, [0.0, 1.0, 0.0, 1.0]);
    }
}

fn copy_to<To: Named<Handle = GpuImage>>(
    mut recorder: Recorder,
    picture: TransferRead<Picture>,
    to: TransferWrite<To>,
) {
    recorder.transfer().copy_image(&picture, &to);
}

/// The texels of an image.
fn texels(rig: &mut Rig, image: impl FnOnce(&World) -> GpuImage) -> Vec<u8> {
    #[derive(Resource, Default)]
    struct Texels(Vec<u8>);
    let image = image(rig.app.world());
    let world = rig.app.world_mut();
    world.init_resource::<Texels>();
    world.spawn(Readback::image(&image)).observe(
        |done: On<ReadbackComplete>, mut texels: ResMut<Texels>| {
            texels.0 = done.bytes.clone();
        },
    );
    rig.update(6);
    std::mem::take(&mut rig.app.world_mut().resource_mut::<Texels>().0)
}

#[test]
#[ignore = "needs a device"]
fn an_image_is_tried_and_keeps_its_contents() {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let image = |name, sharing| {
        let desc = ImageDesc::storage(name, [8, 8], Format::R8G8B8A8_UNORM).with_mips(3);
        let image = gpu.create_image(&desc.with_sharing(sharing));
        image.expect("an image can be made")
    };
    rig.app
        .insert_resource(Picture(image("picture", Sharing::Auto)))
        .insert_resource(Here(image("here", Sharing::Exclusive)))
        .insert_resource(There(image("there", Sharing::Exclusive)))
        .add_systems(
            Render,
            (
                fill,
                copy_to::<Here>.after(fill),
                copy_to::<There>
                    .on_queue(QueuePreference::Async)
                    .after(fill),
            ),
        );
    let several = has_families(&rig, Capabilities::TRANSFER);
    rig.update(3 * DECIDED);
    let last = stage(&rig, "picture");
    let is_decided = ["tried", "exclusive", "concurrent"].contains(&last.as_str());
    assert_eq!(is_decided, several, "it is {last}");
    rig.expect_no_errors();
    let green = [0, 255, 0, 255].repeat(64);
    assert_eq!(
        texels(&mut rig, |world| world.resource::<Here>().0.clone()),
        green
    );
    assert_eq!(
        texels(&mut rig, |world| world.resource::<There>().0.clone()),
        green
    );
}
