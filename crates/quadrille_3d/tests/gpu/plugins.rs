//! Plugins in any order, and missing plugins: pictures are the same, or one line is logged.

use std::collections::BTreeSet;

use bevy_app::{App, AppExit, PluginGroupBuilder, Startup};
use bevy_diagnostic::DiagnosticsStore;
use bevy_ecs::prelude::*;
use bevy_log::LogPlugin;
use bevy_math::Vec2;
use bevy_reflect::TypePath;

use quadrille::ecs::{DrawnContent, RenderDiagnosticsPlugin, TexturePlugin};
use quadrille::prelude::QuadrillePlugins;
use quadrille_2d::prelude::{Mesh2d, MeshMaterial2d, Node, Quadrille2dPlugin, Sprite, Text2d, Val};
use quadrille_3d::prelude::*;

use crate::common::{Rig, log};

const BLUE: Color = Color::srgb(0.0, 0.0, 1.0);

/// A 3D camera in front of a red plane, and a 2D camera with a white sprite on the left.
fn scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    commands.spawn((
        Mesh3d(meshes.add(Rectangle::new(50.0, 50.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(1.0, 0.0, 0.0),
            unlit: true,
            ..StandardMaterial::default()
        })),
    ));
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    commands.spawn((Camera3d::default(), Tonemapping::None, eye));
    let above = Camera {
        order: 1,
        clear_color: ClearColorConfig::None,
        ..Camera::default()
    };
    commands.spawn((Camera2d, above));
    let sprite = Sprite::from_color(Color::WHITE, Vec2::splat(8.0));
    commands.spawn((sprite, Transform::from_xyz(-8.0, 0.0, 0.0)));
}

/// The lines that name one of our plugins or crates.
fn lines() -> Vec<String> {
    let lines = log::take().into_iter();
    lines.filter(|line| line.contains("uadrille")).collect()
}

#[test]
#[ignore = "needs a device"]
fn content_plugins_work_in_any_order() {
    log::collect();
    type Add = fn(&mut App, PluginGroupBuilder);
    let orders: [(&str, Add); 4] = [
        ("2D, 3D, renderer", |app, renderer| {
            app.add_plugins((
                Quadrille2dPlugin::default(),
                Quadrille3dPlugin::default(),
                renderer,
            ));
        }),
        ("3D, renderer, 2D", |app, renderer| {
            app.add_plugins((
                Quadrille3dPlugin::default(),
                renderer,
                Quadrille2dPlugin::default(),
            ));
        }),
        ("2D, renderer, 3D", |app, renderer| {
            app.add_plugins((
                Quadrille2dPlugin::default(),
                renderer,
                Quadrille3dPlugin::default(),
            ));
        }),
        ("renderer, 3D, 2D", |app, renderer| {
            app.add_plugins((
                renderer,
                Quadrille3dPlugin::default(),
                Quadrille2dPlugin::default(),
            ));
        }),
    ];
    for (order, add) in orders {
        let mut rig = Rig::built(32, 16, add);
        rig.app.add_systems(Startup, scene);
        rig.start();
        rig.update(2);
        let picture = rig.picture();
        assert_eq!(picture.at(24, 8), [255, 0, 0, 255], "{order}: the plane");
        assert_eq!(picture.at(8, 8), [255; 4], "{order}: the sprite");
        let lines = lines();
        assert!(lines.is_empty(), "{order}: {lines:#?}");
    }
}

#[test]
#[ignore = "needs a device"]
fn missing_renderer_warns_once() {
    log::collect();
    type Add = fn(&mut App);
    let apps: [(&str, Add); 3] = [
        ("Quadrille2dPlugin", |app| {
            app.add_plugins(Quadrille2dPlugin::default());
        }),
        ("Quadrille3dPlugin", |app| {
            app.add_plugins(Quadrille3dPlugin::default());
        }),
        ("Quadrille3dPlugin", |app| {
            app.add_plugins((Quadrille3dPlugin::default(), Quadrille2dPlugin::default()));
        }),
    ];
    for (name, add) in apps {
        let mut app = App::new();
        add(&mut app);
        app.finish();
        app.cleanup();
        app.add_systems(Startup, || panic!("systems would miss resources"));
        app.update();
        assert_eq!(app.should_exit(), Some(AppExit::from_code(2)));
        let lines = lines();
        assert_eq!(lines.len(), 1, "{lines:#?}");
        let wanted = format!("`{name}` draws nothing: the app has no renderer");
        assert!(lines[0].contains(&wanted), "{lines:#?}");
    }
}

/// An app with these plugins, and one entity for each plugin that draws.
fn undrawn(add: fn(&mut App)) -> Vec<String> {
    let mut rig = Rig::built(8, 8, |app, renderer| {
        app.add_plugins(renderer);
        add(app);
    });
    rig.start();
    let world = rig.app.world_mut();
    world.spawn((Name::new("eye"), Camera3d::default()));
    world.spawn((Name::new("lamp"), PointLight::default()));
    world.spawn((Name::new("page"), Camera2d));
    world.spawn((Name::new("bird"), Sprite::from_color(BLUE, Vec2::ONE)));
    world.spawn((Name::new("words"), Text2d::new("words")));
    let node = Node {
        width: Val::Px(4.0),
        ..Node::default()
    };
    world.spawn((Name::new("button"), node));
    rig.update(3);
    rig.app.world_mut().spawn(Camera3d::default());
    rig.app.world_mut().spawn(Sprite::default());
    rig.update(3);
    lines()
}

#[test]
#[ignore = "needs a device"]
fn content_without_plugin_warns_once() {
    log::collect();
    let warned = |lines: &[String], entity: &str, component: &str, plugin: &str| {
        lines
            .iter()
            .filter(|line| {
                line.contains(&format!("`{entity}`"))
                    && line.contains(&format!("has a `{component}`"))
                    && line.contains(plugin)
            })
            .count()
    };
    let lines = undrawn(|_| {});
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_eq!(
        warned(&lines, "eye", "Camera3d", "Quadrille3dPlugin"),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        warned(&lines, "page", "Camera2d", "Quadrille2dPlugin"),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        warned(&lines, "button", "Node", "feature `ui`"),
        1,
        "{lines:#?}"
    );

    let lines = undrawn(|app| {
        app.add_plugins(Quadrille2dPlugin::default());
    });
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(
        warned(&lines, "eye", "Camera3d", "Quadrille3dPlugin"),
        1,
        "{lines:#?}"
    );

    let lines = undrawn(|app| {
        app.add_plugins(Quadrille3dPlugin::default());
    });
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!(
        warned(&lines, "page", "Camera2d", "Quadrille2dPlugin"),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        warned(&lines, "button", "Node", "feature `ui`"),
        1,
        "{lines:#?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn each_drawn_component_alone_warns_without_plugin() {
    log::collect();
    type Spawn = fn(&mut World) -> Entity;
    let cases: [(&str, Spawn); 6] = [
        ("Mesh3d", |world| world.spawn(Mesh3d::default()).id()),
        ("PointLight", |world| {
            world.spawn(PointLight::default()).id()
        }),
        ("DirectionalLight", |world| {
            world.spawn(DirectionalLight::default()).id()
        }),
        ("Mesh2d", |world| world.spawn(Mesh2d::default()).id()),
        ("Sprite", |world| world.spawn(Sprite::default()).id()),
        ("Text2d", |world| world.spawn(Text2d::new("words")).id()),
    ];
    for (component, spawn) in cases {
        let mut rig = Rig::built(8, 8, |app, renderer| {
            app.add_plugins(renderer);
        });
        rig.start();
        spawn(rig.app.world_mut());
        rig.update(3);
        let lines = lines();
        assert_eq!(lines.len(), 1, "{component}: {lines:#?}");
        let wanted = format!("has a `{component}`");
        assert!(lines[0].contains(&wanted), "{component}: {lines:#?}");
    }
}

/// A material that passes of a program could draw.
#[derive(Asset, TypePath, Default)]
struct Lava;

#[test]
#[ignore = "needs a device"]
fn material_type_that_nothing_draws_warns_once() {
    log::collect();
    let warnings = |draws_lava: bool| {
        let mut rig = Rig::built(8, 8, |app, renderer| {
            app.add_plugins((
                renderer,
                Quadrille3dPlugin::default(),
                Quadrille2dPlugin::default(),
            ));
        });
        rig.start();
        let world = rig.app.world_mut();
        if draws_lava {
            let mut drawn = world.resource_mut::<DrawnContent>();
            drawn.add_component::<MeshMaterial3d<Lava>>();
        }
        world.spawn(MeshMaterial3d::<StandardMaterial>::default());
        world.spawn((Name::new("volcano"), MeshMaterial3d::<Lava>::default()));
        world.spawn(MeshMaterial3d::<Lava>::default());
        world.spawn((Name::new("puddle"), MeshMaterial2d::<Lava>::default()));
        world.spawn(MeshMaterial2d::<Lava>::default());
        rig.update(1);
        let lines = log::take().into_iter();
        let lines: Vec<_> = lines.filter(|line| line.contains("Lava")).collect();
        lines
    };
    let lines = warnings(false);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].contains("`volcano`"), "{lines:#?}");
    assert!(lines[0].contains("`MeshMaterial3d<Lava>`"), "{lines:#?}");
    assert!(lines[0].contains("`MeshMaterial3d<StandardMaterial>`"));
    let plugin = "`MaterialPlugin::<Lava>::default()`";
    assert!(lines[0].contains(plugin), "{lines:#?}");
    assert!(lines[1].contains("`puddle`"), "{lines:#?}");
    assert!(lines[1].contains("`MeshMaterial2d<Lava>`"), "{lines:#?}");

    let lines = warnings(true);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("`puddle`"), "{lines:#?}");
}

#[test]
#[ignore = "needs a device"]
fn textures_after_3d_plugin_work_or_panic_with_message() {
    log::collect();
    let app = |textures: TexturePlugin| {
        let mut app = App::new();
        let renderer = QuadrillePlugins::headless(8, 8).disable::<LogPlugin>();
        app.add_plugins((renderer, Quadrille3dPlugin::default(), textures));
        app
    };
    let mut same = app(TexturePlugin::default());
    same.add_systems(Startup, |mut exit: MessageWriter<AppExit>| {
        exit.write(AppExit::Success);
    });
    assert_eq!(same.run(), AppExit::Success);
    assert!(lines().is_empty(), "the settings are those that hold");

    let mut other = app(TexturePlugin {
        asset_folder: "elsewhere".to_owned(),
        ..TexturePlugin::default()
    });
    assert_eq!(other.run(), AppExit::from_code(2));
    let lines = lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(
        lines[0].contains("`TexturePlugin` comes after"),
        "{lines:#?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn pass_names_in_diagnostics_are_unique() {
    let mut rig = Rig::built(32, 16, |app, renderer| {
        app.add_plugins((
            renderer,
            Quadrille3dPlugin::default(),
            Quadrille2dPlugin::default(),
        ));
        app.add_plugins(RenderDiagnosticsPlugin);
    });
    rig.app.add_systems(Startup, scene);
    rig.start();
    rig.update(4);
    let store = rig.app.world().resource::<DiagnosticsStore>();
    let measured = |ending: &str| -> BTreeSet<String> {
        let paths = store.iter().map(|diagnostic| diagnostic.path().as_str());
        let names = paths.filter_map(|path| path.strip_suffix(ending));
        names.map(str::to_owned).collect()
    };
    let (device, host) = (measured("/elapsed_gpu"), measured("/elapsed_cpu"));
    assert!(device.contains("render/opaque_3d"), "{device:?}");
    let unknown: Vec<_> = device.difference(&host).collect();
    assert!(
        unknown.is_empty(),
        "no system has these names: {unknown:?}; there are {host:?}"
    );
}

#[test]
#[ignore = "needs a device"]
fn ignored_components_and_fields_warn_once() {
    log::collect();
    let mut rig = Rig::built(8, 8, |app, renderer| {
        app.add_plugins((renderer, Quadrille3dPlugin::default()));
    });
    rig.start();
    rig.update(2);
    let lines_before = lines();
    assert!(lines_before.is_empty(), "{lines_before:#?}");
    let ignored = ["ShadowLodOrigin"];
    for _ in 0..2 {
        rig.app
            .world_mut()
            .spawn((Name::new("odd"), bevy_camera::ShadowLodOrigin));
        rig.update(2);
    }
    let lines_of_types = lines();
    assert_eq!(lines_of_types.len(), ignored.len(), "{lines_of_types:#?}");
    for name in ignored {
        let wanted = "`odd` (";
        let names_it = |line: &&String| {
            line.contains(wanted)
                && line.contains(&format!("has a `{name}`, which Quadrille ignores"))
        };
        assert_eq!(lines_of_types.iter().filter(names_it).count(), 1, "{name}");
    }
}
