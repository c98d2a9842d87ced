//! glTF files: the model of the viewer, and files that are broken.

use bevy_asset::LoadState;
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::prelude::*;

use crate::common::{Rig, temporary};

/// A scene with nothing but a camera, and a folder of assets.
fn rig(folder: &str) -> Rig {
    let content = ContentPlugin {
        asset_folder: folder.to_owned(),
        ..ContentPlugin::default()
    };
    let mut rig = Rig::with(
        64,
        64,
        Quadrille3dPlugin {
            content,
            ..Quadrille3dPlugin::default()
        },
    );
    rig.app.world_mut().spawn((
        Camera3d::default(),
        Tonemapping::None,
        Transform::from_xyz(0.0, 1.8, 3.0).looking_at(Vec3::new(0.0, 1.8, 0.0), Vec3::Y),
    ));
    rig.start();
    rig
}

fn loaded<A: Asset>(rig: &mut Rig, path: &str) -> (Handle<A>, LoadState) {
    let server = rig.app.world().resource::<AssetServer>().clone();
    let handle = server.load(path.to_owned());
    for _ in 0..2000 {
        rig.update(1);
        let state = server.load_state(&handle);
        if state.is_failed() || server.is_loaded_with_dependencies(&handle) {
            return (handle, state);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{path} is never loaded");
}

#[test]
#[ignore = "needs a device"]
fn gltf_meshes_get_standard_materials() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/models");
    let mut rig = rig(folder);
    let (file, _) = loaded::<Gltf>(&mut rig, "orrery.glb");
    let world = rig.app.world_mut();
    let gltf = world.resource::<Assets<Gltf>>().get(&file).expect("loaded");
    let (scene, animations) = (gltf.scenes[0].clone(), gltf.animations.len());
    assert_eq!(animations, 1);
    world.spawn(WorldAssetRoot(scene));
    rig.update(8);
    let world = rig.app.world_mut();
    let mut drawn = world.query::<(&Mesh3d, &MeshMaterial3d<StandardMaterial>)>();
    assert_eq!(drawn.iter(world).count(), 13);
    let server = world.resource::<AssetServer>().clone();
    let materials = world.resource::<Assets<StandardMaterial>>();
    let brass = server.load("orrery.glb#Material1/std");
    let brass = materials.get(&brass).expect("the second material");
    assert_eq!((brass.metallic, brass.perceptual_roughness), (1.0, 0.28));
    // The sun is in the middle, and shines four times as bright as white.
    let [red, green, blue, _] = rig.picture().at(32, 32);
    assert_eq!((red, green), (255, 255));
    assert!((225..=235).contains(&blue), "{blue} is not that of 0.8");
}

#[test]
#[ignore = "needs a device"]
fn broken_gltf_files_are_reported() {
    let path = temporary("broken.glb");
    let folder = path.parent().expect("a folder").to_owned();
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/models/orrery.glb"
    );
    let whole = std::fs::read(model).expect("the model is there");
    let mut rig = rig(folder.to_str().expect("UTF-8"));
    for (name, bytes) in [("head.glb", &whole[..100]), ("half.glb", &whole[..20_000])] {
        std::fs::write(folder.join(name), bytes).expect("files can be written");
        let (_, state) = loaded::<Gltf>(&mut rig, name);
        assert!(state.is_failed(), "{name}: {state:?}");
    }
    rig.update(2);
}
