use ash::vk::Format;

use super::{RowField, RowLayout, RowType, RowValue};

const FOG: RowLayout = RowLayout {
    name: "FogRow",
    shader: "fog.wgsl",
    shader_struct: "Fog",
    bytes: 16,
    fields: &[
        RowField {
            name: "color",
            offset: 0,
            ty: <[f32; 3]>::TYPE,
        },
        RowField {
            name: "kind",
            offset: 12,
            ty: u32::TYPE,
        },
    ],
};

const VIEW: RowLayout = RowLayout {
    name: "ViewRow",
    shader: "view.wgsl",
    shader_struct: "View",
    bytes: 80,
    fields: &[
        RowField {
            name: "rotation",
            offset: 0,
            ty: <[[f32; 4]; 3]>::TYPE,
        },
        RowField {
            name: "fog",
            offset: 48,
            ty: RowType::Row { layout: &FOG },
        },
        RowField {
            name: "lights",
            offset: 64,
            ty: u32::TYPE,
        },
        RowField {
            name: "masks",
            offset: 68,
            ty: u32::TYPE,
        },
        RowField {
            name: "unused",
            offset: 72,
            ty: <[f32; 2]>::TYPE,
        },
    ],
};

/// Returns the difference between the view's row and a struct with these members.
fn problem(members: &str) -> Option<String> {
    let source = format!(
        "struct Fog {{ color: vec3f, kind: u32 }}
         struct View {{ {members} }}"
    );
    let error = VIEW.check(&source).err()?;
    Some(error.to_string())
}

#[test]
fn row_with_members_of_its_struct_passes() {
    FOG.check("struct Fog { color: vec3f, kind: u32 }").unwrap();
    for rotation in ["mat3x3f", "mat3x4f", "array<vec4f, 3>", "array<vec3f, 3>"] {
        let members =
            format!("rotation: {rotation}, fog: Fog, lights: u32, masks: u32, unused: vec2f");
        assert_eq!(problem(&members), None, "{rotation}");
    }
}

#[test]
fn swapped_missing_and_retyped_members_are_errors() {
    let contains = |members: &str, text: &str| {
        let problem = problem(members).expect(members);
        assert!(problem.contains(text), "{members}: {problem}");
    };
    contains(
        "rotation: mat3x3f, fog: Fog, masks: u32, lights: u32, unused: vec2f",
        "`lights` is at byte 64, where it has `masks` at byte 64",
    );
    contains(
        "rotation: mat3x3f, fog: Fog, lights: u32, masks: i32, unused: vec2f",
        "`masks` has other numbers",
    );
    contains(
        "rotation: mat3x3f, fog: Fog, lights: u32, masks: u32",
        "it lacks `unused` at byte 72",
    );
    contains(
        "rotation: mat3x3f, fog: Fog, lights: u32, masks: u32, unused: vec2f, more: u32",
        "the row lacks `more`",
    );
    contains(
        "rotation: mat3x3f, fog: vec4f, lights: u32, masks: u32, unused: vec2f",
        "`fog` has other numbers",
    );
    contains(
        "rotation: mat3x3f, fog: Fog, lights: u32, masks: u32, @size(16) unused: vec2f",
        "the row has 80 bytes, the struct 96",
    );
    let missing = FOG.check("struct Fogs { color: vec3f }").unwrap_err();
    assert!(missing.to_string().contains("there is none"), "{missing}");
}

#[test]
fn vertex_inputs_are_compared_by_names_and_locations() {
    let row = RowLayout {
        bytes: 52,
        fields: &[
            RowField {
                name: "world",
                offset: 0,
                ty: <[[f32; 4]; 3]>::TYPE,
            },
            RowField {
                name: "kind",
                offset: 48,
                ty: u32::TYPE,
            },
        ],
        ..VIEW
    };
    let with = |locations: [u32; 4], kind: &str| {
        let [a, b, c, d] = locations;
        row.check(&format!(
            "struct View {{
                @location(0) position: vec3f,
                @location({a}) world_0: vec4f,
                @location({b}) world_1: vec4f,
                @location({c}) world_2: vec4f,
                @location({d}) kind: {kind},
            }}"
        ))
    };
    with([1, 2, 3, 4], "u32").unwrap();
    with([2, 1, 3, 4], "u32").unwrap_err();
    with([1, 2, 3, 5], "u32").unwrap_err();
    with([1, 2, 3, 4], "f32").unwrap_err();
    let formats = [
        [Format::R32G32B32A32_SFLOAT; 3].as_slice(),
        &[Format::R32_UINT],
    ]
    .concat();
    assert_eq!(row.formats(), formats);
}
