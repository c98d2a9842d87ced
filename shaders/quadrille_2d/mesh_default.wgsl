// Fragment shader of materials of 2D meshes without one, as in bevy.

@fragment
fn fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 1.0, 1.0);
}
