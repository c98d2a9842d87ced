//! Cache of pipeline layouts by contents. Pipelines with equal interfaces share a layout, so that bindings survive a
//! change of pipeline.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use ash::vk;

use crate::device::Device;
use crate::device::table_layout;
use crate::error::{Error, ShaderError};
use crate::lock;
use crate::shader::{Binding, EntryPoint, Members};

/// A layout: push descriptors in set 0, tables from set 1 on, and push constants.
pub(crate) struct PipelineLayout {
    /// The layout.
    pub raw: vk::PipelineLayout,
    /// Layout of set 0.
    set: vk::DescriptorSetLayout,
    /// Template that pushes all bindings of set 0 from an array indexed by binding number; null if
    /// there are no bindings.
    pub template: vk::DescriptorUpdateTemplate,
    /// Stages of the push constants.
    pub push_stages: vk::ShaderStageFlags,
    /// Sizes of the push constants.
    pub push_bytes: PushBytes,
}

/// Sizes of a pipeline's push constants in bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct PushBytes {
    /// Size of their blocks without trailing padding.
    pub least: u32,
    /// Size with trailing padding.
    pub most: u32,
}

impl PipelineLayout {
    /// Stride of the template's array in bytes.
    pub(crate) const INFO_BYTES: usize = size_of::<vk::DescriptorBufferInfo>();
}

/// Values that distinguish layouts.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    bindings: Vec<(u32, vk::DescriptorType)>,
    /// The members of the tables, from set 1 on.
    groups: Vec<Members>,
    push_bytes: PushBytes,
    stages: vk::ShaderStageFlags,
}

/// The layouts of a device. Kept for its lifetime, because there are few.
#[derive(Default)]
pub(crate) struct LayoutCache {
    known: Mutex<HashMap<Key, Arc<PipelineLayout>>>,
    /// The layouts of the sets of tables, in the order of [`Members::ALL`].
    tables: [OnceLock<vk::DescriptorSetLayout>; Members::ALL.len()],
    making: Mutex<()>,
}

impl LayoutCache {
    /// Returns the layout for an interface.
    pub(crate) fn get(
        &self,
        device: &Device,
        name: &str,
        bindings: &[Binding],
        groups: Vec<Members>,
        push_bytes: PushBytes,
        stages: vk::ShaderStageFlags,
    ) -> Result<Arc<PipelineLayout>, ShaderError> {
        let problem = |problem: String| ShaderError::Interface {
            label: name.to_owned(),
            problem,
        };
        let described = |binding: &Binding| (binding.binding, binding.kind.descriptor());
        let key = Key {
            bindings: bindings.iter().map(described).collect(),
            groups,
            push_bytes,
            stages,
        };
        let mut known = lock(&self.known);
        if let Some(layout) = known.get(&key) {
            return Ok(Arc::clone(layout));
        }
        let tables = key.groups.iter().map(|it| self.table(device, *it));
        let tables: Result<Vec<_>, _> = tables.collect();
        let layout = tables.and_then(|tables| create(device, &key, &tables));
        let layout = layout.map_err(|result| {
            problem(Error::vulkan(device, name, "vkCreatePipelineLayout")(result).to_string())
        })?;
        let layout = Arc::new(layout);
        known.insert(key, Arc::clone(&layout));
        Ok(layout)
    }

    /// Returns the layout of a table's set, created at its first use.
    pub(crate) fn table(
        &self,
        device: &Device,
        members: Members,
    ) -> Result<vk::DescriptorSetLayout, vk::Result> {
        // Locked, so that two threads do not create it twice.
        let _known = lock(&self.making);
        let table = &self.tables[members as usize];
        if let Some(layout) = table.get() {
            return Ok(*layout);
        }
        let layout = table_layout::layout(device, members)?;
        Ok(*table.get_or_init(|| layout))
    }

    /// Destroys all layouts. No pipeline may use them any more.
    pub(crate) fn destroy(&self, device: &ash::Device) {
        for table in self.tables.iter().filter_map(OnceLock::get) {
            // SAFETY: created from this device, and unused: the device is being destroyed.
            unsafe { device.destroy_descriptor_set_layout(*table, None) };
        }
        for (_, layout) in lock(&self.known).drain() {
            // SAFETY: created from this device, and unused: the device is being destroyed.
            unsafe { device.destroy_descriptor_update_template(layout.template, None) };
            // SAFETY: as above.
            unsafe { device.destroy_pipeline_layout(layout.raw, None) };
            // SAFETY: as above.
            unsafe { device.destroy_descriptor_set_layout(layout.set, None) };
        }
    }
}

fn create(
    device: &Device,
    key: &Key,
    tables: &[vk::DescriptorSetLayout],
) -> Result<PipelineLayout, vk::Result> {
    let bindings: Vec<_> = key
        .bindings
        .iter()
        .map(|&(binding, kind)| {
            // Only fragment shaders can read input attachments.
            let stages = match kind {
                vk::DescriptorType::INPUT_ATTACHMENT => vk::ShaderStageFlags::FRAGMENT,
                _ => key.stages,
            };
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(stages)
        })
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
        .bindings(&bindings);
    // SAFETY: binding numbers are distinct and below the limit of push descriptors.
    let set = unsafe { device.raw.create_descriptor_set_layout(&info, None) };
    let set = device.note("vkCreateDescriptorSetLayout", set)?;
    let sets: Vec<_> = std::iter::once(set).chain(tables.iter().copied()).collect();
    let ranges = [vk::PushConstantRange::default()
        .stage_flags(key.stages)
        .size(key.push_bytes.least)];
    let ranges = if key.push_bytes.least == 0 {
        &[][..]
    } else {
        &ranges[..]
    };
    let info = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(&sets)
        .push_constant_ranges(ranges);
    // SAFETY: the set's layout was just created; the range is within the limit of every device.
    let raw = unsafe { device.raw.create_pipeline_layout(&info, None) }.inspect_err(|_| {
        // SAFETY: created above, and unused.
        unsafe { device.raw.destroy_descriptor_set_layout(set, None) };
    })?;
    let template = create_template(device, key, raw).inspect_err(|_| {
        // SAFETY: created above, and unused.
        unsafe { device.raw.destroy_pipeline_layout(raw, None) };
        // SAFETY: as above.
        unsafe { device.raw.destroy_descriptor_set_layout(set, None) };
    })?;
    Ok(PipelineLayout {
        raw,
        set,
        template,
        push_stages: key.stages,
        push_bytes: key.push_bytes,
    })
}

fn create_template(
    device: &Device,
    key: &Key,
    layout: vk::PipelineLayout,
) -> Result<vk::DescriptorUpdateTemplate, vk::Result> {
    if key.bindings.is_empty() {
        return Ok(vk::DescriptorUpdateTemplate::null());
    }
    let entry = |&(binding, kind): &(u32, vk::DescriptorType)| {
        vk::DescriptorUpdateTemplateEntry::default()
            .dst_binding(binding)
            .descriptor_count(1)
            .descriptor_type(kind)
            .offset(binding as usize * PipelineLayout::INFO_BYTES)
            .stride(PipelineLayout::INFO_BYTES)
    };
    let entries: Vec<_> = key.bindings.iter().map(entry).collect();
    let point = if key.stages.contains(vk::ShaderStageFlags::COMPUTE) {
        vk::PipelineBindPoint::COMPUTE
    } else {
        vk::PipelineBindPoint::GRAPHICS
    };
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(point)
        .pipeline_layout(layout)
        .set(0);
    // SAFETY: set 0 of the layout is for push descriptors and has these bindings.
    let template = unsafe { device.raw.create_descriptor_update_template(&info, None) };
    device.note("vkCreateDescriptorUpdateTemplate", template)
}

/// Merges the bindings of several stages into one list, and returns the size of their push constants.
pub(crate) fn merge(
    pipeline: &str,
    entry_points: &[&EntryPoint],
) -> Result<(Vec<Binding>, PushBytes), ShaderError> {
    let mut merged: Vec<Binding> = Vec::new();
    let mut push_bytes = PushBytes::default();
    for entry in entry_points {
        push_bytes.least = entry.push_constant_bytes.max(push_bytes.least);
        push_bytes.most = entry.push_constant_padded.max(push_bytes.most);
        for binding in &entry.bindings {
            let known = merged
                .iter_mut()
                .find(|known| known.binding == binding.binding);
            match known {
                None => merged.push(binding.clone()),
                Some(known) if known.kind == binding.kind => {
                    known.reads |= binding.reads;
                    known.writes |= binding.writes;
                    known.stages |= binding.stages;
                    known.least_bytes = known.least_bytes.max(binding.least_bytes);
                }
                Some(known) => {
                    let problem = format!(
                        "@binding({}) is {} ({}) and also {} ({})",
                        binding.binding,
                        known.kind.word(),
                        known.name,
                        binding.kind.word(),
                        binding.name,
                    );
                    let label = pipeline.to_owned();
                    return Err(ShaderError::Interface { label, problem });
                }
            }
        }
    }
    merged.sort_by_key(|binding| binding.binding);
    Ok((merged, push_bytes))
}
