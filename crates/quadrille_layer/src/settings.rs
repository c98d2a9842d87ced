//! Settings: environment variables, read at instance creation.

pub(crate) mod emulated;
pub(crate) mod families;
pub(crate) mod hidden;
pub(crate) mod refusal;
pub(crate) mod script;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use emulated::Emulated;
use families::Family;
use hidden::Hidden;
use refusal::Refusal;
use script::Script;

const FAMILIES: &str = "QUADRILLE_LAYER_FAMILIES";
const SEED: &str = "QUADRILLE_LAYER_SEED";
const POISON: &str = "QUADRILLE_LAYER_POISON";
const HIDE: &str = "QUADRILLE_LAYER_HIDE";
const PRESENT_WAIT: &str = "QUADRILLE_LAYER_PRESENT_WAIT";
const DEVICE_FAULT: &str = "QUADRILLE_LAYER_DEVICE_FAULT";
const PRESENT_MODES: &str = "QUADRILLE_LAYER_PRESENT_MODES";
const NULL: &str = "QUADRILLE_LAYER_NULL";
const SCRIPT: &str = "QUADRILLE_LAYER_SCRIPT";
const LOG: &str = "QUADRILLE_LAYER_LOG";
const TIMEOUT: &str = "QUADRILLE_LAYER_TIMEOUT_MS";

/// Default of [`Settings::progress_timeout`]: even slow apps make some progress within this time.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maps a command of a script to the name under which its calls are counted; `None` if
/// its result cannot be replaced.
pub(crate) type Injectable = fn(&str) -> Option<&'static str>;

/// Settings of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The virtual queue families; one universal queue by default.
    pub(crate) families: Vec<Family>,
    /// Seed of the schedule; `None` for submission order.
    pub(crate) seed: Option<u64>,
    /// Whether undefined contents are overwritten with garbage.
    pub(crate) poison: bool,
    /// Whether recorded commands are dropped.
    pub(crate) null: bool,
    /// Extensions and features that are hidden.
    pub(crate) hidden: Hidden,
    /// Extensions that the layer emulates.
    pub(crate) emulated: Emulated,
    /// Whether swapchains can change to any present mode.
    pub(crate) any_mode: bool,
    /// Results to inject.
    pub(crate) script: Script,
    /// Log file of calls.
    pub(crate) log: Option<PathBuf>,
    /// Time without any progress after which a wait is reported as a deadlock.
    pub(crate) progress_timeout: Duration,
}

impl Settings {
    /// Reads the process's environment.
    pub(crate) fn from_env(injectable: Injectable) -> Result<Self, Refusal> {
        let variable = |name: &str| {
            let value = std::env::var_os(name)?;
            Some(value.to_string_lossy().into_owned())
        };
        Self::read(variable, injectable)
    }

    fn read(
        variable: impl Fn(&str) -> Option<String>,
        injectable: Injectable,
    ) -> Result<Self, Refusal> {
        let families = variable(FAMILIES).unwrap_or_else(|| "gct:1".to_owned());
        let number = |name: &str| {
            let Some(text) = variable(name) else {
                return Ok(None);
            };
            let parsed = text.trim().parse::<u64>();
            parsed
                .map(Some)
                .map_err(|_| Refusal::of(&text, "a number from 0 to 2^64 - 1").at(name))
        };
        let switch = |name: &str| match variable(name).as_deref() {
            None | Some("" | "0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(Refusal::of(other, "`0` or `1`").at(name)),
        };
        Ok(Self {
            families: families::parse(&families).map_err(|refusal| refusal.at(FAMILIES))?,
            seed: number(SEED)?,
            poison: switch(POISON)?,
            null: switch(NULL)?,
            any_mode: switch(PRESENT_MODES)?,
            emulated: Emulated {
                present_wait: switch(PRESENT_WAIT)?,
                device_fault: switch(DEVICE_FAULT)?,
            },
            hidden: match variable(HIDE) {
                Some(names) => Hidden::parse(&names).map_err(|refusal| refusal.at(HIDE))?,
                None => Hidden::default(),
            },
            script: match variable(SCRIPT) {
                Some(path) => read_script(Path::new(&path), injectable)?,
                None => Script::default(),
            },
            log: variable(LOG).map(PathBuf::from),
            progress_timeout: number(TIMEOUT)?.map_or(DEFAULT_TIMEOUT, Duration::from_millis),
        })
    }
}

fn read_script(path: &Path, injectable: Injectable) -> Result<Script, Refusal> {
    let shown = OsStr::to_string_lossy(path.as_os_str());
    let text = std::fs::read_to_string(path)
        .map_err(|error| Refusal::of(&shown, &format!("a readable file ({error})")).at(SCRIPT))?;
    Script::parse(&text, injectable)
        .map_err(|(line, refusal)| refusal.at(format_args!("{shown}:{line}")))
}

#[cfg(test)]
mod tests;
