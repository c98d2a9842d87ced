//! Tests of WESL's rules for imports, paths and names.

use super::{Folder, names};
use crate::shader::{GpuShader, ShaderDefVal, ShaderModule, ShaderOptions};

/// "Cyclic imports are allowed": WGSL has no order of declarations.
#[test]
fn modules_may_import_each_other() {
    let files = [
        (
            "a.wgsl",
            "import super::b::two;\nfn one() -> f32 { return 1.0; }\n\
             @compute @workgroup_size(1) fn main() { _ = two(); }",
        ),
        (
            "b.wgsl",
            "import super::sub::c::three;\nfn two() -> f32 { return three() + 1.0; }\nconst CHAIN = 3.0;",
        ),
        (
            "sub/c.wgsl",
            "import package::b;\nfn three() -> f32 { return b::CHAIN * package::a::one(); }",
        ),
        (
            "loop.wgsl",
            "import super::left::A;\n@compute @workgroup_size(1) fn main() { _ = A; }",
        ),
        ("left.wgsl", "import super::right::B;\nconst A = B + 1;"),
        ("right.wgsl", "const B = super::left::A + 1;"),
    ];
    let folder = Folder::new("circle", &files);
    let loaded = folder.load("a.wgsl");
    loaded.unwrap_or_else(|error| panic!("{error}"));
    // Constants that depend on each other have no value.
    let [line, excerpt] = folder.said("loop.wgsl");
    assert!(
        line.contains("left.wgsl:2:") || line.contains("right.wgsl:1:"),
        "{line}"
    );
    assert!(line.contains("cyclic"), "{line}");
    assert!(
        excerpt.contains("left::A") && excerpt.contains('^'),
        "{excerpt}"
    );
}

/// A name of the shader does not shadow a builtin function of the same name in a module.
#[test]
fn names_of_the_shader_do_not_reach_into_modules() {
    let files = [
        (
            "root.wgsl",
            "import super::clamped::clamped;\n\
             const max = 3.0;\n\
             @group(0) @binding(0) var<storage, read_write> distance: array<f32>;\n\
             @compute @workgroup_size(1) fn main() { distance[0] = clamped(max); }",
        ),
        (
            "clamped.wgsl",
            "fn clamped(x: f32) -> f32 { let main = distance(x, 1.0); return max(main, 0.0); }",
        ),
    ];
    let folder = Folder::new("reach", &files);
    let shader = folder.load("root.wgsl");
    let shader = shader.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&shader), (vec!["distance"], vec!["main"]));
}

#[test]
fn paths_name_declarations_where_they_are_used() {
    let root = "import super::lib;
        import {super::lib::tint, package::noise::ripple as wave};
        @group(0) @binding(constants::SLOT) var<storage, read_write> out: array<lib::tint::Tint>;
        @compute @workgroup_size(constants::SLOT)
        fn main() {
            var tint: lib::tint::Tint;
            tint.by = wave(package::noise::STEP) + tint::BY;
            out[0] = tint;
            super::noise::count();
        }";
    let noise = "const STEP = 7.0;
        fn ripple(at: f32) -> f32 { return at; }
        var<private> counted: u32;
        fn count() { counted += 1u; }";
    let files = [
        ("root.wesl", root),
        ("noise.wesl", noise),
        ("noise.wgsl", "wrong: the other extension comes first"),
        ("lib.wgsl", "const UNUSED = 1;"),
        (
            "lib/tint.wgsl",
            "import package::TWO;\nstruct Tint { by: f32 }\nconst BY = super::UNUSED * TWO;",
        ),
        ("package.wesl", "const TWO = 2.0;"),
    ];
    let folder = Folder::new("paths", &files);
    let options = || ShaderOptions::new().def(ShaderDefVal::UInt("SLOT".into(), 4));
    let shader = options().load(folder.0.join("root.wesl"));
    let shader = shader.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shader.entry_points()[0].workgroup_size, [4, 1, 1]);
    assert_eq!(shader.entry_points()[0].bindings[0].binding, 4);
    // A reload keeps the defs.
    let again = shader.composed_again(&mut Vec::new()).unwrap();
    assert_eq!(again.entry_points(), shader.entry_points());
    let [line, _] = folder.said("root.wesl");
    assert!(line.starts_with("root.wesl:3:"), "{line}");
    assert!(
        line.contains("no number is set for the shader def `SLOT`; add it: ShaderOptions::def"),
        "{line}"
    );
}

#[test]
fn errors_behind_conditions_show_their_place() {
    let source = "@if(A) fn one() -> f32 { return 1.0; }\n@else fn one() -> f32 {\n    @if(!A) return true;\n}\n";
    let error = GpuShader::wgsl("conditions.wesl", source).expect_err("a type is wrong");
    let text = error.to_string();
    assert!(text.contains("3 │ │     @if(!A) return true;"), "{text}");
    let source =
        "@compute @workgroup_size(1) fn main() {\n  @if(A) let x = 1;\n  @else let x = y;\n}";
    let error = GpuShader::wgsl("conditions.wesl", source).expect_err("y is not declared");
    assert!(
        error
            .line()
            .starts_with("conditions.wesl:3:17: no definition in scope for identifier: `y`"),
        "{error}"
    );
    ShaderOptions::new()
        .def("A")
        .wgsl("conditions.wesl", source)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_former_preprocessor_has_its_translation() {
    let said = |source: &str| {
        GpuShader::wgsl("old.wgsl", source)
            .expect_err("it is no WGSL")
            .line()
    };
    let import = said("#import bevy_pbr::forward_io::VertexOutput");
    assert!(
        import.starts_with("old.wgsl:1:1: `#import` is of the preprocessor naga_oil"),
        "{import}"
    );
    assert!(import.ends_with("write `import a::b;`"), "{import}");
    assert!(said("fn f() {\n#ifdef A\n}").starts_with("old.wgsl:2:1: `#ifdef`"));
    assert!(said("@group(#{MATERIAL_BIND_GROUP})").ends_with("write `constants::NAME`"));
}

#[test]
fn paths_that_do_not_exist_have_advice() {
    ShaderModule::new("of_advice::lines", "const WIDTH = 1.0;")
        .publish()
        .unwrap();
    ShaderModule::advise("of_advice::dots", "draw lines of no length");
    ShaderModule::advise("of_advice::lines::HEIGHT", "read WIDTH");
    let said = |source: &str| {
        GpuShader::wgsl("a.wesl", source)
            .expect_err("it does not exist")
            .line()
    };
    assert_eq!(
        said("import of_advice::dots::small::RADIUS; const A = RADIUS;"),
        "a.wesl:1:32: `of_advice::dots::small::RADIUS` does not exist here; draw lines of no length"
    );
    // Conditions may leave out all uses of an import.
    let unused = "import of_advice::dots::small::RADIUS; import of_advice::dots;
        @if(ROUND) const A = RADIUS + dots::SIDE;";
    GpuShader::wgsl("a.wesl", unused).expect("it needs nothing");
    assert_eq!(
        said("const A = of_advice::lines::HEIGHT;"),
        "a.wesl:1:29: of_advice::lines declares no `HEIGHT`; read WIDTH"
    );
}

/// As in bevy, whose modules import names that exist only under some conditions.
#[test]
fn declarations_that_nothing_needs_are_left_out() {
    let module = "import super::more::{PART, count};
        @if(FANCY) const EXTRA = 2.0;
        fn plain() -> f32 { return SCALE; }
        fn fancy() -> f32 { return PART * EXTRA + count; }
        fn broken() -> f32 { return super::nowhere::x(); }
        @id(7) override SCALE: f32 = 1.0;
        override UNUSED: f32 = 2.0;
        @group(0) @binding(0) var<uniform> uniforms: vec4f;";
    let main = |call: &str| {
        format!(
            "import super::module::{{EXTRA, plain, fancy, broken}};\n\
             @compute @workgroup_size(1) fn main() {{ _ = {call}; }}"
        )
    };
    let (plain, fancy, extra) = (main("plain()"), main("fancy()"), main("EXTRA"));
    let files = [
        ("plain.wesl", &*plain),
        ("fancy.wesl", &*fancy),
        ("extra.wesl", &*extra),
        ("broken.wesl", &*main("broken()")),
        ("module.wesl", module),
        (
            "more.wesl",
            "@if(FANCY) const PART = 1.0;\nvar<private> count: f32;",
        ),
        ("typo.wesl", "import super::more::PATR;"),
    ]
    .map(|(name, text)| (name, text.to_owned()));
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let folder = Folder::new("needed", &files);
    let shader = folder.load("plain.wesl");
    let shader = shader.unwrap_or_else(|error| panic!("{error}"));
    let constants = [("UNUSED".to_owned(), 3.0.into())];
    crate::shader::check_constants("a", &[&shader], &constants).unwrap();
    assert!(
        folder.said("extra.wesl")[0]
            .starts_with("extra.wesl:1:24: module.wesl declares no `EXTRA`")
    );
    assert!(folder.said("fancy.wesl")[0].contains("declares no `"));
    assert!(
        folder.said("broken.wesl")[0]
            .starts_with("module.wesl:5:53: `super::nowhere::x` is imported, and there is no file")
    );
    let fancy = ShaderOptions::new()
        .def("FANCY")
        .load(folder.0.join("fancy.wesl"));
    fancy.unwrap_or_else(|error| panic!("{error}"));
    // A name that exists under no condition is always an error.
    assert!(
        folder.said("typo.wesl")[0].ends_with("did you mean `PART`?")
            || folder.said("typo.wesl")[0].contains("declares no `PATR`")
    );
}
