//! Lists of the resources that materials bind by themselves, from which the accesses of draw passes follow.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Deref;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_platform::collections::HashMap;
use quadrille::ecs::{AccessList, AnyAccess, PassUse, Rendering, access_kind};
use quadrille::prelude::{GpuBuffer, GpuImage, Sampler};
use quadrille::sync::resource::ResourceId;

use crate::materials::bound::{BoundAccess, BoundResource};

/// Access of shaders that only read.
pub enum ReadOnly {}

/// Access of shaders that may write.
pub enum ReadWrite {}

/// Buffers or images `H` that materials of a renderer `R` bind by themselves, with an access `A` ([`ReadOnly`] or
/// [`ReadWrite`]).
#[derive(Resource)]
pub struct BoundList<R: Any, H: Any, A: Any>(Vec<H>, PhantomData<fn() -> (R, A)>)
where
    Self: Send + Sync;

impl<R: Any, H: Any + Send + Sync, A: Any> Default for BoundList<R, H, A> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<R: Any, H: Any + Send + Sync, A: Any> Deref for BoundList<R, H, A> {
    type Target = Vec<H>;

    fn deref(&self) -> &Vec<H> {
        &self.0
    }
}

impl<R: Any, H: Any + Send + Sync, A: Any> BoundList<R, H, A> {
    /// Adds a resource, and returns its index.
    fn push(&mut self, handle: H) -> usize {
        self.0.push(handle);
        self.0.len() - 1
    }
}

/// One of the lists of a renderer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoundListKind {
    /// Buffers that are read.
    Buffers,
    /// Images that are sampled.
    Images,
    /// Buffers that may be written.
    WrittenBuffers,
    /// Storage textures.
    WrittenImages,
}

/// Resource at a binding of a material, as it is declared.
#[derive(Clone, Debug)]
pub enum DeclaredResource {
    /// List, and index in it.
    Listed(BoundListKind, usize),
    /// A sampler, which needs no declaration.
    Sampler(Sampler),
}

/// Resources of materials of a renderer, by two numbers of its own, with their numbers in group 0.
#[derive(Resource)]
pub struct BoundMaterials<R: Any> {
    resources: HashMap<(u32, u32), Vec<(u32, DeclaredResource)>>,
    /// Whether shaders of shadow maps read any.
    in_shadows: bool,
    renderer: PhantomData<fn() -> R>,
}

impl<R: Any> Default for BoundMaterials<R> {
    fn default() -> Self {
        Self {
            resources: HashMap::default(),
            in_shadows: false,
            renderer: PhantomData,
        }
    }
}

impl<R: Any> BoundMaterials<R> {
    /// Resources of a material.
    fn get(&self, key: (u32, u32)) -> &[(u32, DeclaredResource)] {
        self.resources.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Resources of all materials while they are collected.
#[derive(SystemParam)]
pub struct BoundLists<'w, R: Any> {
    materials: ResMut<'w, BoundMaterials<R>>,
    buffers: ResMut<'w, BoundList<R, GpuBuffer, ReadOnly>>,
    images: ResMut<'w, BoundList<R, GpuImage, ReadOnly>>,
    written_buffers: ResMut<'w, BoundList<R, GpuBuffer, ReadWrite>>,
    written_images: ResMut<'w, BoundList<R, GpuImage, ReadWrite>>,
}

/// Adds the empty lists of a renderer to a world.
pub fn init_bound_lists<R: Any>(world: &mut World) {
    world.init_resource::<BoundMaterials<R>>();
    world.init_resource::<BoundList<R, GpuBuffer, ReadOnly>>();
    world.init_resource::<BoundList<R, GpuImage, ReadOnly>>();
    world.init_resource::<BoundList<R, GpuBuffer, ReadWrite>>();
    world.init_resource::<BoundList<R, GpuImage, ReadWrite>>();
}

impl<R: Any> BoundLists<'_, R> {
    /// Begins with no material.
    pub fn clear(&mut self) {
        self.materials.resources.clear();
        self.materials.in_shadows = false;
        self.buffers.0.clear();
        self.images.0.clear();
        self.written_buffers.0.clear();
        self.written_images.0.clear();
    }

    /// Adds the resources of a material. `known` has those of the materials before, for shaders of shadow maps as well if
    /// `in_shadows`.
    pub fn add(
        &mut self,
        key: (u32, u32),
        resolved: Vec<(u32, BoundResource)>,
        known: &mut HashMap<ResourceId, DeclaredResource>,
        in_shadows: bool,
    ) {
        let mut resources = Vec::with_capacity(resolved.len());
        for (number, resource) in resolved {
            let declared = match resource.id() {
                Some(id) => known
                    .entry(id)
                    .or_insert_with(|| self.push(resource))
                    .clone(),
                None => self.push(resource),
            };
            resources.push((number, declared));
        }
        self.materials.resources.insert(key, resources);
        self.materials.in_shadows |= in_shadows;
    }

    /// Adds a resource to its list.
    fn push(&mut self, resource: BoundResource) -> DeclaredResource {
        use BoundListKind::{Buffers, Images, WrittenBuffers, WrittenImages};
        let (list, index) = match resource {
            BoundResource::Buffer(buffer, BoundAccess::Read) => {
                (Buffers, self.buffers.push(buffer))
            }
            BoundResource::Buffer(buffer, BoundAccess::Write) => {
                (WrittenBuffers, self.written_buffers.push(buffer))
            }
            BoundResource::Image(image, BoundAccess::Read) => (Images, self.images.push(image)),
            BoundResource::Image(image, BoundAccess::Write) => {
                (WrittenImages, self.written_images.push(image))
            }
            BoundResource::Sampler(sampler) => return DeclaredResource::Sampler(sampler),
        };
        DeclaredResource::Listed(list, index)
    }
}

/// Images of materials, for systems that compare them with others of a pass.
#[derive(SystemParam)]
pub struct BoundImages<'w, R: Any> {
    materials: Res<'w, BoundMaterials<R>>,
    images: Res<'w, BoundList<R, GpuImage, ReadOnly>>,
    written_images: Res<'w, BoundList<R, GpuImage, ReadWrite>>,
}

impl<R: Any> BoundImages<'_, R> {
    /// Whether no material binds an image by itself.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty() && self.written_images.is_empty()
    }

    /// Images of a material, and whether they may be written.
    pub fn of(&self, key: (u32, u32)) -> impl Iterator<Item = (&GpuImage, bool)> {
        let resources = self.materials.get(key).iter();
        resources.filter_map(|(_, resource)| match resource {
            DeclaredResource::Listed(BoundListKind::Images, index) => {
                Some((self.images.get(*index)?, false))
            }
            DeclaredResource::Listed(BoundListKind::WrittenImages, index) => {
                Some((self.written_images.get(*index)?, true))
            }
            _ => None,
        })
    }
}

/// Declared accesses to the resources of materials, in passes that draw them.
#[derive(SystemParam)]
pub struct BoundAccesses<'w, R: Any> {
    materials: Res<'w, BoundMaterials<R>>,
    buffers: AccessList<'w, BoundList<R, GpuBuffer, ReadOnly>, access_kind::StorageRead>,
    images: AccessList<'w, BoundList<R, GpuImage, ReadOnly>, access_kind::Sampled>,
    written_buffers:
        AccessList<'w, BoundList<R, GpuBuffer, ReadWrite>, access_kind::StorageReadWrite>,
    written_images:
        AccessList<'w, BoundList<R, GpuImage, ReadWrite>, access_kind::StorageReadWrite>,
}

impl<'w, R: Any> BoundAccesses<'w, R> {
    /// Whether shaders of shadow maps read any.
    pub fn in_shadows(&self) -> bool {
        self.materials.in_shadows
    }

    /// Adds the accesses to the resources of all materials.
    pub fn add_all_uses(&self, uses: &mut Vec<PassUse>) {
        uses.extend(self.buffers.iter().map(|it| it.as_declared()));
        uses.extend(self.images.iter().map(|it| it.as_declared()));
        uses.extend(self.written_buffers.iter().map(|it| it.as_declared()));
        uses.extend(self.written_images.iter().map(|it| it.as_declared()));
    }

    /// Adds the accesses to the resources of one material that `is_new` accepts.
    pub fn add_uses(
        &self,
        key: (u32, u32),
        mut is_new: impl FnMut(BoundListKind, usize) -> bool,
        uses: &mut Vec<PassUse>,
    ) {
        for (_, resource) in self.materials.get(key) {
            if let DeclaredResource::Listed(list, index) = *resource
                && is_new(list, index)
            {
                uses.extend(self.access(list, index).map(|it| it.as_declared()));
            }
        }
    }

    /// Binds the resources of one material that the pipeline reads.
    pub fn bind(&self, rendering: &mut Rendering<'_>, key: (u32, u32)) {
        for (number, resource) in self.materials.get(key) {
            if !rendering.uses(*number) {
                continue;
            }
            match resource {
                DeclaredResource::Listed(list, index) => {
                    if let Some(access) = self.access(*list, *index) {
                        rendering.bind(*number, &access);
                    }
                }
                DeclaredResource::Sampler(sampler) => {
                    rendering.sampler(*number, sampler);
                }
            }
        }
    }

    fn access(&self, list: BoundListKind, index: usize) -> Option<AnyAccess<'w>> {
        match list {
            BoundListKind::Buffers => self.buffers.get(index),
            BoundListKind::Images => self.images.get(index),
            BoundListKind::WrittenBuffers => self.written_buffers.get(index),
            BoundListKind::WrittenImages => self.written_images.get(index),
        }
    }
}
