use super::*;

#[test]
fn only_fields_that_exist_and_differ_are_told_of() {
    let plain = PointLight::default();
    let contact = PointLight {
        contact_shadows_enabled: true,
        ..plain
    };
    assert!(!differs("contact_shadows_enabled", &plain, &plain));
    assert!(differs("contact_shadows_enabled", &contact, &plain));
    assert!(!differs("no_such_field", &contact, &plain));
}

#[test]
fn each_field_of_softness_is_known_by_bevys_name() {
    let lights: [&dyn Struct; 3] = [
        &DirectionalLight::default(),
        &PointLight::default(),
        &SpotLight::default(),
    ];
    for light in lights {
        for index in 0..light.field_len() {
            let name = light.name_at(index).expect("fields have names");
            let is_soft = name.contains("soft") || name.contains("contact");
            assert_eq!(is_soft, FIELDS.contains(&name), "{name}");
        }
    }
}
