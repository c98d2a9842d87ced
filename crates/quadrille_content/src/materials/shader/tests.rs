use quadrille::glam::Vec4;
use quadrille::material::{
    MaterialBinding, MaterialBindingKind, SamplerBindingType, TextureDimension, TextureSampleType,
};
use quadrille::vulkan::shader::ShaderModule;

use super::*;

const GROUP: &str = "@group(constants::MATERIAL_BIND_GROUP)";

/// A uniform of 16 bytes, a texture and a sampler.
fn layout() -> MaterialLayout {
    let texture = MaterialBindingKind::Texture {
        dimension: TextureDimension::D2,
        sample_type: TextureSampleType::Float,
        multisampled: false,
    };
    let sampler = MaterialBindingKind::Sampler(SamplerBindingType::Filtering);
    let binding = |binding, field, kind| MaterialBinding {
        binding,
        field,
        kind,
    };
    MaterialLayout::new(vec![
        MaterialBinding::uniform::<Vec4>(0, "color"),
        binding(1, "pattern", texture),
        binding(2, "pattern", sampler),
    ])
}

const PRELUDE: &str = "
import material_tests::tables::{
    MASK as quadrille_image_mask, SHIFT as quadrille_sampler_shift, samplers as quadrille_samplers,
    textures as quadrille_textures,
};
fn quadrille_row(quadrille_index: u32) -> u32 { return quadrille_index; }
fn quadrille_vertex_index(index: u32) -> u32 { return index; }
fn quadrille_clip_position(position: vec4f, index: u32) -> vec4f { return position; }
";

const TABLES: &str = "
enable wgpu_binding_array;
const MASK = 0xffffu;
const SHIFT = 16u;
@group(1) @binding(0) var samplers: binding_array<sampler>;
@group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
";

fn form(images: MaterialImages) -> MaterialShaderForm<'static> {
    ShaderModule::new("material_tests::tables", TABLES)
        .publish()
        .expect("the module is right");
    MaterialShaderForm {
        group: 3,
        prelude: PRELUDE,
        instance_index: "@builtin(instance_index)",
        rows_binding: 24,
        images,
        pulled: None,
        enter: "",
    }
}

/// Text of a stage, which is valid, with its bindings.
fn staged(
    (stage, images): (MaterialStage, MaterialImages),
    layout: &MaterialLayout,
    source: &str,
) -> Result<(String, GpuShader, Vec<BoundBinding>), String> {
    let shader = Shader::from_wgsl(source.to_owned(), "test.wgsl");
    let (form, mut bound) = (form(images), Vec::new());
    let composed = generate("Test", (&shader, stage), layout, &form, &[], &mut bound)?;
    let text = composed.text().to_owned();
    let translated = translate_material("Test", (&shader, stage), layout, &form, &[], &mut bound)?;
    Ok((text, translated, bound))
}

fn generated(source: &str) -> Result<String, String> {
    let form = (MaterialStage::Fragment, MaterialImages::Bindless);
    staged(form, &layout(), source).map(|(text, ..)| text)
}

fn error(source: &str) -> String {
    generated(source).expect_err("the shader is wrong")
}

#[test]
fn rows_hold_uniforms_then_indices() {
    let layout = layout();
    assert_eq!(layout.offsets, [0]);
    assert_eq!((layout.indices_offset, layout.stride), (16, 32));
    assert_eq!(MaterialLayout::new(Vec::new()).stride, 16);
}

#[test]
fn bindings_become_private_variables() {
    let source = format!(
        "struct Color {{ texture_of: vec4f }}
{GROUP} @binding(0)
var<uniform> color: vec4f;
{GROUP} @binding(1) var pattern: texture_2d<f32>;
{GROUP} @binding(2) var pattern_sampler: sampler;
@fragment
fn fragment(@location(2) uv: vec2f) -> @location(0) vec4f {{
    return color * textureSample(pattern, pattern_sampler, uv);
}}
"
    );
    let text = generated(&source).expect("the shader is right");
    assert!(text.contains("var<private> color: vec4f;"), "{text}");
    assert!(text.contains("[pattern & MASK_of_tables_1]"), "{text}");
    assert!(
        text.contains("[pattern_sampler >> SHIFT_of_tables_1]"),
        "{text}"
    );
}

#[test]
fn errors_show_lines_of_the_file() {
    let source = format!(
        "{GROUP} @binding(0)\nvar<uniform> color: vec4f;
@fragment
fn fragment() -> @location(0) vec4f {{
    return colour;
}}"
    );
    assert!(
        error(&source).contains("test.wgsl:5:12"),
        "{}",
        error(&source)
    );
    let source = format!("\n{GROUP} @binding(5) var<uniform> color: vec4f;\n{ENTRY}");
    assert!(
        error(&source).contains("test.wgsl:2:1"),
        "{}",
        error(&source)
    );
}

const ENTRY: &str = "@fragment fn fragment() -> @location(0) vec4f { return vec4f(0.0); }";

#[test]
fn wrong_bindings_name_both_sides() {
    for (source, parts) in [
        (
            format!("{GROUP} @binding(7) var<uniform> speed: f32; {ENTRY}"),
            ["`speed: f32` at binding 7", "#[uniform(7)]"],
        ),
        (
            format!("{GROUP} @binding(7) var<storage> all: array<f32>; {ENTRY}"),
            ["`all: array<f32>` at binding 7", "#[storage(7)]"],
        ),
        (
            format!("{GROUP} @binding(1) var<uniform> pattern: vec4f; {ENTRY}"),
            [
                "a uniform at binding 1",
                "a texture `texture_2d<f32>` (`pattern`)",
            ],
        ),
        (
            format!("{GROUP} @binding(1) var pattern: texture_3d<f32>; {ENTRY}"),
            [
                "a texture `texture_3d<f32>` at binding 1",
                "a texture `texture_2d<f32>`",
            ],
        ),
        (
            format!("{GROUP} @binding(1) var pattern: texture_depth_2d; {ENTRY}"),
            [
                "a texture `texture_depth_2d` at binding 1",
                "a texture `texture_2d<f32>`",
            ],
        ),
        (
            format!("{GROUP} @binding(2) var pattern: sampler_comparison; {ENTRY}"),
            ["a comparison sampler at binding 2", "a sampler (`pattern`)"],
        ),
        (
            format!("{GROUP} @binding(0) var<storage, read> all: array<f32>; {ENTRY}"),
            ["a storage buffer at binding 0", "a uniform (`color`)"],
        ),
        (
            format!("{GROUP} @binding(0) var<workgroup> all: array<f32>; {ENTRY}"),
            ["is nothing that a material has", "Use a uniform"],
        ),
        (
            format!("{GROUP} var<uniform> color: vec4f; {ENTRY}"),
            ["`color` has no number", "@binding(0)"],
        ),
        (
            format!(
                "{GROUP} @binding(0) var<uniform> a: vec4f; {GROUP} @binding(0) var<uniform> b: vec4f; {ENTRY}"
            ),
            ["two variables at binding 0", "`a` and `b`"],
        ),
        (
            format!(
                "{GROUP} @binding(1) var pattern: texture_2d<f32>; fn f() {{ let pattern = 1; }} {ENTRY}"
            ),
            ["`pattern` has two meanings", "Rename one"],
        ),
        ("fn f() {}".to_owned(), ["no entry point", "@fragment"]),
    ] {
        let message = error(&source);
        for part in parts {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
}

#[test]
fn unfinished_shaders_are_refused() {
    for (source, part) in [
        (
            format!("{ENTRY} {GROUP} @binding(0) var<uniform>"),
            "does not end",
        ),
        (
            format!("{GROUP} @binding(0) var<uniform> color"),
            "does not end",
        ),
        (
            "@fragment fn fragment mesh: VertexOutput) -> @location(0) vec4f {}".to_owned(),
            "without parameters or body",
        ),
        (
            "@fragment fn fragment()".to_owned(),
            "without parameters or body",
        ),
    ] {
        let message = error(&source);
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn conditions_apply_before_bindings_are_found() {
    let source = format!(
        "@if(DARK) {GROUP} @binding(7) var<uniform> unknown: vec4f;
@else {GROUP} @binding(0) var<uniform> color: vec4f;
@if(DARK) {ENTRY}
@else @fragment fn fragment() -> @location(0) vec4f {{ return color; }}"
    );
    let text = generated(&source).expect("the shader is right");
    assert!(text.contains("var<private> color: vec4f;"), "{text}");
    assert!(!text.contains("unknown"), "{text}");
}

#[test]
fn bindings_may_lie_in_imported_modules() {
    let module = format!("{GROUP} @binding(0) var<uniform> color: vec4f;");
    ShaderModule::new("material_tests::color", &module)
        .publish()
        .expect("the module is right");
    let source = "import material_tests::color::color;
@fragment fn fragment() -> @location(0) vec4f { return color; }";
    let text = generated(source).expect("the shader is right");
    assert!(
        text.contains("var<private> color_of_color_1: vec4f;"),
        "{text}"
    );
    assert!(
        text.contains("color_of_color_1 = quadrille_row_of.uniform_0"),
        "{text}"
    );
}

#[test]
fn tables_of_the_renderer_may_have_the_number_of_the_group() {
    let module = "enable wgpu_binding_array;
@group(3) @binding(0) var volume_samplers: binding_array<sampler>;
@group(3) @binding(1) var volumes: binding_array<texture_3d<f32>>;
fn center(volume: u32) -> vec4f {
    return textureSampleLevel(volumes[volume], volume_samplers[0], vec3f(0.5), 0.0);
}";
    ShaderModule::new("material_tests::volumes", module)
        .publish()
        .expect("the module is right");
    let source = "import material_tests::volumes::center;
@group(3) @binding(0) var<uniform> color: vec4f;
@fragment fn fragment() -> @location(0) vec4f { return color * center(0u); }";
    let text = generated(source).expect("the shader is right");
    for part in [
        "var<private> color: vec4f;",
        "@group(3) @binding(1) var volumes_of_volumes_",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let source = format!("@group(3) @binding(1) var all: binding_array<texture_2d<f32>>; {ENTRY}");
    let message = error(&source);
    assert!(
        message.contains("is nothing that a material has"),
        "{message}"
    );
}

#[test]
fn textures_that_functions_take_are_bound_by_themselves() {
    let source = format!(
        "{GROUP} @binding(0) var<uniform> color: vec4f;
{GROUP} @binding(1) var pattern: texture_2d<f32>;
fn tap(image: texture_2d<f32>) -> vec4f {{ return textureLoad(image, vec2u(), 0); }}
@fragment fn fragment() -> @location(0) vec4f {{ return color * tap(pattern); }}"
    );
    let form = (MaterialStage::Fragment, MaterialImages::Bindless);
    let (text, _, bound) = staged(form, &layout(), &source).expect("the shader is right");
    assert_eq!(
        bound,
        [BoundBinding {
            index: 1,
            number: 31,
            writes: false,
        }],
        "{text}"
    );
}

#[test]
fn vertex_shaders_hand_the_instance_on() {
    let source = format!(
        "{GROUP} @binding(0) var<uniform> color: vec4f;
struct Vertex {{ @builtin(instance_index) instance: u32, @location(0) position: vec3<f32> }}
struct Out {{ @builtin(position) clip: vec4<f32>, @location(0) shade: vec4<f32>, }}
@vertex fn vertex(vertex: Vertex) -> Out {{ return Out(vec4f(vertex.position, 1.0), color); }}
@fragment fn fragment(in: Out) -> @location(0) vec4f {{ return in.shade * color; }}"
    );
    for stage in [
        MaterialStage::Vertex,
        MaterialStage::VertexPosition,
        MaterialStage::Fragment,
    ] {
        let form = (stage, MaterialImages::Bindless);
        let (text, shader, _) = staged(form, &layout(), &source).expect("the shader is right");
        let entry = shader
            .entry_points()
            .iter()
            .find(|it| it.name == MATERIAL_VERTEX);
        match stage {
            MaterialStage::Fragment => assert!(entry.is_none(), "{text}"),
            MaterialStage::VertexPosition => {
                assert!(entry.expect("it is there").outputs.is_empty(), "{text}");
            }
            MaterialStage::Vertex => {
                let outputs = &entry.expect("it is there").outputs;
                let locations: Vec<_> = outputs.iter().map(|it| it.location).collect();
                assert_eq!(locations, [0, 15], "{text}");
                assert!(
                    text.contains("quadrille_vertex_index(quadrille_input_0.instance)"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn vertex_shaders_may_return_a_position_alone() {
    let source = "@vertex fn vertex(@location(0) position: vec3f) -> @builtin(position) vec4f {
    return vec4f(position, 1.0);
}";
    let form = (MaterialStage::Vertex, MaterialImages::Bindless);
    let (text, ..) = staged(form, &layout(), source).expect("the shader is right");
    assert!(
        text.contains("@builtin(instance_index) quadrille_instance_index: u32"),
        "{text}"
    );
    let source = "@vertex fn vertex() -> @location(0) vec4f { return vec4f(); }";
    let error = staged(form, &layout(), source).expect_err("it has no position");
    assert!(
        error.contains("returns no `@builtin(position) vec4f`"),
        "{error}"
    );
}

#[test]
fn bound_images_stay_bindings_in_their_order() {
    let source = format!(
        "@group(3) @binding(1) var pattern: texture_2d<f32>;
{GROUP} @binding(2) var pattern_sampler: sampler;
fn tap(image: texture_2d<f32>) -> vec4f {{ return textureLoad(image, vec2u(), 0); }}
@fragment fn fragment() -> @location(0) vec4f {{
    return tap(pattern) + textureSampleLevel(pattern, pattern_sampler, vec2f(), 0.0);
}}"
    );
    let form = (MaterialStage::Fragment, MaterialImages::Bound(4));
    let (text, ..) = staged(form, &layout(), &source).expect("the shader is right");
    for part in [
        "@group(0) @binding(4) var pattern: texture_2d<f32>;",
        "@group(0) @binding(5) var pattern_sampler: sampler;",
        "return tap(pattern)",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

/// Each takes milliseconds where work is linear in the length, and minutes where it is quadratic.
#[test]
fn hostile_shaders_end_soon() {
    let bindings = format!("{GROUP} @binding(0) var<").repeat(20_000);
    let uses = format!(
        "{GROUP} @binding(1) var pattern: texture_2d<f32>; fn f() {{ f({}); }}",
        "pattern, ".repeat(50_000)
    );
    let brackets = format!("@fragment fn fragment{}", "(".repeat(100_000));
    for source in [bindings, uses, brackets] {
        assert!(generated(&source).is_err());
    }
}

#[test]
fn instance_indices_may_come_from_a_vertex_buffer() {
    let form = MaterialShaderForm {
        instance_index: "@location(9)",
        ..form(MaterialImages::Bindless)
    };
    let inputs = [
        "struct Input { @location(0) at: vec3f, @builtin(instance_index) instance: u32 }",
        "",
        "",
    ];
    let parameters = [
        "input: Input",
        "@builtin(instance_index) instance: u32",
        "@location(0) at: vec3f",
    ];
    for (input, parameter) in inputs.into_iter().zip(parameters) {
        let source = format!(
            "{input}
@vertex fn vertex({parameter}) -> @builtin(position) vec4f {{ return vec4f(0.0); }}"
        );
        let shader = Shader::from_wgsl(source, "vertex.wgsl");
        let stage = (&shader, MaterialStage::Vertex);
        let translated = translate_material("Own", stage, &layout(), &form, &[], &mut Vec::new());
        let translated = translated.expect("the shader is right");
        let entry = translated.entry_points().iter();
        let mut entry = entry.filter(|it| it.name == MATERIAL_VERTEX);
        let inputs = &entry.next().expect("it is there").inputs;
        assert!(inputs.iter().any(|it| it.location == 9), "{parameter}");
    }
}

#[test]
fn attributes_of_programs_are_read_from_words() {
    use bevy_mesh::MeshVertexAttribute;
    use wgpu_types::VertexFormat;

    use crate::meshes::{AttributeScalar, OwnAttribute};

    let pulled = |location, offset, format| PulledAttribute {
        location,
        attribute: OwnAttribute {
            attribute: MeshVertexAttribute::new("Own", u64::from(location), format),
            scalar: AttributeScalar::Float,
            components: (format.size() / 4) as u32,
            offset,
        },
    };
    let pulled = PulledAttributes {
        attributes: vec![
            pulled(1, 0, VertexFormat::Float32x2),
            pulled(2, 2, VertexFormat::Float32),
        ],
        stride: 3,
    };
    let words = "
@group(0) @binding(9) var<storage, read> words: array<u32>;
fn quadrille_attribute(quadrille_index: u32, vertex: u32, stride: u32) -> u32 { return vertex * stride; }
fn quadrille_word(at: u32) -> u32 { return words[at]; }
";
    let form = MaterialShaderForm {
        pulled: Some((&pulled, words)),
        ..form(MaterialImages::Bindless)
    };
    let generated = |source: &str| {
        let shader = Shader::from_wgsl(source.to_owned(), "test.wgsl");
        let shader = (&shader, MaterialStage::Vertex);
        let (layout, mut bound) = (layout(), Vec::new());
        let composed = generate("Test", shader, &layout, &form, &[], &mut bound)?;
        translate_material("Test", shader, &layout, &form, &[], &mut bound)?;
        Ok::<_, String>(composed.text().to_owned())
    };
    let structure = "
struct Vertex { @builtin(vertex_index) at: u32, @location(0) position: vec3f, @location(1) blend: vec4<f32> }
@vertex fn vertex(in: Vertex, @location(2) height: f32) -> @builtin(position) vec4f {
    return vec4f(in.position, height) + in.blend + f32(in.at);
}
";
    let text = generated(structure).expect("it is right");
    for part in [
        "struct QuadrilleVertexInput0 { @builtin(vertex_index) at: u32, @location(0) position: vec3f, }",
        "quadrille_attribute(quadrille_index, quadrille_input_0.at, 3u)",
        "bitcast<f32>(quadrille_word(quadrille_at + 1u)), f32(0), f32(1))",
        "let quadrille_input_1 = bitcast<f32>(quadrille_word(quadrille_at + 2u));",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let alone = "
@vertex fn vertex(@location(1) blend: vec2f) -> @builtin(position) vec4f { return vec4f(blend, 0.0, 1.0); }
";
    let text = generated(alone).expect("it is right");
    assert!(
        text.contains("@builtin(vertex_index) quadrille_vertex: u32"),
        "{text}"
    );
    let wrong = alone
        .replace("vec2f", "vec2u")
        .replace("vec4f(blend, 0", "vec4f(vec2f(blend), 0");
    let error = generated(&wrong).expect_err("the type is wrong");
    assert!(
        error.contains("`Own` (Float32x2) as `blend: vec2u`"),
        "{error}"
    );
}

#[test]
fn members_of_structures_may_have_names_of_bindings() {
    let source = format!(
        "struct Indices {{ pattern: u32, color: vec4f }}
{GROUP} @binding(1) var pattern: texture_2d<f32>;
{GROUP} @binding(0) var<uniform> color: vec4f;
@fragment fn fragment() -> @location(0) vec4f {{
    let indices = Indices(2u, color);
    return indices.color * textureLoad(pattern, vec2u(indices.pattern), 0);
}}"
    );
    let form = (MaterialStage::Fragment, MaterialImages::Bindless);
    let (text, ..) = staged(form, &layout(), &source).expect("the shader is right");
    assert!(
        text.contains("struct Indices { pattern: u32, color: vec4f }"),
        "{text}"
    );
    assert!(text.contains("vec2u(indices.pattern)"), "{text}");
}
