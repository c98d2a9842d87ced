//! glTF files written by the tests: a sheet with a skin, a morph target, an animation and material extensions, and the
//! same file with various errors.

use bevy_asset::RecursiveDependencyLoadState;
use bevy_ecs::prelude::*;
use quadrille_3d::content::ContentPlugin;
use quadrille_3d::prelude::*;
use serde_json::{Value, json};

use crate::common::{Rig, temporary};

/// Sixteen pixels for each unit.
pub(crate) const SIDE: u32 = 64;
const HEIGHT: f32 = 4.0;

/// A file before serialization.
pub(crate) struct File {
    pub(crate) tree: Value,
    /// Contents of its single buffer.
    pub(crate) bytes: Vec<u8>,
}

impl File {
    /// A white sheet of side length 1, skinned to one joint. Its single animation takes a second: the joint moves one
    /// unit to the right, and a morph target moves the upper edge one unit up.
    pub(crate) fn new() -> Self {
        let mut file = Self {
            tree: json!({
                "asset": {"version": "2.0"},
                "extensionsUsed": ["KHR_materials_unlit"],
                "scene": 0,
                "scenes": [{"nodes": [2]}],
                "nodes": [{"mesh": 0, "skin": 0}, {"name": "joint"}, {"children": [0, 1]}],
                "skins": [{"joints": [1]}],
                "meshes": [{
                    "weights": [0.0],
                    "primitives": [{
                        "attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2, "NORMAL": 9, "TEXCOORD_0": 8},
                        "indices": 3,
                        "material": 0,
                        "targets": [{"POSITION": 4}],
                    }],
                }],
                "materials": [{"extensions": {"KHR_materials_unlit": {}}}],
                "animations": [{
                    "samplers": [{"input": 5, "output": 6}, {"input": 5, "output": 7}],
                    "channels": [
                        {"sampler": 0, "target": {"node": 1, "path": "translation"}},
                        {"sampler": 1, "target": {"node": 0, "path": "weights"}},
                    ],
                }],
                "bufferViews": [],
                "accessors": [],
            }),
            bytes: Vec::new(),
        };
        let corners = [
            [-0.5, -0.5, 0.0],
            [0.5, -0.5, 0.0],
            [0.5, 0.5, 0.0],
            [-0.5, 0.5, 0.0f32],
        ];
        let up = [[0.0; 3], [0.0; 3], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0f32]];
        file.floats("VEC3", &corners);
        file.add("VEC4", UNSIGNED_BYTE, 4, &[0; 16]);
        file.floats("VEC4", &[[1.0, 0.0, 0.0, 0.0]; 4]);
        let indices = [0u16, 1, 2, 0, 2, 3].map(u16::to_le_bytes);
        file.add("SCALAR", UNSIGNED_SHORT, 6, indices.as_flattened());
        file.floats("VEC3", &up);
        file.floats("SCALAR", &[[0.0], [1.0]]);
        file.floats("VEC3", &[[0.0; 3], [1.0, 0.0, 0.0]]);
        file.floats("SCALAR", &[[0.0], [1.0]]);
        file.floats("VEC2", &[[0.0, 0.0]; 4]);
        file.floats("VEC3", &[[0.0, 0.0, 1.0]; 4]);
        // Accessors of positions and times have bounds.
        file.tree["accessors"][0]["min"] = json!([-0.5, -0.5, 0.0]);
        file.tree["accessors"][0]["max"] = json!([0.5, 0.5, 0.0]);
        file.tree["accessors"][4]["min"] = json!([0.0, 0.0, 0.0]);
        file.tree["accessors"][4]["max"] = json!([0.0, 1.0, 0.0]);
        file.tree["accessors"][5]["min"] = json!([0.0]);
        file.tree["accessors"][5]["max"] = json!([1.0]);
        file
    }

    pub(crate) fn floats<const N: usize>(&mut self, kind: &str, values: &[[f32; N]]) {
        let bytes: Vec<u8> = values
            .as_flattened()
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        self.add(kind, FLOAT, values.len(), &bytes);
    }

    /// Adds a buffer view and its accessor.
    pub(crate) fn add(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let views = self.tree["bufferViews"].as_array_mut().expect("a list");
        views.push(json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}));
        let view = views.len() - 1;
        let accessors = self.tree["accessors"].as_array_mut().expect("a list");
        accessors.push(json!({
            "bufferView": view, "componentType": component, "count": count, "type": kind,
        }));
    }

    /// The same file, changed by a function.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Overwrites a part of an accessor's data.
    fn put(&mut self, accessor: usize, at: usize, bytes: &[u8]) {
        let offset = self.tree["bufferViews"][accessor]["byteOffset"].as_u64();
        let first = offset.expect("a number") as usize + at;
        self.bytes[first..first + bytes.len()].copy_from_slice(bytes);
    }

    /// Serializes to a .glb file.
    pub(crate) fn packed(mut self) -> Vec<u8> {
        if self.tree.get("buffers").is_none() {
            self.tree["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        }
        let mut text = self.tree.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut file = b"glTF".to_vec();
        let word = |file: &mut Vec<u8>, word: usize| {
            file.extend_from_slice(&(word as u32).to_le_bytes());
        };
        word(&mut file, 2);
        word(&mut file, 28 + text.len() + self.bytes.len());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
            word(&mut file, chunk.len());
            file.extend_from_slice(kind);
            file.extend_from_slice(chunk);
        }
        file
    }
}

/// `componentType`s of accessors.
pub(crate) const UNSIGNED_BYTE: u32 = 5121;
pub(crate) const UNSIGNED_SHORT: u32 = 5123;
pub(crate) const FLOAT: u32 = 5126;

/// A camera that looks at the sheet, and a folder for files.
pub(crate) fn rig() -> Rig {
    let path = temporary("gltf");
    std::fs::create_dir_all(&path).expect("folders can be made");
    let content = ContentPlugin {
        asset_folder: path.to_str().expect("UTF-8").to_owned(),
        ..ContentPlugin::default()
    };
    let mut rig = Rig::with(
        SIDE,
        SIDE,
        Quadrille3dPlugin {
            content,
            ..Quadrille3dPlugin::default()
        },
    );
    let world = rig.app.world_mut();
    world.insert_resource(ClearColor(Color::BLACK));
    world.spawn((
        Camera3d::default(),
        Tonemapping::None,
        Msaa::Off,
        Projection::from(OrthographicProjection {
            scaling_mode: ScalingMode::FixedVertical {
                viewport_height: HEIGHT,
            },
            ..OrthographicProjection::default_3d()
        }),
        Transform::from_xyz(0.0, 0.0, 5.0),
    ));
    rig.start();
    rig
}

/// Writes and loads a file; `None` if loading fails.
pub(crate) fn load(rig: &mut Rig, name: &str, file: &[u8]) -> Option<Handle<Gltf>> {
    std::fs::write(temporary("gltf").join(name), file).expect("files can be written");
    let server = rig.app.world().resource::<AssetServer>().clone();
    let handle = server.load(name.to_owned());
    for _ in 0..2000 {
        rig.update(1);
        match server.recursive_dependency_load_state(&handle) {
            RecursiveDependencyLoadState::Loaded => return Some(handle),
            RecursiveDependencyLoadState::Failed(_) if server.load_state(&handle).is_failed() => {
                return None;
            }
            // The file itself is loaded, but a dependency failed.
            RecursiveDependencyLoadState::Failed(_) if server.is_loaded(&handle) => {
                return Some(handle);
            }
            _ => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
    panic!("{name} is never loaded");
}

/// Shows the first scene of a file.
pub(crate) fn show(rig: &mut Rig, file: &Handle<Gltf>) -> Entity {
    let world = rig.app.world_mut();
    let gltf = world.resource::<Assets<Gltf>>().get(file);
    let scene = gltf.expect("it is loaded").scenes[0].clone();
    let entity = world.spawn(WorldAssetRoot(scene)).id();
    rig.update(4);
    entity
}

/// Red values at positions in units to the right of and above the center.
pub(crate) fn seen<const N: usize>(rig: &mut Rig, places: [[f32; 2]; N]) -> [u8; N] {
    let picture = rig.picture();
    let pixel = |along: f32| (SIDE as f32 * (0.5 + along / HEIGHT)) as u32;
    places.map(|[right, up]| picture.at(pixel(right), pixel(-up))[0])
}

/// Pauses the only animation player of the world in the middle of the clip.
fn play(world: &mut World, graph: &Handle<AnimationGraph>, clip: AnimationNodeIndex) {
    let mut players = world.query::<(Entity, &mut AnimationPlayer)>();
    let (entity, mut player) = players.single_mut(world).expect("one plays it");
    player.play(clip).seek_to(0.5).set_speed(0.0);
    let mut entity = world.entity_mut(entity);
    entity.insert(AnimationGraphHandle(graph.clone()));
}

#[test]
#[ignore = "needs a device"]
fn gltf_skins_morphs_and_animations_are_drawn() {
    let mut rig = rig();
    let file = load(&mut rig, "sheet.glb", &File::new().packed()).expect("it is right");
    show(&mut rig, &file);
    let places = [[0.0, 0.0], [-0.3, 0.0], [0.7, 0.0], [0.3, 0.8]];
    assert_eq!(seen(&mut rig, places), [255, 255, 0, 0]);
    // In the middle of the clip: half a unit to the right, and half a unit up.
    let world = rig.app.world_mut();
    let gltf = world.resource::<Assets<Gltf>>().get(&file).expect("loaded");
    let (graph, clip) = AnimationGraph::from_clip(gltf.animations[0].clone());
    let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
    // bevy despawns the scene and spawns it again some frames later, after the asset's event.
    for _ in 0..10 {
        play(rig.app.world_mut(), &graph, clip);
        rig.update(2);
    }
    assert_eq!(seen(&mut rig, places), [255, 0, 255, 255]);
    assert_eq!(
        seen(&mut rig, [[0.5, 1.1], [1.1, 0.0], [0.5, -0.6]]),
        [0; 3]
    );
}

#[test]
#[ignore = "needs a device"]
fn gltf_material_extensions_set_fields() {
    let mut rig = rig();
    let file = File::new().with(|file| {
        let extensions = json!({
            "KHR_materials_clearcoat": {"clearcoatFactor": 0.75, "clearcoatRoughnessFactor": 0.25},
            "KHR_materials_emissive_strength": {"emissiveStrength": 4.0},
            "KHR_materials_ior": {"ior": 1.5},
            "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.25},
            "KHR_materials_specular": {"specularFactor": 0.5, "specularColorFactor": [1.0, 0.5, 0.25]},
            "KHR_materials_anisotropy": {"anisotropyStrength": 0.5, "anisotropyRotation": 0.25},
        });
        let names: Vec<_> = extensions.as_object().expect("a table").keys().cloned().collect();
        file.tree["extensionsUsed"] = json!(names);
        file.tree["materials"] = json!([{
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.0, 0.0, 0.0, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.5,
            },
            "emissiveFactor": [0.25, 0.125, 0.0],
            "doubleSided": true,
            "alphaMode": "MASK",
            "alphaCutoff": 0.25,
            "extensions": extensions,
        }]);
    });
    let file = load(&mut rig, "extensions.glb", &file.packed()).expect("it is right");
    show(&mut rig, &file);
    let world = rig.app.world_mut();
    let mut drawn = world.query::<&MeshMaterial3d<StandardMaterial>>();
    let id = drawn.single(world).expect("one sheet").0.id();
    let materials = world.resource::<Assets<StandardMaterial>>();
    let material = materials.get(id).expect("it is there");
    assert_eq!(
        [material.clearcoat, material.clearcoat_perceptual_roughness],
        [0.75, 0.25]
    );
    assert_eq!(
        [material.anisotropy_strength, material.anisotropy_rotation],
        [0.5, 0.25]
    );
    assert_eq!(material.diffuse_transmission, 0.25);
    assert_eq!(material.emissive.to_f32_array()[..3], [1.0, 0.5, 0.0]);
    // Reflectance 0.5 is that of glass, which `specularFactor` scales.
    assert_eq!(material.reflectance, 0.25);
    assert_eq!(
        material.specular_tint.to_linear(),
        LinearRgba::rgb(1.0, 0.5, 0.25)
    );
    assert_eq!(
        (material.perceptual_roughness, material.metallic),
        (0.5, 0.0)
    );
    assert_eq!(material.alpha_mode, AlphaMode::Mask(0.25));
    assert!(material.double_sided && material.cull_mode.is_none());
    // Without lights: only emission is visible, 1 and 0.5, attenuated by the clearcoat.
    let [red, green, blue, _] = rig.picture().at(SIDE / 2, SIDE / 2);
    assert!(
        red > 240 && (170..=190).contains(&green) && blue < 10,
        "{red} {green} {blue}"
    );
}

/// Outcome of loading and drawing a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// bevy's loader returns an error.
    Refused,
    /// Loads, with the invalid part left out.
    LeftOut,
    /// Loads, and is drawn except for the invalid part.
    Drawn,
}

fn broken() -> Vec<(&'static str, Expected, Vec<u8>)> {
    use Expected::{Drawn, LeftOut, Refused};
    let change = |change: fn(&mut File)| File::new().with(change).packed();
    let whole = File::new().packed();
    vec![
        ("empty", Refused, Vec::new()),
        ("no magic", Refused, b"what is this?".to_vec()),
        ("cut in the tree", Refused, whole[..200].to_vec()),
        (
            "cut in the buffer",
            Refused,
            whole[..whole.len() - 100].to_vec(),
        ),
        ("a buffer that is shorter than it says", Refused, {
            change(|file| {
                file.tree["buffers"] = json!([{"byteLength": 100_000}]);
                file.tree["bufferViews"][0]["byteLength"] = json!(90_000);
                file.tree["accessors"][0]["count"] = json!(7000);
            })
        }),
        ("a view beyond the buffer", Refused, {
            change(|file| file.tree["bufferViews"][0]["byteOffset"] = json!(100_000))
        }),
        ("an accessor beyond its view", Refused, {
            change(|file| file.tree["accessors"][0]["count"] = json!(5000))
        }),
        ("an accessor that is not there", Refused, {
            change(|file| {
                file.tree["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(99)
            })
        }),
        ("positions of bytes", LeftOut, {
            change(|file| file.tree["accessors"][0]["componentType"] = json!(UNSIGNED_BYTE))
        }),
        ("a type that is none", Refused, {
            change(|file| file.tree["accessors"][0]["componentType"] = json!(9))
        }),
        ("indices of floats", Refused, {
            change(|file| file.tree["accessors"][3]["componentType"] = json!(FLOAT))
        }),
        ("an index beyond the vertices", LeftOut, {
            change(|file| file.put(3, 4, &900u16.to_le_bytes()))
        }),
        ("a position that is no number", LeftOut, {
            change(|file| file.put(0, 4, &f32::NAN.to_le_bytes()))
        }),
        ("an infinite position", LeftOut, {
            change(|file| file.put(0, 4, &f32::INFINITY.to_le_bytes()))
        }),
        ("a weight that is no number", Drawn, {
            change(|file| file.put(2, 0, &f32::NAN.to_le_bytes()))
        }),
        ("a target that is no number", Drawn, {
            change(|file| file.put(4, 0, &f32::NAN.to_le_bytes()))
        }),
        (
            "a joint beyond the skin",
            LeftOut,
            change(|file| file.put(1, 0, &[7])),
        ),
        ("a skin without joints", LeftOut, {
            change(|file| file.tree["skins"][0]["joints"] = json!([]))
        }),
        ("a joint that is no node", Refused, {
            change(|file| file.tree["skins"][0]["joints"] = json!([55]))
        }),
        ("a mesh of no vertices", Refused, {
            change(|file| {
                for at in [0, 1, 2, 3, 4, 8, 9] {
                    file.tree["accessors"][at]["count"] = json!(0);
                }
            })
        }),
        ("no indices", Refused, {
            change(|file| file.tree["accessors"][3]["count"] = json!(0))
        }),
        ("two vertices of a triangle", LeftOut, {
            change(|file| file.tree["accessors"][3]["count"] = json!(2))
        }),
        ("fewer joints than positions", Drawn, {
            change(|file| file.tree["accessors"][1]["count"] = json!(2))
        }),
        ("fewer texture coordinates than positions", LeftOut, {
            change(|file| file.tree["accessors"][8]["count"] = json!(2))
        }),
        ("an image that is not there", Drawn, {
            change(|file| {
                file.tree["images"] = json!([{"uri": "absent.png"}]);
                file.tree["textures"] = json!([{"source": 0}]);
                let texture = json!({"baseColorTexture": {"index": 0}});
                file.tree["materials"][0]["pbrMetallicRoughness"] = texture;
            })
        }),
        ("an image that is none", Refused, {
            change(|file| {
                file.tree["images"] = json!([{"bufferView": 0, "mimeType": "image/png"}]);
                file.tree["textures"] = json!([{"source": 0}]);
                let texture = json!({"baseColorTexture": {"index": 0}});
                file.tree["materials"][0]["pbrMetallicRoughness"] = texture;
            })
        }),
        ("a node that is its own child", Refused, {
            change(|file| file.tree["nodes"][1]["children"] = json!([2]))
        }),
        ("a node that is no number", LeftOut, {
            change(|file| file.tree["nodes"][2]["scale"] = json!([0.0, 1e38, 1e38]))
        }),
        (
            "a list that is a word",
            Refused,
            change(|file| file.tree["meshes"] = json!("mesh")),
        ),
        ("an extension that nobody knows", Refused, {
            change(|file| file.tree["extensionsRequired"] = json!(["KHR_nothing"]))
        }),
    ]
}

#[test]
#[ignore = "needs a device"]
fn broken_gltf_files_fail_gracefully() {
    let mut rig = rig();
    let mut wrong = Vec::new();
    for (at, (what, fate, file)) in broken().into_iter().enumerate() {
        let found = match load(&mut rig, &format!("broken {at}.glb"), &file) {
            None => Expected::Refused,
            Some(file) => {
                let entity = show(&mut rig, &file);
                let [middle] = seen(&mut rig, [[0.1, 0.1]]);
                rig.app.world_mut().despawn(entity);
                rig.update(1);
                match middle {
                    0 => Expected::LeftOut,
                    _ => Expected::Drawn,
                }
            }
        };
        if found != fate {
            wrong.push(format!("{what}: {found:?}, not {fate:?}"));
        }
    }
    // Valid content is drawn as before.
    let file = load(&mut rig, "right.glb", &File::new().packed()).expect("it is right");
    show(&mut rig, &file);
    assert_eq!(seen(&mut rig, [[0.1, 0.1], [0.7, 0.0]]), [255, 0]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
