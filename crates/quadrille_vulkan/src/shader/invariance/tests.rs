use crate::shader::GpuShader;

/// Decorations `Invariant` (18) of results (`OpDecorate`, 71) and of members (`OpMemberDecorate`, 72).
fn invariants(source: &str) -> usize {
    let shader = GpuShader::wgsl("test.wgsl", source).expect("it is valid");
    let words = shader.words();
    let mut at = 5;
    let mut count = 0;
    while at < words.len() {
        let (length, code) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let decoration = match code {
            71 => words.get(at + 2),
            72 => words.get(at + 3),
            _ => None,
        };
        count += usize::from(decoration == Some(&18));
        at += length;
    }
    count
}

#[test]
fn positions_of_vertex_shaders_are_invariant() {
    let alone = "@vertex fn main() -> @builtin(position) vec4f { return vec4f(0.0); }";
    assert_eq!(invariants(alone), 1);
    let member = "struct Output { @location(0) color: vec4f, @builtin(position) position: vec4f }
        @vertex fn first() -> Output { return Output(vec4f(), vec4f()); }
        @vertex fn second() -> Output { return Output(vec4f(), vec4f()); }";
    assert_eq!(invariants(member), 2);
    let declared = "struct Output { @invariant @builtin(position) position: vec4f }
        @vertex fn main() -> Output { return Output(vec4f()); }";
    assert_eq!(invariants(declared), 1);
}

#[test]
fn other_stages_have_none() {
    let source =
        "@fragment fn main(@builtin(position) at: vec4f) -> @location(0) vec4f { return at; }";
    assert_eq!(invariants(source), 0);
}
