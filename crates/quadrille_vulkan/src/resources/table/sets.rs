//! Descriptor sets of tables.

use std::sync::Arc;

use ash::vk;

use super::member::TablePlan;
use super::{Contents, TableInner, check};
use crate::device::Device;
use crate::device::table_layout::BOUNDS_BYTES;
use crate::error::Error;
use crate::resources::descriptor::Info;
use crate::resources::handle::Handle;
use crate::shader::{BOUNDS, SHIFT, TableBinding, TableKind};

/// Creates a pool with descriptor sets of a table, one for each frame in flight.
pub(super) fn create(
    device: &Arc<Device>,
    plan: &TablePlan,
    count: usize,
) -> Result<(vk::DescriptorPool, Vec<vk::DescriptorSet>), Error> {
    let wrong = |call| Error::vulkan(device, &plan.name, call);
    let layout = device.layouts.table(device, plan.kind.members());
    let layout = layout.map_err(wrong("vkCreateDescriptorSetLayout"))?;
    let sets = count as u32;
    let size = |ty, each: u32| {
        vk::DescriptorPoolSize::default()
            .ty(ty)
            .descriptor_count(each * sets)
    };
    let sizes = [
        size(plan.kind.members().descriptor(), plan.capacity),
        size(vk::DescriptorType::INLINE_UNIFORM_BLOCK, BOUNDS_BYTES),
        size(vk::DescriptorType::SAMPLER, TableBinding::MAX_SAMPLERS),
    ];
    let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
        .max_inline_uniform_block_bindings(sets);
    let sizes = match plan.kind {
        TableKind::Buffers => &sizes[..2],
        TableKind::Images(_) | TableKind::Samplers(_) => &sizes[..],
    };
    let info = vk::DescriptorPoolCreateInfo::default()
        .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND)
        .max_sets(sets)
        .pool_sizes(sizes)
        .push_next(&mut blocks);
    // SAFETY: the sizes are not 0, since the capacity is not 0.
    let pool = unsafe { device.raw.create_descriptor_pool(&info, None) };
    let pool = pool.map_err(wrong("vkCreateDescriptorPool"))?;
    let counts = vec![plan.capacity; count];
    let layouts = vec![layout; count];
    let mut variable =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts)
        .push_next(&mut variable);
    // SAFETY: the pool was just created with capacity for these sets; layout and pool both allow updates after binding,
    // and the counts are at most that of the layout's last binding.
    let sets = unsafe { device.raw.allocate_descriptor_sets(&info) };
    let sets = sets.map_err(|result| {
        // SAFETY: created above, and unused.
        unsafe { device.raw.destroy_descriptor_pool(pool, None) };
        wrong("vkAllocateDescriptorSets")(result)
    })?;
    device.names.name(pool, &plan.name);
    for set in &sets {
        device.names.name(*set, &plan.name);
    }
    Ok((pool, sets))
}

/// Writes the fallback to all entries of new sets.
pub(super) fn fill(table: &TableInner) -> Result<(), Error> {
    let fallback = describe(table.kind, &table.fallback)?;
    let members = vec![fallback; table.capacity as usize];
    let last = (table.capacity - 1).to_le_bytes();
    for set in &table.sets {
        let mut block = vk::WriteDescriptorSetInlineUniformBlock::default().data(&last);
        let bounds = vk::WriteDescriptorSet {
            // For an inline uniform block the count is its size in bytes.
            descriptor_count: BOUNDS_BYTES,
            ..vk::WriteDescriptorSet::default()
                .dst_set(*set)
                .dst_binding(BOUNDS)
                .descriptor_type(vk::DescriptorType::INLINE_UNIFORM_BLOCK)
                .push_next(&mut block)
        };
        let members = write(table.kind, &members).dst_set(*set);
        let writes = [bounds, members];
        // SAFETY: the sets are new, the member is of this device, and the counts are those that the sets were made with.
        unsafe { table.device.raw.update_descriptor_sets(&writes, &[]) };
    }
    Ok(())
}

/// Returns the descriptor of a member for a table of this kind.
pub(super) fn describe(kind: TableKind, member: &Handle) -> Result<Info, Error> {
    Ok(match (member, kind) {
        (Handle::Image(image), TableKind::Images(seen)) => Info {
            image: vk::DescriptorImageInfo::default()
                .image_view(
                    image
                        .view(check::key(image, seen.view))?
                        .unwrap_or_default(),
                )
                .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL),
        },
        (Handle::Buffer(buffer), TableKind::Buffers) => Info {
            buffer: vk::DescriptorBufferInfo::default()
                .buffer(buffer.raw())
                .range(vk::WHOLE_SIZE),
        },
        _ => unreachable!("a table takes members of its own kind"),
    })
}

/// Returns a write of consecutive members from the first entry on.
fn write(kind: TableKind, members: &[Info]) -> vk::WriteDescriptorSet<'_> {
    let write = vk::WriteDescriptorSet {
        descriptor_count: members.len() as u32,
        ..vk::WriteDescriptorSet::default()
            .dst_binding(kind.members().binding() + SHIFT)
            .descriptor_type(kind.members().descriptor())
    };
    // `Info` is a union of both, with the size of each.
    match kind {
        TableKind::Buffers => vk::WriteDescriptorSet {
            p_buffer_info: members.as_ptr().cast(),
            ..write
        },
        TableKind::Images(_) | TableKind::Samplers(_) => vk::WriteDescriptorSet {
            p_image_info: members.as_ptr().cast(),
            ..write
        },
    }
}

/// Updates the stale entries of a set.
pub(super) fn update(
    table: &TableInner,
    contents: &mut Contents,
    slot: usize,
) -> Result<(), Error> {
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
        let is_shown = |member: &&Handle| members.is_shown(member.id());
        let member = entry.member.as_ref().filter(is_shown);
        infos.push(describe(table.kind, member.unwrap_or(&table.fallback))?);
    }
    let mut writes = Vec::with_capacity(stale.len());
    for (index, info) in stale.iter().zip(&infos) {
        let write = write(table.kind, std::slice::from_ref(info));
        let write = write.dst_set(table.sets[slot]).dst_array_element(*index);
        writes.push(write);
    }
    // SAFETY: indices are below the capacity; the set keeps the described members alive from now on; no frame in flight
    // uses the set.
    unsafe { table.device.raw.update_descriptor_sets(&writes, &[]) };
    for index in stale.drain(..) {
        let entry = &mut entries[index as usize];
        entry.stale &= !(1 << slot);
        shown[index as usize] = entry.member.clone();
    }
    Ok(())
}
