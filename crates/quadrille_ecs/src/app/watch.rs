//! File watcher for shaders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use bevy_app::{App, First, Plugin};
use bevy_ecs::prelude::*;
use bevy_platform::cell::SyncCell;
use notify_debouncer_full::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

use crate::app::reload;
use crate::gpu_device::GpuDevice;

/// Reloads shaders when their files change: those of [`GpuShader::load`](quadrille_vulkan::shader::GpuShader::load) and
/// [`GpuShader::with_file`](quadrille_vulkan::shader::GpuShader::with_file).
///
/// ```no_run
/// use bevy_app::App;
/// use quadrille_ecs::{QuadrillePlugins, ShaderReloadPlugin};
///
/// App::new().add_plugins((QuadrillePlugins, ShaderReloadPlugin::default()));
/// ```
///
/// Pipeline handles stay valid, and run the new code from the next frame on. An invalid file changes nothing and is
/// logged in one line; the next valid source is used. The result is also an event:
/// [`ShaderReloaded`](crate::ShaderReloaded).
#[derive(Clone, Copy, Debug)]
pub struct ShaderReloadPlugin {
    /// Time without changes before a file is read, since editors may write it in several steps.
    pub settled: Duration,
}

impl Default for ShaderReloadPlugin {
    /// `settled` of 50 ms.
    fn default() -> Self {
        Self {
            settled: Duration::from_millis(50),
        }
    }
}

impl Plugin for ShaderReloadPlugin {
    fn build(&self, app: &mut App) {
        match Watcher::new(self.settled) {
            Ok(watcher) => {
                app.insert_resource(watcher)
                    .add_systems(First, watch.before(reload::apply));
            }
            Err(error) => tracing::warn!("files of shaders cannot be watched: {error}"),
        }
    }
}

/// Change reported by the watcher.
enum Change {
    /// A known path.
    Path(PathBuf),
    /// Events were lost, so any file may have changed.
    Any,
}

/// Watches the folders of shaders instead of the files, since many editors replace a file by a new one.
#[derive(Resource)]
struct Watcher {
    debouncer: SyncCell<Debouncer<RecommendedWatcher, NoCache>>,
    changes: SyncCell<Receiver<Change>>,
    folders: BTreeSet<PathBuf>,
    /// Version of the set of files whose folders are watched.
    version: u64,
}

impl Watcher {
    fn new(settled: Duration) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel();
        let tell = move |result: DebounceEventResult| {
            // Sending fails only after the app dropped the receiver, so its errors are ignored.
            match result {
                Ok(events) if !events.iter().any(|event| event.need_rescan()) => {
                    let paths = events.iter().flat_map(|event| &event.paths);
                    paths.for_each(|path| drop(sender.send(Change::Path(path.clone()))));
                }
                Ok(_) | Err(_) => drop(sender.send(Change::Any)),
            }
        };
        let config = notify::Config::default();
        let debouncer = new_debouncer_opt(settled, None, tell, NoCache::new(), config)?;
        Ok(Self {
            debouncer: SyncCell::new(debouncer),
            changes: SyncCell::new(changes),
            folders: BTreeSet::new(),
            version: 0,
        })
    }

    /// Watches the folders of these files, and no others.
    fn set(&mut self, files: &[PathBuf]) {
        let folders = files.iter().filter_map(|file| file.parent());
        let folders: BTreeSet<PathBuf> = folders.map(Path::to_owned).collect();
        let debouncer = self.debouncer.get();
        for old in self.folders.difference(&folders) {
            // Fails if the folder no longer exists, which is fine.
            let _ = debouncer.unwatch(old);
        }
        for new in folders.difference(&self.folders) {
            if let Err(error) = debouncer.watch(new, RecursiveMode::NonRecursive) {
                let folder = new.display();
                tracing::warn!("the shaders in {folder} are not watched: {error}");
            }
        }
        self.folders = folders;
    }
}

fn watch(mut watcher: ResMut<Watcher>, gpu: Option<Res<GpuDevice>>) {
    let Some(gpu) = gpu else {
        return;
    };
    let watcher = &mut *watcher;
    let version = gpu.shader_files_version();
    if version != watcher.version {
        watcher.version = version;
        watcher.set(&gpu.shader_files());
    }
    for change in watcher.changes.get().try_iter() {
        match change {
            Change::Path(path) => drop(gpu.reload_shader(&path)),
            Change::Any => {
                for file in gpu.shader_files() {
                    gpu.reload_shader(&file);
                }
            }
        }
    }
}
