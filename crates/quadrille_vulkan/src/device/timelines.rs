//! All timelines of a device: those of the queues, and those that streams and rings need besides.
//!
//! A timeline is signalled by one stream on one queue, so that its values rise in the order of
//! execution however many threads submit. Plans name timelines by index, the same in all streams.
//! What is given back is used again and goes on counting, so that points on it stay true.

use std::sync::{Arc, Mutex};

use ash::vk;
use quadrille_sync::Topology;

use crate::device::Device;
use crate::device::timeline::Timeline;
use crate::error::Error;
use crate::lock;

/// How often values are read at most, while they go on changing: more often than submissions are on their way, unless
/// other streams never stop submitting.
const READINGS: usize = 1000;

/// The timelines of a device.
pub(crate) struct Timelines(Mutex<Table>);

struct Table {
    all: Vec<Arc<Timeline>>,
    free: Vec<usize>,
}

impl Timelines {
    /// Starts with the timelines of the device's queues, in their order.
    pub(crate) fn new(queues: Vec<Arc<Timeline>>) -> Self {
        Self(Mutex::new(Table {
            all: queues,
            free: Vec::new(),
        }))
    }

    /// A timeline for a stream or ring of this name.
    pub(crate) fn take(
        &self,
        device: &Device,
        name: &str,
    ) -> Result<(usize, Arc<Timeline>), Error> {
        let mut table = lock(&self.0);
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

    /// Gives a timeline back that has reached all that was submitted for it.
    pub(crate) fn give_back(&self, index: usize) {
        lock(&self.0).free.push(index);
    }

    /// The timeline at an index.
    pub(crate) fn get(&self, index: usize) -> Option<Arc<Timeline>> {
        lock(&self.0).all.get(index).cloned()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).all.len()
    }

    /// Returns the last submitted value of each.
    pub(crate) fn submitted(&self) -> Vec<u64> {
        let table = lock(&self.0);
        table
            .all
            .iter()
            .map(|timeline| timeline.submitted())
            .collect()
    }

    /// How far each has got.
    pub(crate) fn reached(&self, device: &Device) -> Result<Vec<u64>, vk::Result> {
        let table = lock(&self.0);
        settled(table.all.len(), |at| table.all[at].reached(device))
    }

    /// Whether a timeline has reached a value. Queries all of them if that is not known: see [`settled`].
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

    /// Destroys them all. Nothing on the device uses them any more.
    pub(crate) fn destroy(&self, device: &ash::Device) {
        for timeline in lock(&self.0).all.drain(..) {
            timeline.destroy(device);
        }
    }
}

/// Reads values of timelines until they fit together.
///
/// A reached value has been preceded by all that its submission waited for. Values are read one after the other,
/// though, so one that another depends on may be read first, and the other be found further on. Once nothing has
/// changed since the last time, they fit together. The validation layer, which takes each timeline for itself,
/// would otherwise miss order that there is, and report hazards (`quadrille_layer/README.md`, "One message to
/// doubt"). Each reading but the last sees something change, so there are not more than submissions on their way.
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
