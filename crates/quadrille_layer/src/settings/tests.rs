use std::time::Duration;

use super::Settings;

fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
    let find = |name: &str| {
        let short = name.strip_prefix("QUADRILLE_LAYER_").unwrap();
        variables
            .iter()
            .find(|(key, _)| *key == short)
            .map(|(_, value)| (*value).to_owned())
    };
    Settings::read(find, |_| None).map_err(|refusal| refusal.to_string())
}

#[test]
fn defaults() {
    let settings = read(&[]).unwrap();
    assert_eq!(settings.families.len(), 1, "one universal family");
    assert_eq!(settings.seed, None, "submission order");
    assert!(!settings.poison, "no poison");
    assert!(!settings.null, "commands reach the driver");
}

#[test]
fn all_set() {
    let variables = [
        ("FAMILIES", "gct:1,t:2"),
        ("SEED", "7"),
        ("POISON", "1"),
        ("NULL", "1"),
        ("TIMEOUT_MS", "50"),
    ];
    let settings = read(&variables).unwrap();
    assert_eq!(settings.families.len(), 2, "two families");
    assert_eq!(settings.seed, Some(7), "the seed");
    assert!(settings.poison, "poison");
    assert!(settings.null, "null");
    assert_eq!(
        settings.progress_timeout,
        Duration::from_millis(50),
        "milliseconds"
    );
}

#[test]
fn refusals_name_the_variable() {
    for (name, value) in [
        ("FAMILIES", "x:1"),
        ("SEED", "-1"),
        ("SEED", "0x10"),
        ("POISON", "yes"),
        ("NULL", "yes"),
        ("SCRIPT", "/nowhere/script"),
        ("TIMEOUT_MS", "soon"),
    ] {
        let line = read(&[(name, value)]).expect_err(value);
        assert!(
            line.starts_with(&format!("QUADRILLE_LAYER_{name}: ")),
            "{line}"
        );
        assert!(line.contains("expected"), "{line}");
    }
}
