use super::*;

#[test]
fn only_existing_changed_fields_warn() {
    let plain = PointLight::default();
    let contact = PointLight {
        contact_shadows_enabled: true,
        ..plain
    };
    assert!(!differs("contact_shadows_enabled", &plain, &plain));
    assert!(differs("contact_shadows_enabled", &contact, &plain));
    assert!(!differs("no_such_field", &contact, &plain));
}

/// App with only the observers.
fn app() -> App {
    let mut app = App::new();
    app.init_resource::<RateLimitedWarnings>();
    watch(&mut app);
    app
}

#[test]
fn inserted_lights_are_checked() {
    let mut app = app();
    let warned = |app: &App| app.world().resource::<WarnedFields>().0.clone();
    let world = app.world_mut();
    let light = world.spawn(PointLight::default()).id();
    assert_eq!(warned(&app), [""; 0]);
    // Cameras with `ContactShadows` draw them.
    app.world_mut().entity_mut(light).insert(PointLight {
        contact_shadows_enabled: true,
        ..PointLight::default()
    });
    assert_eq!(warned(&app), [""; 0]);
}

#[test]
fn soft_shadow_fields_match_bevy() {
    let lights: [&dyn Struct; 3] = [
        &DirectionalLight::default(),
        &PointLight::default(),
        &SpotLight::default(),
    ];
    for light in lights {
        for index in 0..light.field_len() {
            let name = light.name_at(index).expect("fields have names");
            let is_soft = name.contains("soft");
            assert_eq!(is_soft, FIELDS.contains(&name), "{name}");
        }
    }
}
