//! Memory of the lists of fragments.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice};
use quadrille::vulkan::Error;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::constants::{OIT_FIRST_HEAD, OIT_NODE_WORDS};
use crate::scene::frame::{FragmentCapacities, Scene3d};

/// Fragments of transparent meshes, for the views with
/// [`OrderIndependentTransparencySettings`](crate::OrderIndependentTransparencySettings) one after the other: a header, the
/// first fragment of each pixel, and the fragments.
#[derive(Resource, Deref)]
pub struct FragmentLists3d(GpuBuffer);

/// Bytes without views that use the lists.
const MIN_BYTES: u64 = 1 << 12;

fn create(gpu: &GpuDevice, bytes: u64) -> Result<GpuBuffer, Error> {
    gpu.create_buffer(&BufferDesc::storage("3d fragment lists", bytes))
}

pub(super) fn init_lists(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    commands.insert_resource(FragmentLists3d(create(&gpu, MIN_BYTES)?));
    Ok(())
}

/// Offset of the fragments in words.
pub(super) fn first_node(width: u32, height: u32) -> u32 {
    OIT_FIRST_HEAD + width * height
}

/// Number of fragments of a view for which `wanted` are asked for, and bytes of its lists, at most `limit`.
fn size([width, height]: [u32; 2], wanted: u64, limit: u64) -> (u32, u64) {
    let first = 4 * u64::from(first_node(width, height));
    let node_bytes = 4 * u64::from(OIT_NODE_WORDS);
    let most = limit.saturating_sub(first) / node_bytes;
    let capacity = wanted.min(most);
    (capacity as u32, first + capacity * node_bytes)
}

/// Creates the lists for the largest view of this frame, and sets the number of fragments of each.
pub(super) fn prepare_lists(
    scene: Res<Scene3d>,
    (mut lists, mut capacities): (ResMut<FragmentLists3d>, ResMut<FragmentCapacities>),
    (gpu, warnings): (Res<GpuDevice>, Res<RateLimitedWarnings>),
) {
    let limit = u64::from(gpu.limits().max_storage_buffer_range);
    let mut needed = MIN_BYTES;
    capacities.0.clear();
    for view in &scene.views {
        let Some(settings) = view.queued.oit.filter(|_| view.samples == 1) else {
            continue;
        };
        let [width, height] = view.size();
        let wanted = settings.capacity(u64::from(width) * u64::from(height));
        let (capacity, bytes) = size([width, height], wanted, limit);
        if !view.queued.order_independent.is_empty() {
            capacities.0.insert(view.row(), capacity);
        }
        needed = needed.max(bytes);
    }
    let has = lists.bytes();
    if (needed..=2 * needed.max(MIN_BYTES)).contains(&has) {
        return;
    }
    match create(&gpu, needed) {
        Ok(buffer) => lists.0 = buffer,
        Err(error) => {
            for view in scene
                .views
                .iter()
                .filter(|view| capacities.of(view).is_some())
            {
                warnings.warn_message(|| {
                    let camera = entity_name(view.camera());
                    format!("transparent meshes under the camera {camera} are sorted as a whole: {error}")
                });
            }
            capacities.0.clear();
        }
    }
}

#[cfg(test)]
mod tests;
