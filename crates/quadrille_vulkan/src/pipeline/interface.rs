//! Interface of a pipeline, which passes bind to. Hot reload does not change it.

use std::ops::Deref;
use std::sync::Arc;

use ash::vk;

use super::current_code::CurrentCode;
use super::names::{ResolvedNames, Variable};
use super::needs::BindingNeeds;
use super::reload_check::{self, Provided};
use crate::device::Device;
use crate::device::pipeline_layout::PipelineLayout;
use crate::device::pipeline_layout::merge;
use crate::device::reload::{Newest, Ready, Reloadable};
use crate::error::ShaderError;
use crate::shader::{Binding, DataLayout, EntryPoint, TableBinding, table};

/// Common interface of compute and graphics pipelines.
pub(crate) struct Interface {
    name: String,
    bindings: Vec<Binding>,
    tables: Vec<TableBinding>,
    needs: BindingNeeds,
    push_layouts: Vec<DataLayout>,
    resolved_names: ResolvedNames,
    layout: Arc<PipelineLayout>,
    device: Arc<Device>,
}

impl Interface {
    /// Merges the interfaces of these entry points.
    pub(super) fn new(
        device: &Arc<Device>,
        name: &str,
        entry_points: &[&EntryPoint],
        stages: vk::ShaderStageFlags,
    ) -> Result<Self, ShaderError> {
        let (bindings, push_bytes) = merge(name, entry_points)?;
        let tables = entry_points.iter().flat_map(|entry| &entry.tables);
        let tables = table::merge(name, tables)?;
        let layouts = &device.layouts;
        let groups = table::groups(&tables);
        let layout = layouts.get(device, name, &bindings, groups, push_bytes, stages)?;
        let has_constants = entry_points.iter().filter(|it| it.push_constant_bytes > 0);
        let mut push_layouts: Vec<_> = has_constants.map(|it| it.push_layout.clone()).collect();
        push_layouts.dedup();
        Ok(Self {
            name: name.to_owned(),
            needs: BindingNeeds::of(&bindings),
            push_layouts,
            resolved_names: ResolvedNames::default(),
            bindings,
            tables,
            layout,
            device: Arc::clone(device),
        })
    }

    /// Checks that entry points of reloaded shaders use nothing beyond the interface.
    pub(super) fn check(&self, entry_points: &[&EntryPoint]) -> Result<(), ShaderError> {
        let provided = Provided {
            name: &self.name,
            bindings: &self.bindings,
            push_bytes: self.layout.push_bytes.least,
        };
        let mut tables = entry_points.iter().flat_map(|entry| &entry.tables);
        if let Some(problem) = tables.find_map(|new| table::excess(&self.tables, new)) {
            return Err(reload_check::exceeds_interface(&self.name, &problem));
        }
        reload_check::check(&provided, entry_points)
    }

    /// The device that created the pipeline.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The name of the pipeline.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bindings of group 0, which passes bind.
    pub(crate) fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The table bindings of its shaders, by group.
    pub(crate) fn tables(&self) -> &[TableBinding] {
        &self.tables
    }

    /// Returns the bindings of the variables with these names. Each list of names is resolved once.
    pub(crate) fn variables(&self, names: &'static [&'static str]) -> &[Variable] {
        self.resolved_names.get(names, &self.bindings, &self.tables)
    }

    /// Returns the needs of the bindings as bit masks.
    #[inline]
    pub(crate) fn needs(&self) -> &BindingNeeds {
        &self.needs
    }

    /// Distinct memory layouts of the push constants in its stages.
    pub(crate) fn push_layouts(&self) -> &[DataLayout] {
        &self.push_layouts
    }

    /// The layout of the pipeline.
    pub(crate) fn layout(&self) -> &PipelineLayout {
        &self.layout
    }
}

/// Implements the methods that compute and graphics pipelines share.
macro_rules! implement_pipeline {
    ($pipeline:ident) => {
        impl $pipeline {
            /// Its name.
            pub fn name(&self) -> &str {
                self.0.interface.name()
            }

            /// Returns the bindings that its shaders use. A reload does not change them.
            pub fn bindings(&self) -> &[crate::shader::Binding] {
                self.0.interface.bindings()
            }

            /// Returns the tables that its shaders use, by group. A reload does not change them.
            pub fn tables(&self) -> &[crate::shader::TableBinding] {
                self.0.interface.tables()
            }

            /// Returns the bindings of the variables with these names. A list is resolved at its first use, and looked
            /// up by its address afterwards.
            #[inline]
            pub fn variables(
                &self,
                names: &'static [&'static str],
            ) -> &[crate::pipeline::Variable] {
                self.0.interface.variables(names)
            }

            /// Returns the needs of the [`bindings`](Self::bindings) as bit masks.
            #[inline]
            pub fn needs(&self) -> &crate::pipeline::BindingNeeds {
                self.0.interface.needs()
            }

            /// Bytes of push constants.
            pub fn push_constant_bytes(&self) -> u32 {
                self.0.interface.layout().push_bytes.least
            }

            /// Distinct memory layouts of the push constants in its stages.
            #[inline]
            pub fn push_layouts(&self) -> &[crate::shader::DataLayout] {
                self.0.interface.push_layouts()
            }
        }

        impl PartialEq for $pipeline {
            fn eq(&self, other: &Self) -> bool {
                std::sync::Arc::ptr_eq(&self.0, &other.0)
            }
        }

        impl Eq for $pipeline {}

        impl std::fmt::Debug for $pipeline {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(
                    formatter,
                    concat!(stringify!($pipeline), "({})"),
                    self.name()
                )
            }
        }
    };
}

pub(super) use implement_pipeline;

/// Code of a pipeline, with its interface.
pub(crate) trait Code: Deref<Target = Interface> + Send + Sync + Sized + 'static {
    /// The interface of this kind of pipeline.
    type Interface: Deref<Target = Interface> + Send + Sync;

    /// Compiles the newest shaders, if they match the interface.
    fn rebuild(&self, newest: &Newest<'_>) -> Result<Self, ShaderError>;
}

/// A pipeline: its interface and its current code.
pub(crate) struct Pipeline<C: Code> {
    pub(super) interface: Arc<C::Interface>,
    pub(super) code: CurrentCode<C>,
}

impl<C: Code> Reloadable for Pipeline<C> {
    fn name(&self) -> &str {
        self.interface.name()
    }

    fn rebuild(self: Arc<Self>, newest: &Newest<'_>) -> Result<Ready, ShaderError> {
        let code = Arc::new(self.code.current().rebuild(newest)?);
        Ok(Box::new(move || self.code.prepare(code)))
    }

    fn adopt(&self) {
        self.code.adopt();
    }
}
