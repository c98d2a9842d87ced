use bevy_ecs::system::RunSystemOnce as _;

use super::*;

#[derive(Component)]
struct Unrelated;

/// Stand-ins for component types that the tables could name.
#[derive(Component)]
struct Drawn;

#[test]
fn entity_is_named_by_its_name_and_id() {
    let mut world = World::new();
    let entity = world.spawn(Name::new("player")).id();
    let name = world.get::<Name>(entity);
    assert_eq!(label(entity, name), format!("`player` ({entity})"));
    assert_eq!(label(entity, None), format!("entity {entity} (no `Name`)"));
}

#[test]
fn notices_are_found_by_type_name_and_given_once() {
    let mut world = World::new();
    world.spawn((Unrelated, Drawn));
    let found = world
        .run_system_once(|components: &Components| {
            let name = std::any::type_name::<Drawn>();
            let mut watched = Watched::default();
            watched.pending.insert(name, Notice::Ignored("nothing"));
            let id = |type_id| components.get_id(type_id).expect("the type is registered");
            let drawn = id(TypeId::of::<Drawn>());
            let unrelated = id(TypeId::of::<Unrelated>());
            let before = watched.notice(drawn, components).map(|(name, _)| name);
            let other = watched.notice(unrelated, components).is_some();
            watched.pending.remove(name);
            (before, other, watched.notice(drawn, components).is_some())
        })
        .expect("the system runs");
    assert_eq!(found, (Some(std::any::type_name::<Drawn>()), false, false));
}

#[test]
fn no_component_is_in_both_tables() {
    let drawn = DRAWN_COMPONENTS.iter().map(|&(name, _)| name);
    let mut all: Vec<_> = drawn
        .chain(IGNORED_COMPONENTS.iter().map(|&(name, _)| name))
        .collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}
