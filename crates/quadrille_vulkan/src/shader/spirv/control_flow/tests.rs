use super::control_flow_depth;
use crate::shader::GpuShader;

fn depth(before: &str, inner: &str) -> usize {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;\n{before}\n\
         @compute @workgroup_size(1) fn main() {{ {inner} }}"
    );
    let shader = GpuShader::wgsl("nested", &source).unwrap();
    control_flow_depth(shader.words(), 1000)
}

#[test]
fn selections_and_loops_count_together() {
    assert_eq!(depth("", "cells[0] = 1u;"), 0);
    let one_behind_another =
        "if cells[0] > 1u { cells[1] = 2u; } if cells[1] > 1u { cells[2] = 3u; }";
    assert_eq!(depth("", one_behind_another), 1);
    let within = "if cells[0] > 1u { loop { if cells[1] > 1u { break; } cells[1] += 1u; } }";
    assert_eq!(depth("", within), 3);
}

#[test]
fn each_case_of_a_switch_counts() {
    let cases: String = (0..10)
        .map(|at| format!("case {at}: {{ cells[0] = {at}u; }} "))
        .collect();
    assert_eq!(
        depth("", &format!("switch cells[1] {{ {cases} default: {{ }} }}")),
        10
    );
}

#[test]
fn called_functions_count_where_they_are_called() {
    let function = "fn f() { if cells[1] > 1u { cells[2] = 2u; } }";
    assert_eq!(depth(function, "if cells[0] > 1u { f(); } f();"), 2);
}

#[test]
fn functions_that_call_themselves_end() {
    // OpFunction 2, OpLabel 3, OpSelectionMerge 4, OpFunctionCall of 2: a recursive call, so an invalid module.
    let words = [
        0,
        0,
        0,
        0,
        0,
        5 << 16 | 54,
        1,
        2,
        0,
        9,
        2 << 16 | 248,
        3,
        3 << 16 | 247,
        4,
        0,
    ];
    let call = [4 << 16 | 57, 1, 5, 2];
    assert!(control_flow_depth(&[&words[..], &call[..]].concat(), 50) > 50);
}
