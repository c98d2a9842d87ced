//! Allowed dependencies of each crate: crates are divided by what they must know.

use super::complaint::Complaint;
use super::tree::Tree;
use crate::host::cargo::{Package, Workspace};

/// Our crates with their allowed dependencies among our crates. A crate that is not listed (content, on top of the
/// facade) may use only the facade.
const OURS: [(&str, &[&str]); 13] = [
    ("quadrille_sync", &[]),
    ("quadrille_derive", &[]),
    ("quadrille_oracle", &["quadrille_sync"]),
    ("quadrille_vulkan", &["quadrille_sync"]),
    (
        "quadrille_ecs",
        &["quadrille_sync", "quadrille_vulkan", "quadrille_derive"],
    ),
    (
        "quadrille",
        &["quadrille_sync", "quadrille_vulkan", "quadrille_ecs"],
    ),
    ("quadrille_2d", &["quadrille", "quadrille_content"]),
    ("quadrille_3d", &["quadrille", "quadrille_content"]),
    (
        "quadrille_video",
        &["quadrille", "quadrille_content", "quadrille_2d"],
    ),
    ("quadrille_layer", &[]),
    ("quadrille_canary", &[]),
    ("xtask", &["quadrille_sync", "quadrille_oracle"]),
    (
        "examples",
        &[
            "quadrille",
            "quadrille_2d",
            "quadrille_3d",
            "quadrille_video",
            "quadrille_bench",
        ],
    ),
];

/// Foreign crates that only some of ours may use.
const RESERVED: [(&str, &[&str]); 4] = [
    (
        "ash",
        &["quadrille_vulkan", "quadrille_layer", "quadrille_canary"],
    ),
    ("ash-window", &["quadrille_vulkan"]),
    ("gpu-allocator", &["quadrille_vulkan"]),
    ("naga", &["quadrille_vulkan", "examples"]),
];

/// Pure crates, and the packages, by name or prefix, that they must not depend on.
const PURE: [&str; 2] = ["quadrille_sync", "quadrille_oracle"];
const OUTSIDE: [&str; 4] = ["bevy", "ash", "tracing", "log"];

/// Other renderers. Bevy's window crates depend on `wgpu-types`, which only has types.
const FORBIDDEN: [&str; 7] = [
    "bevy",
    "bevy_render",
    "bevy_core_pipeline",
    "bevy_pbr",
    "wgpu",
    "wgpu-core",
    "wgpu-hal",
];

/// Finds dependencies that are not allowed, and forbidden crates anywhere in the tree.
pub(super) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Complaint> {
    let own: Vec<&str> = workspace
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut complaints: Vec<Complaint> = workspace
        .packages
        .iter()
        .flat_map(|package| check_package(package, &own))
        .collect();
    let lock = tree.get("Cargo.lock").unwrap_or_default();
    for (line, text) in (1..).zip(lock.lines()) {
        let name = text
            .strip_prefix("name = \"")
            .and_then(|rest| rest.strip_suffix('"'));
        if let Some(name) = name.filter(|name| FORBIDDEN.contains(name)) {
            complaints.push(Complaint::new(
                "Cargo.lock",
                line,
                format!("`{name}` must not be depended on"),
            ));
        }
    }
    complaints
}

fn check_package(package: &Package, own: &[&str]) -> Vec<Complaint> {
    let known = OURS.iter().find(|(name, _)| *name == package.name);
    let allowed = known.map_or(&["quadrille"][..], |(_, allowed)| *allowed);
    let mut complaints = Vec::new();
    let mut complain = |what: String| {
        let folder = if package.name == "examples" {
            ""
        } else {
            "crates/"
        };
        complaints.push(Complaint::new(
            format!("{folder}{}/Cargo.toml", package.name),
            0,
            what,
        ));
    };
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let is_own = own.contains(&name);
        // Tests may depend on higher crates: the oracle checks those of the solver.
        if is_own && !dependency.is_dev && name != package.name && !allowed.contains(&name) {
            complain(format!(
                "must not depend on `{name}`; of ours it may know {allowed:?}"
            ));
        }
        let reserved = RESERVED.iter().find(|(reserved, _)| *reserved == name);
        if let Some((_, users)) =
            reserved.filter(|(_, users)| !users.contains(&package.name.as_str()))
        {
            complain(format!(
                "must not depend on `{name}`, which is for {}",
                users.join(", ")
            ));
        }
        let is_outside = OUTSIDE
            .iter()
            .any(|outside| name == *outside || name.starts_with(&format!("{outside}_")));
        if PURE.contains(&package.name.as_str()) && is_outside && !dependency.is_dev {
            complain(format!("is pure and must not depend on `{name}`"));
        }
    }
    complaints
}
