//! Tables of images: shaders choose one by its index.
//!
//! A table has a descriptor set for each frame in flight. A set is brought up to date when a frame
//! that reads the table is recorded, and then no frame on its way uses it. So images come and go at
//! any time, frames on their way find the images that they began with, and a table that does not
//! change costs nothing.
//!
//! An entry without an image, or with one that no pass has written yet, shows the table's fallback: a
//! magenta checker. Which image has contents, and which images passes have to declare, is the
//! business of [`TableMembers`].

mod check;
mod desc;
mod error;
mod sets;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ash::vk;
use quadrille_sync::{
    Access, ResourceId, States, TableMembers, TableReaders, TableTouch, Topology,
};

use crate::device::Device;
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::image::GpuImage;
use crate::shader::ShaderImage;

pub use desc::ImageTableDesc;
pub use error::TableError;

/// The place of an image in a table: what shaders index the array with.
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
/// An index may differ from invocation to invocation. It has to be below the table's capacity: what
/// is beyond is not checked on the device.
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
pub struct ImageTable(SharedTable);

/// The same table, for the code that drives frames and for command lists.
#[derive(Clone)]
pub struct SharedTable(Arc<TableInner>);

struct TableInner {
    desc: ImageTableDesc,
    pool: vk::DescriptorPool,
    /// One for each frame in flight.
    sets: Vec<vk::DescriptorSet>,
    fallback: GpuImage,
    contents: Mutex<Contents>,
    device: Arc<Device>,
}

/// What changes of a table.
struct Contents {
    entries: Vec<Entry>,
    /// Entries below the length of `entries` that are empty.
    free: Vec<u32>,
    images: HashMap<ResourceId, Placed>,
    members: TableMembers,
    /// By frame in flight: the entries that its set does not show as they are.
    stale: Vec<Vec<u32>>,
    /// By frame in flight: the images that its set shows, which live as long as it does.
    shown: Vec<Vec<Option<GpuImage>>>,
}

#[derive(Clone, Default)]
struct Entry {
    image: Option<GpuImage>,
    /// Bit by frame in flight: it is among the stale ones.
    stale: u32,
}

/// Where an image is in the table.
struct Placed {
    image: GpuImage,
    at: Vec<u32>,
}

impl ImageTable {
    pub(crate) fn new(device: &Arc<Device>, desc: &ImageTableDesc) -> Result<Self, Error> {
        check::check(device, desc)?;
        let fallback = GpuImage::new(device, &desc.fallback())?;
        let view = fallback.view(check::key(&fallback, desc.image.view))?;
        let count = device.frames_in_flight as usize;
        let (pool, sets) = sets::create(device, desc, count)?;
        sets::fill(device, desc, &sets, view.unwrap_or_default());
        let mut members = TableMembers::new(Access::SampledAny);
        members.enter(fallback.id());
        Ok(Self(SharedTable(Arc::new(TableInner {
            desc: desc.clone(),
            pool,
            sets,
            fallback,
            contents: Mutex::new(Contents {
                entries: Vec::new(),
                free: Vec::new(),
                images: HashMap::new(),
                members,
                stale: vec![Vec::new(); count],
                shown: vec![Vec::new(); count],
            }),
            device: Arc::clone(device),
        }))))
    }

    /// Puts an image into an empty entry. The frame that is recorded next shows it, if it has
    /// contents by then, or else the first one in which a pass or an upload writes all of it.
    ///
    /// # Errors
    /// The image is not one that the table's shaders can sample, or all entries are taken.
    pub fn insert(&mut self, image: &GpuImage) -> Result<TableIndex, TableError> {
        let table = &*self.0.0;
        check::image(table, image)?;
        let mut contents = lock(&table.contents);
        let index = match contents.free.pop() {
            Some(index) => index,
            None if contents.entries.len() < table.desc.capacity as usize => {
                contents.entries.push(Entry::default());
                contents.entries.len() as u32 - 1
            }
            None => {
                return Err(TableError::Full {
                    table: table.desc.name.clone(),
                    image: image.name().to_owned(),
                    capacity: table.desc.capacity,
                });
            }
        };
        contents.put(index, Some(image));
        Ok(TableIndex(index))
    }

    /// Puts an image in the place of another. Frames on their way find the old one.
    ///
    /// # Errors
    /// As for [`ImageTable::insert`], and if there is none at the index.
    pub fn replace(&mut self, index: TableIndex, image: &GpuImage) -> Result<(), TableError> {
        let table = &*self.0.0;
        check::image(table, image)?;
        let mut contents = lock(&table.contents);
        check::taken(table, &contents, index)?;
        contents.put(index.0, Some(image));
        Ok(())
    }

    /// Empties an entry, which shows the fallback from the next frame on, until another image is
    /// inserted there. Frames on their way find the old one.
    ///
    /// # Errors
    /// There is no image at the index.
    pub fn remove(&mut self, index: TableIndex) -> Result<(), TableError> {
        let table = &*self.0.0;
        let mut contents = lock(&table.contents);
        check::taken(table, &contents, index)?;
        contents.put(index.0, None);
        contents.free.push(index.0);
        Ok(())
    }

    /// The image at an index.
    pub fn get(&self, index: TableIndex) -> Option<GpuImage> {
        let contents = lock(&self.0.0.contents);
        contents.entries.get(index.0 as usize)?.image.clone()
    }

    /// How many images it has.
    pub fn len(&self) -> usize {
        let contents = lock(&self.0.0.contents);
        contents.entries.len() - contents.free.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The description it was made by.
    pub fn desc(&self) -> &ImageTableDesc {
        &self.0.0.desc
    }

    /// The image that entries without one show. The caller of [`SharedTable::open`] has its
    /// `fallback_texels` written.
    pub fn shared(&self) -> &SharedTable {
        &self.0
    }
}

impl Contents {
    fn put(&mut self, index: u32, image: Option<&GpuImage>) {
        let entry = &mut self.entries[index as usize];
        let old = std::mem::replace(&mut entry.image, image.cloned());
        if let Some(old) = old {
            let id = old.id();
            if let Some(placed) = self.images.get_mut(&id) {
                placed.at.retain(|at| *at != index);
                if placed.at.is_empty() {
                    self.images.remove(&id);
                }
            }
            self.members.leave(id);
        }
        if let Some(image) = image {
            let placed = self.images.entry(image.id()).or_insert_with(|| Placed {
                image: image.clone(),
                at: Vec::new(),
            });
            placed.at.push(index);
            self.members.enter(image.id());
        }
        self.make_stale(index);
    }

    /// An entry is to be described anew, in the set of each frame in flight.
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
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.desc.name
    }

    /// Whether it was made from this device.
    pub fn is_of(&self, gpu: &crate::Gpu) -> bool {
        self.is_made_from(&gpu.0)
    }

    pub(crate) fn is_made_from(&self, device: &Device) -> bool {
        std::ptr::eq(&*self.0.device, device)
    }

    /// What empty entries show.
    pub fn fallback(&self) -> &GpuImage {
        &self.0.fallback
    }

    /// The texels of the fallback, as they are to be written to it.
    pub fn fallback_texels(&self) -> Vec<u8> {
        self.0.desc.fallback_texels()
    }

    /// See [`TableMembers::is_unchanged`].
    pub fn is_unchanged(&self) -> bool {
        lock(&self.0.contents).members.is_unchanged()
    }

    /// See [`TableMembers::open`]. What the frame shows is what the table has now.
    pub fn open(
        &self,
        touches: impl Iterator<Item = TableTouch>,
        topology: &Topology,
        states: &mut States,
    ) {
        let contents = &mut *lock(&self.0.contents);
        contents.members.open(touches, topology, states);
        for at in 0..contents.members.renewed().len() {
            let resource = contents.members.renewed()[at];
            let places = contents.images.get(&resource);
            for place in 0..places.map_or(0, |placed| placed.at.len()) {
                let index = contents.images[&resource].at[place];
                contents.make_stale(index);
            }
        }
    }

    /// Calls `each` with the images that each pass which reads the table has to declare as a whole,
    /// with [`Access::SampledAny`]. See [`TableMembers::listed`].
    pub fn for_each_listed(&self, mut each: impl FnMut(&GpuImage)) {
        let contents = lock(&self.0.contents);
        for resource in contents.members.listed() {
            match contents.images.get(&resource) {
                Some(placed) => each(&placed.image),
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

    /// What its shaders see.
    pub(crate) fn image(&self) -> &ShaderImage {
        &self.0.desc.image
    }

    /// How many samplers it has.
    pub(crate) fn samplers(&self) -> u32 {
        self.0.desc.samplers.len() as u32
    }

    /// The set of a frame in flight.
    pub(crate) fn set(&self, slot: usize) -> vk::DescriptorSet {
        self.0.sets[slot]
    }

    /// Brings the set of a frame in flight up to date: no frame on its way uses it.
    pub(crate) fn bring_up_to_date(&self, slot: usize) -> Result<(), Error> {
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

impl std::fmt::Debug for ImageTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::fmt::Debug for SharedTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ImageTable({})", self.0.desc.name)
    }
}
