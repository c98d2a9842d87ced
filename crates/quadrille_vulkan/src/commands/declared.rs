//! What a list does with the resources of a frame, held against what its pass declares there.
//!
//! Whoever records a pass through parameters that declare its accesses need not ask. Declarations
//! can change since, though, and then this finds what the frame does not know of: a write where a
//! read is declared, another stage, bytes beyond those that are declared. Bindings count where a
//! pipeline uses them, and as what its shaders do there. A write is taken at its word, because WGSL
//! cannot say that it does not read.

mod part;

use std::fmt::{self, Display, Formatter};

use quadrille_sync::{Access, Frame, PassIndex, ResourceId, Undeclared};

use super::{Bind, Command, CommandList, Copying, Counted, Draw, IndexType};
use crate::commands::rendering::{Load, RenderingData};
use crate::pipeline::{ComputeCode, GraphicsCode, MOST_BUFFERS};
use crate::resources::handle::Handle;
use crate::resources::region::ImageRegion;
use crate::shader::{Binding, BindingKind, GpuShader};

use part::{Part, accesses};

/// Something that a list does with a resource and its pass does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// What the list uses the resource as.
    pub used_as: String,
    /// What that is, and what is declared.
    pub access: Undeclared,
}

impl CommandList {
    /// What the list does with resources that its pass declares, beyond what the pass declares of
    /// them: each access of each part once. `handles` are the frame's, by index.
    ///
    /// What the pass does not declare at all is found when the list is translated. What closures
    /// record ([`CommandList::raw`]) nobody sees.
    pub fn excesses(&self, frame: &Frame, pass: PassIndex, handles: &[Handle]) -> Vec<Excess> {
        let mut reader = Reader {
            list: self,
            frame,
            pass,
            handles,
            compute: None,
            graphics: None,
            bound: [None; BINDINGS],
            seen: [0; 2],
            vertices: [None; MOST_BUFFERS as usize],
            indices: None,
            excesses: Vec::new(),
        };
        let commands = self.commands.iter();
        commands.for_each(|command| reader.read(command));
        reader.excesses
    }
}

/// The number of bindings.
const BINDINGS: usize = GpuShader::MAX_BINDINGS as usize;

/// Bytes of a `VkDispatchIndirectCommand`, a `VkDrawIndirectCommand` and a
/// `VkDrawIndexedIndirectCommand`.
const DISPATCH_BYTES: u64 = 12;
const DRAW_BYTES: u64 = 16;
const DRAW_INDEXED_BYTES: u64 = 20;
/// Bytes of the number of draws in a buffer.
const COUNT_BYTES: u64 = 4;

/// Goes through a list, and knows what its commands have set so far.
struct Reader<'a> {
    list: &'a CommandList,
    frame: &'a Frame,
    pass: PassIndex,
    handles: &'a [Handle],
    compute: Option<&'a ComputeCode>,
    graphics: Option<&'a GraphicsCode>,
    bound: [Option<(ResourceId, Part)>; BINDINGS],
    /// For compute and for graphics, bit by binding: what is bound was looked at.
    seen: [u32; 2],
    /// Vertex buffers that were not looked at yet, and where they begin.
    vertices: [Option<(ResourceId, u64)>; MOST_BUFFERS as usize],
    indices: Option<(ResourceId, u64, IndexType)>,
    excesses: Vec<Excess>,
}

/// What a command uses a resource as.
#[derive(Clone, Copy)]
enum Role<'a> {
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
            Command::DispatchIndirect { buffer, offset } => {
                self.compute_bindings();
                let part = Part::Bytes(offset.into(), DISPATCH_BYTES);
                let role = Role::Words("the arguments of a dispatch");
                self.check(buffer, part, Access::IndirectRead, role);
            }
            Command::Copy { copy } => self.copy(side.copies[copy as usize]),
            // What is bound has to be bound anew.
            Command::Raw { .. } => self.bound = [None; BINDINGS],
            Command::EndRendering
            | Command::Area { .. }
            | Command::BeginLabel { .. }
            | Command::EndLabel => {}
        }
    }

    fn bind(&mut self, bind: Bind) {
        let list = self.list;
        match bind {
            Bind::Compute { pipeline } => {
                self.compute = Some(&list.compute[pipeline as usize]);
                self.seen[0] = 0;
            }
            Bind::Graphics { pipeline } => {
                self.graphics = Some(&list.side().graphics[pipeline as usize]);
                self.seen[1] = 0;
            }
            Bind::Buffer {
                binding,
                buffer,
                range,
            } => {
                let [offset, size] = list.range(range);
                self.bind_part(binding, buffer, Part::bytes(offset, size));
            }
            Bind::Image {
                binding,
                storage,
                image,
                view,
            } => {
                let part = match storage {
                    true => Part::View(view),
                    false => Part::Sampled(view),
                };
                self.bind_part(binding, image, part);
            }
            // What passes read by tables, tables see to.
            Bind::Table { .. } => {}
            Bind::Vertices {
                slot,
                buffer,
                offset,
            } => {
                if let Some(bound) = self.vertices.get_mut(usize::from(slot)) {
                    *bound = Some((buffer, offset.into()));
                }
            }
            Bind::Indices {
                buffer,
                offset,
                kind,
            } => self.indices = Some((buffer, offset.into(), kind)),
            Bind::Sampler { .. } | Bind::Constants { .. } => {}
        }
    }

    fn bind_part(&mut self, binding: u8, resource: ResourceId, part: Part) {
        if let Some(bound) = self.bound.get_mut(usize::from(binding)) {
            *bound = Some((resource, part));
            self.seen = self.seen.map(|seen| seen & !(1 << binding));
        }
    }

    fn compute_bindings(&mut self) {
        if let Some(pipeline) = self.compute {
            self.bindings(0, pipeline.name(), pipeline.bindings());
        }
    }

    /// What shaders do with what is bound and was not looked at yet.
    fn bindings(&mut self, kind: usize, pipeline: &str, bindings: &[Binding]) {
        for binding in bindings {
            let bit = 1 << binding.binding;
            let bound = self.bound[binding.binding as usize];
            let is_new = self.seen[kind] & bit == 0 && binding.kind != BindingKind::Sampler;
            let Some((resource, part)) = bound.filter(|_| is_new) else {
                continue;
            };
            self.seen[kind] |= bit;
            for access in accesses(binding) {
                self.check(resource, part, access, Role::Binding(pipeline, binding));
            }
        }
    }

    fn draw(&mut self, draw: Draw) {
        let Some(pipeline) = self.graphics else {
            return;
        };
        self.bindings(1, pipeline.name(), pipeline.bindings());
        for slot in 0..pipeline.vertex_alignments().len() {
            // Which vertices a draw reads, only its indices know.
            if let Some((buffer, offset)) = self.vertices[slot].take() {
                let part = Part::bytes(offset, 0);
                self.check(buffer, part, Access::VertexRead, Role::Vertices(slot));
            }
        }
        match draw {
            Draw::Plain { .. } => {}
            Draw::Indexed { indices, .. } => self.indices(Some(indices)),
            Draw::Indirect {
                buffer,
                offset,
                count,
                stride,
            } => self.arguments(buffer, offset, [count, stride], DRAW_BYTES),
            Draw::IndexedIndirect {
                buffer,
                offset,
                count,
                stride,
            } => {
                self.indices(None);
                self.arguments(buffer, offset, [count, stride], DRAW_INDEXED_BYTES);
            }
            Draw::Counted { counted } => self.counted(&self.list.side().counted[counted as usize]),
        }
    }

    /// The first and the number of indices that are read, if that is known.
    fn indices(&mut self, read: Option<[u32; 2]>) {
        let Some((buffer, offset, kind)) = self.indices else {
            return;
        };
        let bytes = match kind {
            IndexType::U16 => 2,
            IndexType::U32 => 4,
        };
        let part = match read.map(|read| read.map(u64::from)) {
            Some([_, 0]) => return,
            Some([first, count]) => {
                Part::Bytes(offset.saturating_add(first * bytes), count * bytes)
            }
            None => Part::bytes(offset, 0),
        };
        let role = Role::Words("the index buffer");
        self.check(buffer, part, Access::IndexRead, role);
    }

    fn counted(&mut self, draws: &Counted) {
        let bytes = match draws.indexed {
            true => DRAW_INDEXED_BYTES,
            false => DRAW_BYTES,
        };
        if draws.indexed {
            self.indices(None);
        }
        if draws.most > 0 {
            let part = Part::Bytes(draws.count_offset, COUNT_BYTES);
            let role = Role::Words("the number of draws");
            self.check(draws.counts, part, Access::IndirectRead, role);
        }
        self.arguments(
            draws.buffer,
            draws.offset,
            [draws.most, draws.stride],
            bytes,
        );
    }

    fn arguments(&mut self, from: ResourceId, offset: u64, draws: [u32; 2], bytes: u64) {
        let [count, stride] = draws.map(u64::from);
        if count > 0 {
            let part = Part::Bytes(offset, stride * (count - 1) + bytes);
            let role = Role::Words("the arguments of draws");
            self.check(from, part, Access::IndirectRead, role);
        }
    }

    fn rendering(&mut self, data: &RenderingData) {
        for color in data.colors.iter().flatten() {
            let access = match color.load {
                Load::Keep => Access::ColorAttachmentReadWrite,
                Load::Clear(_) | Load::Discard => Access::ColorAttachmentWrite,
            };
            let part = Part::View(color.view);
            self.check(
                color.image,
                part,
                access,
                Role::Words("a colour attachment"),
            );
            if let Some((image, view)) = color.resolve {
                let role = Role::Words("what a colour attachment resolves to");
                self.check(
                    image,
                    Part::View(view),
                    Access::ResolveAttachmentWrite,
                    role,
                );
            }
        }
        if let Some(depth) = &data.depth {
            let access = match depth.read_only {
                true => Access::DepthReadOnly,
                false => Access::DepthAttachmentReadWrite,
            };
            let role = Role::Words("the depth attachment");
            self.check(depth.image, Part::View(depth.view), access, role);
        }
    }

    fn copy(&mut self, copying: Copying) {
        let side = self.list.side();
        let (read, write) = (Access::CopyRead, Access::CopyWrite);
        match copying {
            Copying::Buffer { src, dst, copy } => {
                let [from, to, bytes] = side.buffer_copies[copy as usize];
                self.transfer(src, Part::Bytes(from, bytes), read);
                self.transfer(dst, Part::Bytes(to, bytes), write);
            }
            Copying::BufferToImage { src, dst, copy } => {
                let (offset, region) = side.buffer_image_copies[copy as usize];
                self.transfer(src, self.texels(dst, offset, &region), read);
                self.transfer(dst, Part::Texels(region), write);
            }
            Copying::ImageToBuffer { src, dst, copy } => {
                let (offset, region) = side.buffer_image_copies[copy as usize];
                self.transfer(src, Part::Texels(region), read);
                self.transfer(dst, self.texels(src, offset, &region), write);
            }
            Copying::Image { src, dst, copy } => {
                let (from, to) = side.image_copies[copy as usize];
                self.transfer(src, Part::Region(from), read);
                self.transfer(dst, Part::Region(to), write);
            }
            Copying::Blit { src, dst, copy, .. } => {
                let (from, to) = side.image_copies[copy as usize];
                self.transfer(src, Part::Region(from), Access::BlitRead);
                self.transfer(dst, Part::Region(to), Access::BlitWrite);
            }
            Copying::Fill { dst, range, .. } => {
                let [_, offset, bytes] = side.buffer_copies[range as usize];
                self.transfer(dst, Part::bytes(offset, bytes), Access::Clear);
            }
            Copying::Update {
                dst, offset, bytes, ..
            } => self.transfer(dst, Part::Bytes(offset, bytes.into()), Access::Clear),
            Copying::Clear { image, view, .. } => {
                self.transfer(image, Part::View(view), Access::Clear);
            }
        }
    }

    fn transfer(&mut self, resource: ResourceId, part: Part, access: Access) {
        let role = match access.is_write() {
            true => "the target of a copy, fill or clear",
            false => "the source of a copy",
        };
        self.check(resource, part, access, Role::Words(role));
    }

    /// The bytes of a buffer that a copy from or to a region of an image touches.
    fn texels(&self, image: ResourceId, offset: u64, region: &ImageRegion) -> Part {
        let found = self.handles.iter().find(|handle| handle.id() == image);
        let bytes = match found {
            Some(Handle::Image(image)) => region.bytes(image.format()),
            _ => None,
        };
        bytes.map_or(Part::bytes(offset, 0), |bytes| Part::Bytes(offset, bytes))
    }

    /// Notes an access if it is of something that the pass declares, though not so.
    fn check(&mut self, id: ResourceId, part: Part, access: Access, role: Role<'_>) {
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
        if self.excesses.iter().all(|known| known.access != access) {
            self.excesses.push(Excess {
                used_as: role.to_string(),
                access,
            });
        }
    }
}
