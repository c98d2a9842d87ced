//! Validation of the node hierarchy: depth, cycles and size of its entities.
//!
//! bevy_gltf spawns nodes recursively, once per path from a scene. So a graph of 30 nodes, each with the next as its
//! child twice, would become 2^30 entities. Each node stores its path of names, and extras are copied to each
//! entity.

use bevy_gltf::gltf::json::{Node, Root};

/// Estimated bytes per entity of a node or primitive, with components and assets.
const ENTITY_BYTES: u64 = 1024;
/// Estimated bytes per name in a path, without its text.
const NAME_BYTES: u64 = 64;

/// Rejects nodes that are nested too deep or in a cycle. Returns the size of all entities and assets of nodes, meshes
/// and materials in bytes.
pub(super) fn check(root: &Root, max_depth: u32) -> Result<u64, String> {
    let tree = Tree::walk(root)?;
    if let Some(at) = tree.depths.iter().position(|&depth| depth > max_depth) {
        return Err(format!(
            "{} is nested more than {max_depth} deep, the limit that `GltfLimits::node_depth` sets",
            name(root, at)
        ));
    }
    let assets = root.nodes.len() + root.materials.len() + root.textures.len();
    let mut sum = ENTITY_BYTES.saturating_mul(2 * assets as u64);
    for (at, node) in root.nodes.iter().enumerate() {
        let entities = tree.spawned[at].saturating_mul(spawned_bytes(root, node));
        sum = sum.saturating_add(entities).saturating_add(tree.paths[at]);
    }
    Ok(sum)
}

/// Per-node state, by index.
struct Tree {
    /// Nesting depth, from 1.
    depths: Vec<u32>,
    /// Number of spawned entities over all scenes.
    spawned: Vec<u64>,
    /// Bytes of the names in its paths.
    paths: Vec<u64>,
}

impl Tree {
    /// Traverses the nodes in topological order (Kahn 1962).
    fn walk(root: &Root) -> Result<Self, String> {
        let count = root.nodes.len();
        let mut tree = Self {
            depths: vec![1; count],
            spawned: vec![0; count],
            paths: vec![0; count],
        };
        for node in root.scenes.iter().flat_map(|scene| &scene.nodes) {
            if let Some(spawned) = tree.spawned.get_mut(node.value()) {
                *spawned += 1;
            }
        }
        let mut parents = vec![0_usize; count];
        for child in root.nodes.iter().flat_map(children) {
            if let Some(parents) = parents.get_mut(child) {
                *parents += 1;
            }
        }
        let mut ready: Vec<usize> = (0..count).filter(|&at| parents[at] == 0).collect();
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            let node = &root.nodes[at];
            tree.paths[at] += NAME_BYTES + length(node.name.as_deref());
            for child in children(node).filter(|&child| child < count) {
                tree.depths[child] = tree.depths[child].max(tree.depths[at] + 1);
                tree.spawned[child] = tree.spawned[child].saturating_add(tree.spawned[at]);
                tree.paths[child] = tree.paths[child].max(tree.paths[at]);
                parents[child] -= 1;
                if parents[child] == 0 {
                    ready.push(child);
                }
            }
        }
        match parents.iter().position(|&left| left > 0) {
            Some(at) if done < count => Err(format!("{} is its own descendant", name(root, at))),
            _ => Ok(tree),
        }
    }
}

fn children(node: &Node) -> impl Iterator<Item = usize> {
    let children = node.children.iter().flatten();
    children.map(|child| child.value())
}

/// Bytes of the entities of one spawned copy of a node.
fn spawned_bytes(root: &Root, node: &Node) -> u64 {
    let text = |text: Option<&str>| length(text);
    let own = ENTITY_BYTES + text(node.name.as_deref()) + text(extras(&node.extras));
    let Some(mesh) = node.mesh.and_then(|it| root.meshes.get(it.value())) else {
        return own;
    };
    let skin = node.skin.and_then(|it| root.skins.get(it.value()));
    let joints = skin.map_or(0, |skin| 8 * skin.joints.len() as u64);
    let shared = ENTITY_BYTES
        + joints
        + 2 * text(mesh.name.as_deref())
        + text(extras(&mesh.extras))
        + mesh.weights.as_ref().map_or(0, |it| 4 * it.len() as u64);
    let primitives = mesh.primitives.iter().map(|primitive| {
        let material = primitive
            .material
            .and_then(|it| root.materials.get(it.value()));
        let material = material.map_or(0, |it| {
            2 * text(it.name.as_deref()) + text(extras(&it.extras))
        });
        shared + material + text(extras(&primitive.extras))
    });
    primitives.fold(own, u64::saturating_add)
}

fn extras(of: &bevy_gltf::gltf::json::Extras) -> Option<&str> {
    of.as_ref().map(|it| it.get())
}

fn length(text: Option<&str>) -> u64 {
    text.map_or(0, |it| it.len() as u64)
}

/// Describes a node.
fn name(root: &Root, at: usize) -> String {
    match &root.nodes[at].name {
        Some(name) => format!("node {at}, `{name:.80}`,"),
        None => format!("node {at}"),
    }
}

#[cfg(test)]
mod tests;
