//! Tests that pushed values have the memory layout that naga computes for the shader's variable.

use encase::ShaderType;
use glam::{Mat3, UVec2, Vec2, Vec3};
use quadrille_vulkan::shader::GpuShader;

use super::{Members as _, ShaderValue, write};

#[derive(ShaderType)]
struct Inner {
    weight: f32,
    place: Vec2,
}

#[derive(ShaderType)]
struct Params {
    a: Vec3,
    b: Vec3,
    c: f32,
    d: UVec2,
    e: Inner,
    f: Mat3,
    h: f32,
}

#[derive(ShaderType)]
struct Pair {
    a: Vec3,
    b: Vec3,
}

/// Size in bytes of the push constants of a shader with these structs, of which the last one is pushed.
fn shader_bytes(structs: &str, last: &str) -> u64 {
    shader(structs, last).entry_points()[0]
        .push_constant_bytes
        .into()
}

fn shader(structs: &str, last: &str) -> GpuShader {
    let source = format!(
        "{structs} var<immediate> it: {last};
         @group(0) @binding(0) var<storage, read_write> to: array<{last}>;
         @compute @workgroup_size(1) fn main() {{ to[0] = it; }}"
    );
    GpuShader::wgsl("layout", &source).expect("it is valid")
}

fn bytes_of<T: ShaderValue>(value: &T) -> Vec<u8> {
    let mut bytes = vec![0; value.size().get() as usize];
    write(value, &mut bytes);
    bytes
}

fn float(bytes: &[u8], at: usize) -> f32 {
    f32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

#[test]
fn structs_have_the_size_that_the_shader_has() {
    let structs = "struct Pair { a: vec3f, b: vec3f }";
    assert_eq!(shader_bytes(structs, "Pair"), Pair::min_size().get());
    let structs = "struct Inner { weight: f32, place: vec2f }
                   struct Params { a: vec3f, b: vec3f, c: f32, d: vec2u, e: Inner, f: mat3x3f, h: f32 }";
    assert_eq!(shader_bytes(structs, "Params"), Params::min_size().get());
}

/// Members of a value are written at the offsets that WGSL requires.
#[test]
fn members_are_where_the_shader_has_them() {
    let inner = Inner {
        weight: 1.0,
        place: Vec2::new(2.0, 3.0),
    };
    let params = Params {
        a: Vec3::X,
        b: Vec3::Y,
        c: 4.0,
        d: UVec2::new(5, 6),
        e: inner,
        f: Mat3::IDENTITY,
        h: 7.0,
    };
    let bytes = bytes_of(&params);
    // Columns of a matrix have a stride of 16 bytes.
    let places = [
        (0, 1.0),
        (20, 1.0),
        (28, 4.0),
        (40, 1.0),
        (48, 2.0),
        (52, 3.0),
        (64, 1.0),
        (84, 1.0),
        (104, 1.0),
        (112, 7.0),
    ];
    for (at, value) in places {
        assert_eq!(float(&bytes, at), value, "at {at}");
    }
    assert_eq!(&bytes[32..36], &5_u32.to_ne_bytes());
}

#[test]
fn vec3_members_are_padded_to_16_bytes() {
    let [a, b] = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)];
    let bytes = bytes_of(&Pair { a, b });
    let all: Vec<f32> = (0..8).map(|at| float(&bytes, 4 * at)).collect();
    assert_eq!(all, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
}

/// Whether a value is rejected by a shader with these structs, of which the last one is pushed.
fn is_refused<T: ShaderValue>(structs: &str, last: &str) -> bool {
    let shader = shader(structs, last);
    let metadata = T::METADATA;
    let layout = &shader.entry_points()[0].push_layout;
    layout.contradicts(metadata.extra.offsets())
}

#[derive(ShaderType)]
struct Packed {
    a: [f32; 3],
    b: [f32; 3],
    c: [f32; 2],
}

#[derive(ShaderType)]
struct Padded {
    a: [f32; 3],
    rest: f32,
    b: [f32; 3],
    end: f32,
}

#[derive(ShaderType)]
struct Swapped {
    strength: f32,
    place: [f32; 3],
}

#[derive(ShaderType)]
struct Flat {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

#[derive(ShaderType)]
struct Nested {
    first: Pair,
    rest: Vec3,
}

#[test]
fn a_struct_of_the_right_size_with_other_members_is_refused() {
    let pair = "struct Pair { a: vec3f, b: vec3f }";
    assert_eq!(shader_bytes(pair, "Pair"), Packed::min_size().get());
    assert!(is_refused::<Packed>(pair, "Pair"));
    let weight = "struct Weight { place: vec3f, strength: f32 }";
    assert!(is_refused::<Swapped>(weight, "Weight"));
}

#[test]
fn matching_layouts_are_accepted() {
    let pair = "struct Pair { a: vec3f, b: vec3f }";
    assert!(!is_refused::<Pair>(pair, "Pair"));
    assert!(!is_refused::<Padded>(pair, "Pair"), "padding is a member");
    assert!(!is_refused::<[f32; 8]>(pair, "Pair"), "numbers alone");
    assert!(!is_refused::<Pair>("", "mat2x4f"), "columns");
    assert!(!is_refused::<Mat3>(
        "struct Axes { x: vec3f, y: vec3f, z: vec3f }",
        "Axes"
    ));
    assert!(
        !is_refused::<Flat>("", "vec4f"),
        "the components of a vector"
    );
    assert!(!is_refused::<Flat>(
        "struct Two { a: vec2f, b: vec2f }",
        "Two"
    ));
    let flat = "struct Flat { a: vec3f, b: vec3f, rest: vec3f }";
    assert!(!is_refused::<Nested>(flat, "Flat"), "nested in Rust alone");
    let nested = "struct Pair { a: vec3f, b: vec3f } struct Nested { first: Pair, rest: vec3f }";
    assert!(!is_refused::<Nested>(nested, "Nested"));
    let params = "struct Inner { weight: f32, place: vec2f }
                  struct Params { a: vec3f, b: vec3f, c: f32, d: vec2u, e: Inner, f: mat3x3f, h: f32 }";
    assert!(!is_refused::<Params>(params, "Params"));
}
