use bevy_input::keyboard::KeyCode;

use super::{Action, Antialiasing, HEAD, Settings, SettingsFile, Switch};
use crate::quality::Quality;

fn defaults() -> Settings {
    Settings::of_quality(Quality::Medium, false)
}

#[test]
fn settings_return_from_their_file() {
    let folder = examples::folder::unpredictable("settings");
    let path = folder.join("courier_settings.txt");
    assert_eq!(Settings::load(&path, defaults()), defaults(), "no file");
    let mut changed = defaults();
    changed.change_antialiasing(-1);
    changed.toggle(Switch::Fog);
    assert!(changed.bind(Action::Climb, KeyCode::KeyQ));
    let mut file = SettingsFile {
        path: Some(path.clone()),
        saved: defaults(),
    };
    file.save(&changed);
    assert_eq!(Settings::load(&path, defaults()), changed);
    // The default of another quality does not matter to what the file says.
    let high = Settings::of_quality(Quality::High, false);
    assert_eq!(Settings::load(&path, high), changed);
    let files = std::fs::read_dir(&folder).expect("the folder is there");
    assert_eq!(files.count(), 1, "no file is left beside it");
}

#[test]
fn reflections_are_as_chosen_on_each_device() {
    let of = |quality, is_software| Settings::of_quality(quality, is_software);
    let has = |settings: Settings| settings.has(Switch::Reflections);
    assert!(has(of(Quality::High, false)));
    for others in [
        of(Quality::High, true),
        of(Quality::Medium, false),
        of(Quality::Low, false),
    ] {
        assert!(!has(others));
        // No other default depends on the device.
        let mut chosen = others;
        chosen.toggle(Switch::Reflections);
        let text = chosen.text();
        assert_eq!(others.parse(&text), Ok(chosen), "{text}");
    }
    let software = of(Quality::High, true);
    let mut chosen = software;
    chosen.toggle(Switch::Reflections);
    assert_eq!(chosen, of(Quality::High, false));
    let off = format!("{HEAD}\nreflections off\n");
    assert_eq!(of(Quality::High, false).parse(&off), Ok(software));
}

#[test]
fn files_from_before_reflections_leave_their_default() {
    for defaults in [defaults(), Settings::of_quality(Quality::High, false)] {
        let mut changed = defaults;
        changed.toggle(Switch::Bloom);
        changed.change_antialiasing(1);
        let all = changed.text();
        let old: String = all
            .lines()
            .filter(|line| !line.starts_with("reflections "))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(all.lines().count(), old.lines().count() + 1);
        assert_eq!(defaults.parse(&old), Ok(changed));
    }
}

#[test]
fn unchanged_settings_are_not_written() {
    let folder = examples::folder::unpredictable("settings");
    let path = folder.join("courier_settings.txt");
    let mut file = SettingsFile {
        path: Some(path.clone()),
        saved: defaults(),
    };
    file.save(&defaults());
    assert!(!path.exists());
}

#[test]
fn broken_files_are_defaults() {
    let folder = examples::folder::unpredictable("settings");
    std::fs::create_dir(&folder).expect("folders can be made");
    let path = folder.join("broken.txt");
    let with = |line: &str| format!("{HEAD}\nbloom off\n{line}\n").into_bytes();
    for broken in [
        b"courier settings 0\nbloom off\n".to_vec(),
        b"courier scores 1\n5\n".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        b"".to_vec(),
        with("volume 11"),
        with("bloom maybe"),
        with("key-climb p"),
        with("key-climb w"),
        with("antialiasing"),
        with("gravity on"),
        vec![b'x'; 5000],
    ] {
        std::fs::write(&path, &broken).expect("written");
        let text = String::from_utf8_lossy(&broken);
        assert!(
            String::from_utf8(broken.clone())
                .map_err(|_| String::new())
                .and_then(|text| defaults().parse(&text))
                .is_err(),
            "{text}"
        );
        assert_eq!(Settings::load(&path, defaults()), defaults(), "{text}");
    }
}

#[test]
fn antialiasing_goes_round() {
    let mut settings = defaults();
    let first = settings.antialiasing;
    (0..5).for_each(|_| settings.change_antialiasing(1));
    assert_eq!(settings.antialiasing, first);
    settings.antialiasing = Antialiasing::Off;
    settings.change_antialiasing(-1);
    assert_eq!(settings.antialiasing, Antialiasing::Upscaling);
}

#[test]
fn keys_are_swapped_and_those_of_menus_refused() {
    let mut settings = defaults();
    assert!(settings.bind(Action::Left, KeyCode::KeyD));
    assert_eq!(settings.key(Action::Left), KeyCode::KeyD);
    assert_eq!(settings.key(Action::Right), KeyCode::KeyA);
    for key in [
        KeyCode::Enter,
        KeyCode::Escape,
        KeyCode::KeyP,
        KeyCode::ArrowUp,
    ] {
        assert!(!settings.bind(Action::Left, key), "{key:?}");
    }
    assert!(settings.bind(Action::Left, KeyCode::KeyD), "its own key");
    assert_eq!(settings.key_name(Action::Left), "d");
}
