//! Declarations of passes: parameters and entities that name buffers and images, and the kind of access.

pub(crate) mod access;
pub(crate) mod any;
pub(crate) mod attachment;
pub(crate) mod bind;
pub(crate) mod declaration;
pub(crate) mod exact;
pub(crate) mod interned;
pub(crate) mod kind;
pub(crate) mod list;
pub(crate) mod missing;
pub(crate) mod named;
pub(crate) mod parameter;
pub(crate) mod queue;
pub(crate) mod registry;
pub(crate) mod table;
pub(crate) mod view;
pub(crate) mod window_image;
