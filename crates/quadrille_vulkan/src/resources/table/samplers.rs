//! Samplers of tables of images.

use ash::vk;

use super::{ImageTable, SharedTable, TableError, TableInner};
use crate::lock;
use crate::resources::sampler::Sampler;
use crate::shader::{SHIFT, TableBinding};

/// Samplers of a table, which only grow.
pub(super) struct Samplers {
    all: Vec<Sampler>,
    /// Number of samplers that the set of each frame in flight has.
    written: Vec<usize>,
}

impl Samplers {
    /// The samplers of a new table with sets for so many frames in flight.
    pub(super) fn new(all: Vec<Sampler>, frames: usize) -> Self {
        Self {
            all,
            written: vec![0; frames],
        }
    }

    /// Writes the samplers to the set of a frame in flight, if it lacks any. No submitted frame may still use the set.
    pub(super) fn write(&mut self, table: &TableInner, slot: usize) {
        let count = self.all.len();
        let Some(last) = self.all.last().filter(|_| self.written[slot] < count) else {
            return;
        };
        // Entries after the last sampler repeat it, so that an index out of bounds finds a sampler.
        let all = self.all.iter().chain(std::iter::repeat(last));
        let samplers: Vec<_> = all
            .take(TableBinding::MAX_SAMPLERS as usize)
            .map(|sampler| vk::DescriptorImageInfo::default().sampler(sampler.raw()))
            .collect();
        let write = vk::WriteDescriptorSet::default()
            .dst_set(table.sets[slot])
            .dst_binding(TableBinding::SAMPLERS + SHIFT)
            .descriptor_type(vk::DescriptorType::SAMPLER)
            .image_info(&samplers);
        // SAFETY: the samplers are of this device and live as long as the table; the count is that of the binding; no
        // frame on its way uses the set.
        unsafe { table.device.raw.update_descriptor_sets(&[write], &[]) };
        self.written[slot] = count;
    }
}

impl ImageTable {
    /// Adds a sampler behind the others, and returns its index in the shader's array. Shaders read it from the next
    /// recorded frame on; the table keeps it.
    ///
    /// # Errors
    /// The table has 64 samplers, or the sampler was made from another device.
    pub fn insert_sampler(&mut self, sampler: &Sampler) -> Result<u32, TableError> {
        let table = &*self.shared.0;
        let mut contents = lock(&table.contents);
        let count = contents.samplers.all.len() as u32;
        let problem = if !std::ptr::eq(sampler.device(), &*table.device) {
            "it was made from another device".to_owned()
        } else if count == TableBinding::MAX_SAMPLERS {
            format!("it has {count} samplers, the most of a table")
        } else {
            contents.samplers.all.push(sampler.clone());
            return Ok(count);
        };
        Err(TableError::Member {
            table: table.name.clone(),
            kind: table.kind.elements(),
            member: sampler.desc().name.clone(),
            problem,
        })
    }
}

impl SharedTable {
    /// The number of samplers.
    pub(crate) fn samplers(&self) -> u32 {
        lock(&self.0.contents).samplers.all.len() as u32
    }
}
