use super::translate;
use crate::shader::GpuShader;
use crate::shader::compose::tokens::tokens;
use crate::shader::defs::{ShaderDefVal, ShaderDefs, ShaderOptions};

/// Rules of WESL's conditional translation: name, source, and result with `ON` and `TOO` set.
const RULES: &[(&str, &str, &str)] = &[
    // Nodes that conditions decorate.
    (
        "enable",
        "@if(ON) enable f16; @if(OFF) enable subgroups;",
        "enable f16;",
    ),
    (
        "requires",
        "@if(OFF) requires a_thing; @if(ON) requires b_thing;",
        "requires b_thing;",
    ),
    (
        "diagnostic",
        "@if(OFF) diagnostic(off, a); @if(ON) diagnostic(off, b);",
        "diagnostic(off, b);",
    ),
    (
        "import",
        "@if(OFF) import a::{b, c::d}; @else import e::f;",
        "import e::f;",
    ),
    (
        "constant",
        "@if(ON) const A = 1; @if(OFF) const A = array(1, 2)[1];",
        "const A = 1;",
    ),
    (
        "override",
        "@if(OFF) @id(1) override A: f32 = 1.0; @if(ON) override B = 2;",
        "override B = 2;",
    ),
    (
        "variable",
        "@group(0) @if(OFF) @binding(0) var<storage, read_write> a: array<vec2<f32>, 4>; @if(ON) @group(0) @binding(1) var b: sampler;",
        "@group(0) @binding(1) var b: sampler;",
    ),
    (
        "alias",
        "@if(OFF) alias A = array<u32, 4>; @if(ON) alias A = f32;",
        "alias A = f32;",
    ),
    (
        "assertion",
        "@if(OFF) const_assert 1 > 2; @if(ON) const_assert 1 < 2;",
        "const_assert 1 < 2;",
    ),
    (
        "function",
        "@if(OFF) fn a(x: u32) -> @location(0) vec4f { if x > 1u { return vec4f(); } return vec4f(1); } fn b() {}",
        "fn b() {}",
    ),
    (
        "entry point",
        "@compute @if(ON) @workgroup_size(1) fn a() {} @if(OFF) @vertex fn b() {}",
        "@compute @workgroup_size(1) fn a() {}",
    ),
    (
        "structure",
        "@if(OFF) struct A { a: u32 } @if(ON) struct B { b: u32 };",
        "struct B { b: u32 };",
    ),
    (
        "member",
        "struct A { @if(OFF) @size(16) a: array<vec2<f32>, 4>, @location(0) @if(ON) b: u32, @if(OFF) c: u32 }",
        "struct A { @location(0) b: u32, }",
    ),
    (
        "parameter",
        "fn a(@if(OFF) @builtin(sample_index) x: u32, @if(ON) y: array<f32, 2>, @if(OFF) z: u32) {}",
        "fn a( y: array<f32, 2>, ) {}",
    ),
    (
        "let and var",
        "fn a() { @if(OFF) let x = 1; @if(ON) var x: array<u32, 2>; }",
        "fn a() { var x: array<u32, 2>; }",
    ),
    (
        "assignment",
        "fn a() { @if(OFF) x[0] = f(1, 2); @if(ON) _ = x; @if(OFF) x += 1; }",
        "fn a() { _ = x; }",
    ),
    (
        "increment",
        "fn a() { @if(ON) x++; @if(OFF) x--; @if(ON) (x)++; @else (x)--; }",
        "fn a() { x++; (x)++; }",
    ),
    (
        "call",
        "fn a() { @if(OFF) f(g(1)); @if(ON) h(); }",
        "fn a() { h(); }",
    ),
    (
        "return",
        "fn a() -> u32 { @if(OFF) return 1u; return 2u; }",
        "fn a() -> u32 { return 2u; }",
    ),
    (
        "discard",
        "fn a() { @if(OFF) discard; @if(ON) discard; }",
        "fn a() { discard; }",
    ),
    (
        "break and continue",
        "fn a() { while true { @if(OFF) continue; @if(ON) break; } }",
        "fn a() { while true { break; } }",
    ),
    (
        "continuing and break if",
        "fn a() { loop { @if(OFF) continuing { } @else continuing { @if(ON) break if x; } } }",
        "fn a() { loop { continuing { break if x; } } }",
    ),
    (
        "if statement with its clauses",
        "fn a() { @if(OFF) if x { f(); } else if y(1) { g(); } else { h(); } @else if z { i(); } else { j(); } k(); }",
        "fn a() { if z { i(); } else { j(); } k(); }",
    ),
    (
        "for",
        "fn a() { @if(OFF) for (var i = 0; i < 3; i++) { f(); } @if(ON) for (;;) { g(); } }",
        "fn a() { for (;;) { g(); } }",
    ),
    (
        "while and loop",
        "fn a() { @if(OFF) while x { f(); } @if(OFF) loop { break; } g(); }",
        "fn a() { g(); }",
    ),
    (
        "switch and its clauses",
        "fn a() { @if(OFF) switch x { default { } } switch y { @if(OFF) case 1, 2: { f(); } @if(ON) case 3 { @if(OFF) g(); h(); } default { } } }",
        "fn a() { switch y { case 3 { h(); } default { } } }",
    ),
    // Expressions.
    (
        "literals",
        "@if(true) const A = 1; @if(false) const B = 1;",
        "const A = 1;",
    ),
    (
        "negation",
        "@if(!ON) const A = 1; @if(!!TOO) const B = 1;",
        "const B = 1;",
    ),
    (
        "conjunction",
        "@if(ON && TOO) const A = 1; @if(ON && OFF) const B = 1; @if(true && ON && OFF) const C = 1;",
        "const A = 1;",
    ),
    (
        "disjunction",
        "@if(OFF || ON) const A = 1; @if(OFF || false) const B = 1;",
        "const A = 1;",
    ),
    (
        "parentheses",
        "@if(ON && !(OFF || (TOO))) const A = 1; @if((ON) && (OFF || TOO)) const B = 1;",
        "const B = 1;",
    ),
    (
        "trailing comma and blanks",
        "@ if (ON,) const A = 1; @if\n( OFF , ) const B = 1;",
        "const A = 1;",
    ),
    (
        "names of their own",
        "const ON = false; @if(ON) fn a() -> bool { return ON; }",
        "const ON = false; fn a() -> bool { return ON; }",
    ),
    (
        "def that is not set",
        "@if(NEVER_SET) const A = 1; @if(!NEVER_SET) const B = 1;",
        "const B = 1;",
    ),
    ("def that is false", "@if(FALSE) const A = 1;", ""),
    (
        "number as a condition",
        "@if(ZERO) const A = constants::ZERO;",
        "const A = constants::ZERO;",
    ),
    // Chains.
    (
        "first of a chain",
        "@if(ON) const A = 1; @elif(TOO) const A = 2; @else const A = 3;",
        "const A = 1;",
    ),
    (
        "second of a chain",
        "@if(OFF) const A = 1; @elif(TOO) const A = 2; @elif(ON) const A = 3; @else const A = 4;",
        "const A = 2;",
    ),
    (
        "last of a chain",
        "@if(OFF) const A = 1; @elif(OFF) const A = 2; @else const A = 3;",
        "const A = 3;",
    ),
    (
        "chains of members",
        "struct A { @if(OFF) a: u32, @elif(ON) b: u32, @else c: u32, }",
        "struct A { b: u32, }",
    ),
    (
        "chain behind a block",
        "fn a() { @if(ON) { if x { f(); } } @else { g(); } }",
        "fn a() { if x { f(); } }",
    ),
    (
        "a new chain",
        "@if(ON) const A = 1; @if(OFF) const B = 1; @else const C = 1;",
        "const A = 1; const C = 1;",
    ),
    // Blocks.
    (
        "block of declarations",
        "@if(ON) { struct A { a: u32 } fn b() {} } @else { fn c() {} }",
        "struct A { a: u32 } fn b() {}",
    ),
    (
        "block in a block",
        "@if(ON) { const A = 1; @if(TOO) { const B = 1; } @if(OFF) { const C = 1; } }",
        "const A = 1; const B = 1;",
    ),
    (
        "block without a condition",
        "const A = 1; { const B = 1; fn c() { } } const D = 1;",
        "const A = 1; const D = 1;",
    ),
    (
        "block of statements",
        "fn a() { @if(ON) { let x = 1; @if(OFF) { f(); } } @else { let x = 2; } g(x); }",
        "fn a() { let x = 1; g(x); }",
    ),
    (
        "block that stays a scope",
        "fn a() { @if(ON) {{ let x = 1; }} { let x = 2; } }",
        "fn a() { { let x = 1; } { let x = 2; } }",
    ),
    (
        "parts of a node that is left",
        "@if(ON) fn a() { @if(OFF) f(); g(); }",
        "fn a() { g(); }",
    ),
];

fn defs() -> ShaderDefs {
    let options = ShaderOptions::new().def("ON").def("TOO".to_owned());
    let more = [
        ShaderDefVal::Bool("FALSE".into(), true),
        ShaderDefVal::Bool("FALSE".into(), false),
        ShaderDefVal::Int("ZERO".into(), 0),
    ];
    options.defs(more).defs
}

/// Returns the remaining source, with whitespace collapsed.
fn left(source: &str) -> String {
    let translated = translate(source, tokens(source), &defs())
        .unwrap_or_else(|spanned| panic!("{source}: {}", spanned.message));
    let mut text = String::new();
    let mut from = 0;
    for range in translated.cut {
        text.push_str(&source[from..range.start]);
        from = range.end;
    }
    text.push_str(&source[from..]);
    let of_tokens = translated
        .tokens
        .iter()
        .map(|token| &source[token.at.clone()]);
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(of_tokens.collect::<String>(), without_blanks(&text));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn conditions_follow_each_rule_of_the_specification() {
    for (rule, source, expected) in RULES {
        assert_eq!(left(source), *expected, "{rule}");
    }
}

#[test]
fn misplaced_conditions_are_errors_at_their_place() {
    let said = |source: &str| match translate(source, tokens(source), &defs()) {
        Ok(_) => panic!("{source} is accepted"),
        Err(spanned) => (source[spanned.at].to_owned(), spanned.message),
    };
    let misplaced = [
        "fn a() -> @if(ON) u32 { return 1u; }",
        "fn a() @if(ON) { }",
        "fn a() { if x @if(ON) { } }",
        "fn a() { if x { } @if(ON) else { } }",
        "fn a() { let x = 1 + @if(ON) 2; }",
        "fn a() { f(@if(ON) 1); }",
        "fn a() { for (@if(ON) var i = 0; ; ) { } }",
        "const A = array<@if(ON) f32, 2>();",
        "struct A { a: @if(ON) u32 }",
        "fn a() { switch x @if(ON) { } }",
        "fn a() { @if(ON) }",
        "struct A { @if(ON) }",
        "@if(ON)",
        "@if(ON);",
    ];
    for source in misplaced {
        let (at, message) = said(source);
        if at == "@if" {
            assert!(
                message.contains("decorates nothing that can be left out"),
                "{source}: {message}"
            );
        } else {
            panic!("{source}: {at}: {message}");
        }
    }
    let chains = [
        ("@else const A = 1;", "@else"),
        (
            "@if(ON) const A = 1; const B = 1; @else const C = 1;",
            "@else",
        ),
        (
            "@if(ON) const A = 1; @else const B = 1; @elif(ON) const C = 1;",
            "@elif(ON)",
        ),
        ("fn a() { @if(ON) f(); g(); @else h(); }", "@else"),
        ("struct A { @if(ON) a: u32, b: u32, @else c: u32 }", "@else"),
    ];
    for (source, place) in chains {
        let (at, message) = said(source);
        assert_eq!(at, place, "{source}");
        assert!(message.contains("follows no `@if` or `@elif`"), "{message}");
    }
    let (at, message) = said("@if(ON) @compute @if(TOO) fn a() {}");
    assert_eq!(at, "@if(TOO)");
    assert!(
        message.contains("join their conditions with `&&`"),
        "{message}"
    );
    let expressions = [
        ("@if const A = 1;", "if", "goes on with `(`"),
        (
            "@if() const A = 1;",
            ")",
            "goes on with the name of a shader def",
        ),
        ("@if(ON == 1) const A = 1;", "=", "goes on with `)`"),
        (
            "@if(1) const A = 1;",
            "1",
            "goes on with the name of a shader def",
        ),
        ("@if(ON & TOO) const A = 1;", "&", "goes on with `)`"),
        ("@if(ON && TOO || OFF) const A = 1;", "|", "are mixed"),
        ("@if(ON const A = 1;", "const", "goes on with `)`"),
    ];
    for (source, place, part) in expressions {
        let (at, message) = said(source);
        assert_eq!(at, place, "{source}: {message}");
        assert!(message.contains(part), "{source}: {message}");
    }
    let deep = format!(
        "@if({}ON{}) const A = 1;",
        "(".repeat(9999),
        ")".repeat(9999)
    );
    assert!(said(&deep).1.contains("nested more than 64 deep"));
}

/// Incomplete sources, as saved by an editor, are errors or shaders.
#[test]
fn halves_of_conditions_do_not_panic() {
    let source = "@if(ON && !(OFF)) import a::{b, c}; @else { struct S { @if(ON) a: array<u32, 2>, b: u32 } } \
        @elif(X) @compute @if(Y,) fn f(@if(Z) x: u32) { @if(ON) { switch x { @if(ON) case 1: { } } } @else if x { } else { } }";
    for end in 0..=source.len() {
        let _ = GpuShader::wgsl("half.wesl", &source[..end]);
        let _ = GpuShader::wgsl("half.wesl", &source[end..]);
    }
}
