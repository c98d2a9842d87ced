//! Stage `Extract`: copies changes of the world to rows of tables.

pub(crate) mod bins;
pub(crate) mod caster_changes;
pub(crate) mod custom_materials;
pub(crate) mod instances;
pub(crate) mod invalid_lights;
pub(crate) mod lightmaps;
pub(crate) mod materials;
pub(crate) mod meshes;
pub(crate) mod unculled;
