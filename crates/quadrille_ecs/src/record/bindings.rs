//! Pass parameters that are declared and bound together.

use std::ops::Deref;

use bevy_ecs::prelude::*;
use quadrille_vulkan::resources::Sampler;

use crate::declare::access::{Access, PassUse, kind, stage};
use crate::declare::any::AnyAccess;
use crate::declare::bind::Declared;
use crate::declare::named::Named;
use crate::declare::table::{NamedTable, Table};
use crate::record::binding_key::BindingKey;
use crate::record::compute::Compute;
use crate::record::rendering::Rendering;

/// Parameters of a pass that are declared and bound together: derived beside `SystemParam`, with `#[bind]` on each
/// field that a shader reads or writes.
///
/// `#[bind]` binds a field to the variable of its own name, `#[bind("lights")]` to a variable of another name, and
/// `#[bind(3)]` to a number (for a table, the group). A field with `#[declared]` is only one of the accesses of
/// [`PassBindings::add_uses`]; the pass binds it itself, such as vertices or a range of a buffer. Other fields are
/// ignored. The names of a struct are looked up once per pipeline.
///
/// Structs that a pass creates itself can derive it too, with fields that are an [`AnyAccess`], a reference to an
/// access, or a reference to a sampler.
///
/// ```
/// # extern crate quadrille_ecs as quadrille;
/// use bevy_derive::Deref;
/// use bevy_ecs::prelude::*;
/// use bevy_ecs::system::SystemParam;
/// use quadrille::bindings::PassBindings;
/// use quadrille::{Recorder, StorageRead, StorageReadWrite};
/// use quadrille_vulkan::pipeline::ComputePipeline;
/// use quadrille_vulkan::resources::GpuBuffer;
///
/// # #[derive(Resource, Deref)] struct Heights(GpuBuffer);
/// # #[derive(Resource, Deref)] struct Speeds(GpuBuffer);
/// # #[derive(Resource)] struct Swell(ComputePipeline);
/// // @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
/// // @group(0) @binding(1) var<storage> speeds: array<f32>;
/// #[derive(SystemParam, PassBindings)]
/// struct Water<'w> {
///     #[bind]
///     heights: StorageReadWrite<'w, Heights>,
///     #[bind]
///     speeds: StorageRead<'w, Speeds>,
///     swell: Res<'w, Swell>,
/// }
///
/// fn swell(mut recorder: Recorder, water: Water) {
///     recorder.compute(&water.swell.0).bind_all(&water).dispatch([16, 1, 1]);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bindings",
    label = "a struct that derives `PassBindings` is expected here, by reference",
    note = "a single access is bound by `.bind(\"heights\", &heights)`"
)]
pub trait PassBindings {
    /// Adds the accesses of all fields with `#[bind]` or `#[declared]`, as declared: for passes within a system
    /// ([`Recorder::pass`](crate::Recorder::pass)). Tables are accesses of all passes of the system.
    fn add_uses(&self, uses: &mut Vec<PassUse>);

    /// Binds all fields with `#[bind]`, as [`Compute::bind_all`] and [`Rendering::bind_all`] do.
    fn bind_to<B: Binder>(&self, to: &mut B);
}

/// A field of a struct that derives [`PassBindings`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound",
    label = "an access such as `StorageRead<'w, Cells>`, a `Table`, a `&Sampler`, or a `Res` of a resource that dereferences to a `Sampler` is expected here"
)]
pub trait BindField {
    /// Adds the field's access.
    fn add_use(&self, uses: &mut Vec<PassUse>);

    /// Binds the field.
    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey);
}

/// Scope in which resources are bound: [`Compute`] or [`Rendering`].
pub trait Binder: sealed::Sealed {
    /// Binds an access.
    fn bind_access(&mut self, key: impl BindingKey, access: &impl Declared);

    /// Binds a table.
    fn bind_table<T: NamedTable>(&mut self, key: impl BindingKey, table: &Table<'_, T>);

    /// Binds a sampler.
    fn bind_sampler(&mut self, key: impl BindingKey, sampler: &Sampler);
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Compute<'_> {}

    impl Sealed for super::Rendering<'_> {}

    impl Sealed for super::UsedBindings<'_, '_> {}
}

macro_rules! implement_binder {
    ($($binder:ident),*) => {$(
        impl Binder for $binder<'_> {
            fn bind_access(&mut self, key: impl BindingKey, access: &impl Declared) {
                self.bind(key, access);
            }

            fn bind_table<T: NamedTable>(&mut self, key: impl BindingKey, table: &Table<'_, T>) {
                self.table(key, table);
            }

            fn bind_sampler(&mut self, key: impl BindingKey, sampler: &Sampler) {
                self.sampler(key, sampler);
            }
        }

        impl $binder<'_> {
            /// Binds the fields of parameters: see [`PassBindings`].
            pub fn bind_all(&mut self, parameters: &impl PassBindings) -> &mut Self {
                parameters.bind_to(self);
                self
            }
        }
    )*};
}

implement_binder!(Compute, Rendering);

/// Binder that ignores variables which the shaders of the bound pipeline do not use.
struct UsedBindings<'r, 'a>(&'r mut Rendering<'a>);

impl Binder for UsedBindings<'_, '_> {
    fn bind_access(&mut self, key: impl BindingKey, access: &impl Declared) {
        if self.0.uses(key) {
            self.0.bind(key, access);
        }
    }

    fn bind_table<T: NamedTable>(&mut self, key: impl BindingKey, table: &Table<'_, T>) {
        if self.0.uses(key) {
            self.0.table(key, table);
        }
    }

    fn bind_sampler(&mut self, key: impl BindingKey, sampler: &Sampler) {
        if self.0.uses(key) {
            self.0.sampler(key, sampler);
        }
    }
}

impl Rendering<'_> {
    /// Binds the fields that shaders of the bound pipeline use. For pipelines with shaders unknown to the pass, such as
    /// those of materials. In contrast, [`Self::bind_all`] reports a field without a variable as an error.
    pub fn bind_used(&mut self, parameters: &impl PassBindings) -> &mut Self {
        parameters.bind_to(&mut UsedBindings(self));
        self
    }
}

impl<T: Named, K: kind::Kind, S: stage::Stage> BindField for Access<'_, T, K, S> {
    fn add_use(&self, uses: &mut Vec<PassUse>) {
        uses.push(self.any().as_declared());
    }

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        to.bind_access(key, self);
    }
}

impl BindField for AnyAccess<'_> {
    fn add_use(&self, uses: &mut Vec<PassUse>) {
        uses.push(self.as_declared());
    }

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        to.bind_access(key, self);
    }
}

impl<T: NamedTable> BindField for Table<'_, T> {
    fn add_use(&self, _: &mut Vec<PassUse>) {}

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        to.bind_table(key, self);
    }
}

impl<F: BindField> BindField for &F {
    fn add_use(&self, uses: &mut Vec<PassUse>) {
        (*self).add_use(uses);
    }

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        (*self).bind_to(to, key);
    }
}

impl BindField for Sampler {
    fn add_use(&self, _: &mut Vec<PassUse>) {}

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        to.bind_sampler(key, self);
    }
}

impl<T: Resource + Deref<Target = Sampler>> BindField for Res<'_, T> {
    fn add_use(&self, _: &mut Vec<PassUse>) {}

    fn bind_to<B: Binder>(&self, to: &mut B, key: impl BindingKey) {
        to.bind_sampler(key, self);
    }
}
