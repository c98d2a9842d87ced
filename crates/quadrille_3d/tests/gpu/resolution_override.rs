//! `MainPassResolutionOverride`: views whose images have another size than their viewport.

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_math::UVec2;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{PrepassMotionVectors3d, SceneColors, SceneDepths};
use quadrille_3d::{Bloom, Fxaa, MotionBlur, ScreenSpaceAmbientOcclusion, TemporalAntiAliasing};

use crate::camera_effects::{pixel_camera, set_viewport};
use crate::common::Rig;

/// Width and height that cameras see, in world units.
const SIDE: u32 = 16;

type Rows = Vec<Vec<[f32; 4]>>;

/// An app with a target of this size and three unlit shapes of unlike colors.
fn shapes(width: u32, height: u32) -> Rig {
    let mut rig = Rig::new(width, height);
    rig.start();
    for (color, [x, y, z], size, angle) in [
        ([0.9, 0.3, 0.1], [-2.5, 1.0, 0.0], [9.0, 5.0], 0.3),
        ([0.1, 0.8, 0.5], [3.0, -2.0, 1.0], [6.0, 8.0], -0.5),
        ([0.2, 0.1, 0.7], [0.5, 5.5, 2.0], [14.0, 1.5], 0.1),
    ] {
        let transform = Transform::from_xyz(x, y, z).with_rotation(Quat::from_rotation_z(angle));
        unlit(&mut rig, (Vec2::from_array(size), transform), color);
    }
    rig
}

/// Adds an unlit rectangle.
fn unlit(rig: &mut Rig, (size, transform): (Vec2, Transform), [r, g, b]: [f32; 3]) -> Entity {
    let world = rig.app.world_mut();
    let mesh = Rectangle::new(size.x, size.y);
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(Color::linear_rgb(r, g, b))
    };
    let materials = &mut world.resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(material);
    world
        .spawn((Mesh3d(mesh), MeshMaterial3d(material), transform))
        .id()
}

fn resolution(width: u32, height: u32) -> MainPassResolutionOverride {
    MainPassResolutionOverride(UVec2::new(width, height))
}

/// Adds a camera with these components over those of [`pixel_camera`].
fn camera(rig: &mut Rig, components: impl Bundle) -> Entity {
    let camera = rig.app.world_mut().spawn(pixel_camera(SIDE)).id();
    let mut entity = rig.app.world_mut().entity_mut(camera);
    entity.insert(DebandDither::Disabled).insert(components);
    camera
}

/// Bilinear sample of a picture at a position in texels, clamped to its edge.
fn bilinear(rows: &Rows, [x, y]: [f32; 2]) -> [f32; 4] {
    let split = |at: f32, count: usize| {
        let first = (at - 0.5).floor();
        let clamped = |at: f32| at.clamp(0.0, count as f32 - 1.0) as usize;
        (clamped(first), clamped(first + 1.0), at - 0.5 - first)
    };
    let (left, right, u) = split(x, rows[0].len());
    let (top, bottom, v) = split(y, rows.len());
    std::array::from_fn(|channel| {
        let row = |y: usize| rows[y][left][channel] * (1.0 - u) + rows[y][right][channel] * u;
        row(top) * (1.0 - v) + row(bottom) * v
    })
}

/// A picture, scaled bilinearly.
fn scaled(rows: &Rows, [width, height]: [usize; 2]) -> Rows {
    let scale = [
        rows[0].len() as f32 / width as f32,
        rows.len() as f32 / height as f32,
    ];
    let texel = |x: usize, y: usize| [(x as f32 + 0.5) * scale[0], (y as f32 + 0.5) * scale[1]];
    (0..height)
        .map(|y| (0..width).map(|x| bilinear(rows, texel(x, y))).collect())
        .collect()
}

/// Greatest difference of two pictures of one size.
fn difference(a: &Rows, b: &Rows) -> f32 {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
    let pairs = a
        .iter()
        .flatten()
        .flatten()
        .zip(b.iter().flatten().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
#[ignore = "needs a device"]
fn resolution_override_scales_bilinearly() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        for is_hdr in [false, true] {
            let add = |rig: &mut Rig| {
                let camera = camera(rig, msaa);
                if is_hdr {
                    rig.app.world_mut().entity_mut(camera).insert(Hdr);
                }
                camera
            };
            let mut large = shapes(SIDE, SIDE);
            let of_large = add(&mut large);
            let whole = large.exact_rows();
            for [width, height] in [[8, 8], [11, 5], [16, 9], [1, 1]] {
                let mut small = shapes(width, height);
                add(&mut small);
                let expected = scaled(&small.exact_rows(), [SIDE as usize; 2]);
                let mut entity = large.app.world_mut().entity_mut(of_large);
                entity.insert(resolution(width, height));
                let found = large.exact_rows();
                let error = difference(&found, &expected);
                assert!(
                    error < 1e-5,
                    "{width} x {height}, {msaa:?}, {is_hdr}: {error}"
                );
                assert!(
                    difference(&found, &whole) > 0.05,
                    "it is the full resolution"
                );
            }
            // The whole viewport, and the size without the component.
            let mut entity = large.app.world_mut().entity_mut(of_large);
            entity.insert(resolution(SIDE, 99));
            assert!(large.exact_rows() == whole);
            let mut entity = large.app.world_mut().entity_mut(of_large);
            entity.remove::<MainPassResolutionOverride>();
            assert!(large.exact_rows() == whole);
        }
    }
}

/// Picture of two cameras: the first fills a target of 24 x 16 pixels with columns, the second draws over a part of it at
/// half its resolution. Returns it with the picture of the first camera alone.
fn over_columns(components: impl Bundle) -> [Rows; 2] {
    let mut rig = shapes(24, 16);
    for x in 0..8_u8 {
        let place = Transform::from_xyz(f32::from(x) * 2.0 - 7.0, 0.0, 0.0);
        let gray = f32::from(x % 3) * 0.25;
        let column = unlit(&mut rig, (Vec2::new(2.0, 16.0), place), [gray; 3]);
        let world = rig.app.world_mut();
        world.entity_mut(column).insert(RenderLayers::layer(1));
    }
    camera(&mut rig, RenderLayers::layer(1));
    let behind = rig.exact_rows();
    let settings = Camera {
        order: 1,
        clear_color: ClearColorConfig::None,
        ..Camera::default()
    };
    let over = camera(&mut rig, (settings, resolution(6, 4)));
    rig.app.world_mut().entity_mut(over).insert(components);
    set_viewport(&mut rig, over, VIEWPORT);
    [rig.exact_rows(), behind]
}

/// Viewport of the second camera of [`over_columns`].
const VIEWPORT: [u32; 4] = [5, 3, 12, 8];

/// Part of a picture within [`VIEWPORT`].
fn part(rows: &Rows) -> Rows {
    let [left, top, width, height] = VIEWPORT.map(|length| length as usize);
    let rows = &rows[top..top + height];
    rows.iter()
        .map(|row| row[left..left + width].to_vec())
        .collect()
}

fn assert_equal_outside(found: &Rows, behind: &Rows) {
    let [left, top, width, height] = VIEWPORT.map(|length| length as usize);
    for (y, (row, expected)) in found.iter().zip(behind).enumerate() {
        for (x, (texel, expected)) in row.iter().zip(expected).enumerate() {
            let is_inside = (left..left + width).contains(&x) && (top..top + height).contains(&y);
            assert!(is_inside || texel == expected, "{x}, {y}");
        }
    }
}

#[test]
#[ignore = "needs a device"]
fn resolution_override_scales_within_its_viewport() {
    let over_color = |color: Color| {
        let mut small = shapes(6, 4);
        let over = camera(&mut small, ());
        let world = small.app.world_mut();
        let mut settings = world.get_mut::<Camera>(over).expect("a camera");
        settings.clear_color = ClearColorConfig::Custom(color);
        scaled(&small.exact_rows(), [12, 8])
    };
    // Scaled color and coverage, of pictures over black and over white.
    let [black, white] = [Color::BLACK, Color::WHITE].map(over_color);
    for is_hdr in [false, true] {
        let [found, behind] = match is_hdr {
            false => over_columns(()),
            true => over_columns(Hdr),
        };
        assert_equal_outside(&found, &behind);
        let mut expected = part(&behind);
        for (y, x) in (0..8).flat_map(|y| (0..12).map(move |x| (y, x))) {
            for channel in 0..3 {
                let transparency = white[y][x][channel] - black[y][x][channel];
                let texel = &mut expected[y][x][channel];
                *texel = *texel * transparency + black[y][x][channel];
            }
        }
        let error = difference(&part(&found), &expected);
        assert!(error < 1e-3, "{is_hdr}: {error}");
    }
}

/// Effects read the contents of the target at the resolution of the view: scaled down, and up again with the view.
#[test]
#[ignore = "needs a device"]
fn effects_at_another_resolution_see_earlier_cameras() {
    let [found, behind] = over_columns((MotionBlur::default(), RenderLayers::layer(2)));
    assert_equal_outside(&found, &behind);
    let expected = scaled(&scaled(&part(&behind), [6, 4]), [12, 8]);
    let error = difference(&part(&found), &expected);
    assert!(error < 1e-3, "{error}");
    assert!(
        difference(&expected, &part(&behind)) > 0.1,
        "columns are blurred"
    );
}

/// Sizes of the images that views have in this frame.
fn sizes(rig: &Rig) -> [Vec<[u32; 2]>; 3] {
    let world = rig.app.world();
    let size = |extent: [u32; 3]| [extent[0], extent[1]];
    [
        (world.resource::<SceneColors>().iter())
            .map(|it| size(it.extent()))
            .collect(),
        (world.resource::<SceneDepths>().iter())
            .map(|it| size(it.extent()))
            .collect(),
        (world.resource::<PrepassMotionVectors3d>().iter())
            .map(|it| size(it.extent()))
            .collect(),
    ]
}

/// All passes and effects of a view have the resolution of its images: a surface that covers it has one color everywhere.
#[test]
#[ignore = "needs a device"]
fn effects_cover_the_viewport_at_another_resolution() {
    let mut rig = Rig::new(48, 40);
    rig.start();
    let behind = Transform::from_xyz(0.0, 0.0, -1.0);
    unlit(&mut rig, (Vec2::splat(64.0), behind), [0.5, 0.25, 0.125]);
    let prepasses = (DepthPrepass, NormalPrepass, OcclusionCulling);
    let before = (
        TemporalAntiAliasing::default(),
        ScreenSpaceAmbientOcclusion::default(),
        MotionBlur::default(),
        Bloom::NATURAL,
    );
    let camera = camera(&mut rig, (prepasses, before, Fxaa::default(), Hdr));
    let mut previous = None;
    for size in [[20, 30], [33, 17], [48, 40]] {
        let mut entity = rig.app.world_mut().entity_mut(camera);
        entity.insert(resolution(size[0], size[1]));
        let rows = rig.exact_rows();
        let middle = rows[20][24];
        for texel in rows.iter().flatten() {
            let off = texel.iter().zip(middle).map(|(a, b)| (a - b).abs());
            let off = off.fold(0.0, f32::max);
            assert!(off < 2e-3, "{size:?}: {texel:?}, in the middle {middle:?}");
        }
        let [colors, depths, motion] = sizes(&rig);
        assert!(colors.iter().all(|it| *it == size), "{colors:?}");
        assert_eq!((depths, motion), (vec![size], vec![size]));
        let previous = previous.get_or_insert(middle);
        let off = previous.iter().zip(middle).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) < 2e-3, "{previous:?}, {middle:?}");
    }
}
