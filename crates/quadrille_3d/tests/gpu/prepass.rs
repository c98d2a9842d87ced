//! Depth and normals of prepasses, and pictures with them.

use bevy_app::App;
use bevy_asset::RenderAssetUsages;
use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessList, ColorAttachment as _, access_kind};
use quadrille::prelude::*;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{PrepassDepths3d, PrepassNormals3d, SceneColors};
use quadrille_3d::{Pass3dSystems, Scene3d};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::common::{EXACT, Rig};

const SIDE: u32 = 48;

/// Half the height of the view in tangents of the angle.
const SLOPE: f32 = 0.5;

/// Distance of the near plane.
const NEAR: f32 = 0.1;

/// Camera at `z` that looks along the negative z axis, and draws exact values.
pub(crate) fn camera(z: f32, msaa: Msaa) -> impl Bundle {
    (
        Camera3d::default(),
        Projection::from(PerspectiveProjection {
            fov: 2.0 * SLOPE.atan(),
            near: NEAR,
            ..PerspectiveProjection::default()
        }),
        (Tonemapping::None, DebandDither::Disabled, msaa),
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, z),
    )
}

/// Adds a mesh with a standard material.
pub(crate) fn spawn(
    world: &mut World,
    mesh: impl Into<Mesh>,
    material: StandardMaterial,
    transform: Transform,
) -> Entity {
    let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh);
    let material = world
        .resource_mut::<Assets<StandardMaterial>>()
        .add(material);
    let entity = world.spawn((Mesh3d(mesh), MeshMaterial3d(material), transform));
    entity.id()
}

fn colored(red: f32, green: f32, blue: f32) -> StandardMaterial {
    StandardMaterial {
        perceptual_roughness: 0.6,
        ..StandardMaterial::from(Color::linear_rgb(red, green, blue))
    }
}

/// Surfaces of all alpha modes, coplanar ones, mirrored ones, cross-fades, depth bias, lines, and lights with shadows.
pub(crate) fn crowd(world: &mut World) {
    let at = Transform::from_xyz;
    spawn(
        world,
        Sphere::new(0.8),
        colored(0.9, 0.2, 0.1),
        at(-0.8, 0.5, -1.0),
    );
    let mirrored = at(0.9, -0.4, -1.5).with_scale(Vec3::new(-1.0, 1.2, 0.8));
    spawn(
        world,
        Torus::new(0.4, 0.8),
        colored(0.1, 0.8, 0.3),
        mirrored,
    );
    let wall = Rectangle::new(9.0, 9.0);
    spawn(world, wall, colored(0.3, 0.3, 0.4), at(0.0, 0.0, -4.0));
    // Coplanar: the later one covers the other.
    for (shift, green) in [(0.0, 0.9), (0.4, 0.1)] {
        let sheet = at(0.2 + shift, 1.2, -2.0);
        spawn(
            world,
            Rectangle::new(0.8, 0.8),
            colored(0.1, green, 0.9),
            sheet,
        );
    }
    let biased = StandardMaterial {
        depth_bias: 50.0,
        ..colored(0.9, 0.9, 0.1)
    };
    spawn(
        world,
        Rectangle::new(0.5, 0.5),
        biased,
        at(-1.0, -1.2, -4.0),
    );
    let image = world.resource_mut::<Assets<Image>>().add(holes());
    for (x, alpha_mode) in [
        (-1.4, AlphaMode::Mask(0.5)),
        (-0.5, AlphaMode::AlphaToCoverage),
        (0.4, AlphaMode::Blend),
        (1.3, AlphaMode::Multiply),
    ] {
        let material = StandardMaterial {
            alpha_mode,
            base_color_texture: Some(image.clone()),
            double_sided: true,
            cull_mode: None,
            ..colored(0.8, 0.9, 0.7)
        };
        let turned = at(x, -1.0, 0.0).with_rotation(Quat::from_euler(EulerRot::XYZ, 0.4, 2.6, 0.3));
        spawn(world, Rectangle::new(0.9, 0.9), material, turned);
    }
    let fading = spawn(
        world,
        Sphere::new(0.4),
        colored(1.0, 1.0, 1.0),
        at(1.2, 1.2, -0.5),
    );
    world.entity_mut(fading).insert(VisibilityRange {
        start_margin: 0.0..0.0,
        end_margin: 3.0..7.0,
        use_aabb: false,
    });
    let line = Mesh::from(Cuboid::from_length(0.7));
    let line = line.with_removed_attribute(Mesh::ATTRIBUTE_NORMAL);
    spawn(world, line, colored(0.2, 0.7, 0.7), at(0.0, 0.1, 0.3));
    world.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            ..DirectionalLight::default()
        },
        at(2.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// Opaque squares between transparent ones.
fn holes() -> Image {
    let texels = (0..64_u8).map(|at| [255, 200, 150, 255 * ((at / 8 + at) % 2)]);
    texture([8, 8], texels.flatten().collect())
}

fn texture([width, height]: [u32; 2], texels: Vec<u8>) -> Image {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let (dimension, format) = (TextureDimension::D2, TextureFormat::Rgba8Unorm);
    Image::new(
        size,
        dimension,
        texels,
        format,
        RenderAssetUsages::default(),
    )
}

/// The picture of [`crowd`] with further components of the camera.
fn picture_of_crowd(msaa: Msaa, more: impl Bundle) -> Vec<Vec<[f32; 4]>> {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    crowd(rig.app.world_mut());
    rig.app.world_mut().spawn((camera(5.0, msaa), more));
    rig.exact_rows()
}

#[test]
#[ignore = "needs a device"]
fn prepasses_change_no_pixel() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let plain = picture_of_crowd(msaa, ());
        let rows = [
            picture_of_crowd(msaa, DepthPrepass),
            picture_of_crowd(msaa, NormalPrepass),
            picture_of_crowd(msaa, (DepthPrepass, NormalPrepass, OcclusionCulling)),
        ];
        for (number, rows) in rows.iter().enumerate() {
            let pairs = rows.iter().flatten().zip(plain.iter().flatten());
            let others = pairs.filter(|(found, expected)| found != expected).count();
            assert_eq!(others, 0, "{msaa:?}, prepass {number}");
        }
    }
}

/// Image that the pass [`show`] draws to the colors of views.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Depth,
    Normal,
}

#[derive(Resource)]
struct ShowPipelines([GraphicsPipeline; 2]);

const SHOW: &str = "
    @group(0) @binding(0) var depths: texture_depth_2d;
    @group(0) @binding(1) var normals: texture_2d<f32>;

    @vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
        return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }

    @fragment fn depth_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        return vec4f(textureLoad(depths, vec2i(position.xy), 0));
    }

    @fragment fn normal_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
        return textureLoad(normals, vec2i(position.xy), 0);
    }";

fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let shader = GpuShader::wgsl("show_prepass.wgsl", SHOW)?;
    let pipeline = |entry| {
        let (vertex, fragment) = ((&shader, "vertex_main"), (&shader, entry));
        gpu.graphics_pipeline(&GraphicsPipelineDesc::new(entry, vertex, fragment))
    };
    commands.insert_resource(ShowPipelines([
        pipeline("depth_main")?,
        pipeline("normal_main")?,
    ]));
    Ok(())
}

fn show(
    mut recorder: Recorder,
    depths: AccessList<PrepassDepths3d, access_kind::Sampled>,
    normals: AccessList<PrepassNormals3d, access_kind::Sampled>,
    colors: AccessList<SceneColors, access_kind::ColorTarget>,
    (scene, pipelines, shown): (Res<Scene3d>, Res<ShowPipelines>, Res<Shown>),
) {
    for view in scene.views() {
        let (name, image) = match *shown {
            Shown::Depth => ("depths", view.prepass_depth().and_then(|at| depths.get(at))),
            Shown::Normal => (
                "normals",
                view.prepass_normal().and_then(|at| normals.get(at)),
            ),
        };
        let (Some(image), Some(color)) = (image, colors.get(view.images())) else {
            continue;
        };
        let uses = [image.as_declared(), color.as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "show prepass", &uses);
        pass.render(color.discard())
            .pipeline(&pipelines.0[*shown as usize])
            .bind(name, &image)
            .draw(0..3, 0..1);
    }
}

/// Adds the pass that shows an image of prepasses in place of colors.
fn add_show(app: &mut App, shown: Shown) {
    let place = show
        .after(Pass3dSystems::Transparent)
        .before(Pass3dSystems::EarlyPostProcess);
    app.insert_resource(shown)
        .add_systems(RenderStartup, make)
        .add_systems(Render, place);
}

/// An app without meshes that shows an image of prepasses.
pub(crate) fn rig_with_normals(build: impl FnOnce(&mut App)) -> Rig {
    let mut rig = Rig::new(SIDE, SIDE);
    add_show(&mut rig.app, Shown::Normal);
    build(&mut rig.app);
    rig.start();
    let eye = camera(5.0, Msaa::Off);
    rig.app.world_mut().spawn((eye, NormalPrepass));
    rig
}

/// Direction of the view ray of a pixel, with z -1.
fn ray(x: usize, y: usize) -> Vec3 {
    let ndc = |pixel: usize| (pixel as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0;
    Vec3::new(ndc(x) * SLOPE, -ndc(y) * SLOPE, -1.0)
}

/// Distance along a ray from the eye at which it meets a sphere.
fn meets_sphere(eye: Vec3, ray: Vec3, center: Vec3, radius: f32) -> Option<f32> {
    let (to_center, square) = (center - eye, ray.length_squared());
    let along = to_center.dot(ray);
    let inner = along * along - square * (to_center.length_squared() - radius * radius);
    (inner >= 0.0).then(|| (along - inner.sqrt()) / square)
}

/// Names of the passes of a frame that belong to prepasses.
fn passes(rig: &mut Rig) -> Vec<&'static str> {
    let mut renderer = rig.app.world_mut().resource_mut::<Renderer>();
    renderer.keep_frames(true);
    rig.update(1);
    let renderer = rig.app.world().resource::<Renderer>();
    let plan = renderer.plan_text().expect("frames are kept");
    let run: Vec<&str> = plan
        .lines()
        .filter(|line| !line.trim_start().starts_with("culled"))
        .collect();
    let names = [
        "prepass_3d",
        "prepass_late",
        "copy prepass depth",
        "clear prepass",
    ];
    names
        .into_iter()
        .filter(|name| run.iter().any(|line| line.contains(name)))
        .collect()
}

#[test]
#[ignore = "needs a device"]
fn depth_is_that_of_nearest_surface() {
    let mut rig = Rig::new(SIDE, SIDE);
    add_show(&mut rig.app, Shown::Depth);
    rig.start();
    let world = rig.app.world_mut();
    let (center, radius, eye) = (Vec3::new(0.3, -0.2, 0.0), 1.0, Vec3::Z * 5.0);
    let ball = Sphere::new(radius).mesh().ico(40).expect("few vertices");
    spawn(
        world,
        ball,
        colored(0.5, 0.5, 0.5),
        Transform::from_translation(center),
    );
    let hidden = Transform::from_xyz(0.0, 0.0, -3.0);
    spawn(
        world,
        Rectangle::new(1.0, 1.0),
        colored(0.5, 0.5, 0.5),
        hidden,
    );
    world.spawn((camera(eye.z, Msaa::Off), DepthPrepass));
    let rows = rig.exact_rows();
    let (mut on_ball, mut around) = (0, 0);
    for (y, row) in rows.iter().enumerate() {
        for (x, texel) in row.iter().enumerate() {
            let ray = ray(x, y);
            // Reversed depth with an infinite far plane is the near plane's distance by that of the surface.
            match meets_sphere(eye, ray, center, radius) {
                Some(distance) if meets_sphere(eye, ray, center, 0.97 * radius).is_some() => {
                    let expected = NEAR / distance;
                    let error = (texel[0] - expected).abs() / expected;
                    assert!(error < 2e-3, "{x}, {y}: {}, not {expected}", texel[0]);
                    on_ball += 1;
                }
                None if meets_sphere(eye, ray, center, 1.03 * radius).is_none() => {
                    assert_eq!(texel[0], 0.0, "{x}, {y}");
                    around += 1;
                }
                _ => {}
            }
        }
    }
    assert!(on_ball > 200 && around > 500, "{on_ball} and {around}");
    assert_eq!(passes(&mut rig), ["prepass_3d", "copy prepass depth"]);
}

#[test]
#[ignore = "needs a device"]
fn normals_are_those_of_nearest_surface() {
    let mut rig = rig_with_normals(|_| ());
    let world = rig.app.world_mut();
    let (center, radius, eye) = (Vec3::new(0.3, -0.2, 0.0), 1.0, Vec3::Z * 5.0);
    let ball = Sphere::new(radius).mesh().ico(40).expect("few vertices");
    // Mirrored, which turns the winding but not the normals.
    let place = Transform::from_translation(center).with_scale(Vec3::new(-1.0, 1.0, 1.0));
    let material = StandardMaterial {
        cull_mode: None,
        ..colored(0.5, 0.5, 0.5)
    };
    spawn(world, ball, material, place);
    let rows = rig.exact_rows();
    let mut on_ball = 0;
    for (y, row) in rows.iter().enumerate() {
        for (x, texel) in row.iter().enumerate() {
            let ray = ray(x, y);
            if meets_sphere(eye, ray, center, 0.95 * radius).is_none() {
                continue;
            }
            let distance = meets_sphere(eye, ray, center, radius).expect("larger");
            let expected = (eye + distance * ray - center) / radius;
            let [red, green, blue, alpha] = *texel;
            let found = Vec3::new(red, green, blue) * 2.0 - 1.0;
            // Rounding to 10 bits, and triangles.
            assert!(
                (found - expected).length() < 0.01,
                "{found}, not {expected}"
            );
            assert_eq!(alpha, 1.0);
            on_ball += 1;
        }
    }
    assert!(on_ball > 200, "{on_ball}");
    assert_eq!(rows[0][0], [0.0; 4], "nothing is there");
    assert_eq!(passes(&mut rig), ["prepass_3d"]);
}

#[test]
#[ignore = "needs a device"]
fn normals_of_double_sided_materials_face_the_view() {
    for (double_sided, expected) in [(true, Vec3::Z), (false, Vec3::NEG_Z)] {
        let mut rig = rig_with_normals(|_| ());
        let material = StandardMaterial {
            double_sided,
            cull_mode: None,
            ..colored(0.5, 0.5, 0.5)
        };
        let turned = Transform::from_rotation(Quat::from_rotation_y(std::f32::consts::PI));
        spawn(
            rig.app.world_mut(),
            Rectangle::new(2.0, 2.0),
            material,
            turned,
        );
        let [red, green, blue, _] = rig.exactly(SIDE / 2, SIDE / 2);
        let found = Vec3::new(red, green, blue) * 2.0 - 1.0;
        assert!(
            (found - expected).length() < 0.005,
            "{found}, not {expected}"
        );
    }
}

#[test]
#[ignore = "needs a device"]
fn normals_are_those_of_the_normal_map() {
    let mut rig = rig_with_normals(|_| ());
    let world = rig.app.world_mut();
    // The normal (0.6, 0, 0.8).
    let image = texture([1, 1], vec![204, 128, 230, 255]);
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let material = StandardMaterial {
        normal_map_texture: Some(image),
        ..colored(0.5, 0.5, 0.5)
    };
    let square = Mesh::from(Rectangle::new(2.0, 2.0));
    let tangents = vec![[1.0_f32, 0.0, 0.0, 1.0]; square.count_vertices()];
    let square = square.with_inserted_attribute(Mesh::ATTRIBUTE_TANGENT, tangents);
    spawn(world, square, material, Transform::default());
    let [red, green, blue, _] = rig.exactly(SIDE / 2, SIDE / 2);
    let found = Vec3::new(red, green, blue) * 2.0 - 1.0;
    let expected = Vec3::new(0.6, 0.0, 0.8);
    assert!(
        (found - expected).length() < 0.01,
        "{found}, not {expected}"
    );
}

#[test]
#[ignore = "needs a device"]
fn cameras_without_prepass_have_none() {
    let mut rig = Rig::new(SIDE, SIDE);
    rig.start();
    crowd(rig.app.world_mut());
    let eye = rig.app.world_mut().spawn(camera(5.0, Msaa::Off)).id();
    rig.update(2);
    let draws = rig.app.world().resource::<Scene3d>().draws();
    let none: [&str; 0] = [];
    assert_eq!(passes(&mut rig), none);
    rig.app
        .world_mut()
        .entity_mut(eye)
        .insert((DepthPrepass, NormalPrepass));
    rig.update(1);
    let world = rig.app.world();
    let images = |world: &World| {
        let depths = world.resource::<PrepassDepths3d>().len();
        (depths, world.resource::<PrepassNormals3d>().len())
    };
    assert!(world.resource::<Scene3d>().draws() > draws);
    assert_eq!(images(world), (1, 1));
    // Nothing reads the depth, so it is not copied.
    assert_eq!(passes(&mut rig), ["prepass_3d"]);
    rig.app
        .world_mut()
        .entity_mut(eye)
        .remove::<(DepthPrepass, NormalPrepass)>();
    rig.update(1);
    assert_eq!(images(rig.app.world()), (0, 0));
    assert_eq!(rig.app.world().resource::<Scene3d>().draws(), draws);
}

#[test]
#[ignore = "needs a device"]
fn disabled_prepass_draws_the_scene() {
    let plain = picture_of_crowd(Msaa::Off, ());
    let mut rig = Rig::new(SIDE, SIDE);
    let never = || false;
    rig.app
        .configure_sets(Render, Pass3dSystems::Prepass.run_if(never));
    rig.start();
    crowd(rig.app.world_mut());
    let more = (DepthPrepass, OcclusionCulling);
    rig.app.world_mut().spawn((camera(5.0, Msaa::Off), more));
    assert!(rig.exact_rows() == plain);
}
