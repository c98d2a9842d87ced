//! The descriptor sets of tables.

use std::sync::Arc;

use ash::vk;

use super::{Contents, ImageTableDesc, TableInner, check};
use crate::device::Device;
use crate::error::Error;
use crate::resources::image::GpuImage;
use crate::shader::TableBinding;

/// A pool with so many sets of a table.
pub(super) fn create(
    device: &Arc<Device>,
    desc: &ImageTableDesc,
    count: usize,
) -> Result<(vk::DescriptorPool, Vec<vk::DescriptorSet>), Error> {
    let wrong = |call| Error::vulkan(device, &desc.name, call);
    let layout = device.layouts.table(device);
    let layout = layout.map_err(wrong("vkCreateDescriptorSetLayout"))?;
    let sets = count as u32;
    let size = |ty, each: u32| {
        vk::DescriptorPoolSize::default()
            .ty(ty)
            .descriptor_count(each * sets)
    };
    let sizes = [
        size(vk::DescriptorType::SAMPLER, TableBinding::MOST_SAMPLERS),
        size(vk::DescriptorType::SAMPLED_IMAGE, desc.capacity),
    ];
    let info = vk::DescriptorPoolCreateInfo::default()
        .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND)
        .max_sets(sets)
        .pool_sizes(&sizes);
    // SAFETY: the sizes are not 0, since the capacity is not.
    let pool = unsafe { device.raw.create_descriptor_pool(&info, None) };
    let pool = pool.map_err(wrong("vkCreateDescriptorPool"))?;
    let counts = vec![desc.capacity; count];
    let layouts = vec![layout; count];
    let mut variable =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts)
        .push_next(&mut variable);
    // SAFETY: the pool was just made, with room for these sets; the layout takes updates after
    // binding as the pool does, and the counts are at most that of its last binding.
    let sets = unsafe { device.raw.allocate_descriptor_sets(&info) };
    let sets = sets.map_err(|result| {
        // SAFETY: made above, used by nothing.
        unsafe { device.raw.destroy_descriptor_pool(pool, None) };
        wrong("vkAllocateDescriptorSets")(result)
    })?;
    device.names.name(pool, &desc.name);
    for set in &sets {
        device.names.name(*set, &desc.name);
    }
    Ok((pool, sets))
}

/// Has all entries of new sets show one view, and describes the samplers.
pub(super) fn fill(
    device: &Device,
    desc: &ImageTableDesc,
    sets: &[vk::DescriptorSet],
    view: vk::ImageView,
) {
    let images = vec![described(view); desc.capacity as usize];
    let sampler = |at: u32| {
        let own = desc.samplers.get(at as usize).or(desc.samplers.last());
        own.map(|sampler| vk::DescriptorImageInfo::default().sampler(sampler.raw()))
    };
    // Those behind the last show the last: an index that is too large finds a sampler.
    let samplers: Vec<_> = (0..TableBinding::MOST_SAMPLERS)
        .filter_map(sampler)
        .collect();
    for set in sets {
        let images = vk::WriteDescriptorSet::default()
            .dst_set(*set)
            .dst_binding(TableBinding::IMAGES)
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
            .image_info(&images);
        let samplers = vk::WriteDescriptorSet::default()
            .dst_set(*set)
            .dst_binding(TableBinding::SAMPLERS)
            .descriptor_type(vk::DescriptorType::SAMPLER)
            .image_info(&samplers);
        let writes = [images, samplers];
        let count = if desc.samplers.is_empty() { 1 } else { 2 };
        // SAFETY: the sets are new, the view and the samplers are of this device, and the counts are
        // those that the sets were made with.
        unsafe { device.raw.update_descriptor_sets(&writes[..count], &[]) };
    }
}

fn described(view: vk::ImageView) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo::default()
        .image_view(view)
        .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
}

/// Describes the stale entries of a set anew.
pub(super) fn update(
    table: &TableInner,
    contents: &mut Contents,
    slot: usize,
) -> Result<(), Error> {
    let kind = table.desc.image.view;
    let Contents {
        entries,
        members,
        stale,
        shown,
        ..
    } = contents;
    let (stale, shown) = (&mut stale[slot], &mut shown[slot]);
    if shown.len() < entries.len() {
        shown.resize(entries.len(), None);
    }
    let mut infos = Vec::with_capacity(stale.len());
    for index in &*stale {
        let entry = &entries[*index as usize];
        let is_shown = |image: &&GpuImage| members.is_shown(image.id());
        let image = entry.image.as_ref().filter(is_shown);
        let seen = image.unwrap_or(&table.fallback);
        let view = seen.view(check::key(seen, kind))?;
        infos.push(described(view.unwrap_or_default()));
    }
    let write = |(index, info): (&u32, &vk::DescriptorImageInfo)| vk::WriteDescriptorSet {
        p_image_info: info,
        descriptor_count: 1,
        ..vk::WriteDescriptorSet::default()
            .dst_set(table.sets[slot])
            .dst_binding(TableBinding::IMAGES)
            .dst_array_element(*index)
            .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
    };
    let writes: Vec<_> = stale.iter().zip(&infos).map(write).collect();
    // SAFETY: indices are below the capacity; the views are those of images that the set keeps alive
    // from now on; no frame on its way uses the set.
    unsafe { table.device.raw.update_descriptor_sets(&writes, &[]) };
    for index in stale.drain(..) {
        let entry = &mut entries[index as usize];
        entry.stale &= !(1 << slot);
        shown[index as usize] = entry.image.clone();
    }
    Ok(())
}
