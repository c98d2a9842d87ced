use std::fmt::Write as _;

use super::{MAX_BRANCHES, MAX_CHAINED_OPERATORS, MAX_DECLARATIONS, MAX_NESTED, MAX_TYPES, check};
use crate::deep_stack;
use crate::error::ShaderError;
use crate::shader::GpuShader;

/// Generator of a shader by size, and the largest size within the limits.
type Construct = (&'static str, fn(usize) -> String, usize);

fn body(text: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> cells: array<f32>;\n\
         @compute @workgroup_size(1) fn main() {{\n    {text}\n}}\n"
    )
}

fn value(text: &str) -> String {
    body(&format!("cells[0] = {text};"))
}

fn around(open: &str, inner: &str, close: &str, count: usize) -> String {
    format!("{}{inner}{}", open.repeat(count), close.repeat(count))
}

/// Chain of declarations: `first`, then one per number that names the previous one.
fn row(count: usize, first: &str, next: impl Fn(usize, usize) -> String, last: &str) -> String {
    let mut text = format!("{first}\n");
    for at in 1..count {
        let _ = writeln!(text, "{}", next(at, at - 1));
    }
    let use_of_last = last.replace('#', &(count - 1).to_string());
    text + &value(&use_of_last)
}

const CONSTRUCTS: [Construct; 21] = [
    (
        "sums",
        |n| value(&format!("cells[1]{}", " + cells[1]".repeat(n / 2 - 4))),
        MAX_CHAINED_OPERATORS,
    ),
    (
        "constant sums",
        |n| value(&format!("1.0{}", "+1.0".repeat(n - 4))),
        MAX_CHAINED_OPERATORS,
    ),
    (
        "comparisons",
        |n| {
            value(&format!(
                "f32(true{})",
                " && (cells[1] < 1.0)".repeat(n / 2 - 4)
            ))
        },
        MAX_CHAINED_OPERATORS,
    ),
    (
        "indices",
        |n| {
            body(&format!(
                "var deep: {}; cells[0] = deep{};",
                around("array<", "f32", ", 1>", n),
                "[0]".repeat(n)
            ))
        },
        60,
    ),
    (
        "swizzles",
        |n| value(&format!("vec4f(cells[1]){}.x", ".xyzw".repeat(n - 5))),
        MAX_CHAINED_OPERATORS,
    ),
    (
        "parentheses",
        |n| value(&around("(", "cells[1]", ")", n - 4)),
        MAX_NESTED,
    ),
    (
        "negations",
        |n| value(&format!("{}cells[1]", "- ".repeat(n - 5))),
        MAX_NESTED,
    ),
    (
        "nots",
        |n| value(&format!("f32({}(cells[1] < 1.0))", "!".repeat(n - 6))),
        MAX_NESTED,
    ),
    (
        "calls",
        |n| value(&around("abs(", "cells[1]", ")", n - 4)),
        MAX_NESTED,
    ),
    (
        "index expressions",
        |n| value(&around("cells[u32(", "1.0", ")]", n / 2 - 4)),
        MAX_NESTED,
    ),
    (
        "blocks",
        |n| body(&around("{", "cells[0] = 1.0;", "}", n - 3)),
        MAX_NESTED,
    ),
    (
        "ifs",
        |n| body(&around("if cells[1] < 1.0 {", "cells[0] = 1.0;", "}", n)),
        MAX_BRANCHES,
    ),
    (
        "loops",
        |n| {
            body(&around(
                "loop { if cells[1] < 1.0 { break; }",
                "",
                "}",
                n - 1,
            ))
        },
        MAX_BRANCHES,
    ),
    (
        "switches",
        |n| {
            body(&around(
                "switch u32(cells[1]) { case 1: {",
                "cells[0] = 1.0;",
                "} default: {} }",
                n - 4,
            ))
        },
        MAX_BRANCHES,
    ),
    (
        "branches",
        |n| {
            body(&format!(
                "if cells[0] < 1.0 {{ }} {}",
                "else if cells[1] < 1.0 { cells[0] = 1.0; }".repeat(n - 1)
            ))
        },
        MAX_BRANCHES,
    ),
    (
        "functions",
        |n| {
            row(
                n,
                "fn call0(x: f32) -> f32 { return x; }",
                |at, last| format!("fn call{at}(x: f32) -> f32 {{ return call{last}(x); }}"),
                "call#(1.0)",
            )
        },
        MAX_DECLARATIONS - 2,
    ),
    (
        "branches in calls",
        |n| {
            row(
                n + 1,
                "fn call0(x: f32) -> f32 { return x; }",
                |at, last| {
                    format!(
                        "fn call{at}(x: f32) -> f32 {{ if x < 1.0 {{ return call{last}(x); }} return x; }}"
                    )
                },
                "call#(1.0)",
            )
        },
        MAX_BRANCHES,
    ),
    (
        "constants",
        |n| {
            row(
                n,
                "const c0 = 1.0;",
                |at, last| format!("const c{at} = c{last} + 1.0;"),
                "c#",
            )
        },
        MAX_DECLARATIONS - 2,
    ),
    (
        "types in types",
        |n| {
            body(&format!(
                "var deep: {};",
                around("array<", "f32", ", 1>", n)
            ))
        },
        MAX_TYPES - 1,
    ),
    (
        "aliases",
        |n| {
            row(
                n,
                "alias A0 = array<f32, 1>;",
                |at, last| format!("alias A{at} = array<A{last}, 1>;"),
                "1.0; var deep: A#; cells[1] = f32(arrayLength(&cells))",
            )
        },
        MAX_TYPES - 1,
    ),
    (
        "structures",
        |n| {
            row(
                n,
                "struct S0 { x: f32 }",
                |at, last| format!("struct S{at} {{ x: S{last} }}"),
                "1.0; var s: S#; cells[1] = f32(arrayLength(&cells))",
            )
        },
        64,
    ),
];

/// Parses a shader on a thread with a fraction of the stack for shaders.
fn translated(source: String, share: usize) -> Result<(), String> {
    let thread = std::thread::Builder::new()
        .stack_size(deep_stack::STACK_BYTES / share)
        .spawn(move || {
            deep_stack::begin();
            GpuShader::wgsl("deep", &source).map(|_| ())
        });
    let result = thread.unwrap().join().expect("it does not panic");
    result.map_err(|error| match error {
        ShaderError::Source {
            line,
            column,
            message,
            ..
        } if line > 0 => {
            format!("{line}:{column}: {message}")
        }
        other => format!("without a place: {other}"),
    })
}

#[test]
fn the_deepest_shaders_fit_a_quarter_of_the_stack() {
    for (name, source, most) in CONSTRUCTS {
        let result = translated(source(most), 4);
        assert_eq!(result, Ok(()), "{name}");
    }
}

#[test]
fn deeper_shaders_are_errors_with_a_place() {
    for (name, source, most) in CONSTRUCTS {
        for size in [most + most / 8 + 8, 20_000] {
            let message = translated(source(size), 1).expect_err(name);
            assert!(message.contains("limit of"), "{name} of {size}: {message}");
            assert!(
                !message.starts_with("without"),
                "{name} of {size}: {message}"
            );
        }
    }
}

#[test]
fn the_place_is_that_of_the_token_too_many() {
    let source = format!(
        "fn f() -> f32 {{\n  return 1.0{};\n}}",
        " + 1.0".repeat(MAX_CHAINED_OPERATORS + 5)
    );
    let spanned = check(&source).expect_err("it is too long");
    assert_eq!(&source[spanned.at.clone()], "+");
    assert_eq!(
        spanned.at.start,
        source.find("1.0").unwrap() + 4 + 6 * MAX_CHAINED_OPERATORS
    );
}

#[test]
fn many_small_things_are_not_deep() {
    let list = "1.0 + 2.0, ".repeat(10_000);
    let statements = "x = -x * (x + 1.0) - f(x, g(x)); if x < 1.0 { x += 1.0; } ".repeat(5_000);
    let parameters = "@location(0) a: vec4<f32>, ".repeat(200);
    let types = "struct T { x: f32 } fn t(x: T) -> T { return x; } ";
    let types: Vec<_> = (0..500)
        .map(|at| {
            types
                .replace('T', &format!("T{at}"))
                .replace("t(", &format!("t{at}("))
        })
        .map(|it| format!("{it} const C = T499(1.0);"))
        .collect();
    assert!(check(&types.concat()).is_ok());
    let source = format!(
        "const TABLE = array({list}1.0);\nfn h({parameters}) {{ var x = TABLE[0]; {statements} }}"
    );
    assert!(check(&source).is_ok());
}

#[test]
fn circles_of_declarations_end() {
    let count = MAX_DECLARATIONS + 100;
    let mut source = String::new();
    for at in 0..count {
        let _ = writeln!(source, "fn f{at}() {{ f{}(); }}", (at + 1) % count);
    }
    assert!(check(&source).is_err());
}
