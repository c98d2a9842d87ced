use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::{Newest, Ready, Reloadable, Reloads};
use crate::error::ShaderError;
use crate::lock;
use crate::shader::{GpuShader, ShaderModule};

/// A pipeline that counts the entry points of its files, and accepts only up to a maximum.
struct Fake {
    name: &'static str,
    shaders: Vec<GpuShader>,
    most: usize,
    /// Staged and current code: the number of entry points of each file.
    runs: Mutex<[Option<Vec<usize>>; 2]>,
}

impl Reloadable for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn rebuild(self: Arc<Self>, newest: &Newest<'_>) -> Result<Ready, ShaderError> {
        let counts = self
            .shaders
            .iter()
            .map(|it| Ok(newest(it)?.entry_points().len()));
        let counts: Vec<_> = counts.collect::<Result<_, _>>()?;
        if counts.iter().sum::<usize>() > self.most {
            return Err(ShaderError::Interface {
                label: self.name.to_owned(),
                problem: format!("{counts:?} are above {}", self.most),
            });
        }
        Ok(Box::new(move || lock(&self.runs)[0] = Some(counts)))
    }

    fn adopt(&self) {
        let mut runs = lock(&self.runs);
        if let Some(ready) = runs[0].take() {
            runs[1] = Some(ready);
        }
    }
}

impl Fake {
    fn runs(&self) -> Option<Vec<usize>> {
        lock(&self.runs)[1].clone()
    }
}

/// Shader files in a temporary folder.
struct Folder {
    path: PathBuf,
    reloads: Reloads,
}

impl Folder {
    fn new(name: &str) -> Self {
        let path = crate::test_folder::make(name).canonicalize().unwrap();
        let reloads = Reloads::default();
        Self { path, reloads }
    }

    /// Writes a shader with this number of functions.
    fn write(&self, file: &str, functions: usize) {
        let function = |at| format!("@compute @workgroup_size(1) fn f{at}() {{}}\n");
        self.write_text(file, &(0..functions).map(function).collect::<String>());
    }

    fn write_text(&self, file: &str, text: &str) {
        fs::write(self.path.join(file), text).unwrap();
    }

    fn pipeline(&self, name: &'static str, files: &[&str], most: usize) -> Arc<Fake> {
        let load = |file: &&str| GpuShader::load(self.path.join(file)).unwrap();
        let shaders: Vec<_> = files.iter().map(load).collect();
        let fake = Arc::new(Fake {
            name,
            shaders: shaders.clone(),
            most,
            runs: Mutex::default(),
        });
        self.reloads
            .follow(&fake, &shaders.iter().collect::<Vec<_>>());
        fake
    }

    /// Reloads a file and returns the results.
    fn reload(&self, file: &str) -> Vec<String> {
        self.reloads.try_load(self.path.join(file));
        let folder = format!("{}/", self.path.display());
        let reported = self.reloads.take().into_iter();
        reported
            .map(|it| it.to_string().replace(&folder, ""))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[test]
fn an_edit_is_reported_once_in_one_line() {
    let folder = Folder::new("edit");
    folder.write("a.wgsl", 1);
    let [one, two] = ["one", "two"].map(|name| folder.pipeline(name, &["a.wgsl"], 9));
    folder.write("a.wgsl", 2);
    assert_eq!(
        folder.reload("a.wgsl"),
        ["a.wgsl is loaded again; changed: one, two"]
    );
    assert_eq!([one.runs(), two.runs()], [Some(vec![2]), Some(vec![2])]);
    assert_eq!(folder.reload("a.wgsl"), [""; 0], "written again as it was");
    assert_eq!(folder.reload("other.wgsl"), [""; 0], "nobody's");
}

#[test]
fn nothing_changes_before_the_main_loop_asks() {
    let folder = Folder::new("asks");
    folder.write("a.wgsl", 1);
    let pipeline = folder.pipeline("one", &["a.wgsl"], 9);
    folder.write("a.wgsl", 2);
    folder.reloads.try_load(folder.path.join("a.wgsl"));
    assert_eq!(pipeline.runs(), None);
    assert_eq!(folder.reloads.take().len(), 1);
    assert_eq!(pipeline.runs(), Some(vec![2]));
}

#[test]
fn broken_source_is_reported_once_and_the_next_valid_one_recovers() {
    let folder = Folder::new("broken");
    folder.write("a.wgsl", 1);
    let pipeline = folder.pipeline("one", &["a.wgsl"], 9);
    folder.write_text("a.wgsl", "fn main() {\n    let x = ;\n}");
    let [reported] = &folder.reload("a.wgsl")[..] else {
        panic!("not one line")
    };
    assert!(reported.starts_with("a.wgsl:2:13: "), "{reported}");
    assert!(
        reported.ends_with("; unchanged: one") && !reported.contains('\n'),
        "{reported}"
    );
    assert_eq!(folder.reload("a.wgsl"), [""; 0], "reported already");
    fs::remove_file(folder.path.join("a.wgsl")).unwrap();
    let [reported] = &folder.reload("a.wgsl")[..] else {
        panic!("not one line")
    };
    assert!(
        reported.starts_with("a.wgsl cannot be read: "),
        "{reported}"
    );
    assert_eq!(folder.reload("a.wgsl"), [""; 0], "reported already");
    assert_eq!(pipeline.runs(), None, "it is what it was");
    folder.write("a.wgsl", 3);
    assert_eq!(
        folder.reload("a.wgsl"),
        ["a.wgsl is loaded again; changed: one"]
    );
    assert_eq!(pipeline.runs(), Some(vec![3]));
}

#[test]
fn all_pipelines_of_a_file_change_or_none() {
    let folder = Folder::new("none");
    folder.write("a.wgsl", 1);
    let [one, two] =
        [("one", 9), ("two", 2)].map(|(name, most)| folder.pipeline(name, &["a.wgsl"], most));
    folder.write("a.wgsl", 2);
    folder.reloads.try_load(folder.path.join("a.wgsl"));
    folder.write("a.wgsl", 3);
    // Both results were held until the main loop took them.
    let reported = folder.reload("a.wgsl");
    assert_eq!(reported[0], "a.wgsl is loaded again; changed: one, two");
    assert!(
        reported[1].starts_with("a.wgsl: the interface of `two` "),
        "{}",
        reported[1]
    );
    assert!(
        reported[1].ends_with("; unchanged: one, two"),
        "{}",
        reported[1]
    );
    assert_eq!([one.runs(), two.runs()], [Some(vec![2]), Some(vec![2])]);
}

#[test]
fn rejected_code_is_retried_when_the_other_file_changes() {
    let folder = Folder::new("both");
    folder.write("a.wgsl", 1);
    folder.write("b.wgsl", 1);
    let pipeline = folder.pipeline("one", &["a.wgsl", "b.wgsl"], 3);
    folder.write("a.wgsl", 3);
    assert_eq!(folder.reload("a.wgsl").len(), 1);
    assert_eq!(pipeline.runs(), None, "too many with what is in b.wgsl");
    folder.write("b.wgsl", 0);
    assert_eq!(
        folder.reload("b.wgsl"),
        ["b.wgsl is loaded again; changed: one"]
    );
    assert_eq!(pipeline.runs(), Some(vec![3, 0]));
}

#[test]
fn pipelines_that_are_gone_are_forgotten() {
    let folder = Folder::new("gone");
    folder.write("a.wgsl", 1);
    folder.write("b.wgsl", 1);
    for _ in 0..1000 {
        drop(folder.pipeline("one", &["a.wgsl"], 9));
    }
    let known = lock(&folder.reloads.files)[&folder.path.join("a.wgsl")]
        .pipelines
        .len();
    assert!(known <= 8, "{known} are known");
    let (version, files) = folder.reloads.files();
    assert_eq!(files.len(), 1);
    let kept = folder.pipeline("two", &["b.wgsl"], 9);
    let (later, files) = folder.reloads.files();
    assert_eq!(files, [folder.path.join("b.wgsl")]);
    assert_ne!(later, version);
    folder.write("a.wgsl", 2);
    assert_eq!(folder.reload("a.wgsl"), [""; 0], "nobody's any more");
    drop(kept);
}

const ROOT: &str =
    "import super::part::one;\n@compute @workgroup_size(1) fn main() { _ = one(); }\n";

#[test]
fn an_edit_of_an_import_is_taken() {
    let folder = Folder::new("import");
    folder.write_text(
        "part.wgsl",
        "import super::deep::two;\nfn one() -> f32 { return two(); }",
    );
    folder.write_text("deep.wgsl", "fn two() -> f32 { return 2.0; }");
    folder.write_text("root.wgsl", ROOT);
    let pipeline = folder.pipeline("one", &["root.wgsl"], 9);
    let other = folder.pipeline("other", &["root.wgsl"], 9);
    assert_eq!(folder.reloads.files().1.len(), 3);
    folder.write_text("deep.wgsl", "fn two() -> f32 { return 2u; }");
    let [reported] = &folder.reload("deep.wgsl")[..] else {
        panic!("not one line")
    };
    assert!(reported.starts_with("deep.wgsl:1:"), "{reported}");
    assert!(reported.ends_with("; unchanged: one, other"), "{reported}");
    assert_eq!(pipeline.runs(), None);
    folder.write_text("deep.wgsl", "fn two() -> f32 { return 3.0; }");
    assert_eq!(
        folder.reload("deep.wgsl"),
        ["deep.wgsl is loaded again; changed: one, other"]
    );
    assert_eq!(
        [pipeline.runs(), other.runs()],
        [Some(vec![1]), Some(vec![1])]
    );
    fs::remove_file(folder.path.join("deep.wgsl")).unwrap();
    let reported = folder.reload("deep.wgsl").remove(0);
    assert!(
        reported.starts_with("deep.wgsl cannot be read: "),
        "{reported}"
    );
}

#[test]
fn an_import_that_comes_later_is_taken() {
    let folder = Folder::new("later_import");
    folder.write("root.wgsl", 2);
    let pipeline = folder.pipeline("one", &["root.wgsl"], 9);
    let version = folder.reloads.version();
    folder.write_text("root.wgsl", ROOT);
    let reported = folder.reload("root.wgsl").remove(0);
    assert!(reported.starts_with("root.wgsl:1:21: "), "{reported}");
    assert!(
        reported.contains("there is no file part.wgsl"),
        "{reported}"
    );
    // The file watcher watches the missing file too.
    assert_ne!(folder.reloads.version(), version);
    let files = folder.reloads.files().1;
    assert!(files.contains(&folder.path.join("part.wgsl")), "{files:?}");
    assert_eq!(pipeline.runs(), None);
    folder.write_text("part.wgsl", "fn one() -> f32 { return 1.0; }");
    assert_eq!(
        folder.reload("part.wgsl"),
        ["part.wgsl is loaded again; changed: one"]
    );
    assert_eq!(pipeline.runs(), Some(vec![1]));
}

#[test]
fn a_published_module_follows_its_file() {
    let folder = Folder::new("published");
    folder.write_text("part.wgsl", "fn one() -> f32 { return 1.0; }");
    let module = ShaderModule::new("of_reload::part", "fn one() -> f32 { return 1.0; }");
    let module = module.with_file(folder.path.join("part.wgsl"));
    module.clone().publish().unwrap();
    let source =
        "import of_reload::part::one;\n@compute @workgroup_size(1) fn main() { _ = one(); }";
    let shader = GpuShader::wgsl("inline", source).unwrap();
    let fake = Arc::new(Fake {
        name: "one",
        shaders: vec![shader.clone()],
        most: 9,
        runs: Mutex::default(),
    });
    folder.reloads.follow(&fake, &[&shader]);
    folder.write_text("part.wgsl", "fn one() -> u32 { return 1.0; }");
    let reported = folder.reload("part.wgsl").remove(0);
    assert!(reported.starts_with("part.wgsl:1:"), "{reported}");
    folder.write_text(
        "part.wgsl",
        "fn one() -> u32 { return 1u; }\nfn two() -> u32 { return 2u; }",
    );
    assert_eq!(
        folder.reload("part.wgsl"),
        ["part.wgsl is loaded again; changed: one"]
    );
    assert_eq!(fake.runs(), Some(vec![1]));
    // New shaders import the file's contents; the program may publish again.
    module.publish().unwrap();
    GpuShader::wgsl("later", &source.replace("one", "two")).unwrap();
}
