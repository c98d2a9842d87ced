//! All timelines of a device: those of its queues, and further ones of streams and rings.
//!
//! A timeline is signalled by one stream on one queue, so that its values increase in the order of
//! execution with any number of submitting threads. Plans refer to timelines by index, the same in all streams.
//! A timeline that is given back is reused and keeps its value, so that old points on it stay reached.

use std::sync::{Arc, Mutex};

use ash::vk;
use quadrille_sync::topology::Topology;

use crate::device::Device;
use crate::device::timeline::Timeline;
use crate::error::Error;
use crate::lock;

/// Maximum number of readings while values change. Exceeds the submissions in flight, unless other streams submit
/// continuously.
const READINGS: usize = 1000;

/// The timelines of a device.
pub(crate) struct Timelines {
    table: Mutex<Table>,
    /// Whether only values that the host waited for count as reached.
    only_waited: bool,
}

struct Table {
    all: Vec<Arc<Timeline>>,
    free: Vec<usize>,
}

impl Timelines {
    /// Creates the list with the timelines of the device's queues, in their order.
    pub(crate) fn new(queues: Vec<Arc<Timeline>>, only_waited: bool) -> Self {
        Self {
            table: Mutex::new(Table {
                all: queues,
                free: Vec::new(),
            }),
            only_waited,
        }
    }

    /// Takes a timeline for the stream or ring with this name.
    pub(crate) fn take(
        &self,
        device: &Device,
        name: &str,
    ) -> Result<(usize, Arc<Timeline>), Error> {
        let mut table = lock(&self.table);
        if let Some(index) = table.free.pop() {
            return Ok((index, Arc::clone(&table.all[index])));
        }
        let index = table.all.len();
        if index >= Topology::MAX_QUEUES {
            return Err(Error::Invalid {
                name: name.to_owned(),
                problem: format!(
                    "queues, streams and rings have {index} timelines, which is the most there \
                     can be at a time"
                ),
            });
        }
        let timeline =
            Timeline::new(&device.raw).map_err(Error::vulkan(device, name, "vkCreateSemaphore"))?;
        let timeline = Arc::new(timeline);
        table.all.push(Arc::clone(&timeline));
        Ok((index, timeline))
    }

    /// Returns a timeline for reuse. It must have reached its last submitted value.
    pub(crate) fn give_back(&self, index: usize) {
        lock(&self.table).free.push(index);
    }

    /// The timeline at an index.
    pub(crate) fn get(&self, index: usize) -> Option<Arc<Timeline>> {
        lock(&self.table).all.get(index).cloned()
    }

    /// The number of timelines.
    pub(crate) fn count(&self) -> usize {
        lock(&self.table).all.len()
    }

    /// Returns the last submitted value of each.
    pub(crate) fn submitted(&self) -> Vec<u64> {
        let table = lock(&self.table);
        table
            .all
            .iter()
            .map(|timeline| timeline.submitted())
            .collect()
    }

    /// Returns the current value of each timeline, or with `only_waited` the highest value that the host waited for.
    pub(crate) fn reached(&self, device: &Device) -> Result<Vec<u64>, vk::Result> {
        let table = lock(&self.table);
        if self.only_waited {
            return Ok(table.all.iter().map(|timeline| timeline.known()).collect());
        }
        settled(table.all.len(), |at| table.all[at].reached(device))
    }

    /// Whether a timeline has reached a value. Queries all of them if that is unknown: see [`settled`].
    pub(crate) fn has_reached(
        &self,
        device: &Device,
        (timeline, value): (&Timeline, u64),
    ) -> Result<bool, vk::Result> {
        if timeline.is_known(value) {
            return Ok(true);
        }
        let has_reached = timeline.has_reached(device, value)?;
        self.reached(device)?;
        Ok(has_reached)
    }

    /// Destroys all timelines. Nothing on the device may use them any more.
    pub(crate) fn destroy(&self, device: &ash::Device) {
        for timeline in lock(&self.table).all.drain(..) {
            timeline.destroy(device);
        }
    }
}

/// Reads values of timelines until they are consistent.
///
/// If a value is reached, so are all values that its submission waited for. But values are read one after the other, so
/// a timeline may be read before its dependents advance, and then look too old. Values are consistent once no value has
/// changed since the previous reading. The validation layer tracks each timeline separately, and would otherwise miss
/// the order and report false hazards (`quadrille_layer/README.md`, "One message to doubt"). Every reading but the last
/// observes a change, so their number is bounded by the submissions in flight.
fn settled<E>(count: usize, mut read: impl FnMut(usize) -> Result<u64, E>) -> Result<Vec<u64>, E> {
    let mut values = vec![0; count];
    for _ in 0..READINGS {
        let mut has_changed = false;
        for (at, value) in values.iter_mut().enumerate() {
            let before = std::mem::replace(value, read(at)?);
            has_changed |= before != *value;
        }
        if !has_changed || count < 2 {
            break;
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
