use std::fs;
use std::path::PathBuf;

use crate::shader::GpuShader;

const GOOD: &str = "@compute @workgroup_size(1) fn main() {}";

/// Creates a temporary folder for a test.
fn folder(name: &str) -> PathBuf {
    crate::test_folder::make(name)
}

/// Returns the error of a file with these contents.
fn said(name: &str, contents: &[u8]) -> String {
    let folder = folder(name);
    let path = folder.join(name);
    fs::write(&path, contents).unwrap();
    let said = match GpuShader::load(&path) {
        Ok(_) => "good".to_owned(),
        Err(error) => {
            let line = error.line();
            assert!(line.contains(name), "it names the file: {line}");
            assert!(!line.contains('\n'), "it is one line: {line}");
            line.replace(&path.display().to_string(), "FILE")
        }
    };
    fs::remove_dir_all(&folder).unwrap();
    said
}

#[test]
fn a_shader_knows_its_file() {
    let folder = folder("known");
    let path = folder.join("known.wgsl");
    fs::write(&path, GOOD).unwrap();
    let shader = GpuShader::load(&path).unwrap();
    let canonical = folder.canonicalize().unwrap().join("known.wgsl");
    assert_eq!(shader.file(), Some(&*canonical));
    // Another path to the same file names the same file.
    let around = folder
        .join("..")
        .join(folder.file_name().unwrap())
        .join("known.wgsl");
    assert_eq!(GpuShader::load(around).unwrap().file(), Some(&*canonical));
    let elsewhere = GpuShader::wgsl("inline", GOOD).unwrap();
    assert_eq!(elsewhere.file(), None);
    assert_eq!(elsewhere.with_file("no/such/folder/a.wgsl").file(), None);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn whatever_is_in_a_file_is_named_with_its_place() {
    assert_eq!(said("good.wgsl", GOOD.as_bytes()), "good");
    assert_eq!(
        said("empty.wgsl", b""),
        "good",
        "a module without entry points"
    );
    let half = said("half.wgsl", &GOOD.as_bytes()[..GOOD.len() - 3]);
    assert!(half.starts_with("FILE:1:"), "{half}");
    let latin = said("latin.wgsl", b"// fine\n// caf\xe9\n");
    assert_eq!(latin, "FILE:2:7: the text is not UTF-8");
    let zeros = said("zeros.wgsl", &[0; 4096]);
    assert!(zeros.starts_with("FILE:1:1: "), "{zeros}");
    let module = said("cut.spv", &0x0723_0203_u32.to_le_bytes());
    assert!(module.contains("is no SPIR-V module"), "{module}");
    let huge = said("huge.wgsl", &vec![b' '; (16 << 20) + 1]);
    assert!(huge.contains("more than 16777216 bytes"), "{huge}");
}

#[test]
fn shader_file_must_be_a_regular_file() {
    let folder = folder("no_file");
    let gone = GpuShader::load(folder.join("gone.wgsl")).unwrap_err();
    assert!(
        gone.to_string().contains("gone.wgsl cannot be read"),
        "{gone}"
    );
    fs::create_dir(folder.join("folder.wgsl")).unwrap();
    let error = GpuShader::load(folder.join("folder.wgsl")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it is no regular file but a directory"),
        "{error}"
    );
    fs::remove_dir_all(&folder).unwrap();
}

/// Statements of most kinds: structs, bindings, push constants, branches, loops, selections, attributes.
const SOURCE: &str = "struct Step { width: u32, height: u32 }
// 32 cells of a row.
struct Cells { west: u32, here: u32, east: u32 }
@group(0) @binding(0) var<storage, read> current: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
var<immediate> step: Step;
fn load(row: u32, word: u32) -> Cells {
    let here = current[row * step.width + word];
    var before: u32;
    if word == 0u {
        before = (current[row] >> 5u) & 1u;
    } else {
        before = current[row - 1u] >> 31u;
    }
    return Cells((here << 1u) | before, here, here >> 1u);
}
@compute @workgroup_size(32, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let above = load(select(id.y - 1u, step.height - 1u, id.y == 0u), id.x);
    var alive = 0u;
    for (var count = 0u; count <= 8u; count++) {
        alive |= ~(above.here ^ count) & (above.west | above.east);
    }
    next[id.y * step.width + id.x] = alive;
}
";

/// Incomplete files, as saved by an editor, are errors or shaders.
#[test]
fn no_half_of_a_file_panics() {
    let source = SOURCE;
    for end in (0..source.len())
        .step_by(11)
        .filter(|&end| source.is_char_boundary(end))
    {
        let _ = GpuShader::wgsl("half", &source[..end]);
    }
}
