//! Costs and savings of frustum culling on the CPU: 100,000 sprites of which all or one of a hundred
//! are visible, with bevy's culling and without. Without it the device clips them.
//!
//! `cargo bench -p quadrille_2d --bench culling`; without a device it fails.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::time::{Duration, Instant};

use bevy_app::{App, PostUpdate, Startup};
use bevy_camera::visibility::{NoFrustumCulling, VisibilitySystems};
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use bevy_math::Vec2;
use quadrille::prelude::*;
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, Prepare2dSystems};

const SPRITES: u32 = 100_000;
/// Frames that are not counted, and frames that are.
const FRAMES: [usize; 2] = [5, 30];

/// Where each phase began, and how long it took in each frame.
#[derive(Resource, Default)]
struct Times {
    began: Option<Instant>,
    culling: Vec<Duration>,
    listing: Vec<Duration>,
}

fn begin(mut times: ResMut<Times>) {
    times.began = Some(Instant::now());
}

fn note(times: &mut Times, list: fn(&mut Times) -> &mut Vec<Duration>) {
    let took = times.began.take().map(|began| began.elapsed());
    list(times).extend(took);
}

fn culled(mut times: ResMut<Times>) {
    note(&mut times, |times| &mut times.culling);
}

fn listed(mut times: ResMut<Times>) {
    note(&mut times, |times| &mut times.listing);
}

/// Sprites of one pixel, so that the device has little to fill. They move, so that nothing is kept
/// from the frame before.
fn app(share_in_sight: f32, culls: bool) -> App {
    let mut app = App::new();
    let plugins = QuadrillePlugins::headless(1000, 1000).disable::<LogPlugin>();
    app.add_plugins((plugins, Quadrille2dPlugin::default()))
        .init_resource::<Times>();
    let spawn = move |mut commands: Commands| {
        commands.spawn(Camera2d);
        let side = 1000.0 / share_in_sight.sqrt();
        for index in 0..SPRITES {
            // Places that fill a square evenly, in an order that has nothing to do with them.
            let place = |step: f64| ((f64::from(index) * step).fract() - 0.5) as f32 * side;
            let sprite = Sprite::from_color(Color::WHITE, Vec2::ONE);
            let place = Transform::from_xyz(place(0.754_877_666), place(0.569_840_291), 0.0);
            let entity = commands.spawn((sprite, place)).id();
            if !culls {
                commands.entity(entity).insert(NoFrustumCulling);
            }
        }
    };
    let shake = |mut sprites: Query<&mut Transform, With<Sprite>>| {
        for mut transform in &mut sprites {
            transform.translation.z += 0.001;
        }
    };
    app.add_systems(Startup, spawn)
        .add_systems(bevy_app::Update, shake)
        .add_systems(
            PostUpdate,
            (
                begin
                    .after(VisibilitySystems::UpdateFrusta)
                    .after(VisibilitySystems::VisibilityPropagate)
                    .after(VisibilitySystems::CalculateBounds)
                    .before(VisibilitySystems::CheckVisibility),
                culled
                    .after(VisibilitySystems::CheckVisibility)
                    .before(VisibilitySystems::MarkNewlyHiddenEntitiesInvisible),
            ),
        )
        .add_systems(
            Render,
            (
                begin
                    .in_set(RenderSystems::Declare)
                    .before(Prepare2dSystems::Queue),
                listed
                    .in_set(RenderSystems::Declare)
                    .after(Prepare2dSystems::Prepare),
            ),
        );
    app.finish();
    app.cleanup();
    assert!(
        app.world().contains_resource::<GpuDevice>(),
        "this program needs a device"
    );
    app
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() {
    println!("{SPRITES} sprites; medians of {} frames", FRAMES[1]);
    println!("in sight   culled by   drawn    culling   listing, sending    frame");
    for share in [0.01, 1.0] {
        for culls in [true, false] {
            let mut app = app(share, culls);
            for _ in 0..FRAMES[0] {
                app.update();
            }
            *app.world_mut().resource_mut::<Times>() = Times::default();
            let frames: Vec<Duration> = (0..FRAMES[1])
                .map(|_| {
                    let began = Instant::now();
                    app.update();
                    began.elapsed()
                })
                .collect();
            let drawn = app.world().resource::<Phase2d>().instances();
            let times = std::mem::take(&mut *app.world_mut().resource_mut::<Times>());
            let each = |times| median(times).as_nanos() / u128::from(SPRITES);
            println!(
                "{:>7} %   {:9} {drawn:>7} {:>7} ns {:>15} ns {:>6} ms",
                share * 100.0,
                if culls { "bevy" } else { "device" },
                each(times.culling),
                each(times.listing),
                median(frames).as_millis()
            );
        }
    }
}
