//! Compiler messages for mistakes in the types of passes.
#![allow(unexpected_cfgs, reason = "the test sets one that cargo does not know")]

// Where the derives look for this crate.
#[cfg(wrong_programs)]
extern crate quadrille_ecs as quadrille;

#[cfg(wrong_programs)]
#[path = "compile/wrong.rs"]
mod wrong;

use std::process::Command;

/// Per program in `wrong.rs` the message, the label at the mistake, and a note.
const EXPECTED_ERRORS: [[&str; 3]; 20] = [
    [
        "GpuBuffer` is no declared access",
        "a parameter such as `StorageRead<Cells>` is expected here, by reference",
        "what a pass binds, draws to or copies it declares as a parameter of its system; a `GpuBuffer` or \
         `GpuImage` itself is no key to it",
    ],
    [
        "`u32` is neither a buffer nor an image",
        "`GpuBuffer`, `GpuImage` or `Handle` is expected here",
        "a bevy resource names one for passes by dereferencing to it: `#[derive(Resource, Deref)] struct \
         Cells(GpuBuffer);`",
    ],
    // Where a trait of Rust is what is lacking, the compiler speaks.
    [
        "the trait bound `Plain: Deref` is not satisfied",
        "the trait `Deref` is not implemented for `Plain`",
        "required for `Plain` to implement `quadrille::Named`",
    ],
    [
        "`Positions` names no history",
        "a type that implements `History` is expected here",
        "`enum Positions {}` and `impl History for Positions { type Handle = GpuBuffer; }`",
    ],
    [
        "is no color target",
        "a `ColorTarget<..>` parameter is expected here",
        "",
    ],
    [
        "`u32` stands for no shader stages",
        "a type of `stage`, such as `stage::Fragment`, is expected here",
        "",
    ],
    [
        "`Light` has no layout that shaders know",
        "or a struct that derives `ShaderType` is expected here",
        "`#[derive(ShaderType)]` lays a struct out as WGSL does",
    ],
    [
        "`u32` is no kind of access",
        "a type of `access_kind`, such as `access_kind::Sampled`, is expected here",
        "",
    ],
    [
        "does not say what becomes of its old contents",
        "an attachment is expected here, such as `window.clear([0.0; 4])`, `window.keep()` or",
        "several are an array of colors, with depth behind it in a pair",
    ],
    [
        "access_kind::ColorTarget>, Attachment)` does not say",
        "an attachment is expected here",
        "",
    ],
    [
        "two fields are bound to \"cells\"; give each a binding of its own",
        "",
        "",
    ],
    [
        "`u32` cannot be bound",
        "an access such as `StorageRead<'w, Cells>`, a `Table`, a `&Sampler`, or a `Res` of a resource",
        "",
    ],
    [
        "two bindings have the number 0; give each a number of its own",
        "#[texture(0)]",
        "",
    ],
    [
        "unknown option; there are: dimension, sample_type",
        "dimensions = \"2d\"",
        "",
    ],
    [
        "unknown dimension; there are: \"1d\", \"2d\"",
        "dimension = \"4d\"",
        "",
    ],
    [
        "Vec<f32>` is no buffer of a material",
        "a field with `#[storage]` is a `Handle<ShaderBuffer>`, or with `buffer` a `GpuBuffer`",
        "",
    ],
    [
        "unknown shader stage; there are: all, none, vertex, fragment, compute",
        "visibility(pixel)",
        "",
    ],
    [
        "`f32` is no image of a material",
        "a field with `#[texture]` or `#[sampler]` is a `Handle<Image>` or an `Option<Handle<Image>>`",
        "",
    ],
    [
        "the number of the binding is expected here, as in `#[uniform(0)]`",
        "#[uniform(first)]",
        "",
    ],
    [
        "a material has named fields: give each a name",
        "struct Unnamed",
        "",
    ],
];

/// The errors of the compiler in this test with the wrong programs in it.
fn errors() -> Vec<String> {
    // The dependencies of the test are compiled already, so this takes a second or two.
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--package", "quadrille_ecs", "--test", "compile"])
        .args(["--message-format", "json", "--", "--cfg", "wrong_programs"])
        .output()
        .expect("cargo can be started");
    assert!(!output.status.success(), "the programs are wrong");
    let lines = String::from_utf8_lossy(&output.stdout);
    let parse = |line| serde_json::from_str::<serde_json::Value>(line).ok();
    let messages = lines.lines().filter_map(parse);
    let texts = messages.filter_map(|line| {
        let message = &line["message"];
        let is_error = message["level"] == "error";
        is_error.then(|| message["rendered"].as_str().map(str::to_owned))?
    });
    texts.collect()
}

#[test]
fn compile_errors_speak_of_passes() {
    let errors = errors();
    for reported in EXPECTED_ERRORS {
        let is_it = |error: &String| reported.iter().all(|words| error.contains(words));
        assert!(
            errors.iter().any(is_it),
            "{reported:?} is not among\n{}",
            errors.join("\n")
        );
    }
}
