use super::{Provided, check, check_workgroup};
use crate::shader::GpuShader;

const BEFORE: &str = "
var<immediate> amount: vec2<u32>;
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) { next[id.x] = now[id.x] + amount.y; }
";

/// Returns the problem of an edited source; `None` if it fits the interface.
fn problem(edits: &[[&str; 2]]) -> Option<String> {
    let mut edited = BEFORE.to_owned();
    for [old, new] in edits {
        assert!(edited.contains(old), "the edit of {old} applies");
        edited = edited.replace(old, new);
    }
    let [before, after] =
        [BEFORE, &edited].map(|source| GpuShader::wgsl("adder.wgsl", source).unwrap());
    let [known, new] = [&before, &after].map(|shader| &shader.entry_points()[0]);
    let provided = Provided {
        name: "adder",
        bindings: &known.bindings,
        push_bytes: known.push_constant_bytes,
    };
    let sizes = [known.workgroup_size, new.workgroup_size];
    let fits = check(&provided, &[new]).and_then(|()| check_workgroup("adder", sizes));
    fits.err().map(|error| error.to_string())
}

#[test]
fn code_with_the_same_or_fewer_accesses_fits() {
    for edits in [
        &[["+ amount.y", "- amount.y"]][..],
        &[[" + amount.y", ""]],
        &[["now[id.x]", "1u"]],
        &[["fn main", "fn other"]],
        // The binding is declared writable, but not written.
        &[["read> now", "read_write> now"]],
    ] {
        assert_eq!(problem(edits), None, "{edits:?}");
    }
}

#[test]
fn additional_accesses_are_named() {
    let uniform = [
        ["storage, read> now: array<u32>", "uniform> now: vec4u"],
        ["now[id.x]", "now.x"],
    ];
    let write = [
        ["read> now", "read_write> now"],
        ["{ next[", "{ now[0] = 1u; next["],
    ];
    let read = [["next[id.x] =", "next[id.x] = next[0] +"]];
    let larger = [
        ["now: array<u32>", "now: array<vec2u>"],
        ["now[id.x]", "now[id.x].y"],
    ];
    for (edits, reported) in [
        (&[["vec2<u32>", "vec4<u32>"]][..], "16 bytes of push"),
        (&[["size(64)", "size(8, 8)"]], "workgroup is [8, 8, 1]"),
        (&[["binding(1)", "binding(2)"]], "uses @binding(2) next"),
        (&uniform, "now is a buffer with the usage UNIFORM and was"),
        (&write, "writes @binding(0) now"),
        (&read, "reads @binding(1) next"),
        (&larger, "needs 8 bytes at @binding(0) now"),
    ] {
        let problem = problem(edits).unwrap_or_else(|| panic!("{edits:?} fits"));
        assert!(problem.contains(reported), "{edits:?}: {problem}");
        assert!(problem.contains("adder"), "the pipeline: {problem}");
        assert!(!problem.contains('\n'), "one line: {problem}");
    }
}
