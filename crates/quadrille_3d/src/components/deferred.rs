//! Deferred shading of a camera.

use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;

use super::material::OpaqueRendererMethod;
use super::prepass::DepthPrepass;

/// Shades opaque and alpha mask meshes of a camera from a G-buffer, once per pixel; bevy's component by name.
///
/// The prepass draws base color, roughness, metallic, reflectance, occlusion, emission and normal of the surfaces
/// ([`GBuffers3d`](crate::resources::GBuffers3d)), and [`opaque_3d`](crate::systems::opaque_3d) lights them with the
/// functions of forward shading. As in bevy, a material is deferred if its `opaque_render_method` says so, or is `Auto`
/// and [`DefaultOpaqueRendererMethod`] is deferred.
///
/// Drawn forward in any case: materials with shaders of their own without a
/// [`deferred_fragment_shader`](crate::Material::deferred_fragment_shader), with clearcoat, anisotropy, transmission, a depth map,
/// a tinted specular reflection or `AlphaToCoverage`, and meshes with a lightmap.
///
/// Needs `Msaa::Off`: a camera with more samples has one warning, and forward shading.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(DepthPrepass)]
pub struct DeferredPrepass;

/// Method of materials whose `opaque_render_method` is `Auto`; bevy's resource by name. Forward at first. Concerns cameras
/// with [`DeferredPrepass`] alone.
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Clone, Debug, Default)]
pub struct DefaultOpaqueRendererMethod(OpaqueRendererMethod);

impl Default for DefaultOpaqueRendererMethod {
    fn default() -> Self {
        Self::forward()
    }
}

impl DefaultOpaqueRendererMethod {
    /// Forward shading.
    pub fn forward() -> Self {
        Self(OpaqueRendererMethod::Forward)
    }

    /// Deferred shading.
    pub fn deferred() -> Self {
        Self(OpaqueRendererMethod::Deferred)
    }

    /// Changes to forward shading.
    pub fn set_to_forward(&mut self) {
        self.0 = OpaqueRendererMethod::Forward;
    }

    /// Changes to deferred shading.
    pub fn set_to_deferred(&mut self) {
        self.0 = OpaqueRendererMethod::Deferred;
    }

    /// Whether it is deferred shading.
    pub(crate) fn is_deferred(&self) -> bool {
        self.0 == OpaqueRendererMethod::Deferred
    }
}
