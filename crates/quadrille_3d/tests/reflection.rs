//! Public components, resources and assets of the crates that draw are in bevy's type registry, so that scenes, editors
//! and clones of entities keep them.

use std::path::Path;

use bevy_app::App;
use bevy_asset::{AssetApp as _, ReflectAsset};
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent, ReflectResource};
use bevy_reflect::prelude::ReflectDefault;
use bevy_reflect::{Reflect, TypeRegistration};
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::auto_exposure::AutoExposurePlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::WireframePlugin;

/// Resources of a device or of the current frame, which no scene can contain. Those with a field of a device type are
/// found by [`is_device_resource`].
const PER_FRAME_TYPES: &[&str] = &[
    "RateLimitedWarnings",
    "BoundList",
    "BoundMaterials",
    "DeviceImages",
    "EnvironmentMaps3d",
    "FilterJobs3d",
    "GizmoLineBatches",
    "InvalidCameras",
    "CameraOverlays",
    "DrawnMeshes",
    "CameraViews",
    "Phase2d",
    "Scene3d",
    "ShadowCache",
    "ShadowMaps",
    "Textures3d",
    "Cubes3d",
    "Volumes3d",
    "CurrentColors",
    "DrawnPrepasses",
];

/// Types with a default if their parameters have one.
const CONDITIONAL_DEFAULTS: &[&str] = &["ExtendedMaterial"];

/// Assets by their trait alone: worlds keep the material that they extend.
const EXTENSIONS: &[&str] = &["ForwardDecalMaterialExt"];

/// A material whose plugins register the generic components of materials.
#[derive(Asset, Reflect, AsBindGroup, Clone)]
struct Plain {
    #[uniform(20)]
    color: LinearRgba,
}

impl quadrille_2d::prelude::UiMaterial for Plain {}

impl quadrille_2d::prelude::MaterialExtension2d for Plain {}

/// A public type that is stored in worlds.
#[derive(Debug)]
struct Found {
    name: String,
    kind: &'static str,
    has_default: bool,
    /// Its declaration.
    text: String,
}

/// Whether a field of the type belongs to a device.
fn is_device_resource(found: &Found) -> bool {
    let names = [
        "GpuBuffer",
        "GpuImage",
        "Pipeline",
        "ImageTable",
        "ViewImages",
    ];
    names.iter().any(|name| found.text.contains(name))
}

fn sources(folder: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|end| end == "rs") {
            out.push(std::fs::read_to_string(&path).expect("it can be read"));
        }
    }
}

/// The public types of a source that derive one of these traits.
fn find(source: &str, out: &mut Vec<Found>) {
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    for part in code.split("#[derive(").skip(1) {
        let Some((derives, rest)) = part.split_once(")]") else {
            continue;
        };
        let derives: Vec<_> = derives.split(',').map(str::trim).collect();
        let kinds = ["Component", "Resource", "Asset"];
        let Some(&kind) = kinds.iter().find(|kind| derives.contains(kind)) else {
            continue;
        };
        let end = rest.find("\n}").into_iter().chain(rest.find(";\n")).min();
        let text = &rest[..end.unwrap_or(rest.len())];
        let declared = text.lines().find_map(|line| {
            let line = line
                .strip_prefix("pub struct ")
                .or(line.strip_prefix("pub enum "))?;
            line.split(|letter: char| !letter.is_alphanumeric()).next()
        });
        if let Some(name) = declared {
            let has_default = derives.contains(&"Default")
                || code.contains(&format!("impl Default for {name} "))
                || code.contains(&format!("> Default for {name}<"));
            out.push(Found {
                name: name.to_owned(),
                kind,
                has_default,
                text: text.to_owned(),
            });
        }
    }
}

fn public_types() -> Vec<Found> {
    let mut found = Vec::new();
    for name in ["quadrille_content", "quadrille_2d", "quadrille_3d"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let mut all = Vec::new();
        sources(&folder.join("src"), &mut all);
        for source in all {
            find(&source, &mut found);
        }
    }
    found
}

/// Everything that is missing from the registration of a type.
fn lacks(found: &Found, registration: &TypeRegistration) -> Vec<&'static str> {
    let mut lacks = Vec::new();
    let has_kind = match found.kind {
        "Component" => registration.data::<ReflectComponent>().is_some(),
        "Resource" => registration.data::<ReflectResource>().is_some(),
        _ if EXTENSIONS.contains(&found.name.as_str()) => true,
        _ => registration.data::<ReflectAsset>().is_some(),
    };
    if !has_kind {
        lacks.push("what bevy keeps it as");
    }
    let default = registration.data::<ReflectDefault>();
    let has_default = found.has_default && !CONDITIONAL_DEFAULTS.contains(&found.name.as_str());
    if has_default && default.is_none() {
        lacks.push("Default");
    }
    if let Some(default) = default
        && default.default().reflect_clone().is_err()
    {
        lacks.push("Clone");
    }
    lacks
}

fn add_plugins(app: &mut App) {
    app.add_plugins((
        quadrille_2d::Quadrille2dPlugin::default(),
        quadrille_2d::prelude::UiMaterialPlugin::<Plain>::default(),
        quadrille_2d::prelude::SpriteMaterialPlugin::<Plain>::default(),
        Quadrille3dPlugin::default(),
        WireframePlugin {},
        AutoExposurePlugin,
        FreeCameraPlugin,
    ));
}

/// Editors list the assets of all types that are registered as such.
#[test]
fn registered_assets_are_in_the_world() {
    let mut app = App::new();
    app.add_plugins((bevy_app::TaskPoolPlugin::default(), AssetPlugin::default()));
    add_plugins(&mut app);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let assets = registry.iter().filter_map(|it| it.data::<ReflectAsset>());
    let mut count = 0;
    for asset in assets {
        asset.len(app.world());
        count += 1;
    }
    assert!(count >= 10, "{count} types of assets are registered");
}

#[test]
fn public_types_register_reflected_traits() {
    let mut app = App::new();
    // Without the types that feature `reflect_auto_register` would add.
    app.insert_resource(AppTypeRegistry::default());
    app.add_plugins(bevy_app::TaskPoolPlugin::default());
    add_plugins(&mut app);
    // Programs register it: its plugin also takes extensions that are not reflected.
    app.register_asset_reflect::<ExtendedMaterial<StandardMaterial, Plain>>();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let types = public_types();
    let mut missing = Vec::new();
    let mut checked = 0;
    for found in &types {
        let is_left_out = found.name == "GltfLimits" && !cfg!(feature = "gltf");
        if PER_FRAME_TYPES.contains(&found.name.as_str())
            || is_device_resource(found)
            || is_left_out
        {
            continue;
        }
        let generic = format!("{}<", found.name);
        let registration = registry.iter().find(|registration| {
            let path = registration.type_info().type_path_table();
            let is_ours = path.path().starts_with("quadrille");
            is_ours && (path.short_path() == found.name || path.short_path().starts_with(&generic))
        });
        checked += 1;
        match registration {
            None => missing.push(format!("{} is not registered", found.name)),
            Some(registration) => {
                let lacks = lacks(found, registration);
                missing.extend(
                    lacks
                        .iter()
                        .map(|lack| format!("{} lacks {lack}", found.name)),
                );
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(checked >= 20, "{checked} types were found");
    for name in PER_FRAME_TYPES {
        let is_there = types.iter().any(|found| found.name == *name);
        assert!(is_there, "{name} is no public type any more");
    }
}

/// Without a registry, as in a bare world.
#[test]
fn entity_clones_keep_materials() {
    let mut world = World::new();
    let entity = world.spawn((
        MeshMaterial3d::<StandardMaterial>::default(),
        quadrille_2d::MeshMaterial2d::<quadrille_2d::ColorMaterial>::default(),
    ));
    let entity = entity.id();
    let clone = world.entity_mut(entity).clone_and_spawn();
    let clone = world.entity(clone);
    assert!(clone.contains::<MeshMaterial3d<StandardMaterial>>());
    assert!(clone.contains::<quadrille_2d::MeshMaterial2d<quadrille_2d::ColorMaterial>>());
}
