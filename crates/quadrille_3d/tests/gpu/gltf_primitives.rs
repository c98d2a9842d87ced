//! Primitives, weights and texture coordinates that bevy_gltf does not load.

use quadrille_3d::prelude::*;
use serde_json::{Value, json};

use crate::common::Rig;
use crate::gltf_checks::{base64, png};
use crate::gltf_files::{File, UNSIGNED_BYTE, load, rig, seen, show};

const BYTE: u32 = 5120;
const SHORT: u32 = 5122;

/// Draws a file, and returns the red values at the center, to the right, and above.
fn drawn(rig: &mut Rig, name: &str, file: File, places: [[f32; 2]; 3]) -> [u8; 3] {
    let file = load(rig, name, &file.packed()).unwrap_or_else(|| panic!("{name} is refused"));
    let entity = show(rig, &file);
    let found = seen(rig, places);
    rig.app.world_mut().despawn(entity);
    rig.update(1);
    found
}

/// The sheet of a file without skin and animation.
fn plain() -> File {
    File::new().with(|file| {
        file.tree["nodes"] = json!([{"mesh": 0}]);
        file.tree["scenes"] = json!([{"nodes": [0]}]);
        let tree = file.tree.as_object_mut().expect("a table");
        tree.remove("skins");
        tree.remove("animations");
        file.attributes().remove("JOINTS_0");
        file.attributes().remove("WEIGHTS_0");
    })
}

impl File {
    fn primitive(&mut self) -> &mut Value {
        &mut self.tree["meshes"][0]["primitives"][0]
    }

    fn attributes(&mut self) -> &mut serde_json::Map<String, Value> {
        self.primitive()["attributes"]
            .as_object_mut()
            .expect("a table")
    }

    /// Adds an accessor and returns its index.
    fn added(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        self.add(kind, component, count, bytes);
        self.tree["accessors"].as_array().expect("a list").len() - 1
    }
}

const PLACES: [[f32; 2]; 3] = [[0.1, 0.1], [0.3, 1.2], [0.7, 0.0]];

/// The upper edge of the sheet moves up by one unit, so that it covers a point 1.2 above the center.
#[test]
#[ignore = "needs a device"]
fn morph_targets_without_normals_and_node_weights_apply() {
    let mut rig = rig();
    let moved = plain().with(|file| {
        file.attributes().remove("NORMAL");
        file.tree["meshes"][0]["weights"] = json!([1.0]);
    });
    assert_eq!(drawn(&mut rig, "flat.glb", moved, PLACES), [255, 255, 0]);
    let weights = plain().with(|file| file.tree["nodes"][0]["weights"] = json!([1.0]));
    assert_eq!(
        drawn(&mut rig, "weights.glb", weights, PLACES),
        [255, 255, 0]
    );
    let none = plain().with(|file| {
        file.tree["meshes"][0]["weights"] = json!([1.0]);
        file.tree["nodes"][0]["weights"] = json!([0.0]);
    });
    assert_eq!(drawn(&mut rig, "none.glb", none, PLACES), [255, 0, 0]);
    // A triangle with an out-of-range index is omitted, the other one is drawn.
    let beyond = plain().with(|file| {
        file.attributes().remove("NORMAL");
        let tree = file.primitive().as_object_mut().expect("a table");
        tree.remove("targets");
        let bytes = [0_u8, 1, 2, 0, 2, 9];
        let indices = file.added("SCALAR", UNSIGNED_BYTE, 6, &bytes);
        file.primitive()["indices"] = json!(indices);
    });
    let places = [[0.3, 0.1], [-0.3, 0.1], [0.7, 0.0]];
    assert_eq!(drawn(&mut rig, "beyond.glb", beyond, places), [255, 0, 0]);
}

#[test]
#[ignore = "needs a device"]
fn triangle_fans_and_line_loops_are_drawn() {
    let mut rig = rig();
    let fan = |has_indices: bool, has_normals: bool| {
        plain().with(|file| {
            file.primitive()["mode"] = json!(6);
            if has_indices {
                let indices = file.added("SCALAR", UNSIGNED_BYTE, 4, &[0, 1, 2, 3]);
                file.primitive()["indices"] = json!(indices);
            } else {
                file.primitive()
                    .as_object_mut()
                    .expect("a table")
                    .remove("indices");
            }
            if !has_normals {
                file.attributes().remove("NORMAL");
            }
        })
    };
    let places = [[0.3, -0.3], [-0.3, 0.3], [0.7, 0.0]];
    for (at, (has_indices, has_normals)) in
        [(false, true), (true, true), (false, false), (true, false)]
            .into_iter()
            .enumerate()
    {
        let file = fan(has_indices, has_normals);
        let found = drawn(&mut rig, &format!("fan{at}.glb"), file, places);
        assert_eq!(found, [255, 255, 0], "{has_indices} {has_normals}");
    }
    let file = plain().with(|file| {
        file.primitive()["mode"] = json!(2);
        file.primitive()
            .as_object_mut()
            .expect("a table")
            .remove("indices");
    });
    let file = load(&mut rig, "loop.glb", &file.packed()).expect("it is right");
    let world = rig.app.world();
    let server = world.resource::<AssetServer>();
    let mesh = server
        .get_handle("loop.glb#Mesh0/Primitive0")
        .expect("it is loaded");
    let mesh = world
        .resource::<Assets<Mesh>>()
        .get(&mesh)
        .expect("it is there");
    let indices: Vec<usize> = mesh.indices().expect("it is a list").iter().collect();
    assert_eq!(indices, [0, 1, 1, 2, 2, 3, 3, 0]);
    assert_eq!(format!("{:?}", mesh.primitive_topology()), "LineList");
    show(&mut rig, &file);
    // The left edge closes the loop; rasterization may move a line by one pixel.
    let picture = rig.picture();
    let left = (22..=25).any(|x| picture.at(x, 32)[0] == 255);
    assert!(left && picture.at(32, 32)[0] == 0);
}

/// Positions of one or two bytes per component, with and without normalization; normals of bytes, and targets of
/// shorts.
#[test]
#[ignore = "needs a device"]
fn quantized_meshes_are_drawn() {
    let mut rig = rig();
    // One padding byte each, since elements are aligned to four bytes.
    let corners: [[i8; 4]; 4] = [
        [-64, -64, 0, 0],
        [64, -64, 0, 0],
        [64, 64, 0, 0],
        [-64, 64, 0, 0],
    ];
    let quantized = |is_normalized: bool| {
        plain().with(|file| {
            let bytes: Vec<u8> = corners.as_flattened().iter().map(|&it| it as u8).collect();
            let positions = file.added("VEC3", BYTE, 4, &bytes);
            let normals: Vec<u8> = [[0_u8, 0, 127, 0]; 4].concat();
            let normals = file.added("VEC3", BYTE, 4, &normals);
            let up: [[i16; 4]; 4] = [[0; 4], [0; 4], [0, 127, 0, 0], [0, 127, 0, 0]];
            let up: Vec<u8> = up
                .as_flattened()
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            let up = file.added("VEC3", SHORT, 4, &up);
            for (accessor, stride) in [(positions, 4), (normals, 4), (up, 8)] {
                file.tree["bufferViews"][accessor]["byteStride"] = json!(stride);
            }
            let accessors = &mut file.tree["accessors"];
            accessors[positions]["min"] = json!([-64, -64, 0]);
            accessors[positions]["max"] = json!([64, 64, 0]);
            accessors[positions]["normalized"] = json!(is_normalized);
            accessors[normals]["normalized"] = json!(true);
            file.attributes()
                .insert("POSITION".to_owned(), json!(positions));
            file.attributes()
                .insert("NORMAL".to_owned(), json!(normals));
            file.primitive()["targets"] = json!([{"POSITION": up}]);
            let scale = if is_normalized { 1.0 } else { 1.0 / 127.0 };
            file.tree["nodes"][0]["scale"] = json!([scale, scale, scale]);
            file.tree["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
            let used = json!(["KHR_mesh_quantization", "KHR_materials_unlit"]);
            file.tree["extensionsUsed"] = used;
        })
    };
    for is_normalized in [true, false] {
        let name = format!("quantized{is_normalized}.glb");
        let found = drawn(&mut rig, &name, quantized(is_normalized), PLACES);
        assert_eq!(found, [255, 0, 0], "{is_normalized}");
    }
    let moved = quantized(false).with(|file| file.tree["meshes"][0]["weights"] = json!([1.0]));
    assert_eq!(drawn(&mut rig, "moved.glb", moved, PLACES), [255, 255, 0]);
}

/// Two joints, the second one in the second set, with a weight of 0.5 each: the second joint moves by two units, so the
/// sheet moves by one.
#[test]
#[ignore = "needs a device"]
fn second_joint_set_is_merged() {
    let mut rig = rig();
    let file = File::new().with(|file| {
        file.floats("VEC4", &[[0.5, 0.0, 0.0, 0.0]; 4]);
        let first = file.tree["accessors"].as_array().expect("a list").len() - 1;
        let joints = file.added("VEC4", UNSIGNED_BYTE, 4, &[[1_u8, 0, 0, 0]; 4].concat());
        let attributes = file.attributes();
        attributes.insert("WEIGHTS_0".to_owned(), json!(first));
        attributes.insert("WEIGHTS_1".to_owned(), json!(first));
        attributes.insert("JOINTS_1".to_owned(), json!(joints));
        file.tree["nodes"] = json!([
            {"mesh": 0, "skin": 0}, {"name": "joint"}, {"children": [0, 1, 3]},
            {"name": "second", "translation": [2.0, 0.0, 0.0]},
        ]);
        file.tree["skins"] = json!([{"joints": [1, 3]}]);
        file.tree
            .as_object_mut()
            .expect("a table")
            .remove("animations");
    });
    let places = [[1.0, 0.1], [0.0, 0.1], [1.4, -0.4]];
    assert_eq!(drawn(&mut rig, "joints.glb", file, places), [255, 0, 255]);
}

/// `texCoord` of a texture transform overrides that of the texture.
#[test]
#[ignore = "needs a device"]
fn texture_transform_selects_uv_channel() {
    let mut rig = rig();
    let image = png([1, 1], png::BitDepth::Eight, &[255; 4]);
    let info = |coordinates: u32| {
        json!({"index": 0, "texCoord": 0,
            "extensions": {"KHR_texture_transform": {"texCoord": coordinates}}})
    };
    let file = File::new().with(|file| {
        let uri = format!("data:image/png;base64,{}", base64(&image));
        file.tree["images"] = json!([{"uri": uri}]);
        file.tree["textures"] = json!([{"source": 0}]);
        let used = [
            "KHR_texture_transform",
            "KHR_materials_clearcoat",
            "KHR_materials_specular",
        ];
        file.tree["extensionsUsed"] = json!(used);
        file.tree["materials"] = json!([{
            "pbrMetallicRoughness": {
                "baseColorTexture": info(1),
                "metallicRoughnessTexture": info(1),
            },
            "normalTexture": info(1),
            "occlusionTexture": info(1),
            "emissiveTexture": info(1),
            "extensions": {
                "KHR_materials_clearcoat": {
                    "clearcoatTexture": info(1),
                    "clearcoatRoughnessTexture": info(1),
                    "clearcoatNormalTexture": info(0),
                },
                "KHR_materials_specular": {"specularTexture": info(1)},
            },
        }]);
    });
    load(&mut rig, "transform.glb", &file.packed()).expect("it is right");
    let world = rig.app.world();
    let server = world.resource::<AssetServer>();
    let material = server
        .get_handle("transform.glb#Material0/std")
        .expect("it is loaded");
    let materials = world.resource::<Assets<StandardMaterial>>();
    let material = materials.get(&material).expect("it is there");
    let second = [
        &material.base_color_channel,
        &material.metallic_roughness_channel,
        &material.normal_map_channel,
        &material.occlusion_channel,
        &material.emissive_channel,
        &material.clearcoat_channel,
        &material.clearcoat_roughness_channel,
        &material.specular_channel,
    ];
    let second = second.map(|it| format!("{it:?}"));
    assert!(second.iter().all(|it| it == "Uv1"), "{second:?}");
    assert_eq!(format!("{:?}", material.clearcoat_normal_channel), "Uv0");
}
