//! Shaders that change while the program runs.
//!
//! Pipelines whose shaders come from files, or import from them, are known here, by file. When a
//! file is loaded again, all of them are rebuilt on a thread that compiles pipelines, each from
//! the newest sources of all its files. If that goes well for all they change together, between two
//! frames of the main loop; else none changes, and there is one error to report.
//!
//! How a change of a file is noticed is not decided here.

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

/// Result of loading a shader's file again. Displayed, it is one line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reloaded {
    /// The file.
    pub file: PathBuf,
    /// The pipelines that are made from it.
    pub pipelines: Vec<String>,
    /// Whether they have changed; if not, why they all stay as they were.
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

/// Gives the newest source of a shader.
pub(crate) type Newest<'a> = dyn Fn(&GpuShader) -> Result<GpuShader, ShaderError> + 'a;

/// Lays ready what was built, once all pipelines of a file are.
pub(crate) type Ready = Box<dyn FnOnce()>;

/// A pipeline, as far as reloading is concerned.
pub(crate) trait Reloadable: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Builds it from the newest sources; what is returned lays that ready.
    fn rebuild(self: Arc<Self>, newest: &Newest<'_>) -> Result<Ready, ShaderError>;

    /// Runs what was laid ready from now on.
    fn adopt(&self);
}

/// The files that shaders of a device come from.
#[derive(Default)]
pub(crate) struct Reloads {
    files: Mutex<BTreeMap<PathBuf, Source>>,
    /// Changes with the set of files.
    version: AtomicU64,
    /// One file at a time is loaded.
    turn: Mutex<()>,
    done: Mutex<Vec<Done>>,
    is_done: AtomicBool,
}

/// A file.
#[derive(Default)]
struct Source {
    /// The last thing in it that was a shader; `None` in a file that shaders import from.
    newest: Option<GpuShader>,
    /// The files that its shader imports from, if what is in it now is none: when one of them
    /// changes, it may be one.
    waits_for: Vec<PathBuf>,
    /// A hash of its last contents, as an editor may write the same again, and again; `None` in
    /// it if there was nothing to read.
    seen: Option<Option<u64>>,
    pipelines: Vec<Weak<dyn Reloadable>>,
    /// How many there may be before those that are gone are looked for.
    room: usize,
}

/// A file that was loaded, with pipelines that wait for their turn to change.
struct Done {
    file: PathBuf,
    pipelines: Vec<Weak<dyn Reloadable>>,
    result: Result<(), ShaderError>,
}

/// Pipelines of a file among which none that are gone are looked for.
const MIN_PRUNE_LEN: usize = 8;

/// Tells sets of files apart, those of different devices as well.
static VERSIONS: AtomicU64 = AtomicU64::new(1);

impl Reloads {
    /// Takes a pipeline in, if its shaders come from files or import from them.
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

    /// Notes that there are more files than there were, if so.
    fn note_files(&self, files: &mut BTreeMap<PathBuf, Source>, before: usize) {
        if files.len() > before {
            // Files whose pipelines are gone are of no interest.
            files.retain(|_, source| source.is_used());
            let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
            self.version.store(version, Ordering::Release);
        }
    }

    /// All files, and what changes with the set of them.
    pub(crate) fn files(&self) -> (u64, Vec<PathBuf>) {
        let files = lock(&self.files);
        (self.version(), files.keys().cloned().collect())
    }

    /// Changes with the set of files.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Loads a file again, in the background; whether a shader comes from it.
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
        let _turn = lock(&self.turn);
        let bytes = GpuShader::read_file(&file);
        let Some(pipelines) = self.look(&file, bytes.as_deref().ok()) else {
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
            // Also what is missing there: it may come.
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

    /// Takes files in with pipelines that may follow them already.
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

    /// Builds pipelines; all are laid ready, or none.
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

    /// The pipelines that are made from a file, if there is something else in it than there was.
    fn look(&self, file: &Path, bytes: Option<&[u8]>) -> Option<Vec<Weak<dyn Reloadable>>> {
        let mut files = lock(&self.files);
        let source = files.get_mut(file)?;
        let seen = bytes.map(|bytes| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            hasher.finish()
        });
        if source.seen.replace(seen) == Some(seen) {
            return None;
        }
        source.forget_dropped();
        let pipelines = source.pipelines.clone();
        (!pipelines.is_empty()).then_some(pipelines)
    }

    /// Has pipelines change, and returns what was loaded since the last time.
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

/// A file that is being loaded again.
struct Load<'a> {
    reloads: &'a Reloads,
    file: &'a Path,
    bytes: &'a [u8],
    /// Shaders as pipelines have them, and what they are now: a shader of many pipelines is loaded once.
    loaded: RefCell<Vec<(GpuShader, GpuShader)>>,
    /// The files that these import from.
    imports: RefCell<Vec<PathBuf>>,
}

impl Load<'_> {
    /// Returns the current shader if it depends on the file, and else its last version.
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
