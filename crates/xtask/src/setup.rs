//! Set-up of a fresh machine: packages, the validation layer, the test layer.

pub(crate) mod allowed;
pub(crate) mod apt;
pub(crate) mod layer;
pub(crate) mod machine;
pub(crate) mod packages;
pub(crate) mod validation;
pub(crate) mod version;
