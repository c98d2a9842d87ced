//! Images that follow the size of a window.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_window::{PrimaryWindow, Window, WindowResolution};
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::resources::{GpuImage, ImageDesc};

use crate::common::Rig;

/// As large as the window.
#[derive(Resource, Deref)]
struct Scene(GpuImage);

/// Half as large, rounded up.
#[derive(Resource, Deref)]
struct Glow(GpuImage);

/// History of the last frame's image.
enum Seen {}

impl History for Seen {
    type Handle = GpuImage;
}

/// Scene of a second window.
#[derive(Resource, Deref)]
struct MapScene(GpuImage);

#[derive(Component)]
struct Map;

fn desc(name: &str) -> ImageDesc {
    ImageDesc::color_target(name, [1, 1], Format::R8G8B8A8_UNORM)
}

fn setup(mut commands: Commands) {
    commands.queue(WindowSized::new(Scene, desc("scene").transient()));
    commands.queue(WindowSized::new(Glow, desc("glow")).scaled(0.5));
    commands.queue(WindowSized::history::<Seen>(desc("seen")));
    commands.queue(WindowSized::new(MapScene, desc("map")).of::<Map>());
}

/// Attachments of one size: the window's and what follows it.
fn draw(
    mut recorder: Recorder,
    scene: ColorTarget<Scene>,
    seen: ColorTarget<Current<Seen>>,
    window: ColorTarget<PrimaryWindowImage>,
    mut drawn: ResMut<Drawn>,
) {
    let clear = [0.0; 4];
    recorder.render([scene.clear(clear), seen.clear(clear), window.clear(clear)]);
    let [width, height, _] = scene.extent();
    drawn.0.push([width, height]);
}

fn look_back(
    mut recorder: Recorder,
    _: Sampled<Previous<Seen>>,
    glow: ColorTarget<Glow>,
    mut sizes: ResMut<Glows>,
) {
    recorder.render(glow.clear([0.0; 4]));
    let [width, height, _] = glow.extent();
    sizes.0.push([width, height]);
}

fn draw_map(mut recorder: Recorder, map: ColorTarget<MapScene>, mut drawn: ResMut<Maps>) {
    recorder.render(map.clear([0.0; 4]));
    drawn.0 += 1;
}

#[derive(Resource, Default)]
struct Drawn(Vec<[u32; 2]>);
#[derive(Resource, Default)]
struct Glows(Vec<[u32; 2]>);
#[derive(Resource, Default)]
struct Maps(u32);

fn window(width: u32, height: u32) -> Window {
    Window {
        resolution: WindowResolution::new(width, height),
        ..Window::default()
    }
}

fn rig() -> Rig {
    let mut rig = Rig::new();
    rig.app
        .init_resource::<Drawn>()
        .init_resource::<Glows>()
        .init_resource::<Maps>()
        .add_window_image::<Map>()
        .add_systems(RenderStartup, setup)
        .add_systems(Render, (draw, look_back, draw_map));
    rig
}

#[test]
#[ignore = "needs a device"]
fn images_follow_the_window_in_the_frame_of_its_new_size() {
    let mut rig = rig();
    rig.update(2);
    for (width, height) in [(21, 33), (0, 0), (21, 33), (64, 1)] {
        let world = rig.app.world_mut();
        let mut windows = world.query_filtered::<&mut Window, With<PrimaryWindow>>();
        let mut window = windows.single_mut(world).unwrap();
        window.resolution.set_physical_resolution(width, height);
        rig.update(1);
    }
    rig.expect_no_errors();
    let world = rig.app.world();
    let drawn = &world.resource::<Drawn>().0;
    // Headless windows keep their image while they have no area.
    let sizes = [[64, 48], [64, 48], [21, 33], [21, 33], [21, 33], [64, 1]];
    assert_eq!(*drawn, sizes);
    let half = sizes.map(|size: [u32; 2]| size.map(|length| length.div_ceil(2)));
    assert_eq!(world.resource::<Glows>().0, half);
}

#[test]
#[ignore = "needs a device"]
fn without_a_window_there_is_the_headless_size() {
    let mut rig = rig();
    rig.update(2);
    rig.expect_no_errors();
    assert_eq!(rig.app.world().resource::<Drawn>().0, [[64, 48]; 2]);
}

#[test]
#[ignore = "needs a device"]
fn passes_wait_for_a_window_that_is_not_there_yet() {
    let mut rig = rig();
    rig.update(2);
    assert_eq!(rig.app.world().resource::<Maps>().0, 0, "there is no map");
    rig.app.world_mut().spawn((window(16, 16), Map));
    rig.update(2);
    rig.expect_no_errors();
    assert_eq!(rig.app.world().resource::<Maps>().0, 2, "there is one");
}
