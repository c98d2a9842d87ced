//! Validation of a list's accesses against the declarations of its pass.
//!
//! Passes that record through parameters declare their accesses by these, and need no check unless declarations
//! change later. The check finds undeclared uses: a write where a read is declared, another stage, bytes beyond the
//! declared ones. Bindings are checked when a pipeline uses them, by the accesses of its shaders. Read-write bindings
//! count as writes, because WGSL has no write-only buffers.

mod part;

use std::fmt::{self, Display, Formatter};

use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, PassIndex, UndeclaredAccess};
use quadrille_sync::resource::ResourceId;

use super::{Command, CommandList, IndexType};
use crate::pipeline::{ComputeCode, GraphicsCode, MAX_BUFFERS};
use crate::resources::handle::Handle;
use crate::shader::{Binding, GpuShader};

pub(super) use part::{Part, accesses};

/// An access of a list that its pass does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredCommandUse {
    /// The use of the resource by the list.
    pub used_as: String,
    /// The access of that use, and the declared accesses.
    pub access: UndeclaredAccess,
}

impl CommandList {
    /// Returns the list's uses of declared resources that exceed the declarations of its pass: each
    /// access of each part once. `handles` are the frame's, by index.
    ///
    /// Resources that the pass does not declare at all are reported when the list is encoded. Commands
    /// recorded by closures ([`CommandList::raw`]) are not visible, apart from the resources used by the
    /// pipeline that [`CommandList::draw_raw`] draws with.
    pub fn undeclared_uses(
        &self,
        frame: &Frame,
        pass: PassIndex,
        handles: &[Handle],
    ) -> Vec<UndeclaredCommandUse> {
        let mut reader = Reader {
            list: self,
            frame,
            pass,
            handles,
            compute: None,
            graphics: None,
            bound: [None; BINDINGS],
            seen: [0; 2],
            vertices: [None; MAX_BUFFERS as usize],
            indices: None,
            queries: 1,
            undeclared_uses: Vec::new(),
        };
        let commands = self.commands.iter();
        commands.for_each(|command| reader.read(command));
        reader.undeclared_uses
    }
}

/// The number of bindings.
const BINDINGS: usize = GpuShader::MAX_BINDINGS as usize;

/// Walks a list and tracks its state.
pub(super) struct Reader<'a> {
    pub(super) list: &'a CommandList,
    frame: &'a Frame,
    pass: PassIndex,
    pub(super) handles: &'a [Handle],
    pub(super) compute: Option<&'a ComputeCode>,
    pub(super) graphics: Option<&'a GraphicsCode>,
    pub(super) bound: [Option<(ResourceId, Part)>; BINDINGS],
    /// For compute and for graphics, one bit per binding: whether the bound resource was checked.
    pub(super) seen: [u32; 2],
    /// Vertex buffers that are not checked yet, with their offsets.
    pub(super) vertices: [Option<(ResourceId, u64)>; MAX_BUFFERS as usize],
    pub(super) indices: Option<(ResourceId, u64, IndexType)>,
    /// Number of queries that one query uses: one for each view of the rendering.
    pub(super) queries: u32,
    undeclared_uses: Vec<UndeclaredCommandUse>,
}

/// Use of a resource by a command.
#[derive(Clone, Copy)]
pub(super) enum Role<'a> {
    Binding(&'a str, &'a Binding),
    Vertices(usize),
    Words(&'static str),
}

impl Display for Role<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binding(pipeline, Binding { binding, name, .. }) => {
                write!(
                    out,
                    "binding {binding} (`{name}`) of the pipeline `{pipeline}`"
                )
            }
            Self::Vertices(slot) => write!(out, "vertex buffer {slot}"),
            Self::Words(words) => write!(out, "{words}"),
        }
    }
}

impl<'a> Reader<'a> {
    fn read(&mut self, command: &Command) {
        let side = self.list.side();
        match *command {
            Command::BeginRendering { data } => self.rendering(&side.renderings[data as usize]),
            Command::Bind(bind) => self.bind(bind),
            Command::Draw { draw } => self.draw(side.draws[draw as usize]),
            Command::Dispatch { .. } => self.compute_bindings(),
            Command::DispatchFrom { dispatch } => self.dispatch(side.dispatches[dispatch as usize]),
            Command::Copy { copy } => self.copy(side.copies[copy as usize]),
            Command::Query { query } => self.query(side.queries[query as usize]),
            // A closure may bind anything, so everything has to be bound again.
            Command::Raw { .. } => self.bound = [None; BINDINGS],
            Command::DrawRaw { .. } => self.draw_raw(),
            Command::EndRendering => self.queries = 1,
            Command::State { .. } | Command::BeginLabel { .. } | Command::EndLabel => {}
        }
    }

    /// Records an access of a declared resource that its declarations do not cover.
    pub(super) fn check(&mut self, id: ResourceId, part: Part, access: Access, role: Role<'_>) {
        let (frame, pass) = (self.frame, self.pass);
        let mut uses = frame.uses_of(pass).iter();
        let Some(used) = uses.find(|used| frame.resource(used.resource).id == id) else {
            return;
        };
        let Some(handle) = self.handles.get(used.resource.0 as usize) else {
            return;
        };
        let range = part.of(handle);
        let Err(access) = frame.check_declared(pass, used.resource, range, access) else {
            return;
        };
        if self
            .undeclared_uses
            .iter()
            .all(|known| known.access != access)
        {
            self.undeclared_uses.push(UndeclaredCommandUse {
                used_as: role.to_string(),
                access,
            });
        }
    }
}
