//! Assets that come, change and go.

use bevy_asset::{Asset, Assets, Handle};
use bevy_ecs::prelude::*;

use super::Random;

/// An asset that can be made of random numbers, for one of the slots of its library.
pub(crate) trait Made: Asset {
    fn made(world: &World, slot: usize, random: &mut Random) -> Self;
}

/// Handles of assets, some of which are there.
#[derive(Resource)]
pub(crate) struct Library<A: Asset>(Vec<Handle<A>>);

impl<A: Asset> Library<A> {
    pub(crate) fn pick(world: &World, random: &mut Random) -> Handle<A> {
        let library = &world.resource::<Self>().0;
        library[random.below(library.len())].clone()
    }

    pub(crate) fn slot(world: &World, slot: usize) -> Handle<A> {
        world.resource::<Self>().at(slot)
    }

    pub(crate) fn at(&self, slot: usize) -> Handle<A> {
        self.0[slot].clone()
    }
}

/// How assets of one kind come, change and go.
pub(crate) struct AssetKind {
    pub(super) name: &'static str,
    pub(super) slots: usize,
    pub(super) begin: fn(&mut World, usize),
    /// Adds the asset or puts another one in its place.
    pub(super) put: fn(&mut World, usize, &mut Random),
    /// Changes it in place.
    pub(super) modify: fn(&mut World, usize, &mut Random),
    pub(super) remove: fn(&mut World, usize),
    /// Lets go of the handle, and takes another one that has no asset yet.
    pub(super) renew: fn(&mut World, usize),
}

impl AssetKind {
    pub(crate) const fn new<A: Made>(name: &'static str, slots: usize) -> Self {
        Self {
            name,
            slots,
            begin: |world, slots| {
                let assets = world.resource::<Assets<A>>();
                let handles = (0..slots).map(|_| assets.reserve_handle()).collect();
                world.insert_resource(Library::<A>(handles));
            },
            put: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = world.resource::<Library<A>>().0[slot].id();
                let mut assets = world.resource_mut::<Assets<A>>();
                assets
                    .insert(id, asset)
                    .expect("the library has its handle");
            },
            modify: |world, slot, random| {
                let asset = A::made(world, slot, random);
                let id = world.resource::<Library<A>>().0[slot].id();
                let mut assets = world.resource_mut::<Assets<A>>();
                *assets.get_mut(id).expect("it is there") = asset;
            },
            remove: |world, slot| {
                let id = world.resource::<Library<A>>().0[slot].id();
                world.resource_mut::<Assets<A>>().remove(id);
            },
            renew: |world, slot| {
                let handle = world.resource::<Assets<A>>().reserve_handle();
                world.resource_mut::<Library<A>>().0[slot] = handle;
            },
        }
    }
}
