//! Memory of transient resources.
//!
//! A transient image or buffer is only a description until a frame uses it. Then the solver chooses its offset in a
//! block of memory ([`quadrille_sync::solve::plan_memory`]), shared with resources of disjoint lifetimes, and the plan has
//! barriers between their uses of the bytes. Offsets are kept from frame to frame if possible; a resource that has to
//! move is recreated at its new offset, and the old object is retired.
//!
//! There is one block for each kind of memory. A block is replaced if it is too small, or was much too large for
//! some hundreds of frames ([`Demand`]).

mod demand;

use std::sync::Arc;

use ash::vk;
use quadrille_sync::frame::Frame;
use quadrille_sync::resource::{BlockId, Lifetime, Placement, ResourceIndex};
use quadrille_sync::solve::{BlockNeed, MemoryNeed, plan_memory};
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;

use crate::device::Device;
use crate::device::backing::{Backing, Block};
use crate::device::retire::Retired;
use crate::error::{Error, FrameError};
use crate::lock;
use crate::resources::handle::Handle;
use crate::submit::frames::Frames;

use demand::Demand;

/// Memory use of transient resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransientMemory {
    /// Total size of all blocks, in bytes.
    pub bytes: u64,
    /// Bytes that the last frame's transient resources would take without shared memory.
    pub unshared_bytes: u64,
}

/// The blocks of one owner of frames.
#[derive(Default)]
pub(crate) struct Transients {
    /// Pools by [`BlockId`].
    blocks: Vec<Pool>,
    /// Needs of the last frame; kept to reuse the allocation.
    needs: Vec<MemoryNeed>,
    memory: TransientMemory,
}

/// Block of one memory class, and the demand for it.
struct Pool {
    /// Bit mask of the memory types.
    class: u32,
    /// The block, if a recent frame has needed one.
    block: Option<Arc<Block>>,
    demand: Demand,
    /// The size to shrink to, once the block has been too large for many frames.
    shrinks_to: Option<u64>,
}

impl Frames {
    /// Assigns memory to the transient resources of a frame that is about to be planned: writes their offsets into
    /// the frame, and creates blocks that are missing. A frame with the same resources in the same passes as the last
    /// one changes nothing.
    ///
    /// `handles` must be those of [`FrameInput`](crate::record::FrameInput), and `states` those that the frame will
    /// be planned with. Without this call transient resources have memory of their own.
    ///
    /// # Errors
    /// Memory allocation failed. Errors of the frame itself are returned by [`plan`](quadrille_sync::solve::plan).
    pub fn place_transients(
        &mut self,
        frame: &mut Frame,
        handles: &[Handle],
        states: &mut States,
    ) -> Result<(), Error> {
        let Self {
            device,
            transients,
            topology,
            ..
        } = self;
        transients.collect(device, frame, handles);
        if transients.needs.is_empty() && transients.blocks.is_empty() {
            return Ok(());
        }
        if !device.aliasing {
            let bytes = transients.needs.iter().map(|need| need.bytes).sum();
            transients.memory = TransientMemory {
                bytes,
                unshared_bytes: bytes,
            };
            return Ok(());
        }
        transients.place(device, topology, frame, handles, states)
    }

    /// Whether another call of [`place_transients`](Frames::place_transients) for the same resources would free memory,
    /// because frames have needed much less for a long time.
    pub fn has_spare_memory(&self) -> bool {
        let mut pools = self.transients.blocks.iter();
        pools.any(|pool| pool.shrinks_to.is_some())
    }

    /// Returns the memory use of transient resources.
    pub fn transient_memory(&self) -> TransientMemory {
        self.transients.memory
    }

    /// Binds each transient resource of a frame to the memory assigned in the frame.
    pub(crate) fn settle_transients(
        &self,
        frame: &Frame,
        handles: &[Handle],
    ) -> Result<(), FrameError> {
        let resources = frame.resources.iter().zip(handles);
        let transient = resources.filter(|(it, _)| it.lifetime == Lifetime::Transient);
        for (resource, handle) in transient.filter(|(_, handle)| handle.object().needs.is_some()) {
            match resource.memory {
                None => handle.bind_memory(None)?,
                Some(placement) if self.transients.has(handle, placement) => {}
                Some(_) => {
                    let name = handle.name();
                    let problem = format!("{name} does not lie where the frame says it does");
                    return Err(FrameError::Mismatch { problem });
                }
            }
        }
        Ok(())
    }
}

impl Transients {
    /// Gives all blocks back to the device.
    pub(crate) fn close(&mut self, device: &Device) {
        for block in self.blocks.drain(..).filter_map(|pool| pool.block) {
            retire(device, block);
        }
    }

    /// Counts a frame.
    pub(crate) fn count_frame(&mut self) {
        for pool in &mut self.blocks {
            if let Some(block) = &pool.block
                && let Some(bytes) = pool.demand.count_frame(block.bytes)
            {
                pool.shrinks_to = Some(bytes);
            }
        }
    }

    /// Collects memory requirements and current offsets of the frame's transient resources.
    fn collect(&mut self, device: &Device, frame: &Frame, handles: &[Handle]) {
        let Self { blocks, needs, .. } = self;
        needs.clear();
        let resources = (0..).map(ResourceIndex).zip(&frame.resources);
        let transient = resources.zip(handles);
        let transient = transient.filter(|((_, it), _)| it.lifetime == Lifetime::Transient);
        // Resources of another device are reported elsewhere.
        let transient = transient.filter(|(_, handle)| handle.is_made_from(device));
        needs.extend(transient.filter_map(|((resource, _), handle)| {
            let requirements = handle.object().needs?;
            // Linear and non-linear resources must not share a page of this size; all resources are aligned to it.
            let page = device.limits.buffer_image_granularity.max(1);
            let class = requirements.memory_type_bits;
            let block = blocks.iter().find(|pool| pool.class == class);
            let block = block.and_then(|pool| pool.block.as_ref());
            Some(MemoryNeed {
                resource,
                bytes: requirements.size.next_multiple_of(page),
                alignment: requirements.alignment.max(page),
                class,
                now: block.and_then(|block| handle.object().backing().offset_in(block)),
            })
        }));
    }

    /// Assigns offsets to the collected resources.
    fn place(
        &mut self,
        device: &Device,
        topology: &Topology,
        frame: &mut Frame,
        handles: &[Handle],
        states: &mut States,
    ) -> Result<(), Error> {
        let Ok(mut places) = plan_memory(frame, topology, &self.needs) else {
            return Ok(());
        };
        let changing: Vec<u32> = places
            .blocks
            .iter()
            .filter(|need| !self.holds(need))
            .map(|need| need.class)
            .collect();
        if !changing.is_empty() {
            // A new block recreates all its resources, so their old offsets need not be kept.
            let needs = self.needs.iter_mut();
            for need in needs.filter(|need| changing.contains(&need.class)) {
                need.now = None;
            }
            places = match plan_memory(frame, topology, &self.needs) {
                Ok(places) => places,
                Err(_) => return Ok(()),
            };
        }
        self.give_up_unused(device, &places.blocks, states);
        for need in &places.blocks {
            if !self.holds(need) {
                self.replace_block(device, need, states)?;
            }
            self.pool(need.class).demand.place(need.bytes);
        }
        let blocks = self.blocks.iter().filter_map(|pool| pool.block.as_ref());
        self.memory = TransientMemory {
            bytes: blocks.map(|block| block.bytes).sum(),
            unshared_bytes: places.unshared_bytes,
        };
        for (need, offset) in self.needs.iter().zip(&places.offsets) {
            let at = need.resource.0 as usize;
            let pool = self.blocks.iter().find(|pool| pool.class == need.class);
            let placement = pool.and_then(|pool| pool.block.as_ref()).zip(*offset);
            frame.resources[at].memory = placement.map(|(block, offset)| Placement {
                block: block.id,
                offset,
                bytes: need.bytes,
            });
            handles[at].bind_memory(placement)?;
        }
        Ok(())
    }

    /// Returns the pool of a kind of memory, adding it if it is new.
    fn pool(&mut self, class: u32) -> &mut Pool {
        let known = self.blocks.iter().position(|pool| pool.class == class);
        let at = known.unwrap_or_else(|| {
            self.blocks.push(Pool {
                class,
                block: None,
                demand: Demand::default(),
                shrinks_to: None,
            });
            self.blocks.len() - 1
        });
        &mut self.blocks[at]
    }

    /// Whether the block of a class suffices, and is not too large.
    fn holds(&self, need: &BlockNeed) -> bool {
        let pool = self.blocks.iter().find(|pool| pool.class == need.class);
        pool.is_some_and(|pool| {
            pool.shrinks_to.is_none()
                && pool.block.as_ref().is_some_and(|block| {
                    block.bytes >= need.bytes && block.alignment.is_multiple_of(need.alignment)
                })
        })
    }

    /// Counts a frame without demand for the unused blocks, and retires those that have been too large for long.
    fn give_up_unused(&mut self, device: &Device, needs: &[BlockNeed], states: &mut States) {
        for pool in &mut self.blocks {
            if needs.iter().any(|need| need.class == pool.class) {
                continue;
            }
            pool.demand.place(0);
            if pool.shrinks_to.take().is_some()
                && let Some(old) = pool.block.take()
            {
                states.remove_block(old.id);
                retire(device, old);
            }
        }
    }

    /// Replaces the block of a class by a new one.
    fn replace_block(
        &mut self,
        device: &Device,
        need: &BlockNeed,
        states: &mut States,
    ) -> Result<(), Error> {
        let known = self.blocks.iter().position(|pool| pool.class == need.class);
        let id = BlockId(known.unwrap_or(self.blocks.len()) as u32);
        let pool = self.pool(need.class);
        let least = pool.shrinks_to.unwrap_or(0);
        let requirements = vk::MemoryRequirements {
            size: need.bytes.max(least),
            alignment: need.alignment,
            memory_type_bits: need.class,
        };
        let block = Arc::new(Block::new(&device.memory, id, requirements)?);
        pool.shrinks_to = None;
        if let Some(old) = pool.block.replace(block) {
            retire(device, old);
            // The new block is different memory, so the states of the old one do not apply.
            states.remove_block(id);
        }
        Ok(())
    }

    /// Whether a resource is bound to one of these blocks at this offset.
    fn has(&self, handle: &Handle, placement: Placement) -> bool {
        let pool = self.blocks.get(placement.block.0 as usize);
        let block = pool.and_then(|pool| pool.block.as_ref());
        block.is_some_and(|block| {
            handle
                .object()
                .backing()
                .is_at(Some((block, placement.offset)))
        })
    }
}

/// Evicts the residents of a block, and retires it.
fn retire(device: &Device, block: Arc<Block>) {
    block.unbind();
    lock(&device.dropped).push(Retired::Memory(Backing::Shared(block, 0)));
}
