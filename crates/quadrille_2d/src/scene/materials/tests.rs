use std::sync::atomic::{AtomicU32, Ordering};

use bevy_asset::{Asset, Assets};
use bevy_image::Image;
use bevy_reflect::TypePath;
use quadrille::material::AsBindGroup;
use quadrille_content::materials::Specializers;

use super::*;

#[derive(Asset, TypePath, AsBindGroup, Clone)]
struct Tinted {
    #[uniform(0)]
    strength: f32,
    #[texture(1)]
    #[sampler(2)]
    pattern: Option<Handle<Image>>,
}

struct Fixture {
    store: Materials2d,
    assets: Assets<Tinted>,
    specializers: Specializers<()>,
}

impl Fixture {
    fn new() -> Self {
        let mut store = Materials2d::default();
        let layout = MaterialLayout::new(Tinted::bindings());
        let source = ShaderSources {
            vertex: None,
            fragment: FragmentSource::Default(Shader::from_wgsl("", "none.wgsl")),
        };
        let id = TypeId::of::<Tinted>();
        store.add_type(id, ("Tinted", MaterialKind::Sprite), layout, source);
        Self {
            store,
            assets: Assets::default(),
            specializers: Specializers::default(),
        }
    }

    fn add(&mut self, material: Tinted) -> MaterialInstance {
        let handle = self.assets.add(material.clone());
        let instance = MaterialInstance(Some(handle.id().untyped()));
        std::mem::forget(handle);
        self.put(instance, &material);
        instance
    }

    fn put(&mut self, instance: MaterialInstance, material: &Tinted) {
        let mut values = BindingValues::default();
        material.write_bindings(&mut values);
        let desc = MaterialDesc {
            values,
            alpha_mode: Some(AlphaMode::Opaque),
            depth_bias: 0.0,
            specialize: self.specializers.get((), |()| |_, _| Ok(())),
        };
        let id = instance.0.expect("it has an asset");
        self.store.put((id, TypeId::of::<Tinted>()), desc);
    }

    fn state(&self, instance: MaterialInstance) -> MaterialState {
        let state = self.store.get(Some(&instance), MaterialKind::Sprite, None);
        state.expect("the material is there")
    }
}

fn plain(strength: f32) -> Tinted {
    Tinted {
        strength,
        pattern: None,
    }
}

#[test]
fn materials_with_equal_images_are_bound_together() {
    let mut fixture = Fixture::new();
    let [first, second] = [1.0, 2.0].map(|strength| fixture.add(plain(strength)));
    let other = Handle::Uuid(
        bevy_asset::uuid::Uuid::from_u128(1),
        std::marker::PhantomData,
    );
    let third = fixture.add(Tinted {
        pattern: Some(other),
        ..plain(1.0)
    });
    let [first, second, third] = [first, second, third].map(|it| fixture.state(it));
    assert_eq!(first.bind_group, second.bind_group);
    assert_ne!(first.row, second.row);
    assert_ne!(first.bind_group, third.bind_group);
}

#[test]
fn another_uniform_changes_no_state() {
    let mut fixture = Fixture::new();
    let material = fixture.add(plain(1.0));
    let changes = fixture.store.changes();
    fixture.put(material, &plain(3.0));
    assert_eq!(fixture.store.changes(), changes);
    fixture.store.remove(material.0.expect("it has an asset"));
    assert_ne!(fixture.store.changes(), changes);
    assert_eq!(
        fixture
            .store
            .get(Some(&material), MaterialKind::Sprite, None),
        None
    );
    let mut groups = fixture.store.groups.iter();
    assert!(groups.all(|it| it.group.is_none()));
}

#[test]
fn materials_are_specialized_again_for_another_key() {
    let mut fixture = Fixture::new();
    let material = fixture.add(plain(1.0));
    let id = material.0.expect("it has an asset");
    let count = Arc::new(AtomicU32::new(0));
    let mut specializers = Specializers::default();
    for (key, calls) in [(0, 1), (0, 1), (1, 2), (1, 2), (0, 3)] {
        let mut values = BindingValues::default();
        plain(2.0).write_bindings(&mut values);
        let counted = Arc::clone(&count);
        let specialize = specializers.get(key, |_| {
            move |_: &mut _, _: &_| {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        });
        let desc = MaterialDesc {
            values,
            alpha_mode: Some(AlphaMode::Opaque),
            depth_bias: 0.0,
            specialize,
        };
        fixture.store.put((id, TypeId::of::<Tinted>()), desc);
        assert_eq!(count.load(Ordering::Relaxed), calls, "key {key}");
        fixture.state(material);
    }
}

#[test]
fn material_of_another_kind_is_none() {
    let mut fixture = Fixture::new();
    let material = fixture.add(plain(1.0));
    assert_eq!(
        fixture.store.get(Some(&material), MaterialKind::Node, None),
        None
    );
    assert_eq!(fixture.store.get(None, MaterialKind::Sprite, None), None);
}
