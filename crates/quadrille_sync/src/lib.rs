//! Vulkan's synchronisation rules as a pure function.
mod access;
mod flags;
mod frame;
mod plan;
mod range;
mod resource;
mod topology;

pub use access::{Access, CustomAccess};
pub use flags::{AccessMask, Aspects, Layout, Stages};
pub use frame::{Frame, PassDecl, PassIndex, PassKind, Preference, QueueRequest, Use};
pub use plan::{
    BarrierBatch, BufferBarrier, Counts, ImageAcquire, ImageBarrier, MemoryBarrier, PassRef, Plan,
    Reason, RelativePoint, Rung, Scope, Step, Submission, Transfer, TransferHalf, Wait,
};
pub use range::{SubRange, SubresourceRange};
pub use resource::{Lifetime, Resource, ResourceId, ResourceIndex, ResourceKind, Sharing};
pub use topology::{
    BarrierStyle, Capabilities, FamilyIndex, Queue, QueueIndex, SubmitPolicy, Topology,
};
