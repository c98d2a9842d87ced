use super::*;

const SKY: [u8; 3] = [10, 20, 30];

#[test]
fn backgrounds_do_not_count() {
    let mut reference = vec![SKY; 1000];
    reference[..10].fill([200; 3]);
    let mut own = reference.clone();
    own[1] = [200, 200, 191];
    own[2] = [200, 208, 200];
    // A dithered background pixel.
    own[500] = [12, 20, 30];
    let found = of_pixels(&reference, &own).expect("something is drawn");
    assert_eq!((found.drawn, found.off, found.most), (10, 1, 9));
    assert_eq!(
        found.to_string(),
        "10.00 % off (1 of 10 drawn pixels, by up to 9)"
    );
}

#[test]
fn drawn_by_one_renderer_alone_counts() {
    let reference = vec![SKY; 100];
    let mut own = reference.clone();
    own[7] = [255; 3];
    let found = of_pixels(&reference, &own).expect("something is drawn");
    assert_eq!((found.drawn, found.off), (1, 1));
    assert_eq!(of_pixels(&reference, &reference), None);
}

#[test]
fn programs_that_show_no_asset_say_so() {
    assert_eq!(unfit("INFO all is well"), None);
    let failed = "2026 ERROR bevy_asset::server: Path not found: assets/a.png";
    let reason = unfit(failed).expect("a reason");
    assert_eq!(
        reason,
        "an asset does not load: bevy_asset::server: Path not found: assets/a.png"
    );
    let panics = unfit("thread 'main' panicked at src/lib.rs").expect("a reason");
    assert!(panics.starts_with("it panics"), "{panics}");
    assert_eq!(
        unfit("still loading: Loading...").as_deref(),
        Some("still loading: Loading...")
    );
}

#[test]
fn pictures_without_what_a_broken_shader_draws_are_not_compared() {
    let log = "2026 INFO winit\n\
        2026 ERROR bevy_render::render_resource::pipeline_cache: failed to process shader error:\n\n\
        error: no definition in scope for identifier: `mesh.uv`\n   12 | x";
    assert_eq!(
        unfit(log).as_deref(),
        Some(
            "a shader does not compile: bevy_render::render_resource::pipeline_cache: failed to process shader \
             error: error: no definition in scope for identifier: `mesh.uv`"
        )
    );
    let module = "ERROR bevy_render: failed to create shader module: Shader 'pbr' parsing error";
    assert_eq!(
        unfit(module).as_deref(),
        Some(
            "a shader does not compile: bevy_render: failed to create shader module: Shader 'pbr' parsing error"
        )
    );
}

#[test]
fn pictures_of_a_renderer_that_failed_are_not_compared() {
    let caught =
        "ERROR bevy_render::error_handler: Caught rendering error: Validation Error\nIn a pass";
    let reason = unfit(caught).expect("a reason");
    assert!(reason.starts_with("the renderer fails"), "{reason}");
    let lost = unfit("ERROR Caught DeviceLost error: Unknown x").expect("a reason");
    assert!(lost.starts_with("the device is lost"), "{lost}");
}

#[test]
fn pictures_with_a_fallback_material_are_not_compared() {
    let log = "2026 ERROR quadrille_3d: meshes with the material `Lava` are drawn in magenta, because its shader \
        cannot be used: `lava.wesl` does not exist";
    let reason = unfit(log).expect("a reason");
    assert!(
        reason.starts_with(
            "the shader of a material cannot be used: quadrille_3d: meshes with the material `Lava`"
        ),
        "{reason}"
    );
}
