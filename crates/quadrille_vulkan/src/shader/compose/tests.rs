mod wesl;

use std::fs;
use std::path::PathBuf;

use crate::error::ShaderError;
use crate::shader::{GpuShader, ShaderModule, ShaderOptions};

/// Modules in a temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = crate::test_folder::make(name);
        for (file, text) in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Self(path)
    }

    fn load(&self, file: &str) -> Result<GpuShader, ShaderError> {
        GpuShader::load(self.0.join(file))
    }

    /// Returns the error of a shader, in one line and with its position in the source.
    fn said(&self, file: &str) -> [String; 2] {
        let error = self.load(file).expect_err("it is wrong");
        let folder = format!("{}/", self.0.display());
        let line = error.line();
        assert!(!line.contains('\n'), "{line}");
        let ShaderError::Source { excerpt, .. } = error else {
            panic!("not of a source: {error}");
        };
        [line, excerpt].map(|text| text.replace(&folder, ""))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const NOISE: &str = "
const STEP = 7.0;
struct Wave { phase: f32, height: f32 }
fn ripple(wave: Wave) -> f32 { return sin(wave.phase * STEP) * wave.height; }
fn main() -> f32 { return STEP; }
";

/// The bindings, by name, and the entry points of a shader.
fn names(shader: &GpuShader) -> (Vec<&str>, Vec<&str>) {
    let entries = shader.entry_points();
    let bindings = entries.iter().flat_map(|entry| &entry.bindings);
    (
        bindings.map(|it| &*it.name).collect(),
        entries.iter().map(|it| &*it.name).collect(),
    )
}

#[test]
fn names_of_modules_do_not_meet() {
    let root = "
import super::noise::{ripple, Wave as Swell};
import super::lib::tint;
import super::lib::tint::mix_in;

// Also in the module, as something else: STEP.
const STEP = 2.0;
@group(0) @binding(0) var<storage, read_write> heights: array<f32>;

struct Local { ripple: f32, @align(16) Wave: f32 }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let wave = Swell(1e-3 * f32(id.x), STEP);
    var local = Local(ripple(wave), 0x1e+1);
    local.ripple += wave.height;
    heights[id.x] = local.ripple + tint::mix_in(local.Wave) + mix_in(1.0);
}
";
    let tint = "
import super::super::noise as noise;
@group(0) @binding(3) var<uniform> amount: f32;
/* fn nothing /* in */ comments */
fn mix_in(by: f32) -> f32 { return by * amount + noise::main(); }
@fragment fn paint() -> @location(0) vec4f { return vec4f(amount); }
";
    let files = [
        ("root.wgsl", root),
        ("noise.wgsl", NOISE),
        ("lib/tint.wgsl", tint),
    ];
    let folder = Folder::new("meet", &files);
    let shader = folder
        .load("root.wgsl")
        .unwrap_or_else(|error| panic!("{error}"));
    // Entry points of imported modules are not those of the shader; variables keep their names.
    assert_eq!(names(&shader), (vec!["heights", "amount"], vec!["main"]));
    let imports: Vec<_> = shader
        .imports()
        .iter()
        .map(|it| it.file_name().unwrap())
        .collect();
    assert_eq!(imports, ["noise.wgsl", "tint.wgsl"]);
}

#[test]
fn directives_of_modules_come_first() {
    let root = "import super::half::half_of;
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = half_of(2.0); }";
    let half = "import super::more::STEP;
        diagnostic(off, derivative_uniformity);
        fn half_of(at: f32) -> f32 { return at * STEP; }";
    let more = "diagnostic(info, derivative_uniformity);\nconst STEP = 0.5;";
    let files = [
        ("root.wgsl", root),
        ("half.wgsl", half),
        ("more.wgsl", more),
    ];
    let folder = Folder::new("directives", &files);
    let line = folder.load("root.wgsl").expect_err("they differ").line();
    assert!(
        line.contains("more.wgsl:1:") || line.contains("half.wgsl:2:"),
        "{line}"
    );
    fs::write(folder.0.join("more.wgsl"), more.replace("info", "off")).unwrap();
    folder
        .load("root.wgsl")
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn errors_show_the_module_that_they_are_in() {
    let root = "import super::noise::ripple;\n@compute @workgroup_size(1) fn main() { _ = ripple(1.0); }\n";
    let files = [
        ("root.wgsl", root),
        (
            "noise.wgsl",
            "const STEP = 7.0;\nfn ripple(at: f32) -> f32 {\n    return STEP * at * nothing;\n}\n",
        ),
        (
            "types.wgsl",
            "import super::flag::flag;\n@compute @workgroup_size(1) fn main() { _ = flag(); }\n",
        ),
        ("flag.wgsl", "fn flag() -> f32 {\n    return true;\n}\n"),
        (
            "call.wgsl",
            "import super::two::add;\n@compute @workgroup_size(1) fn main() { _ = add(1.0) + add(1.0, 2.0); }\n",
        ),
        (
            "two.wgsl",
            "fn add(a: f32, b: f32) -> f32 { return a + b; }\n",
        ),
    ];
    let folder = Folder::new("places", &files);
    let [line, excerpt] = folder.said("root.wgsl");
    assert_eq!(
        line,
        "noise.wgsl:3:24: no definition in scope for identifier: `nothing`"
    );
    assert_eq!(
        excerpt,
        "  ┌─ noise.wgsl:3:24\n  │\n3 │     return STEP * at * nothing;\n  │                        ^^^^^^^ unknown identifier"
    );
    let [line, excerpt] = folder.said("types.wgsl");
    assert!(line.starts_with("flag.wgsl:1:1: "), "{line}");
    assert!(excerpt.contains("2 │ │     return true;"), "{excerpt}");
    assert!(
        line.contains("`flag::flag`") || line.contains("'flag::flag'"),
        "{line}"
    );
    // An error in the shader itself, after a renamed word of another length.
    let [line, excerpt] = folder.said("call.wgsl");
    let column = files[4].1.lines().nth(1).unwrap().find("add(1.0)").unwrap() + 1;
    assert!(
        line.starts_with(&format!("call.wgsl:2:{column}: ")),
        "{line}"
    );
    assert!(
        excerpt.contains("_ = add(1.0) + add(1.0, 2.0);"),
        "{excerpt}"
    );
}

#[test]
fn wrong_imports_are_one_line_each() {
    let files = [
        ("gone.wgsl", "// first\nimport super::nowhere::fbm;\n"),
        ("deep.wgsl", "import super::gone::fbm;\n"),
        ("name.wgsl", "import super::noise::{STEP, riple};\n"),
        ("other.wgsl", "import super::noise::nothing_like_it;\n"),
        ("begin.wgsl", "import super::package::ripple;\n"),
        ("syntax.wgsl", "import super::noise::{ripple;\n"),
        ("all.wgsl", "import super::noise::*;\n"),
        ("end.wgsl", "import super::noise"),
        (
            "twice.wgsl",
            "import super::noise::ripple;\nfn ripple() {}\n",
        ),
        (
            "path.wgsl",
            "import super::noise;\nfn f() { noize::ripple(); }\n",
        ),
        (
            "item.wgsl",
            "import super::noise;\nfn f() { noise::ripples(); }\n",
        ),
        ("crate.wgsl", "import nobody::noise::ripple;\n"),
        ("noise.wgsl", NOISE),
        ("latin.wgsl", "import super::text::a;\n"),
    ];
    let folder = Folder::new("wrong", &files);
    fs::write(folder.0.join("text.wgsl"), b"// caf\xe9\n").unwrap();
    let place = folder.0.display().to_string();
    let mut said = Vec::new();
    for (file, _) in files.iter().filter(|(file, _)| *file != "noise.wgsl") {
        let [line, excerpt] = folder.said(file);
        assert!(excerpt.contains('^'), "{line}\n{excerpt}");
        said.push(line.replace(&place, "FOLDER"));
    }
    assert_eq!(
        said,
        [
            "gone.wgsl:2:24: `super::nowhere::fbm` is imported, and there is no file nowhere.wgsl",
            "gone.wgsl:2:24: `super::nowhere::fbm` is imported, and there is no file nowhere.wgsl \
             (by deep.wgsl -> gone.wgsl)",
            "name.wgsl:1:29: noise.wgsl declares no `riple`; did you mean `ripple`?",
            "other.wgsl:1:22: noise.wgsl declares no `nothing_like_it`",
            "begin.wgsl:1:15: `package` begins paths; write it first",
            "syntax.wgsl:1:29: an import goes on with `,`, not with `;`",
            "all.wgsl:1:22: an import goes on with a name, not with `*`: names are imported one by one",
            "end.wgsl:1:20: an import goes on with `;`, not with the end of the source",
            "twice.wgsl:1:22: `ripple` is imported, and is another name of this module already; give \
             it a name of its own: super::noise::ripple as other_ripple",
            "path.wgsl:2:10: `noize` is no module that is imported here, and no crate that published one; did you mean \
             `noise`?",
            "item.wgsl:2:17: noise.wgsl declares no `ripples`; did you mean `ripple`?",
            "crate.wgsl:1:23: `nobody::noise::ripple` is imported, and no module `nobody::noise` is published",
            "latin.wgsl:1:21: text.wgsl:1:7: the text is not UTF-8",
        ]
    );
}

#[test]
fn crates_publish_modules() {
    let publish = |path: &str, source: &str| ShaderModule::new(path, source).publish();
    publish(
        "of_test::light",
        "import super::math::twice;\nfn lit(at: f32) -> f32 { return twice(at); }",
    )
    .unwrap();
    publish(
        "of_test::math",
        "fn twice(it: f32) -> f32 { return 2.0 * it; }",
    )
    .unwrap();
    publish(
        "of_test::math",
        "fn twice(it: f32) -> f32 { return 2.0 * it; }",
    )
    .unwrap();
    let source = "import of_test::{light::lit, math};
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = lit(2.0) + math::twice(1.0); }";
    let shader = GpuShader::wgsl("inline", source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&shader).0, ["out"]);
    let said = |result: Result<_, ShaderError>| result.err().map(|error| error.line());
    assert_eq!(
        said(GpuShader::wgsl("inline", "import of_test::lihgt::lit;").map(drop)).unwrap(),
        "inline:1:24: `of_test::lihgt::lit` is imported, and no module `of_test::lihgt` is published; \
         did you mean `of_test::light`?"
    );
    assert!(
        said(GpuShader::wgsl("inline", "import super::light::lit;").map(drop))
            .unwrap()
            .contains("super:: is the folder of a file, and this shader comes from none")
    );
    let another = said(publish("of_test::math", "fn other() {}")).unwrap();
    assert!(another.contains("another module of this path"), "{another}");
    let short = said(publish("math", "")).unwrap();
    assert!(
        short.contains("the name of a crate and of a module"),
        "{short}"
    );
    assert!(said(publish("super::math", "")).is_some());
    assert!(said(publish("a::b c", "")).is_some());
}

#[test]
fn imports_of_published_modules_are_their_names() {
    let publish = |path: &str, source: &str| ShaderModule::new(path, source).publish().unwrap();
    publish(
        "of_names::own",
        "fn twice(it: f32) -> f32 { return 2.0 * it; }",
    );
    publish("of_names::other", "import package::own::twice as doubled;");
    publish("of_names::third", "import package::other::doubled;");
    // Each imports the name of the other.
    publish("of_names::ring", "import package::circle::round;");
    publish("of_names::circle", "import package::ring::round;");
    let shader = |module: &str, call: &str| {
        let source = format!(
            "import of_names::{module};
            @group(0) @binding(0) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(1) fn main() {{ out[0] = {module}::{call}; }}"
        );
        GpuShader::wgsl("inline", &source).map_err(|error| error.line())
    };
    let doubled = shader("other", "doubled(1.0)").unwrap();
    assert_eq!(names(&doubled).0, ["out"]);
    // Names are passed on once.
    for (module, call, said) in [
        (
            "third",
            "doubled(1.0)",
            "of_names::other declares no `doubled`",
        ),
        ("circle", "round(1.0)", "of_names::ring declares no `round`"),
        ("other", "twice(1.0)", "of_names::other declares no `twice`"),
    ] {
        let found = shader(module, call).map(drop).unwrap_err();
        assert!(found.contains(said), "{module}::{call}: {found}");
    }
}

/// Incomplete imports, as saved by an editor, are errors or shaders.
#[test]
fn no_half_of_an_import_panics() {
    let folder = Folder::new("half", &[("noise.wgsl", NOISE)]);
    let source = "enable f16; import super::noise::{ripple, Wave as W}; import super::noise; /* */ \
        @id(1) override a: f32 = 0x1p+1; struct S { @size(16) a: f32 } fn f(a: S) -> f32 { \
        return noise::ripple(W(a.a, 1.)); }";
    for end in 0..=source.len() {
        fs::write(folder.0.join("root.wgsl"), &source[..end]).unwrap();
        let _ = folder.load("root.wgsl");
    }
}

#[test]
fn chains_of_imports_may_be_long() {
    const COUNT: usize = 1000;
    let module = |at: usize| match at + 1 {
        COUNT => format!("fn f{at}(x: u32) -> u32 {{ return x; }}"),
        next => format!(
            "import super::m{next}::f{next};\nfn f{at}(x: u32) -> u32 {{ return f{next}(x) + 1u; }}"
        ),
    };
    let modules: Vec<_> = (0..COUNT)
        .map(|at| (format!("m{at}.wgsl"), module(at)))
        .collect();
    let root = "import super::m0::f0;\n\
        @group(0) @binding(0) var<storage, read_write> cells: array<u32>;\n\
        @compute @workgroup_size(1) fn main() { cells[0] = f0(0u); }";
    let files = modules.iter().map(|(name, text)| (&**name, &**text));
    let files: Vec<_> = files.chain([("root.wgsl", root)]).collect();
    let folder = Folder::new("long", &files);
    let load = || {
        folder
            .load("root.wgsl")
            .map(|shader| shader.imports().len())
    };
    // A small stack, as threads of apps may have.
    let loaded = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        thread.spawn_scoped(scope, load).unwrap().join().unwrap()
    });
    assert_eq!(loaded.unwrap(), COUNT);

    let last = format!("m{}.wgsl", COUNT - 1);
    fs::write(folder.0.join(&last), "import super::gone::f0;").unwrap();
    let [line, _] = folder.said("root.wgsl");
    assert!(line.starts_with(&format!("{last}:1:")), "{line}");
    assert!(
        line.contains("m6.wgsl -> .. 985 more .. -> m992.wgsl"),
        "{line}"
    );
}

#[test]
fn imports_stay_below_the_folder_of_the_shader() {
    let root = "import super::super::outside::x;\n@compute @workgroup_size(1) fn main() { _ = x; }";
    let files = [
        ("inside/root.wgsl", root),
        (
            "inside/deep/down.wgsl",
            "import super::super::near::y; const z = y;",
        ),
        (
            "inside/fine.wgsl",
            "import super::deep::down::z;\n@compute @workgroup_size(1) fn main() { _ = z; }",
        ),
        ("inside/near.wgsl", "const y = 1.0;"),
        ("outside.wgsl", "const x = 1.0;"),
    ];
    let folder = Folder::new("stay", &files);
    let inside = folder.0.canonicalize().unwrap().join("inside");
    let [line, _] = folder.said("inside/root.wgsl");
    assert!(
        line.starts_with("inside/root.wgsl:1:") && line.contains("`super::super::outside` leaves "),
        "{line}"
    );
    folder.load("inside/fine.wgsl").unwrap();
    let shader = ShaderOptions::new()
        .within(&folder.0)
        .load(inside.join("root.wgsl"))
        .unwrap();
    assert_eq!(shader.imports().len(), 1);
    // A reload keeps the root folder.
    shader.composed_again(&mut Vec::new()).unwrap();
    let error = ShaderOptions::new()
        .within(folder.0.join("none"))
        .load(inside.join("root.wgsl"));
    assert!(matches!(error, Err(ShaderError::File { .. })));
    let whole =
        "import super::super::outside;\n@compute @workgroup_size(1) fn main() { _ = outside::x; }";
    fs::write(inside.join("root.wgsl"), whole).unwrap();
    assert!(folder.said("inside/root.wgsl")[0].contains("leaves"));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_imports_out_of_the_folder() {
    let root = "import super::linked::x;\n@compute @workgroup_size(1) fn main() { _ = x; }";
    let files = [
        ("inside/root.wgsl", root),
        ("outside.wgsl", "const x = 1.0;"),
    ];
    let folder = Folder::new("links", &files);
    let link = folder.0.join("inside/linked.wgsl");
    std::os::unix::fs::symlink(folder.0.join("outside.wgsl"), &link).unwrap();
    let [line, _] = folder.said("inside/root.wgsl");
    assert!(line.contains("leaves"), "{line}");
    ShaderOptions::new()
        .within(&folder.0)
        .load(folder.0.join("inside/root.wgsl"))
        .unwrap();
    // The shader file itself may be a link, because the program names it.
    let named = folder.0.join("inside/named.wgsl");
    fs::write(
        folder.0.join("outside.wgsl"),
        "@compute @workgroup_size(1) fn main() {}",
    )
    .unwrap();
    std::os::unix::fs::symlink(folder.0.join("outside.wgsl"), &named).unwrap();
    folder.load("inside/named.wgsl").unwrap();
}
