use super::ValueLayout;
use crate::shader::GpuShader;

/// Whether a written value contradicts a variable of this type, reflected from WGSL and from SPIR-V.
fn contradicts(structs: &str, ty: &str, read: &str, [bytes, stride]: [u64; 2], at: &[u64]) -> bool {
    let source = format!(
        "{structs}
         @group(0) @binding(0) var<storage, read> given: {ty};
         @group(0) @binding(1) var<storage, read_write> to: f32;
         @compute @workgroup_size(1) fn main() {{ to = {read}; }}"
    );
    let of_wgsl = GpuShader::wgsl("given.wgsl", &source).unwrap();
    let of_spirv = GpuShader::spirv("given.spv", of_wgsl.words()).unwrap();
    let value = ValueLayout {
        name: "Value",
        starts: at.iter().fold(0, |all, at| all | 1 << (at / 4)),
        bytes,
        stride: (stride > 0).then_some(stride),
    };
    let [a, b] = [of_wgsl, of_spirv].map(|shader| {
        let binding = &shader.entry_points()[0].bindings[0];
        binding.layout.contradicts_written(&value)
    });
    assert_eq!(a, b, "{ty}: WGSL and SPIR-V");
    a
}

#[test]
fn members_of_structs_and_elements_are_compared() {
    let pair = "struct Pair { a: vec3f, b: vec3f }";
    let one = |at: &[u64]| contradicts(pair, "Pair", "given.b.x", [32, 0], at);
    assert!(one(&[0, 12, 24]));
    assert!(!one(&[0, 16]));
    assert!(!one(&[0, 12, 16, 28]), "padding is a member");
    let many = |at: &[u64]| contradicts(pair, "array<Pair>", "given[1].b.x", [32, 32], at);
    assert!(many(&[0, 12, 24]));
    assert!(!many(&[0, 16]));
}

#[test]
fn elements_of_arrays_follow_each_other_as_in_the_shader() {
    let vectors = |stride| contradicts("", "array<vec3f>", "given[1].x", [stride, stride], &[0]);
    assert!(vectors(12), "three numbers are no vector");
    assert!(!vectors(16));
    assert!(!vectors(4), "numbers alone");
    assert!(!vectors(32), "two of them");
    let numbers = |stride| contradicts("", "array<f32>", "given[1]", [stride, stride], &[0]);
    assert!(!numbers(4) && !numbers(12));
}

#[test]
fn an_array_behind_a_head_is_compared_as_far_as_it_is_written() {
    let list = "struct Item { place: vec3f, size: f32 }
                struct List { count: u32, items: array<Item> }";
    let written =
        |bytes, at: &[u64]| contradicts(list, "List", "given.items[1].size", [bytes, 0], at);
    assert!(!written(4, &[0]), "the head alone");
    assert!(!written(48, &[0, 16, 28, 32, 44]));
    assert!(written(36, &[0, 4, 20]), "items right behind the head");
}
