//! Hot reload of shaders.
//!
//! Pipelines whose shaders come from files, or import from them, are registered here by file. When a
//! file is reloaded, all of them are rebuilt on a pipeline compiler thread, each from
//! the newest sources of all its files. If all succeed they switch together, between two
//! frames of the main loop; else none changes, and one error is reported.
//!
//! Detection of file changes is up to the caller.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::device::Device;
use crate::error::ShaderError;
use crate::lock;
use crate::shader::GpuShader;

/// Result of reloading a shader file. `Display` prints one line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reloaded {
    /// The file.
    pub file: PathBuf,
    /// Names of the pipelines that use it.
    pub pipelines: Vec<String>,
    /// Success, or the reason why all of them are unchanged.
    pub result: Result<(), ShaderError>,
}

impl std::fmt::Display for Reloaded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, pipelines) = (self.file.display(), self.pipelines.join(", "));
        match &self.result {
            Ok(()) => write!(formatter, "{file} is loaded again; changed: {pipelines}"),
            Err(error) => {
                if matches!(
                    error,
                    ShaderError::Interface { .. } | ShaderError::Compile { .. }
                ) {
                    // Errors of these kinds name the pipeline, not the file.
                    write!(formatter, "{file}: ")?;
                }
                write!(formatter, "{}; unchanged: {pipelines}", error.line())
            }
        }
    }
}

/// Function that returns a shader with its newest sources.
pub(crate) type Newest<'a> = dyn Fn(&GpuShader) -> Result<GpuShader, ShaderError> + 'a;

/// Stages a rebuilt pipeline for [`Reloadable::adopt`], once all pipelines of a file are built.
pub(crate) type Ready = Box<dyn FnOnce()>;

/// A pipeline that can be rebuilt from newer sources.
pub(crate) trait Reloadable: Send + Sync {
    /// Name of the pipeline.
    fn name(&self) -> &str;

    /// Builds the pipeline from the newest sources, and returns a function that stages the result.
    fn rebuild(self: Arc<Self>, newest: &Newest<'_>) -> Result<Ready, ShaderError>;

    /// Switches to the staged code.
    fn adopt(&self);
}

/// The shader files of a device.
#[derive(Default)]
pub(crate) struct Reloads {
    files: Mutex<BTreeMap<PathBuf, Source>>,
    /// Version of the set of files.
    version: AtomicU64,
    /// Held while a file is loaded: one at a time.
    reload_lock: Mutex<()>,
    done: Mutex<Vec<Done>>,
    is_done: AtomicBool,
}

/// A shader file.
#[derive(Default)]
struct Source {
    /// The last valid shader of the file; `None` for a file that shaders only import from.
    newest: Option<GpuShader>,
    /// The imported files of its current contents, if those are invalid: a change of one of these may make them valid.
    waits_for: Vec<PathBuf>,
    /// Hash of the last contents that were read, since an editor may save a file unchanged; `Some(None)` if it could
    /// not be read.
    content_hash: Option<Option<u64>>,
    pipelines: Vec<Weak<dyn Reloadable>>,
    /// Number of pipelines at which dropped ones are pruned.
    room: usize,
}

/// A reloaded file, with the pipelines to switch.
struct Done {
    file: PathBuf,
    pipelines: Vec<Weak<dyn Reloadable>>,
    result: Result<(), ShaderError>,
}

/// Number of pipelines of a file below which dropped ones are not pruned.
const MIN_PRUNE_LEN: usize = 8;

/// Version numbers of sets of files, unique over all devices.
static VERSIONS: AtomicU64 = AtomicU64::new(1);

impl Reloads {
    /// Registers a pipeline, if its shaders come from files or import from them.
    pub(crate) fn follow(&self, pipeline: &Arc<impl Reloadable + 'static>, shaders: &[&GpuShader]) {
        let pipeline: Weak<dyn Reloadable> = Arc::downgrade(pipeline) as _;
        let mut followed = HashSet::new();
        let mut files = lock(&self.files);
        let before = files.len();
        for shader in shaders {
            let own = shader.file().map(|file| (file, Some(*shader)));
            let imports = shader.imports().iter().map(|file| (&**file, None));
            for (file, shader) in own.into_iter().chain(imports) {
                let source = files.entry(file.to_owned()).or_default();
                if source.newest.is_none() {
                    source.newest = shader.cloned();
                }
                if followed.insert(file) {
                    source.add(pipeline.clone());
                }
            }
        }
        self.note_files(&mut files, before);
    }

    /// Changes the version if there are more files than before.
    fn note_files(&self, files: &mut BTreeMap<PathBuf, Source>, before: usize) {
        if files.len() > before {
            // Prune files whose pipelines were dropped.
            files.retain(|_, source| source.is_used());
            let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
            self.version.store(version, Ordering::Release);
        }
    }

    /// Returns the version of the set of files, and the files.
    pub(crate) fn files(&self) -> (u64, Vec<PathBuf>) {
        let files = lock(&self.files);
        (self.version(), files.keys().cloned().collect())
    }

    /// Version of the set of files.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Reloads a file in the background. Returns whether any shader uses it.
    pub(crate) fn load(device: &Arc<Device>, file: &Path) -> bool {
        let is_known = lock(&device.reloads.files).contains_key(file);
        if is_known {
            let (job, file) = (Arc::downgrade(device), file.to_owned());
            device.compiler.run(Box::new(move || {
                if let Some(device) = job.upgrade() {
                    device.reloads.try_load(file);
                }
            }));
        }
        is_known
    }

    fn try_load(&self, file: PathBuf) {
        let _turn = lock(&self.reload_lock);
        let bytes = GpuShader::read_file(&file);
        let Some(pipelines) = self.changed_pipelines(&file, bytes.as_deref().ok()) else {
            return;
        };
        let result = bytes.and_then(|bytes| {
            let load = Load {
                reloads: self,
                file: &file,
                bytes: &bytes,
                loaded: RefCell::default(),
                imports: RefCell::default(),
            };
            let result = self.rebuild(&pipelines, &load);
            // Include missing files: they may be created later.
            self.add_missing(&pipelines, load.imports.into_inner());
            if result.is_ok() {
                GpuShader::renew_module(&file, &bytes);
            }
            result
        });
        lock(&self.done).push(Done {
            file,
            pipelines,
            result,
        });
        self.is_done.store(true, Ordering::Release);
    }

    /// Registers files for these pipelines, unless they already are.
    fn add_missing(&self, pipelines: &[Weak<dyn Reloadable>], imports: Vec<PathBuf>) {
        let mut files = lock(&self.files);
        let before = files.len();
        let address = |pipeline: &Weak<dyn Reloadable>| pipeline.as_ptr().addr();
        for file in imports {
            let source = files.entry(file).or_default();
            let known: HashSet<_> = source.pipelines.iter().map(address).collect();
            let missing = pipelines.iter().filter(|it| !known.contains(&address(it)));
            missing.for_each(|it| source.add(it.clone()));
        }
        self.note_files(&mut files, before);
    }

    /// Builds pipelines; stages all of them, or none.
    fn rebuild(
        &self,
        pipelines: &[Weak<dyn Reloadable>],
        load: &Load<'_>,
    ) -> Result<(), ShaderError> {
        let pipelines = pipelines.iter().filter_map(Weak::upgrade);
        let built = pipelines.map(|pipeline| pipeline.rebuild(&|shader| load.newest(shader)));
        let built: Vec<Ready> = built.collect::<Result<_, _>>()?;
        built.into_iter().for_each(|ready| ready());
        Ok(())
    }

    /// Returns the pipelines of a file if its contents have changed.
    fn changed_pipelines(
        &self,
        file: &Path,
        bytes: Option<&[u8]>,
    ) -> Option<Vec<Weak<dyn Reloadable>>> {
        let mut files = lock(&self.files);
        let source = files.get_mut(file)?;
        let content_hash = bytes.map(|bytes| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            hasher.finish()
        });
        if source.content_hash.replace(content_hash) == Some(content_hash) {
            return None;
        }
        source.forget_dropped();
        let pipelines = source.pipelines.clone();
        (!pipelines.is_empty()).then_some(pipelines)
    }

    /// Switches pipelines, and returns the results of files reloaded since the last call.
    pub(crate) fn take(&self) -> Vec<Reloaded> {
        if !self.is_done.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        let done = std::mem::take(&mut *lock(&self.done));
        let reloaded = |done: Done| {
            let pipelines: Vec<_> = done.pipelines.iter().filter_map(Weak::upgrade).collect();
            if done.result.is_ok() {
                pipelines.iter().for_each(|pipeline| pipeline.adopt());
            }
            Reloaded {
                file: done.file,
                pipelines: pipelines.iter().map(|it| it.name().to_owned()).collect(),
                result: done.result,
            }
        };
        done.into_iter().map(reloaded).collect()
    }
}

/// A file that is being reloaded.
struct Load<'a> {
    reloads: &'a Reloads,
    file: &'a Path,
    bytes: &'a [u8],
    /// Old and new version of each shader, so that a shader of many pipelines is loaded once.
    loaded: RefCell<Vec<(GpuShader, GpuShader)>>,
    /// Files imported by these shaders.
    imports: RefCell<Vec<PathBuf>>,
}

impl Load<'_> {
    /// Returns the shader with its current sources if it depends on the file, else its last version.
    fn newest(&self, shader: &GpuShader) -> Result<GpuShader, ShaderError> {
        let is_same = |known: &GpuShader| {
            known == shader || (known.file().is_some() && known.file() == shader.file())
        };
        let loaded = self.loaded.borrow();
        if let Some((_, newest)) = loaded.iter().find(|(known, _)| is_same(known)) {
            return Ok(newest.clone());
        }
        drop(loaded);
        let (newest, is_concerned) = self.known(shader);
        if !is_concerned {
            return Ok(newest);
        }
        let mut imports = Vec::new();
        let result = match shader.file() {
            Some(file) if file == self.file => shader.reloaded(file, self.bytes, &mut imports),
            _ => newest.composed_again(&mut imports),
        };
        if let Some(file) = shader.file()
            && let Some(source) = lock(&self.reloads.files).get_mut(file)
        {
            source.waits_for = match &result {
                Ok(_) => Vec::new(),
                Err(_) => imports.clone(),
            };
            source.newest = result.as_ref().ok().or(source.newest.as_ref()).cloned();
        }
        self.imports.borrow_mut().append(&mut imports);
        let newest = result?;
        let pair = (shader.clone(), newest.clone());
        self.loaded.borrow_mut().push(pair);
        Ok(newest)
    }

    /// Returns the last version of a shader, and whether it depends on the file.
    fn known(&self, shader: &GpuShader) -> (GpuShader, bool) {
        let files = lock(&self.reloads.files);
        let source = shader.file().and_then(|file| files.get(file));
        let newest = source.and_then(|source| source.newest.as_ref());
        let newest = newest.unwrap_or(shader);
        let waits_for = source.map_or(&[][..], |source| &source.waits_for);
        let mut imports = newest.imports().iter().chain(waits_for);
        let is_concerned =
            shader.file() == Some(self.file) || imports.any(|import| import == self.file);
        (newest.clone(), is_concerned)
    }
}

impl Source {
    fn add(&mut self, pipeline: Weak<dyn Reloadable>) {
        if self.pipelines.len() >= self.room.max(MIN_PRUNE_LEN) {
            self.forget_dropped();
            self.room = 2 * self.pipelines.len();
        }
        self.pipelines.push(pipeline);
    }

    fn forget_dropped(&mut self) {
        self.pipelines
            .retain(|pipeline| pipeline.strong_count() > 0);
    }

    fn is_used(&self) -> bool {
        let mut pipelines = self.pipelines.iter();
        pipelines.any(|pipeline| pipeline.strong_count() > 0)
    }
}

#[cfg(test)]
mod tests;
