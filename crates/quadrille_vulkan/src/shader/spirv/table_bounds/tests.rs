use super::{ACCESS_CHAIN, EXT_INST, for_tables};
use crate::shader::spirv::{check, instructions};
use crate::shader::{GpuShader, Members, TableKind};

const SHADER: &str = "
enable wgpu_binding_array;
struct Row { values: array<f32> }
@group(0) @binding(0) var<storage, read_write> cells: array<f32>;
@group(1) @binding(0) var samplers: binding_array<sampler, 4>;
@group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
@group(2) @binding(0) var<storage, read> rows: binding_array<Row>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let at = vec2f(0.5);
    cells[id.x] = textureSampleLevel(textures[id.x], samplers[id.y], at, 0.0).x;
    cells[id.x] += rows[i32(id.z)].values[3];
}
";

fn clamps(words: &[u32]) -> usize {
    instructions(words)
        .filter(|(op, _)| *op == EXT_INST)
        .count()
}

#[test]
fn each_use_of_a_table_is_clamped() {
    let shader = GpuShader::wgsl("tables", SHADER).unwrap();
    let before = clamps(shader.words());
    let restricted = for_tables(shader.words(), true);
    check("restricted", &restricted).unwrap();
    assert_eq!(clamps(&restricted), before + 3);
    let chains = |words: &[u32]| {
        instructions(words)
            .filter(|(op, _)| *op == ACCESS_CHAIN)
            .count()
    };
    assert_eq!(
        chains(&restricted),
        chains(shader.words()) + 2,
        "the samplers' is a constant"
    );
}

#[test]
fn bindings_of_tables_move() {
    let shader = GpuShader::wgsl("tables", SHADER).unwrap();
    let unchecked = for_tables(shader.words(), false);
    assert_eq!(unchecked.len(), shader.words().len());
    let moved = GpuShader::spirv("moved", &unchecked);
    // Reflection rejects images at their shifted binding, and the error names the binding.
    let error = moved.expect_err("it is for devices alone").to_string();
    assert!(
        error.contains("tables") || error.contains("binding"),
        "{error}"
    );
    let tables = &shader.entry_points()[0].tables;
    let is_buffers = |kind: TableKind| kind.members() == Members::Buffers;
    assert!(tables.iter().any(|it| is_buffers(it.kind)));
}

#[test]
fn modules_without_tables_stay_as_they_are() {
    let source = "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
        @compute @workgroup_size(1) fn main() { cells[1] = cells[2]; }";
    let shader = GpuShader::wgsl("plain", source).unwrap();
    assert_eq!(for_tables(shader.words(), true), shader.words());
}
