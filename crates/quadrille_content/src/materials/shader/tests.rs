use quadrille::glam::Vec4;
use quadrille::material::{MaterialBinding, MaterialBindingKind, SamplerBindingType};

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

fn generated(source: &str) -> Result<String, String> {
    generated_with(MaterialImages::Bindless, source)
}

fn generated_with(images: MaterialImages, source: &str) -> Result<String, String> {
    let shader = Shader::from_wgsl(source.to_owned(), "test.wgsl");
    let form = MaterialShaderForm {
        group: 3,
        imports: "",
        row: "quadrille_index",
        rows_binding: 24,
        images,
    };
    generate("Test", &shader, &layout(), &form)
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
fn bindings_become_private_variables_and_lines_stay() {
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
    let sample = "textureSample(quadrille_textures[pattern & quadrille_image_mask], \
                  quadrille_samplers[pattern_sampler >> quadrille_sampler_shift], uv)";
    assert!(text.contains(sample), "{text}");
    let line = |text: &str| text.lines().position(|line| line.contains("return color"));
    assert_eq!(line(&text), line(&source));
}

#[test]
fn wrong_bindings_name_both_sides() {
    let entry = "@fragment fn fragment() -> @location(0) vec4f { return vec4f(0.0); }";
    for (source, parts) in [
        (
            format!("{GROUP} @binding(7) var<uniform> speed: f32; {entry}"),
            ["`speed: f32` at binding 7", "#[uniform(7)]"],
        ),
        (
            format!("{GROUP} @binding(1) var<uniform> pattern: vec4f; {entry}"),
            ["a uniform at binding 1", "a texture (`pattern`)"],
        ),
        (
            format!("{GROUP} @binding(1) var pattern: texture_3d<f32>; {entry}"),
            ["texture_3d<f32>", "read uniforms, `texture_2d<f32>`"],
        ),
        (
            format!("{GROUP} @binding(0) var<storage, read> all: array<f32>; {entry}"),
            ["`all: array<f32>` at binding 0", "a pass of your own"],
        ),
        (
            format!("{GROUP} var<uniform> color: vec4f; {entry}"),
            ["`color` without the number", "@binding(0)"],
        ),
        (
            format!(
                "{GROUP} @binding(0) var<uniform> a: vec4f; {GROUP} @binding(0) var<uniform> b: vec4f; {entry}"
            ),
            ["two variables at binding 0", "`a` and `b`"],
        ),
        (
            format!(
                "{GROUP} @binding(1) var pattern: texture_2d<f32>; fn f() {{ let pattern = 1; }} {entry}"
            ),
            ["two meanings of `pattern`", "Rename one"],
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
fn unfinished_and_conditional_shaders_are_refused() {
    let entry = "@fragment fn fragment() -> @location(0) vec4f { return vec4f(0.0); }";
    let pattern = format!("{GROUP} @binding(1) var pattern: texture_2d<f32>;");
    for (source, part) in [
        (
            format!("{entry} {GROUP} @binding(0) var<uniform>"),
            "ends within the declaration",
        ),
        (
            format!("{GROUP} @binding(0) var<uniform> color"),
            "ends within the declaration",
        ),
        (
            "@fragment fn fragment mesh: VertexOutput) -> @location(0) vec4f {}".to_owned(),
            "without parameters or body",
        ),
        (
            format!("@if(DARK) {pattern} {entry}"),
            "`@if(DARK)` before a binding",
        ),
        (
            format!("@if(DARK) {entry} @else {entry}"),
            "`@if(DARK)` before an entry point",
        ),
        (
            format!("{pattern} fn tap(t: texture_2d<f32>) {{}} fn f() {{ tap(pattern); }} {entry}"),
            "passes the binding `pattern` to `tap`",
        ),
    ] {
        let message = error(&source);
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn modules_with_the_name_of_a_binding_stay() {
    let source = format!(
        "import package::pattern::fbm;
{GROUP} @binding(1) var pattern: texture_2d<f32>;
@fragment fn fragment() -> @location(0) vec4f {{ return pattern::color(); }}"
    );
    let text = generated(&source).expect("the shader is right");
    assert!(text.contains("import package::pattern::fbm;"), "{text}");
    assert!(text.contains("return pattern::color();"), "{text}");
}

#[test]
fn bound_images_stay_bindings_in_their_order() {
    let source = format!(
        "@group(3) @binding(1) var pattern: texture_2d<f32>;
{GROUP} @binding(2) var pattern_sampler: sampler;
fn tap(image: texture_2d<f32>) -> vec4f {{ return textureLoad(image, vec2u(), 0); }}
@fragment fn fragment() -> @location(0) vec4f {{ return tap(pattern); }}"
    );
    let text = generated_with(MaterialImages::Bound(4), &source).expect("the shader is right");
    let first = text.lines().next().expect("it has lines");
    assert_eq!(
        first.trim(),
        "@group(0) @binding(4) var pattern: texture_2d<f32>;"
    );
    assert!(
        text.contains("@group(0) @binding(5) var pattern_sampler: sampler;"),
        "{text}"
    );
    assert!(text.contains("return tap(pattern);"), "{text}");
}
