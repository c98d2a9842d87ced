//! The pictures of `shaders` beside those that were looked at. `cargo test -p examples --test
//! gpu_shaders -- --ignored`; without a device it fails.

mod common;

use common::{draw, expect};

const NAMES: [&str; 10] = [
    "array_texture",
    "compute_mesh",
    "custom_phase_item",
    "custom_post_processing",
    "custom_shader_instancing",
    "custom_vertex_attribute",
    "deferred_raymarch",
    "render_depth_to_texture",
    "storage_buffer",
    "texture_binding_array",
];

#[test]
#[ignore = "needs a device"]
fn passes_of_ones_own_look_as_they_did() {
    let program = env!("CARGO_BIN_EXE_shaders");
    let pictures = NAMES.map(|name| {
        let picture = draw(program, name, &[name, "--frames", "6"]);
        expect(&format!("shaders/{name}"), &picture)
    });
    for (name, [one, other]) in NAMES.iter().zip(pictures.array_windows()) {
        assert!(
            one.difference(other).is_some(),
            "{name} and the next are told apart"
        );
    }
}
