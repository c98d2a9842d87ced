use crate::error::ShaderError;
use crate::shader::ShaderOptions;

const ENTRY: &str = "@compute @workgroup_size(1) fn main() { let used = half; }";

#[test]
fn errors_of_changed_text_show_lines_of_the_source() {
    let source = format!("// A comment.\nconst half = 0.5;\n{ENTRY}\n");
    let mut shader = ShaderOptions::new()
        .compose("test.wgsl", &source, None)
        .unwrap();
    let at = shader.text().find("0.5").unwrap();
    let edits = [
        (0..0, "const a = 1;\nconst b = 2;\n".to_owned()),
        (at..at + 3, "\n\nunknown".to_owned()),
    ];
    shader.replace(&edits);
    assert!(
        shader.text().contains("const half = \n\nunknown;"),
        "{}",
        shader.text()
    );
    let Err(ShaderError::Source { line, column, .. }) = shader.translate() else {
        panic!("the name is unknown");
    };
    assert_eq!((line, column), (2, 14));
}

#[test]
fn text_may_be_changed_twice() {
    let source = format!("const half = 0.5;\n{ENTRY}\n");
    let mut shader = ShaderOptions::new()
        .compose("test.wgsl", &source, None)
        .unwrap();
    shader.replace(&[(0..0, "const first = 1;\n".to_owned())]);
    let at = shader.text().find("half").unwrap();
    shader.replace(&[(at..at + 4, "whole".to_owned())]);
    let error = shader.error("here", at + 6..at + 7);
    assert!(
        error.line().starts_with("test.wgsl:1:12"),
        "{}",
        error.line()
    );
    assert!(shader.translate().is_err());
}

#[test]
fn imported_declarations_are_told_apart() {
    crate::shader::ShaderModule::new(
        "composed_tests::halves",
        "const HALF = 0.5; @fragment fn other() {}",
    )
    .publish()
    .unwrap();
    let source = "import composed_tests::halves::HALF;\nconst HALF_OF_OWN = HALF;";
    let shader = ShaderOptions::new()
        .compose("test.wgsl", source, None)
        .unwrap();
    let words = shader
        .text()
        .split(|it: char| !it.is_alphanumeric() && it != '_');
    let imported: Vec<_> = words.filter(|word| shader.is_imported(word)).collect();
    assert_eq!(imported.len(), 2, "{}", shader.text());
    assert_eq!(shader.own_name(imported[0]), "HALF");
}

/// Each takes seconds where work is linear in the length, and hours where it is quadratic.
#[test]
fn hostile_sources_end_soon() {
    let nested = "fn f() { ".to_owned() + &"@if(!A) { ".repeat(100_000) + &"}".repeat(100_001);
    let names: Vec<_> = (0..50_000).map(|at| format!("nothing{at}::f()")).collect();
    let names = format!("fn f() {{ {}; }}", names.join("; "));
    for (source, is_valid) in [(nested, true), (names, false)] {
        let composed = ShaderOptions::new().compose("test.wgsl", &source, None);
        assert_eq!(composed.is_ok(), is_valid);
    }
}
