//! Transient buffers and images: they share memory, and nobody can tell but by counting bytes.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, GpuImage, ImageDesc};

use crate::common::{Add, Numbers, Rig, Squares, add, read, read_image, record_square};

/// Squares of numbers, for one frame.
#[derive(Resource, Deref)]
struct First(GpuBuffer);

/// Squares of squares of squares, for one frame.
#[derive(Resource, Deref)]
struct Second(GpuBuffer);

/// Result of all passes.
#[derive(Resource, Deref)]
struct Powers(GpuBuffer);

/// A pass that squares one buffer into another.
fn square<From: Named<Handle = GpuBuffer>, To: Named<Handle = GpuBuffer>>(
    mut recorder: Recorder,
    from: StorageRead<From>,
    to: StorageWrite<To>,
    pass: Res<Add>,
) {
    record_square(&mut recorder, &pass, &from, &to);
}

/// Numbers to the power of 16 by way of two transient buffers, on two queues by turns.
fn rig(aliasing: bool) -> Rig {
    let mut rig = Rig::with(|plugins| plugins.settings.aliasing = Some(aliasing));
    // By name: of several idle queues each pass would get another one, and what is used on other
    // queues shares nothing.
    let second = QueuePreference::Exactly(1);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let make = |desc: BufferDesc| gpu.create_buffer(&desc).expect("a buffer can be made");
    let transient = |name| make(BufferDesc::storage(name, 1024).transient());
    rig.app
        .insert_resource(First(transient("first")))
        .insert_resource(Second(transient("second")))
        .insert_resource(Powers(make(BufferDesc::storage("powers", 1024))))
        .add_systems(
            Render,
            (
                add,
                square::<Numbers, First>.on_queue(second).after(add),
                square::<First, Squares>.after(square::<Numbers, First>),
                square::<Squares, Second>.on_queue(second),
                square::<Second, Powers>,
            ),
        );
    rig
}

/// The bytes that transient resources take, and those that they would take without sharing.
fn bytes(rig: &Rig) -> (u64, u64) {
    let report = rig.app.world().resource::<Renderer>().report();
    let number = |name: &str| report[name].as_u64().expect("it is a number");
    (
        number("transient_bytes"),
        number("transient_bytes_unshared"),
    )
}

/// Asserts that the powers are right in the frame that reads them back.
fn expect_powers(rig: &mut Rig) {
    let powers = read(rig, |world| world.resource::<Powers>().0.clone());
    let numbers = read(rig, |world| world.resource::<Numbers>().0.clone());
    // Each reading took frames, in which all numbers grew by the same.
    let grown = (0..16).find(|grown| {
        let mut pairs = numbers.iter().zip(&powers);
        pairs.all(|(number, power)| number.wrapping_sub(*grown).wrapping_pow(16) == *power)
    });
    assert!(grown.is_some(), "{:?} of {:?}", &powers[..4], &numbers[..4]);
}

#[test]
#[ignore = "needs a device"]
fn disjoint_lifetimes_share_memory() {
    let mut rig = rig(true);
    rig.update(5);
    rig.expect_no_errors();
    expect_powers(&mut rig);
    let (shared, unshared) = bytes(&rig);
    assert_eq!((shared * 2, unshared), (unshared, unshared), "half of it");
    let before = reused(&rig);
    rig.update(20);
    assert!(reused(&rig) >= before + 18, "frames repeat");
    rig.expect_no_errors();
}

/// How many plans were used again.
fn reused(rig: &Rig) -> u64 {
    let report = rig.app.world().resource::<Renderer>().report();
    report["plans_reused"].as_u64().expect("it is a number")
}

#[test]
#[ignore = "needs a device"]
fn without_aliasing_each_has_memory_of_its_own() {
    let mut rig = rig(false);
    rig.update(5);
    rig.expect_no_errors();
    expect_powers(&mut rig);
    let (shared, unshared) = bytes(&rig);
    assert_eq!(shared, unshared);
    let plan = plan_text(&mut rig);
    assert!(!plan.contains("Aliasing"), "{plan}");
}

/// The plan of one more frame.
fn plan_text(rig: &mut Rig) -> String {
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    rig.update(1);
    let renderer = rig.app.world().resource::<Renderer>();
    renderer.plan_text().expect("the frame is kept")
}

#[test]
#[ignore = "needs a device"]
fn plan_names_the_former_owner_of_memory() {
    let mut rig = rig(true);
    rig.update(3);
    let plan = plan_text(&mut rig);
    assert!(plan.contains("because second Aliasing pass"), "{plan}");
}

#[test]
#[ignore = "needs a device"]
fn block_grows_with_its_resources() {
    let mut rig = rig(true);
    rig.update(3);
    let (before, _) = bytes(&rig);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let larger = BufferDesc::storage("larger", 1 << 20).transient();
    let larger = gpu.create_buffer(&larger).expect("a buffer can be made");
    rig.app.insert_resource(First(larger));
    rig.update(3);
    rig.expect_no_errors();
    expect_powers(&mut rig);
    let (after, unshared) = bytes(&rig);
    assert!(
        after >= 1 << 20 && after > before,
        "{before} become {after}"
    );
    assert!(unshared > after, "and are still shared");
}

#[test]
#[ignore = "needs a device"]
fn a_block_shrinks_though_frames_repeat() {
    let mut rig = rig(true);
    rig.update(3);
    let (small, _) = bytes(&rig);
    let first = rig.app.world().resource::<First>().0.clone();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let larger = BufferDesc::storage("larger", 4 << 20).transient();
    let larger = gpu.create_buffer(&larger).expect("a buffer can be made");
    rig.app.insert_resource(First(larger));
    rig.update(3);
    let (large, _) = bytes(&rig);
    assert!(large >= 4 << 20, "{small} become {large}");
    rig.app.insert_resource(First(first));
    rig.update(30);
    assert_eq!(bytes(&rig).0, large, "not at once");
    rig.update(600);
    let (after, _) = bytes(&rig);
    assert!(
        after <= 2 * small,
        "{large} become {after}, and were {small}"
    );
    expect_powers(&mut rig);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn overlapping_lifetimes_are_moved_apart() {
    #[derive(Resource, Default)]
    struct Both(bool);
    /// Writes the first buffer again while the second is still needed.
    fn again(
        mut recorder: Recorder,
        from: StorageRead<Second>,
        to: StorageReadWrite<First>,
        both: Res<Both>,
        pass: Res<Add>,
    ) {
        if both.0 {
            record_square(&mut recorder, &pass, &from, &to);
        }
    }
    let mut rig = rig(true);
    rig.app.init_resource::<Both>().add_systems(
        Render,
        // Nothing reads what it writes.
        again
            .always_run()
            .after(square::<First, Squares>)
            .after(square::<Squares, Second>)
            .before(square::<Second, Powers>),
    );
    rig.update(3);
    let (apart, unshared) = bytes(&rig);
    assert!(apart < unshared, "shared at first");
    for both in [true, false, true] {
        rig.app.insert_resource(Both(both));
        rig.update(2);
        rig.expect_no_errors();
        expect_powers(&mut rig);
    }
    assert_eq!(bytes(&rig), (unshared, unshared), "a block never shrinks");
}

/// An image for one frame.
#[derive(Resource, Deref)]
struct Red(GpuImage);

/// Another one, in the same memory.
#[derive(Resource, Deref)]
struct Green(GpuImage);

/// A copy that stays.
#[derive(Resource, Deref)]
struct Left(GpuImage);

/// The other copy.
#[derive(Resource, Deref)]
struct Right(GpuImage);

#[test]
#[ignore = "needs a device"]
fn images_in_the_same_memory_keep_their_own_contents() {
    fn red(mut recorder: Recorder, image: TransferWrite<Red>) {
        recorder
            .transfer()
            .clear_image(&image, [1.0, 0.0, 0.0, 1.0]);
    }
    fn green(mut recorder: Recorder, image: TransferWrite<Green>) {
        recorder
            .transfer()
            .clear_image(&image, [0.0, 1.0, 0.0, 1.0]);
    }
    fn keep<From: Named<Handle = GpuImage>, To: Named<Handle = GpuImage>>(
        mut recorder: Recorder,
        from: TransferRead<From>,
        to: TransferWrite<To>,
    ) {
        recorder.transfer().copy_image(&from, &to);
    }
    let mut rig = Rig::with(|plugins| plugins.settings.aliasing = Some(true));
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let make = |desc: &ImageDesc| gpu.create_image(desc).expect("an image can be made");
    let image = |name| ImageDesc::color_target(name, [64, 64], Format::R8G8B8A8_UNORM);
    let (left, right) = (make(&image("left")), make(&image("right")));
    rig.app
        .insert_resource(Red(make(&image("red").transient())))
        .insert_resource(Green(make(&image("green").transient())))
        .insert_resource(Left(left.clone()))
        .insert_resource(Right(right.clone()))
        .add_systems(
            Render,
            (
                red,
                keep::<Red, Left>,
                green.after(keep::<Red, Left>),
                keep::<Green, Right>,
            ),
        );
    rig.update(4);
    rig.expect_no_errors();
    let (shared, unshared) = bytes(&rig);
    assert_eq!(shared * 2, unshared, "half of it");
    for (image, texel) in [(left, [255, 0, 0, 255]), (right, [0, 255, 0, 255])] {
        let texels = read_image(&mut rig, &image);
        assert!(texels.chunks(4).all(|it| it == texel), "{:?}", &texels[..8]);
    }
}

#[test]
#[ignore = "needs a device"]
fn reading_transient_contents_of_another_frame_is_an_error() {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let first = BufferDesc::storage("first", 1024).transient();
    rig.app
        .insert_resource(First(
            gpu.create_buffer(&first).expect("a buffer can be made"),
        ))
        .add_systems(Render, square::<First, Squares>);
    rig.update(1);
    let errors = &rig.app.world().resource::<crate::common::Errors>().0;
    assert!(
        errors[0].contains("no earlier pass of this frame"),
        "{errors:#?}"
    );
}
