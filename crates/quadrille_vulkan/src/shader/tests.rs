use ash::vk;

use spirq::ty::{AccessType, ArrayType, ScalarType, StructMember, StructType, Type};

use super::{BindingKind, GpuShader, ShaderImage, ShaderStage, TableKind};
use crate::error::ShaderError;

const CELLS: &str = "
struct Step { size: vec2<u32>, rule: u32 }
var<immediate> step: Step;
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(3) var<storage, read_write> next: array<u32>;
@group(0) @binding(5) var picture: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(7) var unused: texture_2d<f32>;

fn store(at: u32) { next[at] = now[at] + step.rule; }

@compute @workgroup_size(8, 4)
fn life(@builtin(global_invocation_id) id: vec3<u32>) {
    store(id.x);
    textureStore(picture, id.xy, vec4<f32>(1.0));
}
";

#[test]
fn entry_points_list_their_bindings() {
    let shader = GpuShader::wgsl("cells", CELLS).unwrap();
    let [entry] = shader.entry_points() else {
        panic!("{:?}", shader.entry_points())
    };
    assert_eq!(
        (entry.stage, entry.workgroup_size),
        (ShaderStage::Compute, [8, 4, 1])
    );
    assert_eq!(entry.push_constant_bytes, 16);
    let found: Vec<_> = entry
        .bindings
        .iter()
        .map(|binding| (binding.binding, binding.kind, binding.reads, binding.writes))
        .collect();
    let picture = BindingKind::StorageImage(ShaderImage {
        view: vk::ImageViewType::TYPE_2D,
        texels: None,
        format: Some(vk::Format::R8G8B8A8_UNORM),
        multisampled: false,
    });
    assert_eq!(
        found,
        [
            (0, BindingKind::StorageBuffer, true, false),
            (3, BindingKind::StorageBuffer, false, true),
            (5, picture, false, true),
        ]
    );
}

#[test]
fn spirv_tells_the_same_as_wgsl() {
    let wgsl = GpuShader::wgsl("cells", CELLS).unwrap();
    let spirv = GpuShader::spirv("cells", wgsl.words()).unwrap();
    let [ours, theirs] = [&wgsl.entry_points()[0], &spirv.entry_points()[0]];
    assert_eq!(ours.workgroup_size, theirs.workgroup_size);
    let kinds = |entry: &super::EntryPoint| {
        entry
            .bindings
            .iter()
            .map(|binding| (binding.binding, binding.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(ours), kinds(theirs));
}

/// Whether the workgroup variables of a module have initializers (SPIR-V: a fifth word of `OpVariable`).
fn initializers_of_workgroup_variables(words: &[u32]) -> Vec<bool> {
    const VARIABLE: u32 = 59;
    const WORKGROUP: u32 = 4;
    let (mut found, mut rest) = (Vec::new(), &words[5..]);
    while let Some(&first) = rest.first() {
        let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
        if opcode == VARIABLE && rest[3] == WORKGROUP {
            found.push(length == 5);
        }
        rest = &rest[length..];
    }
    found
}

#[test]
fn workgroup_initializers_are_kept_out_of_modules_with_draws() {
    const COUNT: &str = "var<workgroup> counts: array<atomic<u32>, 64>;
        @group(0) @binding(0) var<storage, read_write> sums: array<u32>;
        @compute @workgroup_size(64) fn count(@builtin(local_invocation_index) i: u32) {
            atomicAdd(&counts[i], 1u);
            sums[i] = atomicLoad(&counts[i]);
        }";
    let draw =
        format!("{COUNT} @fragment fn paint() -> @location(0) vec4f {{ return vec4f(1.0); }}");
    for (source, is_initialized) in [(COUNT, true), (draw.as_str(), false)] {
        let shader = GpuShader::wgsl("counts", source).unwrap();
        let found = initializers_of_workgroup_variables(shader.words());
        assert_eq!(found, [is_initialized], "{source}");
    }
}

#[test]
fn buffers_tell_how_small_they_may_be() {
    for (ty, bytes) in [
        ("u32", 4),
        ("vec3f", 12),
        ("mat4x4f", 64),
        ("array<u32>", 4),
        ("array<vec4f>", 16),
        ("array<vec3f, 3>", 44),
        ("One", 12),
        ("Counted", 20),
        ("array<Counted, 2>", 52),
        ("Growing", 16),
    ] {
        let used = match ty {
            "Growing" => "it.count = arrayLength(&it.places);",
            array if array.starts_with("array") => "it[0] = it[1];",
            _ => "it = it;",
        };
        let source = format!(
            "struct One {{ place: vec3f }}
            struct Counted {{ place: vec4f, count: u32 }}
            struct Growing {{ count: u32, places: array<vec2f> }}
            @group(0) @binding(2) var<storage, read_write> it: {ty};
            @compute @workgroup_size(1) fn main() {{ {used} }}"
        );
        let wgsl = GpuShader::wgsl("sizes", &source).unwrap_or_else(|error| panic!("{error}"));
        let spirv = GpuShader::spirv("sizes", wgsl.words()).unwrap();
        for shader in [wgsl, spirv] {
            let binding = &shader.entry_points()[0].bindings[0];
            assert_eq!(binding.least_bytes, bytes, "{ty}: {binding:?}");
        }
    }
    let cells = GpuShader::wgsl("cells", CELLS).unwrap();
    let bytes = cells.entry_points()[0].bindings.iter();
    assert_eq!(
        bytes.map(|it| it.least_bytes).collect::<Vec<_>>(),
        [4, 4, 0]
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let source = "fn main() {\n    let x = ;\n}\n";
    let error = GpuShader::wgsl("broken.wgsl", source).unwrap_err();
    let ShaderError::Source {
        label,
        line,
        column,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!((label.as_str(), *line, *column), ("broken.wgsl", 2, 13));
    assert!(
        error.to_string().starts_with("broken.wgsl:2:13: "),
        "{error}"
    );
}

#[test]
fn type_errors_have_a_place() {
    let source = "fn f() -> u32 {\n    return 1.5;\n}\n";
    let error = GpuShader::wgsl("types.wgsl", source).unwrap_err();
    assert!(
        matches!(error, ShaderError::Source { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn other_groups_and_high_bindings_are_refused() {
    for (source, word) in [
        ("@group(1) @binding(0) var<uniform> a: vec4<f32>;", "group"),
        ("@group(0) @binding(32) var<uniform> a: vec4<f32>;", "limit"),
    ] {
        let source = format!("{source}\n@compute @workgroup_size(1) fn main() {{ let b = a.x; }}");
        let error = GpuShader::wgsl("refused", &source).unwrap_err();
        assert!(matches!(error, ShaderError::Interface { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn missing_entry_points_are_listed() {
    let shader = GpuShader::wgsl("cells", CELLS).unwrap();
    let error = shader
        .entry_point(ShaderStage::Vertex, "main")
        .unwrap_err()
        .to_string();
    assert!(error.contains("compute life"), "{error}");
}

#[test]
fn damaged_modules_are_errors() {
    let words = GpuShader::wgsl("cells", CELLS).unwrap().words().to_vec();
    assert!(GpuShader::spirv("empty", &[]).is_err());
    assert!(GpuShader::spirv_bytes("odd", &[3, 2, 35]).is_err());
    assert!(GpuShader::spirv("other", &[0xdead_beef; 8]).is_err());
    for length in 0..words.len() {
        // A module truncated between instructions may still be valid; parsing must not panic.
        let _ = GpuShader::spirv("cut", &words[..length]);
    }
    let mut state = 1u32;
    for _ in 0..2000 {
        let mut damaged = words.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (state >> 8) as usize % damaged.len();
            damaged[at] ^= 1 << (state % 31);
        }
        let _ = GpuShader::spirv("damaged", &damaged);
    }
}

#[test]
fn either_byte_order_is_read() {
    let words = GpuShader::wgsl("cells", CELLS).unwrap().words().to_vec();
    let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(
        GpuShader::spirv_bytes("little", &little).unwrap().words(),
        words
    );
    assert_eq!(GpuShader::spirv_bytes("big", &big).unwrap().words(), words);
}

#[test]
fn files_are_loaded_by_their_ending() {
    let error = GpuShader::load("no/such/file.wgsl")
        .unwrap_err()
        .to_string();
    assert!(error.contains("no/such/file.wgsl"), "{error}");
    let error = GpuShader::load("shader.hlsl").unwrap_err().to_string();
    assert!(error.contains(".wgsl or .spv"), "{error}");
}

/// SPIR-V states the end of a block's last member, WGSL the size of the struct.
#[test]
fn push_constants_may_have_the_padding_of_their_struct() {
    let source = "
        struct Pair { a: vec3f, b: vec3f }
        var<immediate> pair: Pair;
        @group(0) @binding(0) var<storage, read_write> to: array<f32>;
        @compute @workgroup_size(1) fn main() { to[0] = pair.a.x + pair.b.x; }";
    let of_wgsl = GpuShader::wgsl("pair.wgsl", source).unwrap();
    let of_spirv = GpuShader::spirv("pair.spv", of_wgsl.words()).unwrap();
    let bytes = |shader: &GpuShader| {
        let entry = &shader.entry_points()[0];
        [entry.push_constant_bytes, entry.push_constant_padded]
    };
    assert_eq!([bytes(&of_wgsl), bytes(&of_spirv)], [[32, 32], [28, 32]]);
}

/// Both reflections must find the same beginnings of values, compared as bits per 4-byte word.
#[test]
fn values_of_push_constants_begin_where_wgsl_and_spirv_say() {
    let source = "
        struct Inner { weight: f32, place: vec2f }
        struct All { a: vec3f, b: f32, inner: Inner, list: array<vec2f, 2>, turn: mat3x3f, last: u32 }
        var<immediate> all: All;
        @group(0) @binding(0) var<storage, read_write> to: array<f32>;
        @compute @workgroup_size(1) fn main() {
            to[0] = all.a.x + all.b + all.inner.place.x + all.list[1].x + all.turn[1].x + f32(all.last);
        }";
    let of_wgsl = GpuShader::wgsl("all.wgsl", source).unwrap();
    let of_spirv = GpuShader::spirv("all.spv", of_wgsl.words()).unwrap();
    for shader in [of_wgsl, of_spirv] {
        let layout = &shader.entry_points()[0].push_layout;
        let offsets: Vec<u32> = layout.members().map(|(_, offset)| offset).collect();
        assert_eq!(offsets, [0, 12, 16, 32, 48, 96]);
        // Replaces the member at 12, so that only offsets at which a value begins do not contradict.
        let lacks_one = |other: u64| [0, 16, 32, 48, 96, other];
        let begins = |at: &u64| !layout.contradicts(&lacks_one(*at));
        let all: Vec<u64> = (0..128).step_by(4).filter(begins).collect();
        assert_eq!(all, [0, 12, 16, 24, 32, 40, 48, 64, 80, 96]);
    }
}

/// Hostile module: nested arrays of overlapping elements with the maximum length at each depth.
#[test]
fn arrays_of_hostile_modules_are_looked_at_in_part() {
    let mut ty = Type::Scalar(ScalarType::f32());
    for _ in 0..30 {
        ty = Type::Array(ArrayType {
            element_ty: Box::new(ty),
            nelement: Some(u32::MAX),
            stride: Some(0),
        });
    }
    let member = StructMember {
        name: None,
        offset: Some(4),
        ty,
        access_ty: AccessType::ReadOnly,
    };
    let block = StructType {
        name: None,
        members: vec![member],
    };
    let layout = super::reflect::data_layout(&Type::Struct(block));
    assert!(layout.members().eq([("", 4)]));
}

const ROWS: &str = "
enable wgpu_binding_array;
struct Row { values: array<u32> }
@group(0) @binding(0) var<storage, read_write> sum: array<u32>;
@group(2) @binding(0) var<storage, read> rows: binding_array<Row>;
@compute @workgroup_size(1)
fn add(@builtin(global_invocation_id) id: vec3u) { sum[id.x] = rows[id.x].values[0]; }
";

#[test]
fn arrays_of_buffers_are_tables_in_both_languages() {
    let wgsl = GpuShader::wgsl("rows", ROWS).unwrap();
    let spirv = GpuShader::spirv("rows", wgsl.words()).unwrap();
    for shader in [&wgsl, &spirv] {
        let [table] = &shader.entry_points()[0].tables[..] else {
            panic!("{:?}", shader.entry_points())
        };
        let place = (table.group, table.binding, table.name.as_str());
        assert_eq!((place, table.kind), ((2, 0, "rows"), TableKind::Buffers));
    }
}

#[test]
fn tables_of_buffers_are_not_written() {
    let problem = |shader: Result<GpuShader, ShaderError>| shader.unwrap_err().to_string();
    let expected =
        "rows is an array of storage buffers that it may write; the buffers of a table are";
    let written = ROWS.replace("var<storage, read> rows", "var<storage, read_write> rows");
    let message = problem(GpuShader::wgsl("rows", &written));
    assert!(message.contains(expected), "{message}");
    // The same module without `OpDecorate .. NonWritable`.
    let mut words = GpuShader::wgsl("rows", ROWS).unwrap().words().to_vec();
    let (decorate, non_writable) = (3 << 16 | 71, 24);
    let is_it = |at: &usize| words[*at] == decorate && words[at + 2] == non_writable;
    let at: Vec<usize> = (5..words.len() - 2).filter(is_it).collect();
    assert_eq!(at.len(), 1, "one variable is only read");
    words.drain(at[0]..at[0] + 3);
    let message = problem(GpuShader::spirv("rows", &words));
    assert!(message.contains(expected), "{message}");
}
