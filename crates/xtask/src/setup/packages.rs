//! Packages that the commands need: their detection, and their names by system.

use std::path::Path;
use std::process::Command;

/// Purpose of a package; a later purpose includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Purpose {
    /// Playing a program.
    Play,
    /// Running the tests.
    Verify,
    /// Building bevy's own example programs, some of which play sounds.
    BevyExamples,
}

/// A requirement, with the package that provides it on each distribution.
#[derive(Debug)]
pub(crate) struct Package {
    probe: Probe,
    purpose: Purpose,
    /// Debian and Ubuntu.
    pub(crate) debian: &'static str,
    /// Fedora.
    pub(crate) fedora: &'static str,
    /// Arch.
    pub(crate) arch: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Probe {
    /// A shared library, by its name for the dynamic linker.
    Library(&'static str),
    /// A program in the search path.
    Program(&'static str),
    /// A development library, by its name in `pkg-config`.
    Development(&'static str),
    /// Any Vulkan driver.
    Driver,
    /// The software driver in a version that is new enough for all tests.
    Lavapipe,
}

/// The package of Mesa's Vulkan drivers on Debian, which is newer in backports.
pub(crate) const MESA: &str = "mesa-vulkan-drivers";

/// The first Mesa whose lavapipe has headless surfaces and `VK_EXT_swapchain_maintenance1`.
pub(crate) const LAVAPIPE_MESA: u32 = 25;

const fn package(
    purpose: Purpose,
    probe: Probe,
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
) -> Package {
    Package {
        probe,
        purpose,
        debian,
        fedora,
        arch,
    }
}

/// All packages, in the order of reports. winit opens the windowing libraries at run time, so no linker checks them.
const PACKAGES: &[Package] = &[
    package(
        Purpose::Play,
        Probe::Library("libvulkan.so.1"),
        "libvulkan1",
        "vulkan-loader",
        "vulkan-icd-loader",
    ),
    package(
        Purpose::Play,
        Probe::Driver,
        MESA,
        "mesa-vulkan-drivers",
        "vulkan-swrast",
    ),
    package(
        Purpose::Play,
        Probe::Library("libX11.so.6"),
        "libx11-6",
        "libX11",
        "libx11",
    ),
    package(
        Purpose::Play,
        Probe::Library("libX11-xcb.so.1"),
        "libx11-xcb1",
        "libX11-xcb",
        "libx11",
    ),
    package(
        Purpose::Play,
        Probe::Library("libxcb.so.1"),
        "libxcb1",
        "libxcb",
        "libxcb",
    ),
    package(
        Purpose::Play,
        Probe::Library("libXcursor.so.1"),
        "libxcursor1",
        "libXcursor",
        "libxcursor",
    ),
    package(
        Purpose::Play,
        Probe::Library("libXi.so.6"),
        "libxi6",
        "libXi",
        "libxi",
    ),
    package(
        Purpose::Play,
        Probe::Library("libXrandr.so.2"),
        "libxrandr2",
        "libXrandr",
        "libxrandr",
    ),
    package(
        Purpose::Play,
        Probe::Library("libxkbcommon.so.0"),
        "libxkbcommon0",
        "libxkbcommon",
        "libxkbcommon",
    ),
    package(
        Purpose::Play,
        Probe::Library("libxkbcommon-x11.so.0"),
        "libxkbcommon-x11-0",
        "libxkbcommon-x11",
        "libxkbcommon-x11",
    ),
    package(
        Purpose::Play,
        Probe::Library("libwayland-client.so.0"),
        "libwayland-client0",
        "libwayland-client",
        "wayland",
    ),
    package(
        Purpose::Verify,
        Probe::Lavapipe,
        MESA,
        "mesa-vulkan-drivers",
        "vulkan-swrast",
    ),
    package(
        Purpose::Verify,
        Probe::Program("Xvfb"),
        "xvfb",
        "xorg-x11-server-Xvfb",
        "xorg-server-xvfb",
    ),
    // Compiles OpenH264.
    package(
        Purpose::Verify,
        Probe::Program("c++"),
        "g++",
        "gcc-c++",
        "gcc",
    ),
    package(
        Purpose::Verify,
        Probe::Program("pkg-config"),
        "pkg-config",
        "pkgconf-pkg-config",
        "pkgconf",
    ),
    package(
        Purpose::Verify,
        Probe::Development("alsa"),
        "libasound2-dev",
        "alsa-lib-devel",
        "alsa-lib",
    ),
    package(
        Purpose::Verify,
        Probe::Development("libudev"),
        "libudev-dev",
        "systemd-devel",
        "systemd-libs",
    ),
];

/// Lists the packages that a purpose needs and the system lacks.
pub(crate) fn missing(purpose: Purpose) -> Vec<&'static Package> {
    let libraries = Libraries::read();
    PACKAGES
        .iter()
        .filter(|package| package.purpose <= purpose && !is_there(package.probe, &libraries))
        .collect()
}

/// Returns the distinct names in one column.
pub(crate) fn names(
    packages: &[&'static Package],
    column: fn(&Package) -> &'static str,
) -> Vec<&'static str> {
    let mut names: Vec<&str> = packages.iter().map(|package| column(package)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_there(probe: Probe, libraries: &Libraries) -> bool {
    match probe {
        Probe::Library(name) => libraries.has(name),
        Probe::Program(name) => has_program(name),
        Probe::Development(name) => Command::new("pkg-config")
            .args(["--exists", name])
            .status()
            .is_ok_and(|status| status.success()),
        Probe::Driver => driver_manifests()
            .iter()
            .any(|name| name.ends_with(".json")),
        Probe::Lavapipe => {
            driver_manifests()
                .iter()
                .any(|name| name.starts_with("lvp_icd"))
                && mesa_version().is_none_or(|mesa| mesa >= LAVAPIPE_MESA)
        }
    }
}

/// Whether a program is in the search path.
pub(crate) fn has_program(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Returns the file names of driver manifests.
fn driver_manifests() -> Vec<String> {
    [
        "/usr/share/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
        "/etc/vulkan/icd.d",
    ]
    .into_iter()
    .filter_map(|folder| Path::new(folder).read_dir().ok())
    .flatten()
    .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
    .collect()
}

/// Returns the major version of Debian's Mesa; `None` on other systems.
pub(crate) fn mesa_version() -> Option<u32> {
    let query = ["--show", "--showformat=${Version}", MESA];
    let output = Command::new("dpkg-query").args(query).output().ok()?;
    major(str::from_utf8(&output.stdout).ok()?)
}

fn major(version: &str) -> Option<u32> {
    let version = version
        .split_once(':')
        .map_or(version, |(_epoch, rest)| rest);
    version.split('.').next()?.parse().ok()
}

/// Libraries known to the dynamic linker.
struct Libraries(String);

impl Libraries {
    fn read() -> Self {
        // The folder of `ldconfig` may not be in the search path.
        let text = ["/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"]
            .into_iter()
            .find_map(|program| Command::new(program).arg("-p").output().ok())
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        Self(text.unwrap_or_default())
    }

    fn has(&self, name: &str) -> bool {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "x86-64",
            "aarch64" => "AArch64",
            _ => "",
        };
        self.0.lines().any(|line| {
            line.trim_start()
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(' ') && rest.contains(architecture))
        })
    }
}

#[cfg(test)]
mod tests;
