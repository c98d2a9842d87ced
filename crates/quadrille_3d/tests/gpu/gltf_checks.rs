//! glTF files that take more than they are worth, or read what is none of theirs, and primitives that bevy_gltf
//! leaves out.

use std::fs;
use std::path::PathBuf;

use bevy_asset::LoadState;
use bevy_image::Image;
use quadrille_3d::prelude::*;
use serde_json::{Value, json};

use crate::common::{Rig, temporary};
use crate::gltf_files::{File, UNSIGNED_BYTE, load, rig, seen, show};

const BYTE: u32 = 5120;
const SHORT: u32 = 5122;

fn folder() -> PathBuf {
    temporary("gltf")
}

/// The error of a file that is refused.
fn refused(rig: &mut Rig, name: &str, file: &[u8]) -> String {
    fs::write(folder().join(name), file).expect("files can be written");
    let server = rig.app.world().resource::<AssetServer>().clone();
    let handle: Handle<Gltf> = server.load(name.to_owned());
    for _ in 0..2000 {
        rig.update(1);
        match server.load_state(&handle) {
            LoadState::Failed(error) => return error.to_string(),
            LoadState::Loaded => panic!("{name} is loaded"),
            _ => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
    panic!("{name} is never loaded");
}

/// A row of nodes, each the child of the one before, with the sheet at its end.
fn nested(depth: usize) -> Vec<u8> {
    let file = File::new().with(|file| {
        let mut nodes: Vec<Value> = (1..depth).map(|at| json!({"children": [at]})).collect();
        nodes.push(json!({"mesh": 0}));
        file.tree["nodes"] = json!(nodes);
        file.tree["scenes"] = json!([{"nodes": [0]}]);
        let tree = file.tree.as_object_mut().expect("a table");
        tree.remove("skins");
        tree.remove("animations");
    });
    file.packed()
}

#[test]
#[ignore = "needs a device"]
fn nested_nodes_are_drawn_or_refused() {
    let mut rig = rig();
    for depth in [100, 256] {
        let file =
            load(&mut rig, &format!("deep{depth}.glb"), &nested(depth)).expect("it is right");
        let entity = show(&mut rig, &file);
        assert_eq!(
            seen(&mut rig, [[0.1, 0.1], [0.7, 0.0]]),
            [255, 0],
            "{depth}"
        );
        rig.app.world_mut().despawn(entity);
        rig.update(2);
        assert_eq!(seen(&mut rig, [[0.1, 0.1]]), [0], "{depth}");
    }
    for depth in [257, 1200, 100_000] {
        let error = refused(&mut rig, &format!("deep{depth}.glb"), &nested(depth));
        assert!(error.contains("more than 256 deep"), "{error}");
    }
    // By the name of bevy's loader, which a meta file may have, it is the same.
    let meta = r#"(meta_format_version: "1.0", asset: Load(
        loader: "bevy_gltf::loader::GltfLoader", settings: ()))"#;
    fs::write(folder().join("named.glb.meta"), meta).expect("files can be written");
    let error = refused(&mut rig, "named.glb", &nested(1200));
    assert!(error.contains("more than 256 deep"), "{error}");
    let doubled = File::new().with(|file| {
        let nodes = (1..=30).map(|at| json!({"children": [at, at]}));
        file.tree["nodes"] = nodes.chain([json!({})]).collect();
        file.tree["skins"] = json!([]);
        file.tree["animations"] = json!([]);
    });
    let error = refused(&mut rig, "doubled.glb", &doubled.packed());
    assert!(error.contains("GltfLimits::loaded_bytes"), "{error}");
}

/// A PNG file of one row of pixels, whose header claims another size.
fn png(size: [u32; 2], depth: png::BitDepth, pixel: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    // Of a channel where pixels are bits: there are no others.
    encoder.set_color(match depth {
        png::BitDepth::One => png::ColorType::Grayscale,
        _ => png::ColorType::Rgba,
    });
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().expect("memory can be written");
    if size == [1, 1] {
        writer
            .write_image_data(pixel)
            .expect("memory can be written");
    } else {
        writer
            .write_chunk(png::chunk::IDAT, &[])
            .expect("memory can be written");
    }
    drop(writer);
    file
}

/// The sheet with an image in a view, or in a URI.
fn with_image(image: &[u8], mime_type: &str, in_view: bool, textures: usize) -> Vec<u8> {
    let file = File::new().with(|file| {
        if in_view {
            // Of no accessor: a view alone.
            file.add("SCALAR", UNSIGNED_BYTE, image.len(), image);
            let views = file.tree["bufferViews"].as_array().expect("a list").len();
            file.tree["images"] = json!([{"bufferView": views - 1, "mimeType": mime_type}]);
        } else {
            let uri = format!("data:{mime_type};base64,{}", base64(image));
            file.tree["images"] = json!([{"uri": uri}]);
        }
        file.tree["textures"] = json!(vec![json!({"source": 0}); textures]);
        let texture = json!({"baseColorTexture": {"index": 0}});
        file.tree["materials"][0]["pbrMetallicRoughness"] = texture;
    });
    file.packed()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let all = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        let digit = |at: u32| DIGITS[(all >> (18 - 6 * at)) as usize % 64] as char;
        [digit(0), digit(1), digit(2), digit(3)]
            .into_iter()
            .enumerate()
            .map(
                move |(at, digit)| {
                    if at > chunk.len() { '=' } else { digit }
                },
            )
    });
    digits.collect()
}

#[test]
#[ignore = "needs a device"]
fn embedded_images_have_limits() {
    use png::BitDepth::{Eight, One};
    let mut rig = rig();
    let wide = png([20_000, 20_000], Eight, &[]);
    let large = png([16_000, 16_000], One, &[]);
    let mut ktx2 = b"\xABKTX 20\xBB\r\n\x1A\n".to_vec();
    // R8G8B8A8_UNORM of 16,384 x 16,384 texels and 100 layers.
    for word in [37_u32, 1, 16_384, 16_384, 0, 100, 1, 1, 2] {
        ktx2.extend(word.to_le_bytes());
    }
    ktx2.resize(104, 0);
    ktx2[88..96].copy_from_slice(&10_u64.to_le_bytes());
    ktx2[96..104].copy_from_slice(&(100_u64 << 30).to_le_bytes());
    ktx2.resize(200, 0);
    for in_view in [true, false] {
        for (name, file, mime_type, limit) in [
            ("wide", &wide, "image/png", "ImageLimits::side"),
            ("large", &large, "image/png", "ImageLimits::decoded_bytes"),
            ("ktx2", &ktx2, "image/ktx2", "ImageLimits::decoded_bytes"),
        ] {
            let file = with_image(file, mime_type, in_view, 1);
            let error = refused(&mut rig, &format!("{name}{in_view}.glb"), &file);
            assert!(
                error.contains("texture 0: ") && error.contains(limit),
                "{name}: {error}"
            );
        }
        // Each by itself is within the limits of an image: 64 MiB, once for each texture.
        let image = png([4096, 4096], Eight, &[]);
        let file = with_image(&image, "image/png", in_view, 17);
        let error = refused(&mut rig, &format!("sum{in_view}.glb"), &file);
        assert!(error.contains("GltfLimits::loaded_bytes"), "{error}");
    }
}

/// Values of 16 bits are drawn as those of 8 bits: 128 of 255, and not 188.
#[test]
#[ignore = "needs a device"]
fn images_of_16_bits_are_as_bright_as_those_of_8() {
    use png::BitDepth::{Eight, Sixteen};
    let mut rig = rig();
    let eight = png([1, 1], Eight, &[128, 128, 128, 255]);
    let sixteen = png([1, 1], Sixteen, &[128, 128, 128, 128, 128, 128, 255, 255]);
    fs::write(folder().join("sixteen.png"), &sixteen).expect("files can be written");
    let beside = File::new().with(|file| {
        file.tree["images"] = json!([{"uri": "sixteen.png"}]);
        file.tree["textures"] = json!([{"source": 0}]);
        let texture = json!({"baseColorTexture": {"index": 0}});
        file.tree["materials"][0]["pbrMetallicRoughness"] = texture;
    });
    for (name, file) in [
        ("eight.glb", with_image(&eight, "image/png", true, 1)),
        ("view.glb", with_image(&sixteen, "image/png", true, 1)),
        ("uri.glb", with_image(&sixteen, "image/png", false, 1)),
        ("two.glb", with_image(&sixteen, "image/png", true, 2)),
        ("beside.glb", beside.packed()),
    ] {
        let file = load(&mut rig, name, &file).expect("it is right");
        let entity = show(&mut rig, &file);
        assert_eq!(seen(&mut rig, [[0.1, 0.1]]), [128], "{name}");
        rig.app.world_mut().despawn(entity);
        rig.update(1);
    }
    // Where values are linear they stay: a normal map is no picture.
    let normals = File::new().with(|file| {
        let at = file.bytes.len();
        file.bytes.extend_from_slice(&sixteen);
        let views = file.tree["bufferViews"].as_array_mut().expect("a list");
        views.push(json!({"buffer": 0, "byteOffset": at, "byteLength": sixteen.len()}));
        file.tree["images"] = json!([{"bufferView": views.len() - 1, "mimeType": "image/png"}]);
        file.tree["textures"] = json!([{"source": 0}]);
        file.tree["materials"][0]["normalTexture"] = json!({"index": 0});
    });
    load(&mut rig, "normals.glb", &normals.packed()).expect("it is right");
    let world = rig.app.world();
    let server = world.resource::<AssetServer>();
    let image = server
        .get_handle::<Image>("normals.glb#Texture0")
        .expect("it is loaded");
    let image = world
        .resource::<Assets<Image>>()
        .get(&image)
        .expect("it is there");
    assert_eq!(
        image.data.as_deref().expect("it has texels")[..2],
        [128, 128]
    );
}

/// The sheet with its vertices in a file of their own.
fn with_buffer(uri: &str) -> Vec<u8> {
    let mut file = File::new();
    file.tree["buffers"] = json!([{"byteLength": file.bytes.len()}, {"byteLength": 4, "uri": uri}]);
    file.packed()
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a device"]
fn buffers_stay_in_the_folder_of_assets() {
    let mut rig = rig();
    let parent = folder().parent().expect("a folder").to_owned();
    fs::write(parent.join("secret"), b"secret").expect("files can be written");
    fs::write(folder().join("fine.bin"), b"fine").expect("files can be written");
    let remove = |name: &str| drop(fs::remove_file(folder().join(name)));
    ["link.bin", "zero.bin", "pipe.bin"]
        .iter()
        .for_each(|it| remove(it));
    for (link, to) in [("link.bin", "../secret"), ("zero.bin", "/dev/zero")] {
        std::os::unix::fs::symlink(to, folder().join(link)).expect("links can be made");
    }
    let made = std::process::Command::new("mkfifo")
        .arg(folder().join("pipe.bin"))
        .status();
    assert!(made.expect("there is mkfifo").success());
    load(&mut rig, "fine.glb", &with_buffer("fine.bin")).expect("it is right");
    for (at, (uri, problem)) in [
        ("../secret", "outside of the folder of assets"),
        (
            "../../../../../../etc/passwd",
            "outside of the folder of assets",
        ),
        ("%2e%2e/secret", "outside of the folder of assets"),
        ("link.bin", "symbolic link"),
        ("zero.bin", "symbolic link"),
        ("pipe.bin", "a pipe"),
        ("/etc/passwd", "not found"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = refused(&mut rig, &format!("uri{at}.glb"), &with_buffer(uri));
        assert!(error.to_lowercase().contains(problem), "{uri}: {error}");
    }
    // So do files themselves, and images.
    for name in ["pipe.bin", "link.bin", "zero.bin"] {
        let renamed = name.replace("bin", "png");
        remove(&renamed);
        fs::rename(folder().join(name), folder().join(&renamed)).expect("files can be renamed");
        let server = rig.app.world().resource::<AssetServer>().clone();
        let image: Handle<Image> = server.load(renamed.clone());
        for _ in 0..2000 {
            rig.update(1);
            if server.load_state(&image).is_failed() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        assert!(
            server.load_state(&image).is_failed(),
            "{renamed} is never loaded"
        );
    }
}

/// Draws a file, and what is in the middle, to the right, and above.
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

/// The upper edge of the sheet goes up by one unit: 1.2 above of the middle there is something.
#[test]
#[ignore = "needs a device"]
fn morph_targets_without_normals_move_and_weights_of_nodes_count() {
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
    // A triangle whose index is beyond the vertices is left out, and the other is drawn.
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
fn fans_and_loops_are_drawn() {
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
    // The left edge closes the loop; a line may be one pixel beside.
    let picture = rig.picture();
    let left = (22..=25).any(|x| picture.at(x, 32)[0] == 255);
    assert!(left && picture.at(32, 32)[0] == 0);
}

/// Positions of a byte or two each, with and without normalization, normals of bytes and targets of shorts.
#[test]
#[ignore = "needs a device"]
fn quantized_meshes_are_drawn() {
    let mut rig = rig();
    // A byte more for each, as each element begins at a multiple of four bytes.
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

/// Two joints, the second of the second set, each with half of the weight: the second joint moves the sheet by
/// two units, so it is moved by one.
#[test]
#[ignore = "needs a device"]
fn a_second_set_of_joints_counts() {
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

/// `texCoord` of a transform takes the place of that of the texture.
#[test]
#[ignore = "needs a device"]
fn transforms_of_textures_choose_the_coordinates() {
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
