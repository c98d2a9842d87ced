//! Parameters that declare accesses of tables.

#![expect(
    unsafe_code,
    reason = "`SystemParam` is an unsafe trait: it promises to register what it accesses"
)]

use std::ops::Deref;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemAccess, SystemMeta, SystemParam, SystemParamValidationError};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use quadrille_sync::access::Access;
use quadrille_vulkan::resources::{ResourceTable, SharedTable, TableMember};

use crate::declare::declaration::DeclaredAccess;
use crate::declare::kind::AccessKind;
use crate::declare::parameter::ResourceAccess;
use crate::declare::registry::{short_name, table_entity};

/// A bevy resource that is a table: any resource that dereferences to an
/// [`ImageTable`](quadrille_vulkan::resources::ImageTable) or a [`BufferTable`](quadrille_vulkan::resources::BufferTable).
pub trait NamedTable: Resource {
    /// Type of the members: images or buffers.
    type Member: TableMember;

    /// The table.
    fn table(&self) -> &ResourceTable<Self::Member>;
}

impl<T, M> NamedTable for T
where
    T: Resource + Deref<Target = ResourceTable<M>>,
    M: TableMember,
{
    type Member = M;

    fn table(&self) -> &ResourceTable<M> {
        self
    }
}

/// Declares reads of all images or buffers of the table `T`, in any shader stage. Dereferences to the
/// [`ImageTable`](quadrille_vulkan::resources::ImageTable) or [`BufferTable`](quadrille_vulkan::resources::BufferTable).
///
/// Members that are only read cost nothing per frame, regardless of their number. A member that is uploaded, or that a
/// pass of the frame also declares (to write it, for instance), is synchronized with all passes that declare the table,
/// as if each of them declared the member.
///
/// ```
/// use bevy_derive::{Deref, DerefMut};
/// use bevy_ecs::prelude::*;
/// use quadrille_ecs::{ColorAttachment, ColorTarget, Recorder, RenderError, Table};
/// use quadrille_vulkan::pipeline::GraphicsPipeline;
/// use quadrille_vulkan::resources::{GpuImage, ImageTable};
/// # use quadrille_ecs::{Renderer, Uploads};
/// # use quadrille_vulkan::resources::{ImageTableDesc, TableError};
///
/// #[derive(Resource, Deref, DerefMut)]
/// struct Textures(ImageTable);
///
/// /// At `RenderStartup`.
/// fn make(mut commands: Commands, renderer: Res<Renderer>) -> Result<(), BevyError> {
///     let table = renderer.gpu().image_table(&ImageTableDesc::d2("textures", 1024))?;
///     commands.insert_resource(Textures(table));
///     Ok(())
/// }
///
/// /// Whenever an image is loaded.
/// fn add(mut textures: ResMut<Textures>, image: &GpuImage) -> Result<u32, TableError> {
///     Ok(textures.insert(image)?.0)
/// }
/// # #[derive(Resource, Deref)] struct Screen(GpuImage);
/// # #[derive(Resource)] struct Pipelines { draw: GraphicsPipeline }
///
/// // enable wgpu_binding_array;
/// // @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;
/// fn draw(
///     mut recorder: Recorder,
///     textures: Table<Textures>,
///     screen: ColorTarget<Screen>,
///     pipelines: Res<Pipelines>,
/// ) {
///     let mut rendering = recorder.render(screen.clear([0.0; 4]));
///     rendering.pipeline(&pipelines.draw).table("textures", &textures).draw(0..3, 0..1);
/// }
/// ```
pub struct Table<'w, T: NamedTable>(&'w T);

impl<T: NamedTable> Deref for Table<'_, T> {
    type Target = ResourceTable<T::Member>;

    fn deref(&self) -> &Self::Target {
        self.0.table()
    }
}

/// Declared table that a pass may bind to a group.
pub trait DeclaredTable {
    /// The table.
    fn declared_table(&self) -> &SharedTable;
}

impl<T: NamedTable> DeclaredTable for Table<'_, T> {
    fn declared_table(&self) -> &SharedTable {
        self.0.table().shared()
    }
}

// SAFETY: `init_access` registers a read of the resource `T`, which is all that `get_param` reads.
unsafe impl<T: NamedTable> SystemParam for Table<'_, T> {
    type State = ResourceAccess;
    type Item<'w, 's> = Table<'w, T>;

    fn init_state(world: &mut World) -> ResourceAccess {
        let entity = table_entity::<T>(world);
        let kind = match T::Member::ACCESS {
            Access::StorageReadAny => AccessKind::StorageRead,
            _ => AccessKind::Sampled,
        };
        ResourceAccess::new::<T>(world, entity, DeclaredAccess::new(kind))
    }

    fn init_access(
        state: &ResourceAccess,
        meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        state.init_access::<T, Self>(meta, system_access, world);
    }

    unsafe fn get_param<'w, 's>(
        state: &'s mut ResourceAccess,
        _: &SystemMeta,
        world: UnsafeWorldCell<'w>,
        run: Tick,
    ) -> Result<Self::Item<'w, 's>, SystemParamValidationError> {
        // SAFETY: `init_access` registered the read of `T`.
        let Some(resource) = (unsafe { state.get::<T>(world, run) }) else {
            let name = short_name::<T>();
            return Err(SystemParamValidationError::invalid::<Self>(format!(
                "the resource `{name}` does not exist while the frame is recorded; insert it \
                 before, for example at `RenderStartup`"
            )));
        };
        Ok(Table(resource))
    }
}
