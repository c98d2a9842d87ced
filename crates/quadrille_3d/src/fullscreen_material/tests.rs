use super::*;

fn error(source: &str) -> String {
    let shader = GpuShader::wgsl("test.wgsl", source).expect("it is WGSL");
    check_bindings(&shader, 16).expect_err("its bindings are wrong")
}

#[test]
fn wrong_bindings_say_what_is_bound() {
    let fragment =
        "@fragment fn fragment() -> @location(0) vec4f { return vec4f(1.0) * f32(value); }";
    let message = error(&format!(
        "@group(0) @binding(3) var<uniform> value: f32; {fragment}"
    ));
    assert!(
        message.contains("`value` at binding 3") && message.contains("a `sampler` at 1"),
        "{message}"
    );
    let message = error(&format!(
        "@group(0) @binding(0) var<uniform> value: f32; {fragment}"
    ));
    assert!(message.contains("`value` at binding 0"), "{message}");
    let fragment = fragment.replace("f32(value)", "value[1].x");
    let message = error(&format!(
        "@group(0) @binding(2) var<uniform> value: mat4x4f; {fragment}"
    ));
    assert!(
        message.contains("`value` has 64 bytes, and the component 16"),
        "{message}"
    );
}
