use ash::vk::Format;

use super::{Stages, check_inputs};
use crate::pipeline::graphics_code::Loaded;
use crate::pipeline::state::VertexLayout;
use crate::shader::GpuShader;

/// Checks a pipeline with vertex format `format` for a vertex input of type `attribute`, and a vertex output of type
/// `out` for a fragment input of type `into`.
fn check(format: Format, attribute: &str, out: &str, into: &str) -> Result<(), String> {
    let source = format!(
        "struct Out {{ @builtin(position) at: vec4<f32>, @location(2) @interpolate(flat) out: {out} }}
         @vertex fn corner(@location(0) given: {attribute}) -> Out {{ var it: Out; return it; }}
         @fragment fn paint(@location(2) @interpolate(flat) into: {into}) -> @location(0) vec4<f32> {{
             return vec4<f32>(f32(into{first}));
         }}",
        first = if into.starts_with("vec") { ".x" } else { "" },
    );
    let shader = GpuShader::wgsl("test", &source).unwrap_or_else(|error| panic!("{error}"));
    let shaders = Loaded {
        vertex: shader.clone(),
        fragment: Some(shader),
    };
    let stages = Stages::find(&shaders, ["", ""]).expect("there are two");
    let layout = VertexLayout::packed(0, &[format]);
    check_inputs("pipeline", &[layout], &stages).map_err(|error| error.to_string())
}

const POSITIONS: Format = Format::R32G32_SFLOAT;

#[test]
fn types_that_fit() {
    check(POSITIONS, "vec2<f32>", "f32", "f32").expect("they are the same");
    check(POSITIONS, "vec4<f32>", "vec4<i32>", "vec2<i32>").expect("it has less of it");
    check(Format::R8G8B8A8_UNORM, "vec4<f32>", "u32", "u32").expect("normalised is a float");
    check(Format::R16_UINT, "u32", "u32", "u32").expect("any width");
}

#[test]
fn stages_that_do_not_fit_are_both_named_with_their_types() {
    for (out, into) in [
        ("f32", "u32"),
        ("i32", "u32"),
        ("vec2<f32>", "vec3<f32>"),
        ("f32", "vec2<f32>"),
    ] {
        let error = check(POSITIONS, "vec2<f32>", out, into).expect_err("they do not fit");
        let reported =
            format!("paint reads @location(2) {into}, which corner writes as @location(2) {out}");
        assert!(error.contains(&reported), "{error}");
    }
}

#[test]
fn attributes_of_another_kind_are_named_with_their_format() {
    let error = check(POSITIONS, "vec2<u32>", "f32", "f32").expect_err("it has floats");
    let reported =
        "corner reads @location(0) vec2<u32>, which vertex buffers have as R32G32_SFLOAT";
    assert!(error.contains(reported), "{error}");
    check(Format::R32_SINT, "u32", "f32", "f32").expect_err("the sign counts");
}
