//! Walls with windows: an extension of `StandardMaterial` whose shader decides by a hash of the position which windows
//! are lit. It costs no texture and no geometry.

use bevy_app::{App, Plugin, Startup};
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use crate::city::STYLES;

/// Lit windows on a standard material.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Windows {
    /// Light of most windows.
    #[uniform(100)]
    warm: LinearRgba,
    /// Light of some windows.
    #[uniform(100)]
    cool: LinearRgba,
    /// Width of a window with its frame, in meters.
    #[uniform(100)]
    width: f32,
    /// Height of a story in meters.
    #[uniform(100)]
    story: f32,
    /// Share of lit windows.
    #[uniform(100)]
    share: f32,
    /// Share of stories that are lit as a whole, as those of offices.
    #[uniform(100)]
    rows: f32,
}

/// Material of a building.
pub(crate) type Facade = ExtendedMaterial<StandardMaterial, Windows>;

impl MaterialExtension for Windows {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }
}

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("2b1f6a94-70f3-4bb5-9a35-0c4f3c1de001");

/// Adds the material and its shader.
pub(crate) struct WindowsPlugin;

impl Plugin for WindowsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(MaterialPlugin::<Facade>::default())
            .add_systems(Startup, add_shader);
    }
}

fn add_shader(mut shaders: ResMut<Assets<Shader>>) -> Result {
    let source = include_str!("windows.wesl");
    shaders.insert(SHADER.id(), Shader::from_wesl(source, "windows.wesl"))?;
    Ok(())
}

/// Adds the materials of all styles of buildings.
pub(crate) fn facades(materials: &mut Assets<Facade>) -> [Handle<Facade>; STYLES] {
    let warm = LinearRgba::rgb(1.0, 0.56, 0.2);
    let white = LinearRgba::rgb(1.0, 0.86, 0.62);
    let cool = LinearRgba::rgb(0.5, 0.8, 1.0);
    let homes = |share, width| Windows {
        warm,
        cool: white,
        width,
        story: 3.1,
        share,
        rows: 0.0,
    };
    let offices = |rows, width| Windows {
        warm: white,
        cool,
        width,
        story: 3.8,
        share: 0.12,
        rows,
    };
    let styles = [
        (Color::srgb(0.34, 0.30, 0.29), homes(0.32, 2.8)),
        (Color::srgb(0.42, 0.27, 0.22), homes(0.24, 3.4)),
        (Color::srgb(0.24, 0.26, 0.31), homes(0.40, 2.4)),
        (Color::srgb(0.16, 0.20, 0.28), offices(0.22, 1.9)),
        (Color::srgb(0.20, 0.24, 0.27), offices(0.14, 4.2)),
        (Color::srgb(0.30, 0.31, 0.35), homes(0.18, 4.0)),
    ];
    styles.map(|(color, extension)| {
        materials.add(Facade {
            base: StandardMaterial {
                perceptual_roughness: 0.85,
                reflectance: 0.4,
                ..StandardMaterial::from(color)
            },
            extension,
        })
    })
}
