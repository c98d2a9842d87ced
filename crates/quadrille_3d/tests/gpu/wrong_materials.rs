//! Wrong shaders of materials: each is one message and the fallback color.

use quadrille_3d::prelude::*;

use crate::common::{Rig, log};

/// Bindings of all kinds, none of which the fallback reads.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Wrong {
    #[uniform(0)]
    color: Vec4,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
    #[texture(3, dimension = "cube")]
    sky: Option<Handle<Image>>,
    #[storage(4, read_only)]
    list: Handle<ShaderBuffer>,
    #[texture(5, sample_type = "depth")]
    #[sampler(6, sampler_type = "comparison")]
    depth: Option<Handle<Image>>,
}

const HANDLE: Handle<Shader> = bevy_asset::uuid_handle!("5d0fbb5e-6a3c-4a68-9d6e-8d8f5b0c1a77");

impl Material for Wrong {
    fn fragment_shader() -> ShaderRef {
        HANDLE.into()
    }
}

/// Declarations before a right entry point, with a part of the message.
const DECLARATIONS: [(&str, &str); 32] = [
    (
        "@group(3) @binding(7) var<uniform> more: f32;",
        "#[uniform(7)]",
    ),
    (
        "@group(3) @binding(7) var<storage> more: array<f32>;",
        "#[storage(7)]",
    ),
    (
        "@group(3) @binding(7) var more: texture_2d<f32>;",
        "#[texture(7)]",
    ),
    ("@group(3) @binding(7) var more: sampler;", "#[sampler(7)]"),
    (
        "@group(3) @binding(1) var<uniform> pattern: vec4f;",
        "a uniform at binding 1",
    ),
    (
        "@group(3) @binding(0) var color: texture_2d<f32>;",
        "where the material has a uniform (`color`)",
    ),
    (
        "@group(3) @binding(1) var pattern: sampler;",
        "a sampler at binding 1",
    ),
    (
        "@group(3) @binding(2) var pattern: texture_2d<f32>;",
        "where the material has a sampler",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_3d<f32>;",
        "`texture_3d<f32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_cube<f32>;",
        "`texture_cube<f32>`",
    ),
    (
        "@group(3) @binding(3) var sky: texture_2d<f32>;",
        "where the material has a texture `texture_cube<f32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_depth_2d;",
        "`texture_depth_2d`",
    ),
    (
        "@group(3) @binding(5) var depth: texture_2d<f32>;",
        "where the material has a texture `texture_depth_2d`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_2d<i32>;",
        "`texture_2d<i32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_2d<u32>;",
        "`texture_2d<u32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_multisampled_2d<f32>;",
        "`texture_multisampled_2d<f32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_2d_array<f32>;",
        "`texture_2d_array<f32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_1d<f32>;",
        "`texture_1d<f32>`",
    ),
    (
        "@group(3) @binding(1) var pattern: texture_storage_2d<rgba8unorm, read>;",
        "a storage texture `texture_storage_2d<.., read>`",
    ),
    (
        "@group(3) @binding(2) var pattern: sampler_comparison;",
        "a comparison sampler at binding 2",
    ),
    (
        "@group(3) @binding(6) var depth: sampler;",
        "where the material has a comparison sampler",
    ),
    (
        "@group(3) @binding(0) var<storage> color: array<f32>;",
        "a storage buffer at binding 0",
    ),
    (
        "@group(3) @binding(4) var<storage, read_write> list: array<f32>;",
        "Remove `read_only`",
    ),
    (
        "@group(3) @binding(4) var<uniform> list: vec4f;",
        "where the material has a storage buffer",
    ),
    (
        "@group(3) @binding(0) var<workgroup> color: vec4f;",
        "is nothing that a material has",
    ),
    (
        "@group(3) @binding(1) var pattern: mat4x4f;",
        "is nothing that a material has",
    ),
    (
        "@group(3) @binding(0) var<uniform> a: vec4f; @group(3) @binding(0) var<uniform> b: vec4f;",
        "two variables at binding 0: `a` and `b`",
    ),
    (
        "@group(3) var<uniform> color: vec4f;",
        "`color` has no number",
    ),
    ("@group(3) @binding(0) var<uniform>", "does not end"),
    (
        "@group(3) @binding(1) var pattern: texture_2d<f32>; fn f() { let pattern = 1; }",
        "`pattern` has two meanings",
    ),
    (
        "@vertex fn vertex() {} @fragment fn other() -> @location(0) vec4f { return vec4f(); }",
        "position",
    ),
    (
        "fn f() -> f32 { return g(); } fn g() -> f32 { return f(); }",
        "declaration of `f` is cyclic",
    ),
];

/// Whole shaders, with a part of the message.
const SHADERS: [(&str, &str); 26] = [
    ("", "no entry point"),
    ("fn fragment() {}", "no entry point"),
    (
        "@fragment fn fragment() -> @location(0) vec3f { return vec3f(); }",
        "returns no `@location(0) vec4f`",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4u { return vec4u(); }",
        "returns no `@location(0) vec4f`",
    ),
    (
        "@fragment fn fragment() -> @location(1) vec4f { return vec4f(); }",
        "returns no `@location(0) vec4f`",
    ),
    (
        "@fragment fn fragment mesh() -> @location(0) vec4f {}",
        "without parameters or body",
    ),
    ("@fragment fn fragment()", "without parameters or body"),
    (
        "@fragment fn a() -> @location(0) vec4f { return vec4f(); }
         @fragment fn b() -> @location(0) vec4f { return vec4f(); }",
        "several entry points",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4f { return missing(); }",
        "missing",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4f { return vec4f(nothing); }",
        "nothing",
    ),
    (
        "@fragment fn fragment(in: Missing) -> @location(0) vec4f { return vec4f(); }",
        "Missing",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4f { return 1u; }",
        "wrong.wgsl:1",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4f { return vec4f(1.0) }",
        "wrong.wgsl:1",
    ),
    (
        "@fragment fn fragment() -> @location(0) vec4f { return vec4f(1.0);",
        "wrong.wgsl",
    ),
    (
        "import super::missing::f; @fragment fn fragment() -> @location(0) vec4f { return f(); }",
        "missing",
    ),
    (
        "import quadrille_3d::scene::camra; @fragment fn fragment() -> @location(0) vec4f { return camra; }",
        "did you mean `camera`",
    ),
    (
        "import bevy_pbr::deferred::functions::pack; @fragment fn fragment() -> @location(0) vec4f { return pack(); }",
        "`functions::deferred_output` exists",
    ),
    (
        "import bevy_pbr::render::mesh_bindings::mesh; @fragment fn fragment() -> @location(0) vec4f { return mesh[0]; }",
        "call functions of `bevy_pbr::render::mesh_functions`",
    ),
    (
        "#import bevy_pbr::forward_io\n@fragment fn fragment() -> @location(0) vec4f { return vec4f(); }",
        "wrong.wgsl:1",
    ),
    (
        "@else fn f() {} @fragment fn fragment() -> @location(0) vec4f { return vec4f(); }",
        "follows no `@if`",
    ),
    (
        "@fragment fn fragment() -> @location(constants::FIRST) vec4f { return vec4f(); }",
        "FIRST",
    ),
    (
        "@fragment fn fragment(@location(9) more: vec4f) -> @location(0) vec4f { return more; }",
        "9",
    ),
    (
        "@group(0) @binding(28) var<storage> mine: array<vec4f>;
         @fragment fn fragment() -> @location(0) vec4f { return mine[0]; }",
        "reads `mine`, which meshes are not drawn with",
    ),
    (
        "@group(3) @binding(0) var<uniform> color: mat4x4f;
         @fragment fn fragment() -> @location(0) vec4f { return color[0]; }",
        "has 16 bytes (`color`), and wrong.wgsl reads 64",
    ),
    (
        "@fragment fn fragment(@builtin(nothing) it: u32) -> @location(0) vec4f { return vec4f(); }",
        "wrong.wgsl:1",
    ),
    (
        "@fragment fn fragment(@builtin(vertex_index) it: u32) -> @location(0) vec4f { return vec4f(); }",
        "wrong.wgsl",
    ),
];

#[test]
#[ignore = "needs a device"]
fn wrong_material_shaders_are_one_message_and_magenta() {
    log::collect();
    let mut rig = Rig::with(
        8,
        8,
        (
            Quadrille3dPlugin::default(),
            MaterialPlugin::<Wrong>::default(),
        ),
    );
    rig.start();
    let world = rig.app.world_mut();
    world.spawn((
        Camera3d::default(),
        Msaa::Off,
        Tonemapping::None,
        Transform::from_xyz(0.0, 0.0, 1.0),
    ));
    let mesh = world.resource_mut::<Assets<Mesh>>();
    let mesh = mesh.into_inner().add(Rectangle::new(9.0, 9.0));
    let list = world
        .resource_mut::<Assets<ShaderBuffer>>()
        .add(ShaderBuffer::from([Vec4::ONE; 4]));
    let material = world.resource_mut::<Assets<Wrong>>().add(Wrong {
        color: Vec4::ONE,
        pattern: None,
        sky: None,
        list,
        depth: None,
    });
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material)));
    let entry = "@fragment fn fragment() -> @location(0) vec4f { return vec4f(1.0); }";
    let declared = DECLARATIONS.map(|(text, part)| (format!("{text} {entry}"), part));
    let whole = SHADERS.map(|(text, part)| (text.to_owned(), part));
    let mut unexpected = Vec::new();
    for (source, part) in declared.into_iter().chain(whole) {
        let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
        shaders
            .insert(HANDLE.id(), Shader::from_wgsl(source.clone(), "wrong.wgsl"))
            .expect("the handle is free");
        let color = rig.picture().at(4, 4);
        let lines = log::take();
        let is_expected =
            matches!(&lines[..], [line] if line.contains("`Wrong`") && line.contains(part));
        if color != [255, 0, 255, 255] || !is_expected {
            unexpected.push(format!("{source}\n{part}\n{color:?} {lines:#?}"));
        }
    }
    let count = unexpected.len();
    assert!(
        unexpected.is_empty(),
        "{count}: {}",
        unexpected.join("\n\n")
    );
    // The right one is drawn at last.
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    shaders
        .insert(HANDLE.id(), Shader::from_wgsl(entry, "wrong.wgsl"))
        .expect("the handle is known");
    assert_eq!(rig.picture().at(4, 4), [255; 4]);
    assert!(log::take().is_empty());
}
