use std::fs;
use std::hash::{BuildHasher as _, RandomState};

use bevy_asset::AssetApp as _;
use bevy_asset::io::memory::MemoryAssetReader;

use super::*;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // The standard library seeds `RandomState` from the system's random generator.
        let random = RandomState::new().hash_one(std::process::id());
        let path = std::env::temp_dir().join(format!("quadrille-{name}-{random:016x}"));
        fs::create_dir(&path).unwrap();
        fs::create_dir_all(path.join("assets/inner")).unwrap();
        fs::write(path.join("outside"), b"secret").unwrap();
        fs::write(path.join("assets/inner/file"), b"right").unwrap();
        Self(path)
    }

    fn reader(&self, rules: AssetFileRules) -> CheckedReader {
        CheckedReader::new(self.0.join("assets").to_str().unwrap(), rules)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn read(reader: &CheckedReader, path: &str) -> std::result::Result<Vec<u8>, AssetReaderError> {
    block_on(async {
        let mut bytes = Vec::new();
        let path = Path::new(path);
        let mut file = AssetReader::read(reader, path).await?;
        file.read_to_end(&mut bytes).await?;
        Ok(bytes)
    })
}

/// Returns the kind of an error, and its message.
fn refused(reader: &CheckedReader, path: &str) -> (ErrorKind, String) {
    match read(reader, path) {
        Err(AssetReaderError::Io(error)) => (error.kind(), error.to_string()),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn files_of_the_folder_are_read() {
    let folder = Folder::new("read");
    let reader = folder.reader(AssetFileRules::default());
    for path in ["inner/file", "inner/../inner/./file"] {
        assert_eq!(read(&reader, path).unwrap(), b"right");
    }
    assert!(matches!(
        read(&reader, "inner/none"),
        Err(AssetReaderError::NotFound(_))
    ));
    assert!(block_on(AssetReader::is_directory(&reader, Path::new("inner"))).unwrap());
}

#[test]
fn paths_do_not_leave_the_folder() {
    let folder = Folder::new("leave");
    for allow_links_outside in [false, true] {
        let reader = folder.reader(AssetFileRules {
            allow_links_outside,
            ..AssetFileRules::default()
        });
        let absolute = folder.0.join("outside").display().to_string();
        for path in ["../outside", "inner/../../outside", "../none", &absolute] {
            let (kind, said) = refused(&reader, path);
            assert_eq!(kind, ErrorKind::PermissionDenied);
            assert!(
                said.starts_with(path) && said.contains("leaves the folder"),
                "{said}"
            );
        }
        let listed = block_on(AssetReader::read_directory(&reader, Path::new("..")));
        assert!(listed.is_err());
    }
}

#[cfg(unix)]
#[test]
fn links_lead_out_of_the_folder_if_the_rules_allow_it() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("links");
    let assets = folder.0.join("assets");
    symlink("../outside", assets.join("link")).unwrap();
    symlink("../outside", assets.join("inner/file.meta")).unwrap();
    symlink("..", assets.join("up")).unwrap();
    symlink("inner/file", assets.join("within")).unwrap();
    let reader = folder.reader(AssetFileRules::default());
    assert_eq!(read(&reader, "within").unwrap(), b"right");
    for path in ["link", "up/outside"] {
        let (kind, said) = refused(&reader, path);
        assert_eq!(kind, ErrorKind::PermissionDenied);
        assert!(
            said.contains("AssetFileRules::allow_links_outside"),
            "{said}"
        );
    }
    let file = Path::new("inner/file");
    assert!(block_on(AssetReader::read_meta_bytes(&reader, file)).is_err());
    let rules = AssetFileRules {
        allow_links_outside: true,
        ..AssetFileRules::default()
    };
    let reader = folder.reader(rules);
    for path in ["link", "up/outside"] {
        assert_eq!(read(&reader, path).unwrap(), b"secret");
    }
    // The asset folder itself may be a link, because the app chose it.
    symlink("assets", folder.0.join("named")).unwrap();
    let named = folder.0.join("named").display().to_string();
    let reader = CheckedReader::new(&named, AssetFileRules::default());
    assert_eq!(read(&reader, "inner/file").unwrap(), b"right");
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_devices_and_long_files_are_refused() {
    let folder = Folder::new("kinds");
    let assets = folder.0.join("assets");
    for name in ["pipe", "inner/file.meta"] {
        let made = std::process::Command::new("mkfifo")
            .arg(assets.join(name))
            .status();
        assert!(made.unwrap().success());
    }
    std::os::unix::fs::symlink("/dev/zero", assets.join("zero")).unwrap();
    let reader = folder.reader(AssetFileRules {
        file_bytes: 5,
        allow_links_outside: true,
    });
    assert!(refused(&reader, "pipe").1.contains("a pipe"));
    assert!(refused(&reader, "zero").1.contains("a device"));
    assert!(refused(&reader, "inner").1.contains("a directory"));
    let file = Path::new("inner/file");
    assert!(block_on(AssetReader::read_meta_bytes(&reader, file)).is_err());
    assert_eq!(read(&reader, "inner/file").unwrap().len(), 5);
    fs::write(assets.join("long"), [0; 6]).unwrap();
    let (kind, said) = refused(&reader, "long");
    assert_eq!(kind, ErrorKind::FileTooLarge);
    assert!(
        said.contains("more than 5 bytes; `AssetFileRules::file_bytes`"),
        "{said}"
    );
    // The file grows after it was opened.
    block_on(async {
        let mut grown = AssetReader::read(&reader, file).await.unwrap();
        fs::write(assets.join("inner/file"), [0; 6]).unwrap();
        assert!(grown.read_to_end(&mut Vec::new()).await.is_err());
    });
}

#[test]
fn readers_that_leave_the_folder_are_detected() {
    let folder = Folder::new("readers");
    let file_path = folder.0.join("assets").display().to_string();
    let app = |source: Option<AssetSourceBuilder>| {
        let mut app = App::new();
        app.add_plugins(bevy_app::TaskPoolPlugin::default());
        if let Some(source) = source {
            app.register_asset_source(AssetSourceId::Default, source);
        }
        app.add_plugins(AssetPlugin {
            file_path: file_path.clone(),
            watch_for_changes_override: Some(false),
            ..AssetPlugin::default()
        });
        app
    };
    assert!(reads_outside(&app(None)), "bevy's reader");
    let checked = checked_asset_source(&file_path, AssetFileRules::default());
    assert!(!reads_outside(&app(Some(checked))));
    let memory = AssetSourceBuilder::new(|| Box::new(MemoryAssetReader::default()));
    assert!(!reads_outside(&app(Some(memory))), "memory has no outside");
    assert!(!reads_outside(&App::new()), "no assets");
}

/// An app that adds bevy's `AssetPlugin` itself has bevy's reader; loaders still check files against the rules.
#[cfg(target_os = "linux")]
#[test]
fn loaders_ask_where_the_reader_does_not() {
    let folder = Folder::new("asked");
    let assets = folder.0.join("assets");
    std::os::unix::fs::symlink("../outside", assets.join("link")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", assets.join("zero")).unwrap();
    let mut app = App::new();
    app.insert_resource(AssetFileRules {
        file_bytes: 5,
        ..AssetFileRules::default()
    });
    app.add_plugins(bevy_app::TaskPoolPlugin::default());
    app.add_plugins(AssetPlugin {
        file_path: assets.display().to_string(),
        watch_for_changes_override: Some(false),
        ..AssetPlugin::default()
    });
    fs::write(assets.join("long"), [0; 6]).unwrap();
    let files = AssetFolder::of(&app);
    let check = |path: &str| files.check(&AssetPath::parse(path));
    assert!(check("inner/file").is_ok());
    assert!(check("none").is_ok(), "perhaps it is in no file");
    assert!(check("memory://link").is_ok(), "another source");
    for path in ["link", "zero", "long", "inner"] {
        assert!(check(path).is_err(), "{path}");
    }
}
