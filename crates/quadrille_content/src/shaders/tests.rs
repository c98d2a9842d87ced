use std::fs;

use bevy_app::App;
use bevy_asset::{AssetPath, AssetPlugin};
use quadrille::ecs::AssetFolder;

use super::*;

#[test]
fn imports_of_a_shader_are_files_of_the_asset_folder() {
    let folder = std::env::temp_dir().join(format!("quadrille-imports-{}", std::process::id()));
    let parts = folder.join("parts");
    fs::create_dir_all(&parts).unwrap();
    fs::write(
        parts.join("half.wgsl"),
        "import super::third::THIRD; const HALF = 0.5 * THIRD;",
    )
    .unwrap();
    fs::write(parts.join("third.wgsl"), "const THIRD = 0.3;").unwrap();
    let mut app = App::new();
    app.add_plugins(AssetPlugin {
        file_path: folder.to_string_lossy().into_owned(),
        ..AssetPlugin::default()
    });
    let loader = ShaderLoader {
        folder: AssetFolder::of(&app),
    };
    let path = AssetPath::from("stripes.wgsl");
    let file = loader.folder.file(&path).unwrap();
    let source = "import package::parts::half::HALF; const WHOLE = 2.0 * HALF;";
    fs::write(&file, source).unwrap();
    let mut imports = loader.imports("stripes.wgsl", source, &file);
    imports.sort_by_key(ToString::to_string);
    imports.dedup();
    fs::remove_dir_all(&folder).unwrap();
    let wanted = ["parts/half.wgsl", "parts/third.wgsl"].map(AssetPath::from);
    assert!(wanted.iter().all(|it| imports.contains(it)), "{imports:?}");
}
