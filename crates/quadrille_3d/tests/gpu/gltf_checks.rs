//! glTF files whose decoded size exceeds the limits, or that read other files than they may.

use std::fs;
use std::path::PathBuf;

use bevy_asset::LoadState;
use bevy_image::Image;
use quadrille_3d::prelude::*;
use serde_json::{Value, json};

use crate::common::{Rig, temporary};
use crate::gltf_files::{File, UNSIGNED_BYTE, load, rig, seen, show};

fn folder() -> PathBuf {
    temporary("gltf")
}

/// Loads an invalid file, and returns its error.
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

/// A chain of nested nodes, with the sheet at its end.
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
    // The same for bevy's loader name, which a meta file may contain.
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
pub(crate) fn png(size: [u32; 2], depth: png::BitDepth, pixel: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    // Pixels of one bit have a single channel in PNG.
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

/// The sheet with an image in a buffer view, or in a URI.
fn with_image(image: &[u8], mime_type: &str, in_view: bool, textures: usize) -> Vec<u8> {
    let file = File::new().with(|file| {
        if in_view {
            // A buffer view without an accessor.
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

pub(crate) fn base64(bytes: &[u8]) -> String {
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
        // Each image is within the limits: 64 MiB for each texture. The sum is not.
        let image = png([4096, 4096], Eight, &[]);
        let file = with_image(&image, "image/png", in_view, 17);
        let error = refused(&mut rig, &format!("sum{in_view}.glb"), &file);
        assert!(error.contains("GltfLimits::loaded_bytes"), "{error}");
    }
}

/// Values of 16 bits are drawn like those of 8 bits: 128 of 255, and not 188.
#[test]
#[ignore = "needs a device"]
fn images_of_16_bits_match_those_of_8() {
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
    // Linear values stay unchanged: a normal map is not sRGB.
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

/// The sheet with its vertices in a separate file.
fn with_buffer(uri: &str) -> Vec<u8> {
    let mut file = File::new();
    file.tree["buffers"] = json!([{"byteLength": file.bytes.len()}, {"byteLength": 4, "uri": uri}]);
    file.packed()
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs a device"]
fn buffers_outside_asset_folder_are_refused() {
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
