//! The shaders are valid WGSL, and what we say of them is so.

use std::mem::offset_of;
use std::path::{Path, PathBuf};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, Module, TypeInner};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders")
}

/// Parses and validates a shader of an example.
fn shader(path: &Path) -> Module {
    let source = std::fs::read_to_string(path).unwrap();
    let path = path.to_str().unwrap();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, path)));
    Validator::new(ValidationFlags::all(), Capabilities::IMMEDIATES)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(&source, path)));
    module
}

/// The size of a shader's push constants in bytes, and their fields: name and offset.
fn push_constants(module: &Module) -> Option<(u32, Vec<(String, u32)>)> {
    let mut globals = module.global_variables.iter();
    let (_, global) = globals.find(|(_, global)| global.space == AddressSpace::Immediate)?;
    let TypeInner::Struct { members, span } = &module.types[global.ty].inner else {
        panic!("push constants are a struct");
    };
    let field = |member: &naga::StructMember| (member.name.clone().unwrap(), member.offset);
    Some((*span, members.iter().map(field).collect()))
}

#[test]
fn every_shader_is_valid() {
    let mut count = 0;
    for owner in ["life", "triangle", "post_process", "windows"] {
        for entry in folder().join(owner).read_dir().unwrap() {
            let module = shader(&entry.unwrap().path());
            let names: Vec<_> = module
                .entry_points
                .iter()
                .map(|entry| &*entry.name)
                .collect();
            assert!(
                names == ["main"] || names == ["vertex_main", "fragment_main"],
                "{names:?}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

/// Compares a struct with the push constants of a shader.
macro_rules! assert_push_constants {
    ($path:literal, $constants:ident { $($field:ident),+ }) => {
        let (size, fields) = push_constants(&shader(&folder().join($path))).unwrap();
        assert_eq!(u64::from(size), $constants::min_size().get(), $path);
        let ours = [$((stringify!($field).to_owned(), offset_of!($constants, $field) as u32)),+];
        assert_eq!(fields, ours, $path);
    };
}

#[test]
fn push_constants_are_laid_out_alike() {
    assert_push_constants!(
        "life/step.wgsl",
        Step {
            width,
            height,
            birth,
            survival
        }
    );
    assert_push_constants!("life/count.wgsl", Count { words });
    assert_push_constants!(
        "life/paint.wgsl",
        Paint {
            board,
            from_cell,
            to_cell,
            radius,
            alive
        }
    );
    assert_push_constants!(
        "life/draw.wgsl",
        Draw {
            board,
            window,
            centre,
            cells_per_pixel,
            grid
        }
    );
    assert_push_constants!("post_process/scene.wgsl", Scene { aspect, time });
    assert_push_constants!("post_process/effect.wgsl", Effect { aspect, strength });
    assert_push_constants!(
        "windows/pictures.wgsl",
        Picture {
            aspect,
            time,
            number
        }
    );
}

#[test]
fn workgroups_are_as_large_as_ours() {
    let size = |path| shader(&folder().join(path)).entry_points[0].workgroup_size;
    assert_eq!(
        size("life/step.wgsl"),
        [Step::WORKGROUP[0], Step::WORKGROUP[1], 1]
    );
    assert_eq!(size("life/count.wgsl"), [Count::WORKGROUP, 1, 1]);
    assert_eq!(
        size("life/paint.wgsl"),
        [Paint::WORKGROUP[0], Paint::WORKGROUP[1], 1]
    );
}

#[test]
fn workgroups_cover_the_board() {
    let size = |width, height| Size::new(width, height).unwrap();
    let step = |width, height| Step::new(size(width, height), Rule::CONWAY).workgroups();
    assert_eq!(step(1, 1), [1, 1, 1]);
    assert_eq!(step(1024, 4), [1, 1, 1]);
    assert_eq!(step(1025, 5), [2, 2, 1]);
    assert_eq!(step(8192, 8192), [8, 2048, 1]);
    assert_eq!(Count::new(size(33, 128)).workgroups(), [1, 1, 1]);
    assert_eq!(Count::new(size(33, 129)).workgroups(), [2, 1, 1]);
    assert_eq!(Count::new(size(8192, 8192)).workgroups(), [8192, 1, 1]);
}

#[test]
fn a_stroke_is_never_longer_than_three_boards() {
    let size = Size::new(100, 50).unwrap();
    let dot = Paint::stroke(size, [[5, 5], [5, 5]], 0, true);
    assert_eq!(dot.workgroups(), [1, 1, 1]);
    let line = Paint::stroke(size, [[5, 40], [20, 5]], 3, true);
    assert_eq!(line.workgroups(), [3, 6, 1]);
    let wild = Paint::stroke(size, [[i32::MIN, 0], [i32::MAX, 0]], u32::MAX, false);
    assert_eq!(
        wild.workgroups(),
        [(300 + 512_u32).div_ceil(8), 513_u32.div_ceil(8), 1]
    );
}
