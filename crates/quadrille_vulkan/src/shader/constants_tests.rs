use super::{Constant, check};
use crate::shader::{GpuShader, ShaderModule, ShaderStage};

const SUM: &str = "
import of_constants::noise::wave;
override SIZE: u32;
override SCALE: f32 = 2.0;
@id(7) override OFFSET: i32 = -1;
override IS_ON: bool = false;
var<workgroup> parts: array<f32, SIZE>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(SIZE, 2)
fn sum(@builtin(local_invocation_index) at: u32) {
    parts[at] = SCALE + f32(OFFSET) + wave(1.0);
    workgroupBarrier();
    out[at] = select(0.0, parts[at], IS_ON);
}
@compute @workgroup_size(8) fn other() { out[0] = SCALE; }
";

fn shader() -> GpuShader {
    let noise = "override OCTAVES: u32 = 3u; fn wave(at: f32) -> f32 { return at * f32(OCTAVES); }";
    ShaderModule::new("of_constants::noise", noise)
        .publish()
        .unwrap();
    GpuShader::wgsl("sum", SUM).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the workgroup size, or the error.
fn set(entry: &str, constants: &[(&str, Constant)]) -> Result<[u32; 3], String> {
    let shader = shader();
    let constants: Vec<_> = constants
        .iter()
        .map(|(name, it)| (str::to_owned(name), *it))
        .collect();
    check("pipeline", &[&shader], &constants).map_err(|error| error.line())?;
    let special = shader
        .specialized("pipeline", (ShaderStage::Compute, entry), &constants)
        .map_err(|error| error.line())?;
    let entry = special
        .entry_point(ShaderStage::Compute, entry)
        .map_err(|error| error.line())?;
    Ok(entry.workgroup_size)
}

#[test]
fn sizes_follow_constants() {
    let shader = shader();
    assert_eq!(shader.entry_points().len(), 2);
    assert_eq!(shader.entry_points()[0].bindings.len(), 1);
    assert_eq!(set("sum", &[("SIZE", 32_u32.into())]), Ok([32, 2, 1]));
    // Constants that an entry point does not use need no value.
    assert_eq!(set("other", &[]), Ok([8, 1, 1]));
    let all = [
        ("SIZE", 4_u32.into()),
        ("SCALE", 0.5.into()),
        ("OFFSET", (-7).into()),
        ("IS_ON", true.into()),
        ("noise::OCTAVES", 5_u32.into()),
    ];
    assert_eq!(set("sum", &all), Ok([4, 2, 1]));
    assert_eq!(
        set("sum", &[("SIZE", 4_u32.into()), ("OCTAVES", 5_u32.into())]),
        Ok([4, 2, 1])
    );
}

#[test]
fn wrong_constants_are_one_line_each() {
    let said = |constants: &[(&str, Constant)]| set("sum", constants).expect_err("it is wrong");
    let of = |problem: &str| format!("the pipeline `pipeline` cannot be made: {problem}");
    assert_eq!(
        said(&[]),
        of("its constant SIZE has no default; set it with .constant(\"SIZE\", ..)")
    );
    assert_eq!(
        said(&[("SIZE", 8.into())]),
        of("its constant SIZE is of the type u32, and is set to 8, which is of i32")
    );
    assert_eq!(
        said(&[("SCALE", true.into())]),
        of("its constant SCALE is of the type f32, and is set to true, which is of bool")
    );
    assert_eq!(
        said(&[("SCALLE", 1.0.into())]),
        of("its shaders have no constant SCALLE; did you mean SCALE?")
    );
    assert_eq!(
        said(&[("RADIUS", 1.0.into())]),
        of(
            "its shaders have no constant RADIUS; they have SIZE, SCALE, OFFSET, IS_ON, noise::OCTAVES"
        )
    );
    let infinite = said(&[("SIZE", 8_u32.into()), ("SCALE", f32::INFINITY.into())]);
    assert!(infinite.contains("needs to be finite"), "{infinite}");
    let empty = said(&[("SIZE", 0_u32.into())]);
    assert!(empty.contains("workgroup_size"), "{empty}");
    let plain = GpuShader::wgsl("plain", "@compute @workgroup_size(1) fn main() {}").unwrap();
    let error = check("pipeline", &[&plain], &[("SIZE".to_owned(), 1.into())]).unwrap_err();
    assert_eq!(
        error.line(),
        of("its shaders have no constant SIZE, nor any other `override`")
    );
}

#[test]
fn a_wrong_source_with_constants_has_its_place() {
    let error = GpuShader::wgsl(
        "half",
        "override SIZE: u32 = 4;\nfn f() -> f32 { return SIZE; }",
    );
    let line = error.unwrap_err().line();
    assert!(line.starts_with("half:2:"), "{line}");
}
