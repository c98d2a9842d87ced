//! Access to all numbers of components, and to those of their materials.

use std::any::type_name;
use std::ops::{Range, RangeInclusive};

use bevy_camera::MainPassResolutionOverride;
use bevy_camera::primitives::{Aabb, Sphere};
use bevy_camera::visibility::VisibilityRange;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_light::cluster::ClusterConfig;
use bevy_light::{
    Atmosphere, AtmosphereEnvironmentMapLight, CascadeShadowConfig, ClusteredDecal, FogVolume,
    SunDisk, VolumetricFog,
};
use bevy_mesh::morph::MeshMorphWeights;
use bevy_reflect::{PartialReflect, ReflectMut};
use quadrille_3d::auto_exposure::AutoExposure;
use quadrille_3d::prelude::*;
use quadrille_3d::wireframe::{WireframeColor, WireframeLineWidth};
use quadrille_3d::{
    AtmosphereSettings, Bloom, CameraCut, ChromaticAberration, ContactShadows,
    ContrastAdaptiveSharpening, DepthOfField, FilmGrain, ForwardDecalMaterial, LensDistortion,
    MipBias, MotionBlur, OrderIndependentTransparencySettings, ScreenSpaceAmbientOcclusion,
    ScreenSpaceReflections, TemporalJitter, TemporalUpscaling, Vignette,
};

use crate::common::lifecycle::Random;

pub(super) const INVALID_VALUES: [f32; 12] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    0.0,
    -0.0,
    1e30,
    -1e30,
    f32::MAX,
    f32::MIN_POSITIVE,
    1e-40,
    -1.0,
];

/// Counts and sizes, which are 0 or larger than any device can use.
pub(super) const INVALID_INTEGERS: [u32; 6] = [u32::MAX, 1 << 31, 1 << 16, 0, 1, 3];

/// A number or a flag of a component.
pub(super) enum Number<'a> {
    Float(&'a mut f32),
    Integer(&'a mut u32),
    Flag(&'a mut bool),
}

/// Called with each number of a component.
pub(super) type Visitor<'a> = dyn FnMut(Number<'_>) + 'a;

/// A component with numbers.
pub(super) struct Numbered {
    /// Path of the type.
    pub(super) name: fn() -> &'static str,
    /// Visits the numbers of an entity's component, in the same order each time; none without the component.
    pub(super) visit: fn(&mut World, Entity, &mut Visitor<'_>),
}

impl Numbered {
    const fn reflected<C>() -> Self
    where
        C: Component<Mutability = Mutable> + PartialReflect,
    {
        Self {
            name: type_name::<C>,
            visit: |world, entity, visitor| {
                if let Some(mut component) = world.get_mut::<C>(entity) {
                    visit_numbers(&mut *component, visitor);
                }
            },
        }
    }

    /// The material of an entity, which no other entity may have.
    const fn material<M: Asset + PartialReflect>() -> Self {
        Self {
            name: type_name::<M>,
            visit: |world, entity, visitor| {
                let Some(handle) = world.get::<MeshMaterial3d<M>>(entity) else {
                    return;
                };
                let id = handle.id();
                if let Some(mut material) = world.resource_mut::<Assets<M>>().get_mut(id) {
                    visit_numbers(&mut *material, visitor);
                }
            },
        }
    }

    /// Makes some numbers invalid.
    pub(super) fn make_invalid(&self, world: &mut World, entity: Entity, random: &mut Random) {
        let one_in = random.pick(&[1, 2, 3, 8]);
        (self.visit)(world, entity, &mut |number| match number {
            Number::Float(number) if random.one_in(one_in) => {
                *number = random.pick(&INVALID_VALUES);
            }
            Number::Integer(number) if random.one_in(one_in) => {
                *number = random.pick(&INVALID_INTEGERS);
            }
            Number::Float(_) | Number::Integer(_) => {}
            Number::Flag(flag) => *flag = random.one_in(2),
        });
    }

    /// Number of floats and integers of an entity's component.
    pub(super) fn count(&self, world: &mut World, entity: Entity) -> usize {
        let mut count = 0;
        (self.visit)(world, entity, &mut |number| {
            count += usize::from(!matches!(number, Number::Flag(_)));
        });
        count
    }

    /// Sets the number with this index to one of the values, by its type. Returns the value of a float.
    pub(super) fn set(
        &self,
        world: &mut World,
        entity: Entity,
        index: usize,
        (float, integer): (f32, u32),
    ) -> Option<f32> {
        let (mut at, mut set) = (0, None);
        (self.visit)(world, entity, &mut |number| {
            match number {
                Number::Flag(_) => return,
                Number::Float(number) if at == index => {
                    *number = float;
                    set = Some(float);
                }
                Number::Integer(number) if at == index => {
                    *number = integer;
                }
                Number::Float(_) | Number::Integer(_) => {}
            }
            at += 1;
        });
        set
    }
}

/// Visits the numbers of a value by reflection.
fn visit_numbers(value: &mut dyn PartialReflect, visitor: &mut Visitor<'_>) {
    if let Some(number) = value.try_downcast_mut::<f32>() {
        return visitor(Number::Float(number));
    }
    if let Some(number) = value.try_downcast_mut::<u32>() {
        return visitor(Number::Integer(number));
    }
    if let Some(flag) = value.try_downcast_mut::<bool>() {
        return visitor(Number::Flag(flag));
    }
    if let Some(range) = value.try_downcast_mut::<Range<f32>>() {
        visitor(Number::Float(&mut range.start));
        return visitor(Number::Float(&mut range.end));
    }
    if let Some(range) = value.try_downcast_mut::<RangeInclusive<f32>>() {
        let (mut start, mut end) = (*range.start(), *range.end());
        visitor(Number::Float(&mut start));
        visitor(Number::Float(&mut end));
        *range = start..=end;
        return;
    }
    let mut visit = |part: Option<&mut dyn PartialReflect>| {
        if let Some(part) = part {
            visit_numbers(part, visitor);
        }
    };
    match value.reflect_mut() {
        ReflectMut::Struct(parts) => {
            (0..parts.field_len()).for_each(|at| visit(parts.field_at_mut(at)));
        }
        ReflectMut::TupleStruct(parts) => {
            (0..parts.field_len()).for_each(|at| visit(parts.field_mut(at)));
        }
        ReflectMut::Tuple(parts) => {
            (0..parts.field_len()).for_each(|at| visit(parts.field_mut(at)));
        }
        ReflectMut::Enum(parts) => {
            (0..parts.field_len()).for_each(|at| visit(parts.field_at_mut(at)));
        }
        ReflectMut::List(parts) => (0..parts.len()).for_each(|at| visit(parts.get_mut(at))),
        ReflectMut::Array(parts) => (0..parts.len()).for_each(|at| visit(parts.get_mut(at))),
        _ => {}
    }
}

/// [`SunDisk`], which bevy does not reflect, like the next three.
const SUN_DISK: Numbered = Numbered {
    name: type_name::<SunDisk>,
    visit: |world, entity, visitor| {
        if let Some(mut disk) = world.get_mut::<SunDisk>(entity) {
            visitor(Number::Float(&mut disk.angular_size));
            visitor(Number::Float(&mut disk.intensity));
        }
    },
};

const ATMOSPHERE_LIGHT: Numbered = Numbered {
    name: type_name::<AtmosphereEnvironmentMapLight>,
    visit: |world, entity, visitor| {
        if let Some(mut light) = world.get_mut::<AtmosphereEnvironmentMapLight>(entity) {
            visitor(Number::Float(&mut light.intensity));
            visit_numbers(&mut light.size, visitor);
            visitor(Number::Flag(&mut light.affects_lightmapped_mesh_diffuse));
        }
    },
};

const RESOLUTION: Numbered = Numbered {
    name: type_name::<MainPassResolutionOverride>,
    visit: |world, entity, visitor| {
        if let Some(mut size) = world.get_mut::<MainPassResolutionOverride>(entity) {
            visit_numbers(&mut size.0, visitor);
        }
    },
};

const ATMOSPHERE: Numbered = Numbered {
    name: type_name::<Atmosphere>,
    visit: |world, entity, visitor| {
        if let Some(mut planet) = world.get_mut::<Atmosphere>(entity) {
            visitor(Number::Float(&mut planet.inner_radius));
            visitor(Number::Float(&mut planet.outer_radius));
            visit_numbers(&mut planet.ground_albedo, visitor);
        }
    },
};

/// The components whose numbers are made invalid.
pub(super) const NUMBERED: &[Numbered] = &[
    Numbered::reflected::<Transform>(),
    Numbered::reflected::<PointLight>(),
    Numbered::reflected::<SpotLight>(),
    Numbered::reflected::<DirectionalLight>(),
    SUN_DISK,
    ATMOSPHERE,
    Numbered::reflected::<RectLight>(),
    Numbered::reflected::<LightProbe>(),
    Numbered::reflected::<EnvironmentMapLight>(),
    Numbered::reflected::<GeneratedEnvironmentMapLight>(),
    ATMOSPHERE_LIGHT,
    Numbered::reflected::<IrradianceVolume>(),
    Numbered::reflected::<ParallaxCorrection>(),
    Numbered::reflected::<CascadeShadowConfig>(),
    Numbered::reflected::<VisibilityRange>(),
    Numbered::reflected::<Lightmap>(),
    Numbered::reflected::<MeshMorphWeights>(),
    Numbered::reflected::<AmbientLight>(),
    Numbered::reflected::<DistanceFog>(),
    Numbered::reflected::<Exposure>(),
    Numbered::reflected::<ColorGrading>(),
    Numbered::reflected::<Skybox>(),
    Numbered::reflected::<WireframeColor>(),
    Numbered::reflected::<WireframeLineWidth>(),
    Numbered::reflected::<Projection>(),
    Numbered::reflected::<ClusterConfig>(),
    Numbered::reflected::<FogVolume>(),
    Numbered::reflected::<VolumetricFog>(),
    Numbered::reflected::<Aabb>(),
    Numbered::reflected::<Sphere>(),
    Numbered::reflected::<DirectionalLightTexture>(),
    Numbered::reflected::<Camera>(),
    Numbered::reflected::<CameraCut>(),
    Numbered::reflected::<ClusteredDecal>(),
    RESOLUTION,
    Numbered::reflected::<Camera3d>(),
    Numbered::reflected::<Gizmo>(),
    Numbered::material::<StandardMaterial>(),
    Numbered::material::<ForwardDecalMaterial<StandardMaterial>>(),
    Numbered::reflected::<AtmosphereSettings>(),
    Numbered::reflected::<AutoExposure>(),
    Numbered::reflected::<Bloom>(),
    Numbered::reflected::<ChromaticAberration>(),
    Numbered::reflected::<ContactShadows>(),
    Numbered::reflected::<ContrastAdaptiveSharpening>(),
    Numbered::reflected::<DepthOfField>(),
    Numbered::reflected::<FilmGrain>(),
    Numbered::reflected::<LensDistortion>(),
    Numbered::reflected::<MipBias>(),
    Numbered::reflected::<MotionBlur>(),
    Numbered::reflected::<OrderIndependentTransparencySettings>(),
    Numbered::reflected::<ScreenSpaceAmbientOcclusion>(),
    Numbered::reflected::<ScreenSpaceReflections>(),
    Numbered::reflected::<TemporalJitter>(),
    Numbered::reflected::<TemporalUpscaling>(),
    Numbered::reflected::<Vignette>(),
];

/// Medium of atmospheres.
pub(super) fn medium(world: &mut World) -> Handle<ScatteringMedium> {
    let medium = ScatteringMedium::earth(32, 32);
    world.resource_mut::<Assets<ScatteringMedium>>().add(medium)
}
