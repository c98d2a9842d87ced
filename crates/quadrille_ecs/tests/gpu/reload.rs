//! Shaders that are edited while an app runs.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Numbers, Rig, read};

const SOURCE: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;

    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) {
        numbers[id.x] = 1u;
    }";

#[derive(Resource)]
struct Set(ComputePipeline);

/// Reports of reloads.
#[derive(Resource, Default)]
struct ReportedErrors(Vec<String>);

fn set(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Set>) {
    recorder
        .compute(&pass.0)
        .bind(0, &numbers)
        .dispatch([4, 1, 1]);
}

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// An app with a pass whose shader is in the file `set.wgsl` of a folder.
fn app(name: &str) -> (Rig, Folder) {
    // The standard library seeds these hashers by the system's generator.
    let random = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("quadrille-{name}-{random:016x}"));
    fs::create_dir(&folder).expect("a folder");
    let path = folder.join("set.wgsl");
    fs::write(&path, SOURCE).expect("written");
    let watch = |app: &mut App| {
        app.add_plugins(ShaderReloadPlugin::default());
    };
    let mut rig = Rig::with_more(|_| {}, watch);
    let reported = |reloaded: On<ShaderReloaded>, mut reported: ResMut<ReportedErrors>| {
        reported.0.push(reloaded.to_string());
    };
    rig.app
        .init_resource::<ReportedErrors>()
        .add_observer(reported)
        .add_systems(Render, set);
    load(&mut rig, &path);
    rig.update(3);
    (rig, Folder(folder))
}

/// Makes the pipeline, as a program would in `RenderStartup`.
fn load(rig: &mut Rig, path: &Path) {
    let shader = GpuShader::load(path).expect("a shader");
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = ComputePipelineDesc::of("set", &shader);
    let pipeline = gpu.compute_pipeline(&desc).expect("a pipeline");
    rig.app.insert_resource(Set(pipeline));
}

/// Runs frames until a reload is reported; only the file system notices the edit.
fn wait(rig: &mut Rig) -> String {
    for _ in 0..4000 {
        rig.update(1);
        let reported = std::mem::take(&mut rig.app.world_mut().resource_mut::<ReportedErrors>().0);
        if let [first, rest @ ..] = &reported[..] {
            assert!(rest.is_empty(), "one line for an edit: {reported:?}");
            return first.clone();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the edit is not noticed");
}

fn numbers(rig: &mut Rig) -> Vec<u32> {
    read(rig, |world| world.resource::<Numbers>().0.clone())
}

#[test]
#[ignore = "needs a device"]
fn pass_runs_the_current_file() {
    let (mut rig, folder) = app("reload");
    let path = folder.0.join("set.wgsl");
    assert_eq!(numbers(&mut rig), [1; 256]);

    fs::write(&path, SOURCE.replace("1u", "2u")).expect("written");
    let reported = wait(&mut rig);
    assert!(
        reported.ends_with("set.wgsl is loaded again; changed: set"),
        "{reported}"
    );
    assert_eq!(numbers(&mut rig), [2; 256]);

    fs::write(&path, SOURCE.replace("1u", "nonsense")).expect("written");
    let reported = wait(&mut rig);
    assert!(reported.contains("set.wgsl:6:25: "), "{reported}");
    assert!(reported.ends_with("; unchanged: set"), "{reported}");
    assert_eq!(numbers(&mut rig), [2; 256]);

    // As editors do: another file in the place of the old one.
    let other = path.with_extension("swap");
    fs::write(&other, SOURCE.replace("1u", "3u")).expect("written");
    fs::rename(&other, &path).expect("renamed");
    let reported = wait(&mut rig);
    assert!(reported.ends_with("changed: set"), "{reported}");
    assert_eq!(numbers(&mut rig), [3; 256]);

    fs::remove_file(&path).expect("removed");
    let reported = wait(&mut rig);
    assert!(reported.contains("set.wgsl cannot be read: "), "{reported}");
    assert_eq!(numbers(&mut rig), [3; 256]);
    fs::write(&path, SOURCE.replace("1u", "4u")).expect("written");
    let reported = wait(&mut rig);
    assert!(reported.ends_with("changed: set"), "{reported}");
    assert_eq!(numbers(&mut rig), [4; 256]);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn pipelines_that_are_made_later_are_watched_too() {
    let (mut rig, root) = app("later");
    let folder = root.0.join("folder");
    fs::create_dir_all(&folder).expect("a folder");
    let later = folder.join("later.wgsl");
    fs::write(&later, SOURCE.replace("1u", "5u")).expect("written");
    load(&mut rig, &later);
    rig.update(2);
    assert_eq!(numbers(&mut rig), [5; 256]);
    fs::write(&later, SOURCE.replace("1u", "6u")).expect("written");
    let reported = wait(&mut rig);
    assert!(
        reported.ends_with("later.wgsl is loaded again; changed: set"),
        "{reported}"
    );
    assert_eq!(numbers(&mut rig), [6; 256]);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn pass_is_reloaded_with_imported_files() {
    let (mut rig, folder) = app("imports");
    let (root, part) = (folder.0.join("set.wgsl"), folder.0.join("part.wgsl"));
    let source = SOURCE.replace("1u", "value()");
    fs::write(&root, format!("import super::part::value;{source}")).expect("written");
    let reported = wait(&mut rig);
    assert!(reported.contains("there is no file "), "{reported}");
    assert_eq!(numbers(&mut rig), [1; 256]);

    fs::write(&part, "fn value() -> u32 { return 2u; }").expect("written");
    let reported = wait(&mut rig);
    assert!(
        reported.ends_with("part.wgsl is loaded again; changed: set"),
        "{reported}"
    );
    assert_eq!(numbers(&mut rig), [2; 256]);

    fs::write(&part, "fn value() -> u32 {\n    return nonsense;\n}").expect("written");
    let reported = wait(&mut rig);
    assert!(reported.contains("part.wgsl:2:12: "), "{reported}");
    assert!(reported.ends_with("; unchanged: set"), "{reported}");
    assert_eq!(numbers(&mut rig), [2; 256]);

    fs::write(&part, "fn value() -> u32 { return 3u; }").expect("written");
    let reported = wait(&mut rig);
    assert!(reported.ends_with("changed: set"), "{reported}");
    assert_eq!(numbers(&mut rig), [3; 256]);
    rig.expect_no_errors();
}
