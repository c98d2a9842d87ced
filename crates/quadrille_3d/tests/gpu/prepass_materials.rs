//! Materials with shaders of their own in prepasses, and materials that read images of prepasses.

use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::common::{EXACT, Rig, log};
use crate::material_shaders::{MOVED, add_shader, shader_ref, square};
use crate::motion_vectors::{Moving, flat_camera, motion_rig};
use crate::prepass::rig_with_normals;

/// A material type with shader assets by number.
macro_rules! material {
    ($name:ident, $vertex:literal, $fragment:literal, $prepass:literal, $enabled:literal) => {
        #[derive(Asset, TypePath, AsBindGroup, Clone)]
        struct $name {
            #[uniform(0)]
            value: Vec4,
            alpha_mode: AlphaMode,
        }

        impl Material for $name {
            fn vertex_shader() -> ShaderRef {
                shader_ref($vertex)
            }

            fn fragment_shader() -> ShaderRef {
                shader_ref($fragment)
            }

            fn prepass_fragment_shader() -> ShaderRef {
                shader_ref($prepass)
            }

            fn enable_prepass() -> bool {
                $enabled
            }

            fn alpha_mode(&self) -> AlphaMode {
                self.alpha_mode
            }
        }
    };
}

material!(Moved, 21, 21, 0, true);
material!(Colored, 0, 22, 0, true);
material!(Disabled, 0, 22, 0, false);
material!(Holed, 0, 23, 24, true);
material!(Discarding, 0, 23, 0, true);
material!(SilentHoles, 0, 23, 25, true);
material!(Reader, 0, 26, 0, true);

const COLORED: &str = "
@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@fragment
fn fragment() -> @location(0) vec4f {
    return value;
}
";

/// Without its left half.
const HOLED: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    if mesh.uv.x < 0.5 {
        discard;
    }
    return value;
}
";

/// The same in prepasses, with the normal of the material.
const HOLED_PREPASS: &str = "
import bevy_pbr::prepass::io::VertexOutput;
@if(PREPASS_FRAGMENT)
import bevy_pbr::prepass::io::FragmentOutput;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> value: vec4f;

@if(PREPASS_FRAGMENT)
@fragment
fn fragment(mesh: VertexOutput) -> FragmentOutput {
    if mesh.uv.x < 0.5 {
        discard;
    }
    var out: FragmentOutput;
    @if(NORMAL_PREPASS)
    out.normal = vec4f(value.xyz * 0.5 + 0.5, 1.0);
    @if(MOTION_VECTOR_PREPASS)
    out.motion_vector = mesh.world_position.xy - mesh.previous_world_position.xy;
    return out;
}

@if(!PREPASS_FRAGMENT)
@fragment
fn fragment(mesh: VertexOutput) {
    if mesh.uv.x < 0.5 {
        discard;
    }
}
";

/// The same without a normal.
const SILENT_PREPASS: &str = "
import bevy_pbr::prepass::io::VertexOutput;

@fragment
fn fragment(mesh: VertexOutput) {
    if mesh.uv.x < 0.5 {
        discard;
    }
}
";

/// Depth and normal of what is behind.
const READER: &str = "
import bevy_pbr::render::forward_io::VertexOutput;
import bevy_pbr::prepass::utils::{prepass_depth, prepass_normal};

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let normal = prepass_normal(mesh.position, 0u);
    return vec4f(prepass_depth(mesh.position, 0u), normal.yz, 1.0);
}
";

fn add_types(app: &mut bevy_app::App) {
    app.add_plugins((
        MaterialPlugin::<Moved>::default(),
        MaterialPlugin::<Colored>::default(),
        MaterialPlugin::<Disabled>::default(),
        MaterialPlugin::<Holed>::default(),
        MaterialPlugin::<Discarding>::default(),
        MaterialPlugin::<SilentHoles>::default(),
        MaterialPlugin::<Reader>::default(),
    ));
    for (number, source) in [
        (21, MOVED),
        (22, COLORED),
        (23, HOLED),
        (24, HOLED_PREPASS),
        (25, SILENT_PREPASS),
        (26, READER),
    ] {
        add_shader(app, number, source);
    }
}

/// Camera that sees the square of side 2 around the origin, from a distance of 3 to a far plane at 8.
fn eye(msaa: Msaa) -> impl Bundle {
    let mut projection = OrthographicProjection::default_3d();
    (projection.scale, projection.near, projection.far) = (1.0 / 16.0, 0.0, 8.0);
    (
        Camera3d::default(),
        Projection::from(projection),
        (Tonemapping::None, DebandDither::Disabled, msaa),
        RenderTarget::TextureView(EXACT),
        Transform::from_xyz(0.0, 0.0, 3.0),
    )
}

/// Materials of all kinds before a wall.
fn picture(msaa: Msaa, more: impl Bundle) -> Vec<Vec<[f32; 4]>> {
    let mut rig = Rig::with(32, 32, Quadrille3dPlugin::default());
    add_types(&mut rig.app);
    rig.start();
    rig.app.world_mut().spawn((eye(msaa), more));
    let alpha_mode = AlphaMode::Opaque;
    let mask = AlphaMode::Mask(0.5);
    let value = |red| Vec4::new(red, 0.2, 0.3, 1.0);
    square(
        &mut rig,
        Vec3::new(0.0, 0.0, -1.0),
        2.0,
        Colored {
            value: value(0.1),
            alpha_mode,
        },
    );
    square(
        &mut rig,
        Vec3::new(-0.5, 0.5, 0.0),
        0.5,
        Moved {
            value: value(0.4),
            alpha_mode,
        },
    );
    square(
        &mut rig,
        Vec3::new(0.5, 0.5, 0.0),
        0.5,
        Disabled {
            value: value(0.5),
            alpha_mode,
        },
    );
    square(
        &mut rig,
        Vec3::new(-0.5, -0.5, 0.0),
        0.6,
        Holed {
            value: value(0.6),
            alpha_mode: mask,
        },
    );
    let discarding = Discarding {
        value: value(0.7),
        alpha_mode: mask,
    };
    square(&mut rig, Vec3::new(0.0, 0.0, 0.2), 0.6, discarding);
    let silent = SilentHoles {
        value: value(0.8),
        alpha_mode,
    };
    square(&mut rig, Vec3::new(0.5, -0.5, 0.0), 0.6, silent);
    rig.exact_rows()
}

#[test]
#[ignore = "needs a device"]
fn prepasses_change_no_pixel_of_materials() {
    log::collect();
    log::take();
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let plain = picture(msaa, ());
        assert!(picture(msaa, DepthPrepass) == plain, "{msaa:?}, depth");
        assert!(picture(msaa, NormalPrepass) == plain, "{msaa:?}, normals");
        let motion = picture(msaa, (NormalPrepass, MotionVectorPrepass));
        assert!(motion == plain, "{msaa:?}, motion vectors");
    }
    let lines = log::take();
    assert!(lines.is_empty(), "{lines:#?}");
}

/// The normal that [`rig_with_normals`] shows in the middle, of a square with a material.
fn normal_of(material: impl Material, x: f32) -> Option<Vec3> {
    let mut rig = rig_with_normals(add_types);
    square(&mut rig, Vec3::new(x, 0.0, 0.0), 1.0, material);
    let [red, green, blue, alpha] = rig.exactly(24, 24);
    (alpha == 1.0).then(|| Vec3::new(red, green, blue) * 2.0 - 1.0)
}

#[test]
#[ignore = "needs a device"]
fn prepass_shaders_draw_normals() {
    let value = Vec4::new(0.0, 0.6, 0.8, 1.0);
    let (opaque, mask) = (AlphaMode::Opaque, AlphaMode::Mask(0.5));
    let expect = |found: Option<Vec3>, expected: Option<Vec3>| {
        let is_close = |(found, expected): (Vec3, Vec3)| (found - expected).length() < 0.005;
        let fits = found.is_some() == expected.is_some();
        assert!(
            fits && found.zip(expected).is_none_or(is_close),
            "{found:?}, not {expected:?}"
        );
    };
    expect(
        normal_of(
            Colored {
                value,
                alpha_mode: opaque,
            },
            0.0,
        ),
        Some(Vec3::Z),
    );
    let moved = Moved {
        value: Vec4::ZERO,
        alpha_mode: opaque,
    };
    expect(normal_of(moved, 0.0), Some(Vec3::Z));
    let holed = Holed {
        value,
        alpha_mode: mask,
    };
    expect(normal_of(holed.clone(), -0.3), Some(value.truncate()));
    expect(normal_of(holed, 0.3), None);
    expect(
        normal_of(
            Disabled {
                value,
                alpha_mode: opaque,
            },
            0.0,
        ),
        None,
    );
    expect(
        normal_of(
            Discarding {
                value,
                alpha_mode: mask,
            },
            -0.3,
        ),
        None,
    );
    expect(
        normal_of(
            SilentHoles {
                value,
                alpha_mode: mask,
            },
            -0.3,
        ),
        None,
    );
}

#[test]
#[ignore = "needs a device"]
fn materials_read_prepasses_by_bevys_names() {
    for msaa in [Msaa::Off, Msaa::Sample4] {
        let mut rig = Rig::with(32, 32, Quadrille3dPlugin::default());
        add_types(&mut rig.app);
        rig.start();
        let camera = rig.app.world_mut().spawn(eye(msaa)).id();
        let (opaque, blend) = (AlphaMode::Opaque, AlphaMode::Blend);
        // On the left half, 4 units before the far plane.
        let wall = Colored {
            value: Vec4::ONE,
            alpha_mode: opaque,
        };
        square(&mut rig, Vec3::new(-1.0, 0.0, -1.0), 2.0, wall);
        let reader = Reader {
            value: Vec4::ONE,
            alpha_mode: blend,
        };
        square(&mut rig, Vec3::ZERO, 1.0, reader);
        let read = |rig: &mut Rig| [rig.exactly(12, 16), rig.exactly(20, 16)];
        assert_eq!(read(&mut rig), [[0.0, 0.0, 0.0, 1.0]; 2], "no prepass");
        rig.app.world_mut().entity_mut(camera).insert(DepthPrepass);
        let [wall, nothing] = read(&mut rig);
        assert!((wall[0] - 0.5).abs() < 1e-3, "{wall:?}");
        assert_eq!((wall[2], nothing[0]), (0.0, 0.0));
        rig.app.world_mut().entity_mut(camera).insert(NormalPrepass);
        let [wall, nothing] = read(&mut rig);
        assert!((wall[0] - 0.5).abs() < 1e-3, "{wall:?}");
        assert!((wall[2] - 1.0).abs() < 0.005, "{wall:?}");
        assert_eq!(nothing, [0.0, 0.0, 0.0, 1.0]);
        // Without multisampling or with it, views read their own images.
        let other = (
            eye(msaa),
            Camera {
                order: 1,
                ..Camera::default()
            },
            NormalPrepass,
        );
        rig.app.world_mut().spawn(other);
        assert!((read(&mut rig)[0][2] - 1.0).abs() < 0.005);
    }
}

/// Motion in the middle of a square with a material that moves by a 64th of the picture to the right in each frame.
fn motion_of(material: impl Material, x: f32, more: impl Bundle) -> [f32; 2] {
    let mut rig = motion_rig(add_types);
    let camera = rig.app.world_mut().spawn(flat_camera()).id();
    rig.app.world_mut().entity_mut(camera).insert(more);
    let square = square(&mut rig, Vec3::new(x, 0.0, 0.0), 1.0, material);
    let by = Vec3::X / 32.0;
    let moving = Moving { by, turn: 0.0 };
    rig.app.world_mut().entity_mut(square).insert(moving);
    let [x, y, ..] = rig.exactly(16, 16);
    [x, y]
}

#[test]
#[ignore = "needs a device"]
fn materials_move_in_prepasses() {
    let (opaque, mask) = (AlphaMode::Opaque, AlphaMode::Mask(0.5));
    let value = Vec4::new(0.0, 0.6, 0.8, 1.0);
    let colored = Colored {
        value,
        alpha_mode: opaque,
    };
    let moved = Moved {
        value: Vec4::ZERO,
        alpha_mode: opaque,
    };
    let holed = Holed {
        value,
        alpha_mode: mask,
    };
    // Its prepass shader writes no motion.
    let silent = SilentHoles {
        value,
        alpha_mode: opaque,
    };
    for (number, found, expected) in [
        (0, motion_of(colored.clone(), 0.0, ()), 1.0 / 64.0),
        (1, motion_of(colored, 0.0, NormalPrepass), 1.0 / 64.0),
        (2, motion_of(moved.clone(), 0.0, ()), 1.0 / 64.0),
        (3, motion_of(moved, 0.0, NormalPrepass), 1.0 / 64.0),
        (4, motion_of(holed.clone(), -0.3, ()), 1.0 / 32.0),
        (5, motion_of(holed, -0.3, NormalPrepass), 1.0 / 32.0),
        (6, motion_of(silent, -0.3, ()), 0.0),
    ] {
        let error = (Vec2::from(found) - Vec2::new(expected, 0.0)).abs();
        assert!(
            error.max_element() < 1e-4,
            "{number}: {found:?}, not {expected}"
        );
    }
}
