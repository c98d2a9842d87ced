//! Query sets: occlusion and pipeline statistics queries of passes.
//!
//! A set has a query pool for each frame in flight, and one buffer for the results. A pass that uses
//! queries copies their results to the buffer at its own end, so plans need only the buffer to order passes,
//! queues and frames. A pool is reset on the host when its frame in flight begins again: the device has completed
//! its last use.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use ash::vk;
use bitflags::bitflags;
use quadrille_sync::topology::Capabilities;

use crate::device::Device;
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::buffer::{BufferDesc, BufferUsage, GpuBuffer};

bitflags! {
    /// Counters of a pipeline statistics query; bits of `VkQueryPipelineStatisticFlagBits`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Statistics: u32 {
        /// Vertices of draws.
        const VERTICES = 0x1;
        /// Primitives of draws.
        const PRIMITIVES = 0x2;
        /// Invocations of vertex shaders.
        const VERTEX_INVOCATIONS = 0x4;
        /// Primitives that reach clipping.
        const CLIPPING_INVOCATIONS = 0x20;
        /// Primitives output by clipping.
        const CLIPPING_PRIMITIVES = 0x40;
        /// Invocations of fragment shaders.
        const FRAGMENT_INVOCATIONS = 0x80;
        /// Invocations of compute shaders.
        const COMPUTE_INVOCATIONS = 0x400;
    }
}

/// Value that the queries of a set measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryKind {
    /// Non-zero if any sample passes the depth and stencil tests.
    Occlusion,
    /// Number of samples that pass the depth and stencil tests (feature `occlusionQueryPrecise`).
    PreciseOcclusion,
    /// Pipeline statistics: a value for each bit, in the order of the bits (feature
    /// `pipelineStatisticsQuery`).
    Statistics(Statistics),
}

impl QueryKind {
    /// The type of the query pool.
    pub(crate) fn raw(self) -> vk::QueryType {
        match self {
            Self::Occlusion | Self::PreciseOcclusion => vk::QueryType::OCCLUSION,
            Self::Statistics(_) => vk::QueryType::PIPELINE_STATISTICS,
        }
    }

    /// The flags of `vkCmdBeginQuery`.
    pub(crate) fn control(self) -> vk::QueryControlFlags {
        match self {
            Self::PreciseOcclusion => vk::QueryControlFlags::PRECISE,
            Self::Occlusion | Self::Statistics(_) => vk::QueryControlFlags::empty(),
        }
    }

    /// Returns the required capabilities of a queue.
    pub(crate) fn needs(self) -> Capabilities {
        let Self::Statistics(counted) = self else {
            return Capabilities::GRAPHICS;
        };
        let mut needs = Capabilities::empty();
        needs.set(
            Capabilities::COMPUTE,
            counted.contains(Statistics::COMPUTE_INVOCATIONS),
        );
        let of_draws = Statistics::all().difference(Statistics::COMPUTE_INVOCATIONS);
        needs.set(Capabilities::GRAPHICS, counted.intersects(of_draws));
        needs
    }

    /// Number of values of a query.
    fn values(self) -> u32 {
        match self {
            Self::Occlusion | Self::PreciseOcclusion => 1,
            Self::Statistics(counted) => counted.bits().count_ones(),
        }
    }
}

/// Description of a query set.
///
/// ```
/// use quadrille_vulkan::resources::{QueryKind, QuerySetDesc, Statistics};
/// let lights = QuerySetDesc::occlusion("lights", 64);
/// assert_eq!(lights.kind, QueryKind::Occlusion);
/// let work = QuerySetDesc::statistics("work", 1, Statistics::FRAGMENT_INVOCATIONS);
/// assert_eq!(work.count, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuerySetDesc {
    /// Name in errors, plans and debuggers.
    pub name: String,
    /// Number of queries; at least 1.
    pub count: u32,
    /// Measured value.
    pub kind: QueryKind,
}

impl QuerySetDesc {
    /// Describes queries of whether any sample of the enclosed draws is visible.
    pub fn occlusion(name: impl Into<String>, count: u32) -> Self {
        Self {
            name: name.into(),
            count,
            kind: QueryKind::Occlusion,
        }
    }

    /// Describes queries of the number of visible samples of the enclosed draws.
    pub fn precise_occlusion(name: impl Into<String>, count: u32) -> Self {
        Self {
            kind: QueryKind::PreciseOcclusion,
            ..Self::occlusion(name, count)
        }
    }

    /// Describes pipeline statistics queries with these counters.
    pub fn statistics(name: impl Into<String>, count: u32, counted: Statistics) -> Self {
        Self {
            kind: QueryKind::Statistics(counted),
            ..Self::occlusion(name, count)
        }
    }

    /// Size of the results of one query in bytes.
    fn stride(&self) -> u64 {
        u64::from(self.kind.values()) * VALUE_BYTES
    }
}

/// Results are `u64`.
const VALUE_BYTES: u64 = size_of::<u64>() as u64;

/// A set of queries. Dereferences to the buffer with their results: `u64` values, those of query `i`
/// at byte [`result_offset(i)`](Self::result_offset). Created by
/// [`Gpu::query_set`](crate::device::Gpu::query_set). Clones are the same set.
///
/// A pass replaces the results of the queries that it uses; the others keep theirs. The result of a query that
/// was never used is undefined.
///
/// ```no_run
/// use quadrille_vulkan::device::Gpu;
/// use quadrille_vulkan::instance::Settings;
/// use quadrille_vulkan::resources::QuerySetDesc;
/// let gpu = Gpu::new(&Settings::headless("example"), None)?;
/// let lights = gpu.query_set(&QuerySetDesc::occlusion("lights", 64))?;
/// assert_eq!(lights.result_offset(3), 24);
/// assert_eq!(lights.bytes(), 512);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct QuerySet(Arc<QuerySetInner>);

struct QuerySetInner {
    desc: QuerySetDesc,
    results: GpuBuffer,
    /// Pools by frame in flight.
    slots: Vec<Slot>,
    device: Arc<Device>,
}

struct Slot {
    pool: vk::QueryPool,
    /// One bit per query: whether the frame uses it.
    used: Mutex<Vec<u64>>,
}

impl QuerySet {
    pub(crate) fn new(device: &Arc<Device>, desc: &QuerySetDesc) -> Result<Self, Error> {
        check(device, desc)?;
        let mut usage = BufferUsage::STORAGE | BufferUsage::UNIFORM | BufferUsage::INDIRECT;
        usage |= BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
        if device.extensions.conditional_rendering.is_some() {
            usage |= BufferUsage::CONDITION;
        }
        let bytes = desc.stride() * u64::from(desc.count);
        let results = GpuBuffer::new(device, &BufferDesc::new(&desc.name, bytes, usage))?;
        let mut inner = QuerySetInner {
            desc: desc.clone(),
            results,
            slots: Vec::new(),
            device: Arc::clone(device),
        };
        let mut info = vk::QueryPoolCreateInfo::default()
            .query_type(desc.kind.raw())
            .query_count(device.pool_queries(desc.count));
        if let QueryKind::Statistics(counted) = desc.kind {
            info =
                info.pipeline_statistics(vk::QueryPipelineStatisticFlags::from_raw(counted.bits()));
        }
        for _ in 0..device.frames_in_flight {
            // SAFETY: the description is checked: there are queries, and the device has the feature.
            let pool = unsafe { device.raw.create_query_pool(&info, None) };
            let pool = pool.map_err(Error::vulkan(device, &desc.name, "vkCreateQueryPool"))?;
            device.names.name(pool, &desc.name);
            inner.slots.push(Slot {
                pool,
                used: Mutex::new(vec![0; desc.count.div_ceil(u64::BITS) as usize]),
            });
        }
        Ok(Self(Arc::new(inner)))
    }

    /// The description it was created from.
    pub fn desc(&self) -> &QuerySetDesc {
        &self.0.desc
    }

    /// Byte offset of the results of a query.
    pub fn result_offset(&self, query: u32) -> u64 {
        self.0.desc.stride() * u64::from(query)
    }

    /// Resets the queries of a frame in flight. The device must have completed the previous frame in this slot.
    pub(crate) fn begin(&self, slot: usize) {
        let Slot { pool, used } = &self.0.slots[slot];
        let mut used = lock(used);
        used.fill(0);
        let device = &self.0.device;
        // SAFETY: the frame that used the queries is complete, and the feature is enabled.
        unsafe { device.raw.reset_query_pool(*pool, 0, self.0.desc.count) };
    }

    /// The query pool of a frame in flight.
    pub(crate) fn pool(&self, slot: usize) -> vk::QueryPool {
        self.0.slots[slot].pool
    }

    /// Marks a query as used by the frame; false if it already is. The query must be in the set.
    pub(crate) fn take(&self, slot: usize, query: u32) -> bool {
        let mut used = lock(&self.0.slots[slot].used);
        let word = &mut used[(query / u64::BITS) as usize];
        let bit = 1 << (query % u64::BITS);
        let is_free = *word & bit == 0;
        *word |= bit;
        is_free
    }

    /// The device that created it.
    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }
}

impl Deref for QuerySet {
    type Target = GpuBuffer;

    fn deref(&self) -> &GpuBuffer {
        &self.0.results
    }
}

impl Drop for QuerySetInner {
    fn drop(&mut self) {
        let pools = self.slots.iter().map(|slot| Retired::QueryPool(slot.pool));
        lock(&self.device.dropped).extend(pools);
    }
}

impl PartialEq for QuerySet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for QuerySet {}

impl std::fmt::Debug for QuerySet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "QuerySet({}, {})",
            self.name(),
            self.0.desc.count
        )
    }
}

fn check(device: &Device, desc: &QuerySetDesc) -> Result<(), Error> {
    let lacks = |feature| {
        format!(
            "it takes the feature {feature}, which the device `{}` lacks",
            device.info.name
        )
    };
    let problem = match desc.kind {
        _ if desc.count == 0 => "it has 0 queries; it has to have at least 1".to_owned(),
        QueryKind::Statistics(counted) if counted.is_empty() => {
            "it counts nothing; name at least one of its statistics".to_owned()
        }
        QueryKind::Statistics(_) if device.core.pipeline_statistics_query == vk::FALSE => {
            lacks("pipelineStatisticsQuery")
        }
        QueryKind::PreciseOcclusion if device.core.occlusion_query_precise == vk::FALSE => {
            lacks("occlusionQueryPrecise")
        }
        _ => return Ok(()),
    };
    Err(Error::Invalid {
        name: desc.name.clone(),
        problem,
    })
}
