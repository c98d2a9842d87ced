// Fragment shader of materials of nodes without one, as in bevy.

@fragment
fn fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return vec4f(1.0);
}
