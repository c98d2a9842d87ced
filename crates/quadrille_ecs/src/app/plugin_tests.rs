use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent};
use bevy_reflect::TypePath;
use bevy_reflect::prelude::ReflectDefault;

use super::*;

#[derive(Resource)]
struct Planted;

#[test]
fn a_resource_is_found_by_its_name_while_it_is_there() {
    let name = std::any::type_name::<Planted>();
    let mut world = World::new();
    assert!(!has_resource(&world, name), "unknown");
    world.insert_resource(Planted);
    assert!(has_resource(&world, name), "there");
    assert!(!has_resource(&world, OTHER_RENDERER), "another name");
    world.remove_resource::<Planted>();
    assert!(!has_resource(&world, name), "known, and gone");
}

#[test]
fn components_of_programs_are_registered() {
    let mut app = App::empty();
    app.init_resource::<AppTypeRegistry>();
    register_types(&mut app);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let types = [
        (PresentSettings::type_path(), true),
        (Pass::type_path(), false),
        (QueuePreference::type_path(), true),
        (AlwaysRun::type_path(), true),
    ];
    for (path, has_default) in types {
        let registration = registry.get_with_type_path(path).expect(path);
        assert!(registration.data::<ReflectComponent>().is_some(), "{path}");
        let default = registration.data::<ReflectDefault>();
        assert_eq!(default.is_some(), has_default, "{path}");
        if let Some(default) = default {
            assert!(default.default().reflect_clone().is_ok(), "{path}");
        }
    }
}
