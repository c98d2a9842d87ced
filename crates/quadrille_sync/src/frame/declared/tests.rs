use crate::access::Access;
use crate::flags::Aspects;
use crate::frame::{Frame, PassIndex};
use crate::range::SubRange::Whole;
use crate::range::{SubRange, SubresourceRange};
use crate::resource::ResourceIndex;
use crate::text::parse_frame;

/// A pass that declares this of a buffer of 1024 bytes.
fn frame(uses: &[&str]) -> Frame {
    let lines: String = uses.iter().map(|line| format!("  {line}\n")).collect();
    parse_frame(&format!("buffer cells 0 bytes 1024\npass count\n{lines}")).unwrap()
}

/// Returns the message for an access that is not declared.
fn problem(uses: &[&str], range: SubRange, access: Access) -> Option<String> {
    let checked = frame(uses).check_declared(PassIndex(0), ResourceIndex(0), range, access);
    checked.err().map(|error| error.to_string())
}

fn bytes(offset: u64, size: u64) -> SubRange {
    SubRange::Bytes { offset, size }
}

#[test]
fn declared_and_weaker_accesses_are_allowed() {
    use Access as A;
    for (declared, done) in [
        ("StorageReadCompute cells", A::StorageReadCompute),
        ("StorageReadWriteCompute cells", A::StorageReadCompute),
        ("StorageReadWriteCompute cells", A::StorageWriteCompute),
        ("StorageReadWriteAny cells", A::StorageWriteFragment),
        ("UniformReadGraphics cells", A::UniformReadVertex),
        ("TransferRead cells", A::CopyRead),
        ("TransferWrite cells", A::Clear),
        (
            "Custom stages ALL_COMMANDS access MEMORY_READ|MEMORY_WRITE layout General writes of cells",
            A::StorageReadWriteCompute,
        ),
    ] {
        assert_eq!(problem(&[declared], Whole, done), None, "{declared}");
    }
}

#[test]
fn stronger_access_is_reported_with_the_declaration() {
    use Access as A;
    for (declared, done) in [
        ("StorageReadCompute cells", A::StorageWriteCompute),
        ("StorageWriteCompute cells", A::StorageReadCompute),
        ("StorageReadFragment cells", A::StorageReadVertex),
        ("StorageReadCompute cells", A::UniformReadCompute),
        ("CopyWrite cells", A::Clear),
        (
            "Custom stages COMPUTE_SHADER access SHADER_READ layout General of cells",
            A::StorageWriteCompute,
        ),
    ] {
        let problem = problem(&[declared], Whole, done).unwrap_or_else(|| panic!("{declared}"));
        assert!(problem.starts_with(done.name()), "{problem}");
    }
    let expected = "StorageWriteCompute of bytes 0..8, while it declares StorageReadCompute of bytes \
                0..16 and IndirectRead of all";
    let declared = ["StorageReadCompute cells bytes 0..16", "IndirectRead cells"];
    let problem = problem(&declared, bytes(0, 8), A::StorageWriteCompute);
    assert_eq!(problem.as_deref(), Some(expected));
}

#[test]
fn undeclared_access_is_reported() {
    let problem = problem(&[], Whole, Access::IndexRead);
    let expected = "IndexRead of all, while it declares nothing of it";
    assert_eq!(problem.as_deref(), Some(expected));
}

#[test]
fn several_uses_may_make_up_the_part() {
    let halves = [
        "VertexRead cells bytes 512..1024",
        "VertexRead cells bytes 0..512",
    ];
    let apart = [
        "VertexRead cells bytes 0..511",
        "VertexRead cells bytes 512..1024",
    ];
    let is_allowed = |uses, range| problem(uses, range, Access::VertexRead).is_none();
    assert!(is_allowed(&halves, Whole));
    assert!(is_allowed(&halves, bytes(500, 100)));
    assert!(!is_allowed(&apart, Whole));
    assert!(!is_allowed(&apart, bytes(500, 100)));
    assert!(is_allowed(&apart, bytes(512, 512)));
    assert!(!is_allowed(&halves[..1], bytes(0, 512)));
}

#[test]
fn levels_and_layers_are_looked_at_apart() {
    let text = "image maps 0 aspects COLOR mips 4 layers 2\npass shade\n  \
                SampledFragment maps aspects COLOR mips 0..2 layers 0..2\n  \
                SampledFragment maps aspects COLOR mips 2..4 layers 1..2\n";
    let frame = parse_frame(text).unwrap();
    let is_allowed = |base_mip, mip_count, base_layer, layer_count| {
        let range = SubRange::Subresources(SubresourceRange {
            aspects: Aspects::COLOR,
            base_mip,
            mip_count,
            base_layer,
            layer_count,
        });
        let access = Access::SampledFragment;
        let checked = frame.check_declared(PassIndex(0), ResourceIndex(0), range, access);
        checked.is_ok()
    };
    assert!(is_allowed(0, 2, 0, 2));
    assert!(is_allowed(0, 4, 1, 1));
    assert!(!is_allowed(0, 4, 0, 1));
    assert!(!is_allowed(0, 4, 0, 2));
    assert!(!is_allowed(3, 1, 0, 1));
}

#[test]
fn range_past_the_end_is_not_checked() {
    let declared = ["VertexRead cells bytes 0..4"];
    assert_eq!(problem(&declared, bytes(1020, 8), Access::VertexRead), None);
}
