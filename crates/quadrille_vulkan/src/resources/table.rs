//! Tables of images and of storage buffers: shaders choose one by its index.
//!
//! A table has a descriptor set for each frame in flight. A set is brought up to date when a frame
//! that reads the table is recorded, and then no frame on its way uses it. So members come and go at
//! any time, frames on their way find the members that they began with, and a table that does not
//! change costs nothing.
//!
//! An entry without a member, or with one that no pass has written yet, shows the table's fallback: a
//! magenta checker, or zeros. Which member has contents, and which members passes have to declare, is
//! the business of [`TableMembers`].

mod check;
mod desc;
mod error;
mod member;
mod sets;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use ash::vk;
use quadrille_sync::{
    Access, Layout, NonTableUse, ResourceId, States, TableMembers, TableReaders, Topology,
};

use crate::device::Device;
use crate::device::gpu::Gpu;
use crate::device::memory::Memory;
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::buffer::GpuBuffer;
use crate::resources::handle::Handle;
use crate::resources::image::GpuImage;
use crate::resources::sampler::Sampler;
use crate::shader::TableKind;

pub use desc::{BufferTableDesc, ImageTableDesc};
pub use error::TableError;
pub use member::TableMember;

/// The place of a member in a table: what shaders index the array with.
///
/// ```
/// # use quadrille_vulkan::TableIndex;
/// let index = TableIndex(7);
/// assert_eq!(index.0.to_le_bytes().len(), 4, "a `u32` in WGSL");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableIndex(pub u32);

/// A table of images, of which shaders choose one by its index (`binding_array` in WGSL). Made by
/// [`Gpu::image_table`](crate::Gpu::image_table).
///
/// In a shader a table is a group of its own, from 1 on: its samplers, if it has any, are at binding
/// 0 (a `sampler`, or a `binding_array<sampler, N>` of at most 16), and its images are at binding 1.
/// An index may differ from invocation to invocation. One beyond the table's capacity finds its last
/// entry, unless [`Settings::unchecked_tables`](crate::Settings::unchecked_tables) says otherwise.
///
/// ```wgsl
/// enable wgpu_binding_array; // what the translator calls arrays of images
/// @group(1) @binding(0) var smooth_sampler: sampler;
/// @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
/// ```
///
/// ```no_run
/// use quadrille_vulkan::{Format, Gpu, ImageDesc, ImageTableDesc, SamplerDesc, Settings};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let sampler = gpu.create_sampler(&SamplerDesc::linear())?;
/// let mut textures = gpu.image_table(&ImageTableDesc::d2("textures", 1024).with_sampler(&sampler))?;
/// let stone = gpu.create_image(&ImageDesc::sampled("stone", [64, 64], Format::R8G8B8A8_SRGB))?;
/// let index = textures.insert(&stone)?;
/// textures.remove(index)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ImageTable = ResourceTable<GpuImage>;

/// A table of storage buffers, of which shaders choose one by its index and read it. Made by
/// [`Gpu::buffer_table`](crate::Gpu::buffer_table).
///
/// In a shader a table is a group of its own, from 1 on, with its buffers at binding 0: in WGSL a
/// `binding_array` of a structure, in SPIR-V a runtime array of a block that is not written. An index may
/// differ from invocation to invocation. One beyond the table's capacity finds its last entry, unless
/// [`Settings::unchecked_tables`](crate::Settings::unchecked_tables) says otherwise. What is beyond the end of a buffer reads as zeros, or as other parts of
/// the buffer (`robustBufferAccess`, section "Robust Buffer Access"). An entry without a buffer shows a
/// fallback of 256 bytes, all zero. `arrayLength` takes an index that is the same for all invocations,
/// since the translator (naga 30) marks no other as non-uniform there.
///
/// ```wgsl
/// enable wgpu_binding_array; // what the translator calls arrays of buffers
/// struct Row { values: array<f32> }
/// @group(1) @binding(0) var<storage, read> rows: binding_array<Row>;
/// ```
///
/// ```no_run
/// use quadrille_vulkan::{BufferDesc, BufferTableDesc, Gpu, Settings};
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let mut rows = gpu.buffer_table(&BufferTableDesc::new("rows", 1024))?;
/// let first = gpu.create_buffer(&BufferDesc::storage("first row", 4096))?;
/// let index = rows.insert(&first)?;
/// rows.remove(index)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BufferTable = ResourceTable<GpuBuffer>;

/// A table whose members are of one kind: an [`ImageTable`] or a [`BufferTable`].
pub struct ResourceTable<M: TableMember> {
    shared: SharedTable,
    desc: M::Desc,
}

/// The same table, for the code that drives frames and for command lists.
#[derive(Clone)]
pub struct SharedTable(Arc<TableInner>);

struct TableInner {
    name: String,
    capacity: u32,
    /// The element type of its shaders' array.
    kind: TableKind,
    samplers: Vec<Sampler>,
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
    /// Entries below the length of `entries` that are empty.
    free: Vec<u32>,
    placed: HashMap<ResourceId, Placed>,
    members: TableMembers,
    /// Members that the host can write, without passes, and has not written.
    unwritten: BTreeMap<ResourceId, GpuBuffer>,
    /// By frame in flight: the entries that its set does not show as they are.
    stale: Vec<Vec<u32>>,
    /// By frame in flight: the members that its set shows, which live as long as it does.
    shown: Vec<Vec<Option<Handle>>>,
}

#[derive(Clone, Default)]
struct Entry {
    member: Option<Handle>,
    /// Index in [`Placed::at`] of its member, so that an entry changes in constant time however often the
    /// member is in the table.
    rank: u32,
    /// Bit by frame in flight, of which tables allow [`check::MAX_FRAMES`]: it is among the stale ones.
    stale: u32,
}

/// Where a member is in the table.
struct Placed {
    member: Handle,
    at: Vec<u32>,
}

impl<M: TableMember> ResourceTable<M> {
    pub(crate) fn new(gpu: &Gpu, desc: &M::Desc) -> Result<Self, Error> {
        let shared = SharedTable::new(&gpu.0, M::plan(gpu, desc)?)?;
        let desc = desc.clone();
        Ok(Self { shared, desc })
    }

    /// Puts a member into an empty entry. The frame that is recorded next shows it, if it has contents
    /// by then, or else the first one in which passes or uploads write it: all of an image, or any part
    /// of a buffer.
    ///
    /// # Errors
    /// The member is not one that the table's shaders can read, or all entries are taken.
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

    /// Puts a member in the place of another. Frames on their way find the old one.
    ///
    /// # Errors
    /// As for [`ResourceTable::insert`], and if there is none at the index.
    pub fn replace(&mut self, index: TableIndex, member: &M) -> Result<(), TableError> {
        let table = &*self.shared.0;
        let member: Handle = member.clone().into();
        check::member(table, &member)?;
        let mut contents = lock(&table.contents);
        check::taken(table, &contents, index)?;
        contents.put(index.0, Some(member));
        Ok(())
    }

    /// Empties an entry, which shows the fallback from the next frame on, until another member is
    /// inserted there. Frames on their way find the old one.
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

    /// How many members it has.
    pub fn len(&self) -> usize {
        let contents = lock(&self.shared.0.contents);
        contents.entries.len() - contents.free.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The description it was made by.
    pub fn desc(&self) -> &M::Desc {
        &self.desc
    }

    /// The same table, for the code that drives frames. The caller of [`SharedTable::open`] has its
    /// fallback written.
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
            self.members.leave(id);
        }
        if let Some(member) = member {
            let id = member.id();
            let at = Vec::new();
            if let Handle::Buffer(buffer) = &member
                && buffer.desc().memory != Memory::Device
            {
                self.unwritten.insert(id, buffer.clone());
            }
            let placed = self.placed.entry(id).or_insert(Placed { member, at });
            self.entries[index as usize].rank = placed.at.len() as u32;
            placed.at.push(index);
            self.members.enter(id);
        }
        self.make_stale(index);
    }

    /// Members that the host has written have contents, although no pass wrote them. Submitting makes
    /// them visible (section "Host Write Ordering Guarantees").
    fn import_host_writes(&mut self, states: &mut States) {
        for (id, _) in self.unwritten.extract_if(.., |_, it| it.is_host_written()) {
            if !states.ever_written(id) {
                states.import(id, Layout::Undefined, None);
            }
            self.members.imported(id);
        }
    }

    /// An entry is to be described again, in the set of each frame in flight.
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

/// For the code that collects frames: see [`TableMembers`], whose verbs these are.
impl SharedTable {
    fn new(device: &Arc<Device>, plan: member::TablePlan) -> Result<Self, Error> {
        check::check(device, &plan)?;
        let count = device.frames_in_flight as usize;
        let (pool, sets) = sets::create(device, &plan, count)?;
        let mut members = TableMembers::new(plan.access);
        members.enter(plan.fallback.id());
        let table = TableInner {
            name: plan.name,
            capacity: plan.capacity,
            kind: plan.kind,
            samplers: plan.samplers,
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

    /// Whether it was made from this device.
    pub fn is_of(&self, gpu: &Gpu) -> bool {
        self.is_made_from(&gpu.0)
    }

    pub(crate) fn is_made_from(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.0.device, device)
    }

    /// Returns the member that empty entries show.
    pub fn fallback(&self) -> &Handle {
        &self.0.fallback
    }

    /// Returns the data to write to the fallback: texels, or the bytes of a buffer.
    pub fn fallback_contents(&self) -> &[u8] {
        &self.0.fallback_contents
    }

    /// How passes read its members.
    pub fn access(&self) -> Access {
        lock(&self.0.contents).members.access()
    }

    /// See [`TableMembers::is_unchanged`].
    pub fn is_unchanged(&self) -> bool {
        let contents = lock(&self.0.contents);
        let mut unwritten = contents.unwritten.values();
        contents.members.is_unchanged() && !unwritten.any(|it| it.is_host_written())
    }

    /// See [`TableMembers::open`]. What the frame shows is what the table has now.
    pub fn open(
        &self,
        touches: impl Iterator<Item = NonTableUse>,
        topology: &Topology,
        states: &mut States,
    ) {
        let contents = &mut *lock(&self.0.contents);
        contents.import_host_writes(states);
        contents.members.open(touches, topology, states);
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

    /// How many samplers it has.
    pub(crate) fn samplers(&self) -> u32 {
        self.0.samplers.len() as u32
    }

    /// The set of a frame in flight.
    pub(crate) fn set(&self, slot: usize) -> vk::DescriptorSet {
        self.0.sets[slot]
    }

    /// Brings the set of a frame in flight up to date: no frame on its way uses it.
    pub(crate) fn update_set(&self, slot: usize) -> Result<(), Error> {
        let contents = &mut *lock(&self.0.contents);
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
