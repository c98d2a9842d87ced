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
