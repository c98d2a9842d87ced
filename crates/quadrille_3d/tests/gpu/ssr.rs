//! Screen-space reflections beside rays in double precision, Fresnel factors, and pictures without them.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_math::DVec3;
use bevy_mesh::primitives::PlaneMeshBuilder;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{SceneColors, SceneDepths};
use quadrille_3d::{OpaqueRendererMethod, ScreenSpaceReflections};

use crate::common::{EXACT, Rig, log};
use crate::environment::{environment, image, one};
use crate::prepass::spawn;

pub(crate) const SIDE: usize = 96;

/// Half the height of the view in tangents of the angle.
const SLOPE: f64 = 0.5;

/// Half the height of orthographic views in meters.
const HALF_HEIGHT: f64 = 1.6;

const EYE: Vec3 = Vec3::new(0.4, 1.4, 4.0);
const CENTER: Vec3 = Vec3::new(0.0, 0.2, 0.0);

/// Center and half size of the panel over the floor.
const PANEL: [DVec3; 2] = [DVec3::new(0.0, 0.7, -0.4), DVec3::new(0.5, 0.35, 0.02)];

/// Color of the panel.
pub(crate) const COLOR: [f32; 3] = [0.9, 0.5, 0.2];

pub(crate) type Rows = Vec<Vec<[f32; 4]>>;

/// Reflections of surfaces of any roughness, with short steps.
pub(crate) fn fine() -> ScreenSpaceReflections {
    ScreenSpaceReflections {
        min_perceptual_roughness: 0.0..0.0,
        max_perceptual_roughness: 1.0..1.0,
        // Thickness of the panel, behind which the floor is seen.
        thickness: 0.06,
        linear_steps: 64,
        bisection_steps: 8,
        ..ScreenSpaceReflections::default()
    }
}

pub(crate) fn mirror() -> StandardMaterial {
    StandardMaterial {
        metallic: 1.0,
        perceptual_roughness: 0.0,
        ..StandardMaterial::from(Color::linear_rgb(0.8, 0.6, 0.4))
    }
}

fn polished() -> StandardMaterial {
    StandardMaterial {
        perceptual_roughness: 0.0,
        ..StandardMaterial::from(Color::BLACK)
    }
}

pub(crate) fn unlit(color: [f32; 3]) -> StandardMaterial {
    let [red, green, blue] = color;
    StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(red, green, blue))
    }
}

/// Projection of the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum View {
    Perspective,
    Orthographic,
}

impl View {
    fn projection(self) -> Projection {
        match self {
            Self::Perspective => Projection::from(PerspectiveProjection {
                fov: 2.0 * SLOPE.atan() as f32,
                ..PerspectiveProjection::default()
            }),
            Self::Orthographic => Projection::from(OrthographicProjection {
                scaling_mode: ScalingMode::FixedVertical {
                    viewport_height: 2.0 * HALF_HEIGHT as f32,
                },
                ..OrthographicProjection::default_3d()
            }),
        }
    }

    /// Start and direction of the ray through the center of a pixel.
    fn ray(self, x: usize, y: usize) -> [DVec3; 2] {
        let view = Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y);
        let [right, up, forward] =
            [view.right(), view.up(), view.forward()].map(|axis| axis.as_vec3().as_dvec3());
        let [across, down] = [x, y].map(|pixel| (pixel as f64 + 0.5) / SIDE as f64 * 2.0 - 1.0);
        let aside = right * across - up * down;
        let eye = EYE.as_dvec3();
        match self {
            Self::Perspective => [eye, (forward + aside * SLOPE).normalize()],
            Self::Orthographic => [eye + aside * HALF_HEIGHT, forward],
        }
    }
}

/// Whether a ray hits the panel.
fn hits_panel([start, direction]: [DVec3; 2]) -> bool {
    let [center, half] = PANEL;
    let to = [-half, half].map(|side| (center + side - start) / direction);
    let (first, last) = (to[0].min(to[1]), to[0].max(to[1]));
    first.max_element() <= last.min_element() && last.min_element() > 0.0
}

/// Cosine between the normal of the floor and the view, where a mirror shows the panel.
fn reflected_panel(view: View, x: usize, y: usize) -> Option<f64> {
    let [start, direction] = view.ray(x, y);
    if direction.y >= -1e-6 || hits_panel([start, direction]) {
        return None;
    }
    let floor = start - direction * (start.y / direction.y);
    let reflected = DVec3::new(direction.x, -direction.y, direction.z);
    hits_panel([floor, reflected]).then_some(-direction.y)
}

/// Whether all pixels up to two beside this one show the panel in the floor; `None` if they differ.
fn is_reflected(view: View, x: usize, y: usize) -> Option<bool> {
    let shows = |x, y| reflected_panel(view, x, y).is_some();
    let first = shows(x, y);
    let around = (y - 2..=y + 2).flat_map(|y| (x - 2..=x + 2).map(move |x| (x, y)));
    let mut around = around;
    around.all(|(x, y)| shows(x, y) == first).then_some(first)
}

pub(crate) fn camera(view: View, more: impl Bundle) -> impl Bundle {
    (
        Camera3d::default(),
        view.projection(),
        (Tonemapping::None, DebandDither::Disabled, Msaa::Off, Hdr),
        RenderTarget::TextureView(EXACT),
        Transform::from_translation(EYE).looking_at(CENTER, Vec3::Y),
        more,
    )
}

/// A floor under a panel, without light.
fn rig(floor: StandardMaterial, panel: StandardMaterial) -> Rig {
    let mut rig = Rig::new(SIDE as u32, SIDE as u32);
    rig.start();
    let world = rig.app.world_mut();
    spawn(world, plane(), floor, Transform::default());
    spawn_panel(world, panel);
    rig
}

/// Mesh of the floor.
pub(crate) fn plane() -> PlaneMeshBuilder {
    Plane3d::default().mesh().size(60.0, 60.0)
}

/// A panel, without light.
pub(crate) fn spawn_panel(world: &mut World, panel: StandardMaterial) {
    world.insert_resource(DefaultOpaqueRendererMethod::deferred());
    world.insert_resource(GlobalAmbientLight::NONE);
    world.insert_resource(ClearColor(Color::BLACK));
    let [center, half] = PANEL.map(|it| it.as_vec3());
    let size = 2.0 * half;
    let cuboid = Cuboid::new(size.x, size.y, size.z);
    spawn(world, cuboid, panel, Transform::from_translation(center));
}

/// The picture of a floor under a panel.
fn picture(
    (floor, panel): (StandardMaterial, StandardMaterial),
    view: View,
    more: impl Bundle,
) -> Rows {
    let mut rig = rig(floor, panel);
    rig.app.world_mut().spawn(camera(view, more));
    checked(rig.exact_rows())
}

/// The same picture under an environment map of this color.
fn picture_under(
    color: [f32; 3],
    (floor, panel): (StandardMaterial, StandardMaterial),
    more: impl Bundle,
) -> Rows {
    let mut rig = rig(floor, panel);
    let world = rig.app.world_mut();
    let map = environment(world, image([4, 4, 6], |_| color), one());
    world.spawn(camera(View::Perspective, (map, more)));
    checked(rig.exact_rows())
}

pub(crate) fn checked(rows: Rows) -> Rows {
    let mut values = rows.iter().flatten().flatten();
    assert!(values.all(|it| it.is_finite()), "a value is not finite");
    rows
}

/// Pixels that are not at an edge of the picture.
fn inner() -> impl Iterator<Item = (usize, usize)> {
    (2..SIDE - 2).flat_map(|y| (2..SIDE - 2).map(move |x| (x, y)))
}

/// Fresnel factor of Schlick.
fn fresnel(f0: f64, cosine: f64) -> f64 {
    f0 + (1.0 - f0) * (1.0 - cosine).powi(5)
}

/// Whether a pixel shows the floor, if not the panel.
fn is_floor(view: View, x: usize, y: usize) -> bool {
    let [start, direction] = view.ray(x, y);
    direction.y < -0.1 && start.y > 0.0
}

/// Asserts that the floor shows the panel where a mirror does, within two pixels.
pub(crate) fn assert_mirrored(name: &str, rows: &Rows, view: View, least: f32) {
    let (mut shown, mut dark, mut wrong) = (0, 0, 0);
    for (x, y) in inner() {
        let Some(expected) = is_reflected(view, x, y) else {
            continue;
        };
        let [start, direction] = view.ray(x, y);
        if hits_panel([start, direction]) || (!expected && near_panel(view, x, y)) {
            continue;
        }
        wrong += usize::from((rows[y][x][0] > least) != expected);
        *(if expected { &mut shown } else { &mut dark }) += 1;
    }
    assert!(shown > 100 && dark > 1000, "{name}: {shown} {dark}");
    let most = (shown + dark) / RARE;
    assert!(
        wrong <= most,
        "{name}: {wrong} of {shown} and {dark} pixels"
    );
}

/// At most one of so many pixels is off by more than two: the lobes of smooth surfaces have long tails.
const RARE: usize = 400;

/// Whether the panel itself is at a pixel or two beside it.
fn near_panel(view: View, x: usize, y: usize) -> bool {
    let mut around = (y - 2..=y + 2).flat_map(|y| (x - 2..=x + 2).map(move |x| (x, y)));
    around.any(|(x, y)| hits_panel(view.ray(x, y)))
}

#[test]
#[ignore = "needs a device"]
fn mirrors_show_the_panel_where_rays_hit_it() {
    for view in [View::Perspective, View::Orthographic] {
        let rows = picture((mirror(), unlit(COLOR)), view, fine());
        assert_mirrored(&format!("{view:?}"), &rows, view, 0.3);
        let without = picture((mirror(), unlit(COLOR)), view, DeferredPrepass);
        let bright = inner().filter(|&(x, y)| !near_panel(view, x, y) && without[y][x][0] > 0.0);
        assert_eq!(bright.count(), 0, "{view:?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn reflected_radiance_is_scaled_by_fresnel() {
    let view = View::Perspective;
    let metal = [0.8, 0.6, 0.4];
    for (floor, f0) in [(mirror(), metal), (polished(), [0.04; 3])] {
        let rows = picture((floor, unlit(COLOR)), view, fine());
        let (mut sums, mut pixels) = ([0.0_f64; 3], 0.0);
        for (x, y) in inner() {
            if is_reflected(view, x, y) != Some(true) {
                continue;
            }
            let cosine = reflected_panel(view, x, y).expect("the panel is reflected");
            for (at, sum) in sums.iter_mut().enumerate() {
                let expected = f64::from(COLOR[at]) * fresnel(f0[at], cosine);
                *sum += f64::from(rows[y][x][at]) / expected;
            }
            pixels += 1.0;
        }
        for sum in sums {
            let ratio = sum / pixels;
            assert!((ratio - 1.0).abs() < 0.03, "{ratio} for {f0:?}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn rays_that_miss_leave_the_environment_map() {
    let sky = [0.5, 0.3, 0.7];
    let with = picture_under(sky, (mirror(), unlit(COLOR)), fine());
    let without = picture_under(sky, (mirror(), unlit(COLOR)), DeferredPrepass);
    let view = View::Perspective;
    let (mut hits, mut misses, mut wrong) = (0, 0, 0);
    for (x, y) in inner() {
        let (found, plain) = (with[y][x], without[y][x]);
        match is_reflected(view, x, y) {
            // The panel hides the environment, whose light is not added.
            Some(true) => {
                let cosine = reflected_panel(view, x, y).expect("the panel is reflected");
                let expected = COLOR[0] * fresnel(0.8, cosine) as f32;
                wrong += usize::from((found[0] / expected - 1.0).abs() > 0.1);
                hits += 1;
            }
            Some(false) if is_floor(view, x, y) && !near_panel(view, x, y) => {
                let mut pairs = found.iter().zip(plain);
                let is_plain = pairs.all(|(found, plain)| (found - plain).abs() <= 2e-3 * plain);
                wrong += usize::from(!is_plain);
                assert!(plain[0] > 0.3, "no environment: {plain:?}");
                misses += 1;
            }
            _ => {}
        }
    }
    assert!(hits > 100 && misses > 1000, "{hits} {misses}");
    assert!(
        wrong <= (hits + misses) / RARE,
        "{wrong} of {hits} and {misses}"
    );
}

#[test]
#[ignore = "needs a device"]
fn surfaces_out_of_the_range_stay_as_they_are() {
    let sky = [0.5, 0.3, 0.7];
    let rough = |perceptual_roughness| StandardMaterial {
        perceptual_roughness,
        ..mirror()
    };
    for roughness in [0.0, 0.05, 0.65, 1.0] {
        let both = || (rough(roughness), unlit(COLOR));
        let with = picture_under(sky, both(), ScreenSpaceReflections::default());
        let without = picture_under(sky, both(), DeferredPrepass);
        assert!(with == without, "roughness {roughness}");
    }
    let both = || (rough(0.3), unlit(COLOR));
    let with = picture_under(sky, both(), ScreenSpaceReflections::default());
    assert!(with != picture_under(sky, both(), DeferredPrepass));
}

#[test]
#[ignore = "needs a device"]
fn rough_reflections_are_spread() {
    let view = View::Perspective;
    let counts = |perceptual_roughness| {
        let floor = StandardMaterial {
            perceptual_roughness,
            ..mirror()
        };
        let rows = picture((floor, unlit(COLOR)), view, fine());
        let (mut inside, mut outside, mut most) = (0, 0, 0.0_f32);
        for (x, y) in inner().filter(|&(x, y)| is_floor(view, x, y) && !near_panel(view, x, y)) {
            let red = rows[y][x][0];
            most = most.max(red);
            match is_reflected(view, x, y) {
                Some(true) => inside += usize::from(red > 0.1),
                Some(false) => outside += usize::from(red > 0.1),
                None => {}
            }
        }
        assert!(most < COLOR[0] * 1.001, "{most}");
        (inside, outside)
    };
    let (all, none) = counts(0.0);
    let (fewer, some) = counts(0.4);
    assert!(none < 5 && some > 40, "{none} and {some} outside");
    assert!(
        fewer * 10 < all * 9 && fewer * 10 > all,
        "{all} and {fewer} inside"
    );
}

#[test]
#[ignore = "needs a device"]
fn forward_surfaces_are_reflected_but_reflect_nothing() {
    let view = View::Perspective;
    let forward = |material: StandardMaterial| StandardMaterial {
        opaque_render_method: OpaqueRendererMethod::Forward,
        ..material
    };
    let rows = picture((mirror(), forward(unlit(COLOR))), view, fine());
    assert_mirrored("forward panel", &rows, view, 0.3);
    // A black forward panel before a mirror that would reflect the sky.
    let sky = [0.5, 0.3, 0.7];
    let black = || forward(unlit([0.0; 3]));
    let rows = picture_under(sky, (mirror(), black()), fine());
    let (mut pixels, mut most) = (0, 0.0_f32);
    for (x, y) in inner().filter(|&(x, y)| hits_panel(view.ray(x, y))) {
        let shows_panel = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)];
        if shows_panel.iter().all(|&(x, y)| hits_panel(view.ray(x, y))) {
            most = most.max(rows[y][x][0]);
            pixels += 1;
        }
    }
    assert!(pixels > 100 && most == 0.0, "{pixels}, {most}");
    let rows = picture_under(sky, (forward(mirror()), unlit(COLOR)), fine());
    let plain = picture_under(sky, (forward(mirror()), unlit(COLOR)), DeferredPrepass);
    assert!(rows == plain, "a forward floor reflects");
}

#[test]
#[ignore = "needs a device"]
fn thin_surfaces_let_rays_pass_behind_them() {
    // Seen from below the floor's horizon, rays to the back of the panel pass behind its front.
    let rows = |thickness| {
        let reflections = ScreenSpaceReflections {
            thickness,
            linear_steps: 2,
            bisection_steps: 0,
            use_secant: false,
            ..fine()
        };
        picture((mirror(), unlit(COLOR)), View::Perspective, reflections)
    };
    let lit = |thickness| {
        let rows = rows(thickness);
        let view = View::Perspective;
        let lit = inner().filter(|&(x, y)| !near_panel(view, x, y) && rows[y][x][0] > 0.1);
        lit.count()
    };
    let [none, thin, thick] = [0.0, 0.1, 10.0].map(lit);
    assert!(none == 0 && thin < thick, "{none} {thin} {thick}");
}

#[test]
#[ignore = "needs a device"]
fn reflections_fade_at_the_edges_of_the_screen() {
    let view = View::Perspective;
    let rows = |edge_fadeout| {
        let reflections = ScreenSpaceReflections {
            edge_fadeout,
            ..fine()
        };
        picture((polished(), unlit(COLOR)), view, reflections)
    };
    let (full, faded) = (rows(0.0..0.0), rows(0.2..0.5));
    let mut compared = 0;
    for (x, y) in inner().filter(|&(x, y)| is_reflected(view, x, y) == Some(true)) {
        let part = |pixel: usize| {
            let uv = (pixel as f32 + 0.5) / SIDE as f32;
            let part = ((uv.min(1.0 - uv) - 0.2) / 0.3).clamp(0.0, 1.0);
            part * part * (3.0 - 2.0 * part)
        };
        let expected = full[y][x][0] * part(x) * part(y);
        let off = (faded[y][x][0] - expected).abs();
        assert!(off < 2e-3 * full[y][x][0], "{off} at {x} {y}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
#[ignore = "needs a device"]
fn fog_dims_reflections_as_other_light() {
    let fog = || DistanceFog {
        color: Color::BLACK,
        falloff: FogFalloff::Linear {
            start: 0.0,
            end: 10.0,
        },
        ..DistanceFog::default()
    };
    let sky = [0.5, 0.3, 0.7];
    let both = || (mirror(), unlit([0.0; 3]));
    let with = picture_under(sky, both(), (fine(), fog()));
    let without = picture_under(sky, both(), (DeferredPrepass, fog()));
    let clear = picture_under(sky, both(), DeferredPrepass);
    let view = View::Perspective;
    let (mut compared, mut wrong) = (0, 0);
    for (x, y) in inner().filter(|&(x, y)| is_floor(view, x, y) && !near_panel(view, x, y)) {
        if is_reflected(view, x, y) == Some(false) {
            let (found, expected) = (with[y][x][0], without[y][x][0]);
            wrong += usize::from((found - expected).abs() > 2e-3 * expected + 1e-4);
            assert!(expected < 0.9 * clear[y][x][0], "no fog at {x} {y}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
    assert!(wrong <= compared / RARE, "{wrong} of {compared}");
}

#[test]
#[ignore = "needs a device"]
fn cameras_without_needs_have_one_warning_and_no_reflections() {
    for (need, more) in [("Msaa::Off", true), ("DeferredPrepass", false)] {
        log::collect();
        let mut rig = rig(mirror(), unlit(COLOR));
        let world = rig.app.world_mut();
        let eye = world.spawn(camera(View::Perspective, fine())).id();
        match more {
            true => world.entity_mut(eye).insert(Msaa::Sample4),
            false => world.entity_mut(eye).remove::<DeferredPrepass>(),
        };
        let rows = checked(rig.exact_rows());
        let lines = log::take();
        let about = lines.iter().filter(|it| it.contains(need));
        assert_eq!(about.count(), 1, "{lines:?}");
        let view = View::Perspective;
        let lit = inner().filter(|&(x, y)| !near_panel(view, x, y) && rows[y][x][0] > 0.0);
        assert_eq!(lit.count(), 0);
    }
}

#[test]
#[ignore = "needs a device"]
fn removal_frees_the_second_image_and_views_of_any_size_are_drawn() {
    let mut rig = rig(mirror(), unlit(COLOR));
    let eye = camera(View::Perspective, fine());
    let eye = rig.app.world_mut().spawn(eye).id();
    let counts = |rig: &Rig| {
        let world = rig.app.world();
        let colors = world.resource::<SceneColors>().len();
        [colors, world.resource::<SceneDepths>().len()]
    };
    rig.update(2);
    assert_eq!(counts(&rig), [2, 1]);
    for size in [[1, 1], [2, 5], [33, 17]] {
        crate::camera_effects::set_viewport(&mut rig, eye, [0, 0, size[0], size[1]]);
        rig.update(2);
    }
    let mut eye = rig.app.world_mut().entity_mut(eye);
    eye.remove::<ScreenSpaceReflections>();
    rig.update(2);
    assert_eq!(counts(&rig), [1, 1]);
}
