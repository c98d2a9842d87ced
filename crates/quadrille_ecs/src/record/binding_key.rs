//! Keys of bindings: a number, or the name of the shader's variable.

use quadrille_vulkan::pipeline::{Variable, variable_hint};

use crate::error::RecordError;
use crate::record::bound::Reflected;

/// Key of a shader's binding: its number (`0` for `@binding(0)`), or the name of its variable.
///
/// ```
/// # use quadrille_ecs::{Compute, Declared};
/// fn same(compute: &mut Compute<'_>, heights: &impl Declared) {
///     // @group(0) @binding(2) var<storage, read> heights: array<f32>;
///     compute.bind(2, heights);
///     compute.bind("heights", heights);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` tells no binding",
    label = "a number (`u32`) or the name of the shader's variable (`&str`) is expected here"
)]
pub trait BindingKey: sealed::Find {}

impl BindingKey for u32 {}

impl BindingKey for &str {}

impl BindingKey for FieldKey {}

/// Key of a field of a struct that derives `PassBindings`: the name of its variable, looked up once per pipeline.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct FieldKey {
    names: &'static [&'static str],
    index: usize,
}

impl FieldKey {
    /// Creates the key of one of the names of a struct, which are in one static list.
    pub const fn new(names: &'static [&'static str], index: usize) -> Self {
        Self { names, index }
    }
}

pub(crate) mod sealed {
    use super::{FieldKey, RecordError, Reflected, Variable, find_binding, find_table};

    /// Looks up the number. The trait is sealed: only numbers and names implement it.
    pub trait Find: Copy {
        #[doc(hidden)]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn binding(self, pipeline: &impl Reflected) -> Result<u32, RecordError>;

        /// Returns the group of a table; `None` for a name without a pipeline.
        #[doc(hidden)]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn group(self, pipeline: Option<&impl Reflected>) -> Result<u32, RecordError>;

        /// Whether shaders of the pipeline use the variable or table.
        #[doc(hidden)]
        #[allow(private_bounds, reason = "only this crate calls it")]
        fn is_used(self, pipeline: &impl Reflected) -> bool;
    }

    impl Find for u32 {
        #[inline(always)]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn binding(self, _: &impl Reflected) -> Result<u32, RecordError> {
            Ok(self)
        }

        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn group(self, _: Option<&impl Reflected>) -> Result<u32, RecordError> {
            Ok(self)
        }

        #[allow(private_bounds, reason = "only this crate calls it")]
        fn is_used(self, pipeline: &impl Reflected) -> bool {
            let mut bindings = pipeline.bindings().iter();
            bindings.any(|it| it.binding == self)
                || pipeline.tables().iter().any(|it| it.group == self)
        }
    }

    impl Find for &str {
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn binding(self, pipeline: &impl Reflected) -> Result<u32, RecordError> {
            find_binding(pipeline, self)
        }

        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn group(self, pipeline: Option<&impl Reflected>) -> Result<u32, RecordError> {
            let pipeline = pipeline.ok_or(RecordError::NoPipeline { command: "table" })?;
            find_table(pipeline, self)
        }

        #[allow(private_bounds, reason = "only this crate calls it")]
        fn is_used(self, pipeline: &impl Reflected) -> bool {
            let mut bindings = pipeline.bindings().iter();
            bindings.any(|it| it.name == self) || pipeline.tables().iter().any(|it| it.name == self)
        }
    }

    impl Find for FieldKey {
        #[inline]
        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn binding(self, pipeline: &impl Reflected) -> Result<u32, RecordError> {
            match pipeline.variables(self.names)[self.index] {
                Variable::Binding(binding) => Ok(binding),
                _ => find_binding(pipeline, self.names[self.index]),
            }
        }

        #[allow(
            private_bounds,
            private_interfaces,
            reason = "only this crate calls it"
        )]
        fn group(self, pipeline: Option<&impl Reflected>) -> Result<u32, RecordError> {
            let name = self.names[self.index];
            match pipeline.map(|pipeline| pipeline.variables(self.names)[self.index]) {
                Some(Variable::Table(group)) => Ok(group),
                _ => name.group(pipeline),
            }
        }

        #[inline]
        #[allow(private_bounds, reason = "only this crate calls it")]
        fn is_used(self, pipeline: &impl Reflected) -> bool {
            pipeline.variables(self.names)[self.index] != Variable::Unknown
        }
    }
}

fn find_binding(pipeline: &impl Reflected, name: &str) -> Result<u32, RecordError> {
    let mut bindings = pipeline.bindings().iter();
    let found = bindings.find(|it| it.name == name);
    found
        .map(|it| it.binding)
        .ok_or_else(|| unknown(pipeline, name))
}

fn find_table(pipeline: &impl Reflected, name: &str) -> Result<u32, RecordError> {
    let mut tables = pipeline.tables().iter();
    let found = tables.find(|it| it.name == name);
    found
        .map(|it| it.group)
        .ok_or_else(|| unknown(pipeline, name))
}

/// Error of a name that the shader does not have.
#[cold]
fn unknown(pipeline: &impl Reflected, name: &str) -> RecordError {
    RecordError::NoSuchVariable {
        pipeline: pipeline.name().into(),
        name: name.into(),
        hint: variable_hint(pipeline.bindings(), pipeline.tables(), name).into(),
    }
}
