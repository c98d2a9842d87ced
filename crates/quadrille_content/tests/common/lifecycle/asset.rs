//! Assets that come, change and go.

use bevy_asset::{Asset, AssetServer, Assets, Handle, LoadState};
use bevy_ecs::prelude::*;

use super::Random;
use super::files::{FileAsset, Files};

/// An asset that can be made of random numbers, for one of the slots of its library.
pub(crate) trait Made: Asset {
    fn made(world: &World, slot: usize, random: &mut Random) -> Self;
}

/// Handles of assets, some of which are there.
#[derive(Resource)]
pub(crate) struct Library<A: Asset> {
    handles: Vec<Handle<A>>,
    /// Paths of those that are loaded from files.
    paths: Vec<Option<String>>,
}

impl<A: Asset> Library<A> {
    pub(crate) fn pick(world: &World, random: &mut Random) -> Handle<A> {
        let handles = &world.resource::<Self>().handles;
        handles[random.below(handles.len())].clone()
    }

    pub(crate) fn slot(world: &World, slot: usize) -> Handle<A> {
        world.resource::<Self>().at(slot)
    }

    pub(crate) fn at(&self, slot: usize) -> Handle<A> {
        self.handles[slot].clone()
    }

    fn set(world: &mut World, slot: usize, handle: Handle<A>, path: Option<String>) {
        let mut library = world.resource_mut::<Self>();
        library.handles[slot] = handle;
        library.paths[slot] = path;
    }
}

/// How assets of one kind come, change and go.
pub(crate) struct AssetKind {
    pub(super) name: &'static str,
    pub(crate) slots: usize,
    pub(crate) begin: fn(&mut World, usize),
    /// Adds the asset or puts another one in its place.
    pub(super) put: fn(&mut World, usize, &mut Random),
    /// Changes it in place.
    pub(super) modify: fn(&mut World, usize, &mut Random),
    pub(super) remove: fn(&mut World, usize),
    /// Lets go of the handle, and takes another one that has no asset yet.
    pub(super) renew: fn(&mut World, usize),
    pub(super) files: Option<FileKind>,
}

/// How assets of one kind are loaded from files. Numbers are those of an asset; a file without is broken.
#[derive(Clone, Copy)]
pub(crate) struct FileKind {
    /// The first slot whose assets may be loaded; all further ones as well.
    pub(super) first: usize,
    pub(super) has_file: fn(&World, usize) -> bool,
    /// Takes a handle of another file.
    pub(super) load: fn(&mut World, usize, Option<Random>),
    /// Loads the same file again, with other contents.
    pub(super) reload: fn(&mut World, usize, Option<Random>),
    /// Whether loading has ended.
    pub(super) has_ended: fn(&World, usize, Option<Random>) -> bool,
}

fn contents<A: FileAsset>(world: &World, slot: usize, random: Option<Random>) -> Vec<u8> {
    random.map_or_else(
        || b"broken".to_vec(),
        |mut random| A::made(world, slot, &mut random).to_file(),
    )
}

impl AssetKind {
    pub(crate) const fn new<A: Made>(name: &'static str, slots: usize) -> Self {
        Self {
            name,
            slots,
            begin: |world, slots| {
                let assets = world.resource::<Assets<A>>();
                let handles = (0..slots).map(|_| assets.reserve_handle()).collect();
                let paths = vec![None; slots];
                world.insert_resource(Library::<A> { handles, paths });
            },
            put: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = Library::<A>::slot(world, slot).id();
                let mut assets = world.resource_mut::<Assets<A>>();
                assets
                    .insert(id, asset)
                    .expect("the library has its handle");
            },
            modify: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = Library::<A>::slot(world, slot).id();
                let mut assets = world.resource_mut::<Assets<A>>();
                *assets.get_mut(id).expect("it is there") = asset;
            },
            remove: |world, slot| {
                let id = Library::<A>::slot(world, slot).id();
                world.resource_mut::<Assets<A>>().remove(id);
            },
            renew: |world, slot| {
                let handle = world.resource::<Assets<A>>().reserve_handle();
                Library::set(world, slot, handle, None);
            },
            files: None,
        }
    }

    /// The same kind; from a slot on, assets may be loaded from files.
    pub(crate) const fn with_files<A: FileAsset>(mut self, first: usize) -> Self {
        self.files = Some(FileKind {
            first,
            has_file: |world, slot| world.resource::<Library<A>>().paths[slot].is_some(),
            load: |world, slot, random| {
                let bytes = contents::<A>(world, slot, random);
                let mut files = world.resource_mut::<Files>();
                let path = files.new_path(A::EXTENSION);
                files.write(&path, bytes);
                let server = world.resource::<AssetServer>();
                let handle = server.load::<A>(format!("life://{path}"));
                Library::set(world, slot, handle, Some(path));
            },
            reload: |world, slot, random| {
                let bytes = contents::<A>(world, slot, random);
                if let Some(path) = &world.resource::<Library<A>>().paths[slot] {
                    world.resource::<Files>().write(path, bytes);
                    let server = world.resource::<AssetServer>();
                    server.reload(format!("life://{path}"));
                }
            },
            has_ended: |world, slot, random| {
                let handle = Library::<A>::slot(world, slot);
                let Some(mut random) = random else {
                    let state = world.resource::<AssetServer>().load_state(&handle);
                    return matches!(state, LoadState::Failed(_));
                };
                let wanted = A::made(world, slot, &mut random);
                let asset = world.resource::<Assets<A>>().get(&handle);
                asset.is_some_and(|asset| asset.is_like(&wanted))
            },
        });
        self
    }
}
