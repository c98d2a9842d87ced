//! The deepest accepted shaders: drivers recurse over nested control flow and calls, with a limited stack.

use std::fmt::Write as _;

use quadrille_sync::access::Access;
use quadrille_sync::frame::Use;
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Rig, compute, discard};

/// Nested blocks, each of which begins with its number, with a statement in the innermost.
fn nested(count: usize, open: impl Fn(usize) -> String, inner: &str, close: &str) -> String {
    let opened: String = (0..count).map(open).collect();
    opened + inner + &close.repeat(count)
}

/// Functions that each call the previous one.
fn calls(count: usize) -> String {
    let mut text = "fn call0(x: u32) -> u32 { return x; }\n".to_owned();
    for at in 1..count {
        let before = at - 1;
        let _ = writeln!(
            text,
            "fn call{at}(x: u32) -> u32 {{ return call{before}(x) + 1u; }}"
        );
    }
    text
}

/// Names of shaders, what comes before their entry point, what is in it, and what is in the first cell
/// then. All cells are zero before.
fn shaders() -> [(&'static str, String, String, u32); 7] {
    let without = String::new;
    let open_if = |at: usize| {
        let [read, written] = [at % 8 + 1, at % 7 + 1];
        format!("if cells[{read}] < 1u {{ cells[{written}] *= 2u; ")
    };
    let open_loop = |at: usize| {
        let read = at % 8 + 1;
        format!("loop {{ if cells[{read}] > 0u {{ break; }} cells[{read}] *= 3u; ")
    };
    let open_switch = |at: usize| format!("switch cells[{}] {{ case 0: {{ ", at % 8 + 1);
    let branches = (0..63).map(|at| format!("else if x == {at}u {{ cells[0] = 7u; }}"));
    let branches = String::from_iter(branches);
    let cases = (0..78).map(|at| format!("case {at}: {{ cells[0] = {at}u; }} "));
    let cases = String::from_iter(cases);
    let set = "cells[0] = 7u;";
    let sum = format!("cells[0] = 7u{};", " + cells[1]".repeat(1000));
    [
        ("ifs", without(), nested(64, open_if, set, "}"), 7),
        (
            "loops",
            without(),
            nested(63, open_loop, set, " break; }"),
            7,
        ),
        (
            "switches",
            without(),
            nested(60, open_switch, set, "} default: {} }"),
            7,
        ),
        (
            "branches",
            without(),
            format!("let x = cells[1] + 62u; if x == 500u {{ }} {branches}"),
            7,
        ),
        (
            "cases",
            without(),
            format!("switch cells[1] + 77u {{ {cases} default: {{ }} }}"),
            77,
        ),
        ("sums", without(), sum, 7),
        (
            "calls",
            calls(250),
            "cells[0] = call249(cells[1]);".to_owned(),
            249,
        ),
    ]
}

#[test]
#[ignore = "needs a Vulkan device"]
fn the_deepest_shaders_compile_and_run() {
    let mut rig = Rig::new();
    for (name, before, inner, expected) in shaders() {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;\n{before}\
             @compute @workgroup_size(1) fn main() {{ {inner} }}"
        );
        // A thread with a small stack, like the task threads of an app.
        let gpu = rig.gpu.clone();
        let make = move || {
            let shader = GpuShader::wgsl(name, &source)?;
            let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader))?;
            pipeline.wait().map(|()| pipeline)
        };
        let thread = std::thread::Builder::new()
            .stack_size(256 << 10)
            .spawn(make);
        let pipeline = thread.unwrap().join().unwrap();
        let pipeline = pipeline.unwrap_or_else(|error| panic!("{name}: {error}"));
        let cells = rig.storage(name, 64);
        let back = rig.readback(64);
        rig.frame(|frame| {
            let uses = [discard(frame.resource(cells.clone()), Access::Clear)];
            frame.pass("clear", compute(), &uses, |list| {
                list.fill_buffer(&cells, 0, 64, 0)
            });
            let access = Access::StorageReadWriteCompute;
            let uses = [Use::whole(frame.resource(cells.clone()), access)];
            frame.pass(name, compute(), &uses, |list| {
                list.bind_compute(&pipeline);
                list.bind_buffer(0, &cells, 0, 0);
                list.dispatch([1, 1, 1]);
            });
            frame.read_back(&cells, &back);
        });
        assert_eq!(rig.words(&back)[0], expected, "{name}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn more_cases_than_a_driver_takes_are_an_error() {
    let rig = Rig::new();
    let cases = (0..300).map(|at| format!("case {at}: {{ cells[0] = {at}u; }} "));
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
         @compute @workgroup_size(1) fn main() {{
             switch cells[1] {{ {} default: {{ }} }}
         }}",
        String::from_iter(cases)
    );
    let shader = GpuShader::wgsl("cases", &source).unwrap();
    let made = rig
        .gpu
        .compute_pipeline(&ComputePipelineDesc::of("many cases", &shader));
    let made = made.and_then(|pipeline| pipeline.wait());
    match made {
        Ok(()) => assert!(!rig.gpu.info().software, "a driver in software would crash"),
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.contains("`many cases`") && text.contains("nested more than 78"),
                "{text}"
            );
        }
    }
}
