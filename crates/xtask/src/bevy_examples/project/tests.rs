use super::*;

#[test]
fn a_manifest_has_the_programs_and_what_they_use() {
    let source = paths::target("tmp/bevy-manifest-test.rs");
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    fs::write(
        &source,
        "use rand::Rng;\nuse bevy::prelude::*;\nmod steps;\n",
    )
    .unwrap();
    let module = "fn step() { bevy_ecs::run(); bevy_render::draw() }\n";
    fs::write(source.with_file_name("steps.rs"), module).unwrap();
    let dependency = |name: &str| {
        serde_json::json!({
            "name": name, "kind": "dev", "target": null, "req": "^1",
            "features": ["std"], "uses_default_features": false,
        })
    };
    let all = ["rand", "ron", "bevy_render", "bevy_ecs"].map(dependency);
    let bevy = serde_json::json!({
        "dependencies": all,
    });
    let program = Program {
        name: "sprite".to_owned(),
        path: source.clone(),
        arguments: Vec::new(),
    };
    let text = manifest("programs", "\"1\"", &bevy, std::slice::from_ref(&program)).unwrap();
    assert!(
        text.contains(
            "rand = { version = \"^1\", features = [\"std\"], default-features = false }\n"
        )
    );
    assert!(
        !text.contains("ron =") && !text.contains("bevy_render"),
        "{text}"
    );
    let alone = programs_alone(std::slice::from_ref(&program));
    assert!(alone.contains("name = \"sprite\"\n"), "{alone}");
    assert!(alone.contains(&*source.to_string_lossy()), "{alone}");
    assert!(!needs_soft_shadows(std::slice::from_ref(&program)));
    let soft = Program {
        name: "pcss".to_owned(),
        ..program.clone()
    };
    assert!(needs_soft_shadows(&[program, soft]));
}
