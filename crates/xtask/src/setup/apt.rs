//! Debian's package tool, used without changing anything on the machine except installed packages.
//!
//! Sources are derived from the machine's own (mirror and key), and lists are stored below `target/`. So a backports
//! suite is used without adding it to the machine's sources, and a newer suite is read without installing from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::host::process;

/// An entry of apt's sources: location and signing key of suites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The mirror.
    pub(crate) uri: String,
    /// Suites.
    pub(crate) suites: Vec<String>,
    /// Components of a suite, such as `main`.
    pub(crate) components: Vec<String>,
    /// Value of `Signed-By`, including its continuation lines.
    pub(crate) signed_by: Option<String>,
}

/// Reads the sources of the machine's package tool.
///
/// # Errors
/// When apt's folder cannot be read.
pub(crate) fn machine_sources() -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    if let Ok(text) = fs::read_to_string("/etc/apt/sources.list") {
        sources.extend(parse_lines(&text));
    }
    let parts = Path::new("/etc/apt/sources.list.d");
    let Ok(entries) = fs::read_dir(parts) else {
        return Ok(sources);
    };
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot list {}", parts.display()))?
            .path();
        let parse: fn(&str) -> Vec<Source> = match path.extension().and_then(|end| end.to_str()) {
            Some("list") => parse_lines,
            Some("sources") => parse_stanzas,
            _ => continue,
        };
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        sources.extend(parse(&text));
    }
    Ok(sources)
}

/// Parses the format with one entry per line: `deb [options] uri suite components`.
fn parse_lines(text: &str) -> Vec<Source> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Source> {
    let rest = line.trim().strip_prefix("deb ")?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Source {
        uri: words.next()?,
        suites: vec![words.next()?],
        components: words.collect(),
        signed_by: options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            .map(str::to_owned),
    })
}

/// Parses the format of stanzas (deb822).
fn parse_stanzas(text: &str) -> Vec<Source> {
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect();
    text.split("\n\n").flat_map(parse_stanza).collect()
}

fn parse_stanza(stanza: &str) -> Vec<Source> {
    let words = |name| -> Vec<String> {
        field(stanza, name)
            .map(|value| value.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default()
    };
    let is_binary = words("Types").iter().any(|kind| kind == "deb");
    let is_enabled = field(stanza, "Enabled").is_none_or(|value| value.trim() != "no");
    if !is_binary || !is_enabled {
        return Vec::new();
    }
    words("URIs")
        .into_iter()
        .map(|uri| Source {
            uri,
            suites: words("Suites"),
            components: words("Components"),
            signed_by: field(stanza, "Signed-By").map(|value| value.trim().to_owned()),
        })
        .collect()
}

/// Returns a field with its continuation lines, which begin with a blank.
fn field(stanza: &str, name: &str) -> Option<String> {
    let mut lines = stanza.lines();
    let first = lines.by_ref().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })?;
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    Some(
        std::iter::once(first)
            .chain(more)
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

/// Formats a stanza for some suites of a mirror.
pub(crate) fn stanza(source: &Source, suites: &[&str]) -> String {
    let key = source
        .signed_by
        .as_ref()
        .map_or_else(String::new, |key| format!("Signed-By: {key}\n"));
    format!(
        "Types: deb\nURIs: {}\nSuites: {}\nComponents: {}\n{key}\n",
        source.uri,
        suites.join(" "),
        source.components.join(" ")
    )
}

/// An apt configuration with separate sources and lists.
pub(crate) struct Apt {
    folder: PathBuf,
}

/// Packages that an [`Apt`] considers installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Installed {
    /// Packages of the machine, so that more can be added.
    Machine,
    /// None, so that all dependencies of a package are fetched.
    Nothing,
}

impl Apt {
    /// Prepares a folder with the given sources.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(crate) fn new(folder: PathBuf, sources: &str, installed: Installed) -> Result<Self> {
        for part in ["lists/partial", "archives/partial"] {
            let path = folder.join(part);
            fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        let apt = Self { folder };
        apt.write("suite.sources", sources)?;
        apt.write("status", "")?;
        apt.write("apt.conf", &apt.configuration(installed))?;
        Ok(apt)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn configuration(&self, installed: Installed) -> String {
        let here = self.folder.display();
        let mut text = format!(
            "Dir::Etc::SourceList \"{here}/suite.sources\";\n\
             Dir::Etc::SourceParts \"/dev/null\";\n\
             Dir::State::Lists \"{here}/lists\";\n\
             Dir::Cache::pkgcache \"\";\n\
             Dir::Cache::srcpkgcache \"\";\n\
             Acquire::Languages \"none\";\n\
             Acquire::Retries \"3\";\n\
             Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"0\";\n\
             APT::Install-Recommends \"0\";\n\
             APT::Sandbox::User \"root\";\n\
             DPkg::Lock::Timeout \"120\";\n\
             #clear APT::Update::Post-Invoke;\n\
             #clear APT::Update::Post-Invoke-Success;\n"
        );
        if installed == Installed::Nothing {
            // Nothing is installed, so neither the machine's lock nor root is needed. Signatures are checked as usual.
            // Expiry is not, because a mirror may lag and the clock may be wrong; the newest version is chosen by
            // comparing versions.
            text += &format!(
                "Dir::State::status \"{here}/status\";\n\
                 Dir::Cache::archives \"{here}/archives\";\n\
                 Debug::NoLocking \"1\";\n\
                 Acquire::Check-Valid-Until \"false\";\n\
                 Acquire::Check-Date \"false\";\n"
            );
        }
        text
    }

    /// Fetches the package lists of the sources.
    ///
    /// # Errors
    /// When a suite does not exist or cannot be fetched.
    pub(crate) fn update(&self) -> Result<()> {
        let mut command = self.command(None);
        // By default an unreachable mirror is only a warning.
        command.args(["update", "--error-on=any"]);
        self.run("setup-lists", &mut command)
    }

    /// Fetches a package with all dependencies; returns the archives.
    ///
    /// # Errors
    /// When a package does not exist or cannot be fetched.
    pub(crate) fn download(&self, packages: &[&str]) -> Result<Vec<PathBuf>> {
        let mut command = self.command(None);
        command
            .args(["install", "--download-only", "--yes"])
            .args(packages);
        self.run("setup-download", &mut command)?;
        let folder = self.folder.join("archives");
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut archives: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "deb"))
            .collect();
        archives.sort();
        if archives.is_empty() {
            bail!("apt fetched none of {}", packages.join(", "));
        }
        Ok(archives)
    }

    /// Installs packages on the machine, from `suite` if given.
    ///
    /// # Errors
    /// When a package does not exist or its installation fails.
    pub(crate) fn install(&self, root: Root, suite: Option<&str>, packages: &[&str]) -> Result<()> {
        let mut command = self.command(Some(root));
        command.args(["install", "--yes", "--no-remove"]);
        if let Some(suite) = suite {
            command.args(["--target-release", suite]);
        }
        command.args(packages);
        self.run("setup-install", &mut command)
    }

    fn command(&self, root: Option<Root>) -> Command {
        let mut command = match root {
            Some(Root::Sudo) => {
                let mut command = Command::new("sudo");
                command.args(["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
                command
            }
            Some(Root::Already) | None => Command::new("apt-get"),
        };
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .arg("--quiet")
            .arg("--config-file")
            .arg(self.folder.join("apt.conf"));
        command
    }

    fn run(&self, name: &str, command: &mut Command) -> Result<()> {
        process::run(name, command, APT_LIMIT).map(drop)
    }
}

/// Ten minutes: enough for a slow mirror and a slow disk.
const APT_LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

/// Means to become root.
#[derive(Clone, Copy)]
pub(crate) enum Root {
    /// The process is root.
    Already,
    /// By `sudo` without a password.
    Sudo,
}

impl Root {
    /// Detects them without asking for a password.
    pub(crate) fn find() -> Option<Self> {
        let output = Command::new("id").arg("-u").output().ok()?;
        if output.stdout.trim_ascii() == b"0" {
            return Some(Self::Already);
        }
        let sudo = Command::new("sudo").args(["-n", "true"]).output().ok()?;
        sudo.status.success().then_some(Self::Sudo)
    }
}

#[cfg(test)]
mod tests;
