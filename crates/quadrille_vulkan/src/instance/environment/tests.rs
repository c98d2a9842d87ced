use quadrille_sync::topology::BarrierStyle;

use super::overrule_by;
use crate::error::SetupError;
use crate::instance::settings::{Settings, WantedQueue};
use crate::instance::sharing::Sharing;

/// Returns the default settings overridden by these variables.
fn with(variables: &[(&str, &str)]) -> Result<Settings, SetupError> {
    over(&Settings::default(), variables)
}

fn over(settings: &Settings, variables: &[(&str, &str)]) -> Result<Settings, SetupError> {
    overrule_by(settings, |name| {
        let found = variables.iter().find(|(variable, _)| *variable == name)?;
        Some(found.1.to_owned())
    })
}

#[test]
fn each_variable_overrules_its_setting() {
    let settings = with(&[
        ("QUADRILLE_DEVICE", "llvmpipe"),
        ("QUADRILLE_QUEUES", "1"),
        ("QUADRILLE_VALIDATION", "1"),
        ("QUADRILLE_ALIASING", "0"),
        ("QUADRILLE_AUTO_QUEUES", "0"),
        ("QUADRILLE_CULL_PASSES", "0"),
        ("QUADRILLE_BARRIERS", "precise"),
        ("QUADRILLE_SHARING", "auto"),
    ])
    .unwrap();
    assert_eq!(settings.device.as_deref(), Some("llvmpipe"));
    assert_eq!(settings.queues, [WantedQueue::MAIN]);
    assert!(settings.validation);
    assert_eq!(settings.aliasing, Some(false));
    assert!(!settings.auto_queues);
    assert!(!settings.cull_passes);
    assert_eq!(settings.barriers, Some(BarrierStyle::Precise));
    assert_eq!(settings.sharing, Sharing::Auto);
}

#[test]
fn without_variables_or_with_empty_ones_settings_stay() {
    let before = Settings {
        device: Some("H200".to_owned()),
        barriers: Some(BarrierStyle::Merged),
        sharing: Sharing::Concurrent,
        ..Settings::default()
    };
    let names = ["DEVICE", "QUEUES", "VALIDATION", "BARRIERS", "SHARING"];
    let variables: Vec<_> = names
        .iter()
        .map(|name| format!("QUADRILLE_{name}"))
        .collect();
    let empty: Vec<_> = variables.iter().map(|name| (name.as_str(), "")).collect();
    for variables in [&[][..], &empty] {
        let after = over(&before, variables).unwrap();
        assert_eq!(format!("{after:?}"), format!("{before:?}"));
    }
}

#[test]
fn a_device_that_the_program_names_stays() {
    let settings = Settings {
        device: Some("H200".to_owned()),
        ..Settings::default()
    };
    let after = over(&settings, &[("QUADRILLE_DEVICE", "llvmpipe")]).unwrap();
    assert_eq!(after.device.as_deref(), Some("H200"));
}

#[test]
fn an_unknown_word_is_an_error_that_names_the_known_ones() {
    let said = |variable, value| with(&[(variable, value)]).unwrap_err().to_string();
    assert_eq!(
        said("QUADRILLE_SHARING", "shared"),
        "QUADRILLE_SHARING is \"shared\"; it must be one of exclusive, concurrent, auto, or unset"
    );
    assert_eq!(
        said("QUADRILLE_VALIDATION", "yes"),
        "QUADRILLE_VALIDATION is \"yes\"; it must be one of 1, 0, or unset"
    );
    for variable in [
        "QUADRILLE_ALIASING",
        "QUADRILLE_AUTO_QUEUES",
        "QUADRILLE_BARRIERS",
        "QUADRILLE_QUEUES",
    ] {
        let message = said(variable, "whatever");
        assert!(message.contains(variable), "{message}");
    }
}
