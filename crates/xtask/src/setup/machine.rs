//! Installation of missing packages, or instructions for installing them.

use anyhow::{Context, Result, bail};

use crate::host::paths;
use crate::setup::apt::{self, Apt, Installed, Root, Source};
use crate::setup::packages::{self, Package, Purpose};

/// Installs missing packages for a purpose. Fast if nothing is missing.
///
/// # Errors
/// When something is missing and cannot be installed automatically; the message names the packages.
pub(crate) fn install(purpose: Purpose) -> Result<()> {
    let missing = packages::missing(purpose);
    if missing.is_empty() {
        return Ok(());
    }
    let Some(root) = Root::find().filter(|_| packages::has_program("apt-get")) else {
        bail!("{}", advice(&missing));
    };
    println!(
        "    installing {}",
        packages::names(&missing, |package| package.debian).join(" ")
    );
    install_with_apt(root, &missing).with_context(|| advice(&missing))?;
    let still_missing = packages::missing(purpose);
    if still_missing.is_empty() {
        return Ok(());
    }
    let old_mesa = packages::mesa_version().filter(|mesa| *mesa < packages::LAVAPIPE_MESA);
    match old_mesa {
        Some(mesa) => bail!(
            "this system offers Mesa {mesa}; the tests need its software driver lavapipe of Mesa {} or newer",
            packages::LAVAPIPE_MESA
        ),
        None => bail!(
            "installed, but still not found:\n{}",
            advice(&still_missing)
        ),
    }
}

fn install_with_apt(root: Root, missing: &[&'static Package]) -> Result<()> {
    let names = packages::names(missing, |package| package.debian);
    let (mesa, others): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| *name == packages::MESA);
    let codename = release("VERSION_CODENAME")?;
    let backports = format!("{codename}-backports");
    let (apt, has_backports) = apt_with_backports(&codename, &backports)?;
    if !others.is_empty() {
        apt.install(root, None, &others)?;
    }
    if !mesa.is_empty() {
        // Backports have a newer Mesa if that of the release is too old for the tests.
        apt.install(root, has_backports.then_some(&*backports), &mesa)?;
    }
    Ok(())
}

/// Returns an apt with the suites of the release and its backports, if there are any.
fn apt_with_backports(codename: &str, backports: &str) -> Result<(Apt, bool)> {
    let sources = apt::machine_sources()?;
    let own = sources_of_release(&sources, codename);
    let Some(main) = own.iter().find(|(_, suites)| suites.contains(&codename)) else {
        bail!("no entry of apt's sources is for {codename}");
    };
    let stanzas: String = own
        .iter()
        .map(|(source, suites)| apt::stanza(source, suites))
        .collect();
    let folder = paths::target("setup/apt");
    let more = apt::stanza(main.0, &[backports]);
    let with_backports = Apt::new(
        folder.clone(),
        &format!("{stanzas}{more}"),
        Installed::Machine,
    )?;
    if with_backports.update().is_ok() {
        return Ok((with_backports, true));
    }
    let without = Apt::new(folder, &stanzas, Installed::Machine)?;
    without.update()?;
    Ok((without, false))
}

/// Returns the source entries of the release, without other suites.
fn sources_of_release<'a>(
    sources: &'a [Source],
    codename: &str,
) -> Vec<(&'a Source, Vec<&'a str>)> {
    let is_own = |suite: &str| {
        suite
            .strip_prefix(codename)
            .is_some_and(|rest| matches!(rest, "" | "-updates" | "-security" | "/updates"))
    };
    sources
        .iter()
        .map(|source| {
            (
                source,
                source
                    .suites
                    .iter()
                    .map(String::as_str)
                    .filter(|suite| is_own(suite))
                    .collect(),
            )
        })
        .filter(|(_, suites): &(_, Vec<&str>)| !suites.is_empty())
        .collect()
}

/// Returns a field of the system's `os-release`.
///
/// # Errors
/// When the system has no such file or field.
pub(crate) fn release(field: &str) -> Result<String> {
    let text = std::fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    text.lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix('='))
        .map(|value| value.trim_matches('"').to_owned())
        .with_context(|| format!("/etc/os-release has no {field}"))
}

/// Lists the packages to install manually.
fn advice(missing: &[&'static Package]) -> String {
    let line = |command: &str, column: fn(&Package) -> &'static str| {
        format!("  {command} {}", packages::names(missing, column).join(" "))
    };
    format!(
        "missing on this system, and it takes root to install:\n{}\n{}\n{}",
        line("Debian, Ubuntu:  apt install", |package| package.debian),
        line("Fedora:          dnf install", |package| package.fedora),
        line("Arch:            pacman -S", |package| package.arch),
    )
}

#[cfg(test)]
mod tests;
