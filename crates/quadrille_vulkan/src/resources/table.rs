//! Tables of images and of storage buffers, which shaders access by index ("bindless").
//!
//! A table has a descriptor set for each frame in flight. A set is updated when a frame that reads the table is
//! recorded, while no frame in flight uses the set. So members may be inserted and removed at any time, frames in
//! flight keep the members that they were recorded with, and an unchanged table costs nothing.
//!
//! An entry without a member, or with one that no pass has written yet, reads the table's fallback: a
//! magenta checker, or zeros. [`TableMembers`] tracks which members have contents, and which of them passes have to
//! declare.

mod check;
mod desc;
mod error;
mod member;
mod samplers;
mod sets;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::states::States;
use quadrille_sync::table::{NonTableUse, TableMembers, TableReaders};
use quadrille_sync::topology::Topology;

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::device::memory::Memory;
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::buffer::GpuBuffer;
use crate::resources::handle::Handle;
use crate::resources::image::GpuImage;
use crate::shader::TableKind;

use samplers::Samplers;

pub use desc::{BufferTableDesc, ImageTableDesc};
pub use error::TableError;
pub use member::TableMember;

/// Index of a member in a table, and in the shader's array.
///
/// ```
/// # use quadrille_vulkan::resources::TableIndex;
/// let index = TableIndex(7);
/// assert_eq!(index.0.to_le_bytes().len(), 4, "a `u32` in WGSL");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableIndex(pub u32);

/// A table of images, which shaders access by index (`binding_array` in WGSL). Created by
/// [`Gpu::image_table`](crate::device::Gpu::image_table).
///
/// In a shader each table has a group of its own, from 1 on. Its samplers, if any, are at binding
/// 0 (a `sampler`, or a `binding_array<sampler, N>` of at most 64), and its images are at binding 1.
/// An index may differ between invocations. An index beyond the table's capacity accesses the last
/// entry; with [`Settings::unchecked_tables`](crate::instance::Settings::unchecked_tables) it is undefined behavior.
///
/// ```wgsl
/// enable wgpu_binding_array; // naga's extension for arrays of images
/// @group(1) @binding(0) var smooth_sampler: sampler;
/// @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
/// ```
///
/// ```no_run
/// use quadrille_vulkan::Format;
/// use quadrille_vulkan::device::Gpu;
/// use quadrille_vulkan::instance::Settings;
/// use quadrille_vulkan::resources::{ImageDesc, ImageTableDesc, SamplerDesc};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let sampler = gpu.create_sampler(&SamplerDesc::linear())?;
/// let mut textures = gpu.image_table(&ImageTableDesc::d2("textures", 1024).with_sampler(&sampler))?;
/// let stone = gpu.create_image(&ImageDesc::sampled("stone", [64, 64], Format::R8G8B8A8_SRGB))?;
/// let index = textures.insert(&stone)?;
/// textures.remove(index)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ImageTable = ResourceTable<GpuImage>;

/// A table of read-only storage buffers, which shaders access by index. Created by
/// [`Gpu::buffer_table`](crate::device::Gpu::buffer_table).
///
/// In a shader each table has a group of its own, from 1 on, with its buffers at binding 0: in WGSL a
/// `binding_array` of a structure, in SPIR-V a runtime array of a block that is not written. An index may
/// differ between invocations. An index beyond the table's capacity accesses the last entry; with
/// [`Settings::unchecked_tables`](crate::instance::Settings::unchecked_tables) it is undefined behavior. Reads beyond the end of
/// a buffer return zeros, or other bytes of the buffer (`robustBufferAccess`, section "Robust Buffer Access"). An entry
/// without a buffer reads a fallback of 256 zero bytes. `arrayLength` needs an index that is uniform over all
/// invocations, since naga 30 does not decorate it as non-uniform there.
///
/// ```wgsl
/// enable wgpu_binding_array; // naga's extension for arrays of buffers
/// struct Row { values: array<f32> }
/// @group(1) @binding(0) var<storage, read> rows: binding_array<Row>;
/// ```
///
/// ```no_run
/// use quadrille_vulkan::device::Gpu;
/// use quadrille_vulkan::instance::Settings;
/// use quadrille_vulkan::resources::{BufferDesc, BufferTableDesc};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let mut rows = gpu.buffer_table(&BufferTableDesc::new("rows", 1024))?;
/// let first = gpu.create_buffer(&BufferDesc::storage("first row", 4096))?;
/// let index = rows.insert(&first)?;
/// rows.remove(index)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BufferTable = ResourceTable<GpuBuffer>;

/// An [`ImageTable`] or a [`BufferTable`].
pub struct ResourceTable<M: TableMember> {
    shared: SharedTable,
    desc: M::Desc,
}

/// Shared handle of a table, for the frame driver and command lists.
#[derive(Clone)]
pub struct SharedTable(Arc<TableInner>);

struct TableInner {
    name: String,
    capacity: u32,
    /// The element type of its shaders' array.
    kind: TableKind,
    pool: vk::DescriptorPool,
    /// One for each frame in flight.
    sets: Vec<vk::DescriptorSet>,
    fallback: Handle,
    fallback_contents: Vec<u8>,
    contents: Mutex<Contents>,
    device: Arc<Device>,
}

/// Mutable part of a table.
struct Contents {
    entries: Vec<Entry>,
    /// Indices of empty entries.
    free: Vec<u32>,
    placed: HashMap<ResourceId, MemberEntries>,
    members: TableMembers,
    /// Host-writable members that the host has not written yet.
    unwritten: BTreeMap<ResourceId, GpuBuffer>,
    /// Entries to update in the set of each frame in flight.
    stale: Vec<Vec<u32>>,
    /// Members in the set of each frame in flight, kept alive while the set references them.
    shown: Vec<Vec<Option<Handle>>>,
    samplers: Samplers,
}

#[derive(Clone, Default)]
struct Entry {
    member: Option<Handle>,
    /// Index in [`MemberEntries::at`] of its member, so that an entry changes in constant time however often the
    /// member is in the table.
    rank: u32,
    /// Bit mask of frames in flight (at most [`check::MAX_FRAMES`]) whose `stale` list has the entry.
    stale: u32,
}

/// The entries of a member.
struct MemberEntries {
    member: Handle,
    at: Vec<u32>,
}

impl<M: TableMember> ResourceTable<M> {
    pub(crate) fn new(gpu: &Gpu, desc: &M::Desc) -> Result<Self, Error> {
        let shared = SharedTable::new(&gpu.0, M::plan(gpu, desc)?)?;
        let desc = desc.clone();
        Ok(Self { shared, desc })
    }

    /// Inserts a member into an empty entry. Shaders read it from the next recorded frame on, if it has contents by
    /// then; else from the first frame in which passes or uploads write it (a whole image, or any part of a buffer).
    ///
    /// # Errors
    /// The table's shaders cannot read the member, or all entries are taken.
    pub fn insert(&mut self, member: &M) -> Result<TableIndex, TableError> {
        let table = &*self.shared.0;
        let member: Handle = member.clone().into();
        check::member(table, &member)?;
        let mut contents = lock(&table.contents);
        let index = match contents.free.pop() {
            Some(index) => index,
            None if contents.entries.len() < table.capacity as usize => {
                contents.entries.push(Entry::default());
                contents.entries.len() as u32 - 1
            }
            None => {
                return Err(TableError::Full {
                    table: table.name.clone(),
                    member: member.name().to_owned(),
                    capacity: table.capacity,
                });
            }
        };
        contents.put(index, Some(member));
        Ok(TableIndex(index))
    }

    /// Replaces a member. Frames in flight keep the old one.
    ///
    /// # Errors
    /// As for [`ResourceTable::insert`], and if there is no member at the index.
    pub fn replace(&mut self, index: TableIndex, member: &M) -> Result<(), TableError> {
        let table = &*self.shared.0;
        let member: Handle = member.clone().into();
        check::member(table, &member)?;
        let mut contents = lock(&table.contents);
        check::taken(table, &contents, index)?;
        contents.put(index.0, Some(member));
        Ok(())
    }

    /// Removes a member. Its entry reads the fallback from the next frame on, until another member is
    /// inserted there. Frames in flight keep the old one.
    ///
    /// # Errors
    /// There is no member at the index.
    pub fn remove(&mut self, index: TableIndex) -> Result<(), TableError> {
        let table = &*self.shared.0;
        let mut contents = lock(&table.contents);
        check::taken(table, &contents, index)?;
        contents.put(index.0, None);
        contents.free.push(index.0);
        Ok(())
    }

    /// The member at an index.
    pub fn get(&self, index: TableIndex) -> Option<M> {
        let contents = lock(&self.shared.0.contents);
        let member = &contents.entries.get(index.0 as usize)?.member;
        member.as_ref().and_then(M::of).cloned()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        let contents = lock(&self.shared.0.contents);
        contents.entries.len() - contents.free.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The description it was created from.
    pub fn desc(&self) -> &M::Desc {
        &self.desc
    }

    /// Shared handle of the table, for the frame driver. The caller of [`SharedTable::open`] must write the fallback's
    /// contents.
    pub fn shared(&self) -> &SharedTable {
        &self.shared
    }
}

impl Contents {
    fn put(&mut self, index: u32, member: Option<Handle>) {
        let entry = &mut self.entries[index as usize];
        let old = std::mem::replace(&mut entry.member, member.clone());
        if let Some(old) = old {
            let id = old.id();
            let rank = entry.rank as usize;
            if let Some(placed) = self.placed.get_mut(&id) {
                placed.at.swap_remove(rank);
                match placed.at.get(rank) {
                    Some(moved) => self.entries[*moved as usize].rank = rank as u32,
                    None if placed.at.is_empty() => {
                        self.placed.remove(&id);
                        self.unwritten.remove(&id);
                    }
                    None => {}
                }
            }
            self.members.remove_entry(id);
        }
        if let Some(member) = member {
            let id = member.id();
            let at = Vec::new();
            if let Handle::Buffer(buffer) = &member
                && buffer.desc().memory != Memory::Device
            {
                self.unwritten.insert(id, buffer.clone());
            }
            let placed = self
                .placed
                .entry(id)
                .or_insert(MemberEntries { member, at });
            self.entries[index as usize].rank = placed.at.len() as u32;
            placed.at.push(index);
            self.members.add_entry(id);
        }
        self.make_stale(index);
    }

    /// Imports members that the host has written since the last call: they have contents although no pass wrote them.
    /// Submission makes host writes visible (section "Host Write Ordering Guarantees").
    fn import_host_writes(&mut self, states: &mut States) {
        for (id, _) in self.unwritten.extract_if(.., |_, it| it.is_host_written()) {
            if !states.ever_written(id) {
                states.import(id, Layout::Undefined, None);
            }
            self.members.imported(id);
        }
    }

    /// Marks an entry for update in the set of each frame in flight.
    fn make_stale(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        for (slot, stale) in self.stale.iter_mut().enumerate() {
            if entry.stale & (1 << slot) == 0 {
                stale.push(index);
            }
        }
        entry.stale = u32::MAX;
    }
}

/// Interface of the frame driver: the methods correspond to those of [`TableMembers`].
impl SharedTable {
    fn new(device: &Arc<Device>, plan: member::TablePlan) -> Result<Self, Error> {
        check::check(device, &plan)?;
        let count = device.frames_in_flight as usize;
        let (pool, sets) = sets::create(device, &plan, count)?;
        let mut members = TableMembers::new(plan.access);
        members.add_entry(plan.fallback.id());
        let table = TableInner {
            name: plan.name,
            capacity: plan.capacity,
            kind: plan.kind,
            pool,
            sets,
            fallback: plan.fallback,
            fallback_contents: plan.fallback_contents,
            contents: Mutex::new(Contents {
                entries: Vec::new(),
                free: Vec::new(),
                placed: HashMap::new(),
                members,
                unwritten: BTreeMap::new(),
                stale: vec![Vec::new(); count],
                shown: vec![Vec::new(); count],
                samplers: Samplers::new(plan.samplers, count),
            }),
            device: Arc::clone(device),
        };
        sets::fill(&table)?;
        Ok(Self(Arc::new(table)))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the table was created from this device.
    pub fn is_of(&self, gpu: &Gpu) -> bool {
        self.is_made_from(&gpu.0)
    }

    pub(crate) fn is_made_from(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.0.device, device)
    }

    /// Returns the resource that empty entries read.
    pub fn fallback(&self) -> &Handle {
        &self.0.fallback
    }

    /// Returns the contents of the fallback: texels, or the bytes of a buffer.
    pub fn fallback_contents(&self) -> &[u8] {
        &self.0.fallback_contents
    }

    /// Access by which passes read members.
    pub fn access(&self) -> Access {
        lock(&self.0.contents).members.access()
    }

    /// See [`TableMembers::is_unchanged`].
    pub fn is_unchanged(&self) -> bool {
        let contents = lock(&self.0.contents);
        let mut unwritten = contents.unwritten.values();
        contents.members.is_unchanged() && !unwritten.any(|it| it.is_host_written())
    }

    /// See [`TableMembers::open`]. The frame reads the current members of the table.
    pub fn open(
        &self,
        uses: impl Iterator<Item = NonTableUse>,
        topology: &Topology,
        states: &mut States,
    ) {
        let contents = &mut *lock(&self.0.contents);
        contents.import_host_writes(states);
        contents.members.open(uses, topology, states);
        for at in 0..contents.members.renewed().len() {
            let resource = contents.members.renewed()[at];
            let places = contents.placed.get(&resource);
            for place in 0..places.map_or(0, |placed| placed.at.len()) {
                let index = contents.placed[&resource].at[place];
                contents.make_stale(index);
            }
        }
    }

    /// Calls `each` with the members that each pass which reads the table has to declare as a whole,
    /// with [`SharedTable::access`]. See [`TableMembers::listed`].
    pub fn for_each_listed(&self, mut each: impl FnMut(&Handle)) {
        let contents = lock(&self.0.contents);
        for resource in contents.members.listed() {
            match contents.placed.get(&resource) {
                Some(placed) => each(&placed.member),
                None => each(&self.0.fallback),
            }
        }
    }

    /// See [`TableMembers::covers`].
    pub fn covers(&self, readers: &TableReaders, topology: &Topology, states: &mut States) -> bool {
        let mut contents = lock(&self.0.contents);
        contents.members.covers(readers, topology, states)
    }

    /// See [`TableMembers::note_reads`].
    pub fn note_reads(&self, readers: &TableReaders, topology: &Topology, states: &States) {
        let mut contents = lock(&self.0.contents);
        contents.members.note_reads(readers, topology, states);
    }

    /// See [`TableMembers::settle`].
    pub fn settle(&self, topology: &Topology, states: &States) {
        lock(&self.0.contents).members.settle(topology, states);
    }

    /// See [`TableMembers::close`].
    pub fn close(&self, states: &mut States) {
        lock(&self.0.contents).members.close(states);
    }

    /// Returns the element type of its shaders' array.
    pub(crate) fn kind(&self) -> TableKind {
        self.0.kind
    }

    /// The set of a frame in flight.
    pub(crate) fn set(&self, slot: usize) -> vk::DescriptorSet {
        self.0.sets[slot]
    }

    /// Updates the set of a frame in flight. No submitted frame may still use it.
    pub(crate) fn update_set(&self, slot: usize) -> Result<(), Error> {
        let contents = &mut *lock(&self.0.contents);
        contents.samplers.write(&self.0, slot);
        if contents.stale[slot].is_empty() {
            return Ok(());
        }
        sets::update(&self.0, contents, slot)
    }
}

impl Drop for TableInner {
    fn drop(&mut self) {
        lock(&self.device.dropped).push(Retired::DescriptorPool(self.pool));
    }
}

impl PartialEq for SharedTable {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SharedTable {}

impl<M: TableMember> std::fmt::Debug for ResourceTable<M> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shared.fmt(formatter)
    }
}

impl std::fmt::Debug for SharedTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}({})", self.0.kind.table(), self.0.name)
    }
}
