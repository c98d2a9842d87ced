//! Resources that materials bind by themselves: buffers, and textures that are no `texture_2d<f32>`.

use bevy_ecs::prelude::*;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::prelude::{GpuDevice, Uploads};
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{
    BoundLists, BoundSources, FallbackImages, ShaderBuffers, SharedResources, Unbound, add_written,
    resolve,
};
use quadrille_content::warnings::RateLimitedWarnings;

use crate::pipelines::Pipelines2d;
use crate::scene::materials::{
    BoundState, MaterialFallbacks2d, MaterialKind, Materials2d, Renderer2d,
};

/// Looks up the resources of all materials, after changes of materials, shaders, images or buffers.
pub(crate) fn bind_materials(
    mut materials: ResMut<Materials2d>,
    (images, buffers): (Res<DeviceImages>, Res<ShaderBuffers>),
    mut fallbacks: ResMut<MaterialFallbacks2d>,
    mut pipelines: ResMut<Pipelines2d>,
    mut lists: BoundLists<Renderer2d>,
    warnings: Res<RateLimitedWarnings>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    let version = (images.changes(), buffers.changes());
    let before = std::mem::replace(&mut materials.bound_version, version);
    let is_dirty = std::mem::take(&mut materials.are_bound_dirty);
    if !is_dirty && before == version {
        return Ok(());
    }
    add_fallbacks(&materials, &mut fallbacks.images, (&gpu, &mut uploads))?;
    let sources = BoundSources {
        images: &images,
        buffers: &buffers,
        fallbacks: &fallbacks.images,
        comparison_sampler: &fallbacks.comparison_sampler,
        sampler: &fallbacks.sampler,
    };
    let (states, wrong) = bind_groups(&materials, &sources, &mut lists);
    for (slot, state) in materials.groups.iter_mut().zip(states) {
        slot.bound = state;
    }
    for (of_type, why) in wrong {
        let known = &materials.types[of_type as usize];
        let (content, name) = (content(known.kind), known.name);
        warnings.warn_message(|| {
            format!("{content} with a material `{name}` are drawn in magenta: {why}")
        });
        pipelines.materials.add_wrong(&gpu, of_type, known.kind)?;
    }
    Ok(())
}

/// Content with materials of a kind.
pub(crate) fn content(kind: MaterialKind) -> &'static str {
    match kind {
        MaterialKind::Mesh => "2D meshes",
        MaterialKind::Sprite => "sprites",
        MaterialKind::Node => "nodes",
    }
}

/// Creates the images in place of those that materials may lack.
fn add_fallbacks(
    materials: &Materials2d,
    fallbacks: &mut FallbackImages,
    (gpu, uploads): (&GpuDevice, &mut Uploads),
) -> Result {
    for (of_type, rows) in materials.types.iter().zip(&materials.rows) {
        let layout = rows.layout();
        let mut variants = of_type.variants.iter();
        if variants.any(|it| it.shader.bound_shaders().is_some()) {
            for binding in &layout.bindings {
                fallbacks.add(binding.kind, (gpu, uploads))?;
            }
        }
    }
    Ok(())
}

/// Returns the state of each bind group, and the types with reasons why resources do not fit.
fn bind_groups(
    materials: &Materials2d,
    sources: &BoundSources<'_>,
    lists: &mut BoundLists<'_, Renderer2d>,
) -> (Vec<BoundState>, Vec<(u32, String)>) {
    let groups = materials.groups.iter().map(|slot| {
        let group = slot.group.as_ref()?;
        Some((group, materials.bound_shaders(group)?))
    });
    let groups: Vec<_> = groups.collect();
    let (mut written, mut storage_textures) = (HashSet::default(), HashSet::default());
    for (group, shaders) in groups.iter().flatten() {
        let to = (&mut written, &mut storage_textures);
        add_written(&group.resources, shaders.bindings, sources, to);
    }
    // Each view declares its own images: another one may sample what this one writes.
    let shared = SharedResources {
        written: &written,
        is_sampled: &|_| false,
    };
    lists.clear();
    let (mut known, mut wrong) = (HashMap::default(), Vec::new());
    let states = (0..).zip(&groups).map(|(index, found)| {
        let Some((group, shaders)) = found else {
            return BoundState::Found;
        };
        let layout = materials.rows[group.of_type as usize].layout();
        match resolve((layout, &group.resources), shaders, (sources, &shared)) {
            Ok(resolved) => {
                lists.add((0, index), resolved, &mut known, false);
                BoundState::Found
            }
            Err(Unbound::Waiting) => BoundState::Waiting,
            Err(Unbound::Wrong(why)) => {
                wrong.push((group.of_type, why));
                BoundState::Wrong
            }
        }
    });
    (states.collect(), wrong)
}
