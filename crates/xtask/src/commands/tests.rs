use clap::{CommandFactory, Parser};

use super::{Arguments, Command};
use crate::scenarios::soak::Dose;

fn command(words: &str) -> Result<Command, String> {
    let words = ["cargo xtask"].into_iter().chain(words.split_whitespace());
    let arguments = Arguments::try_parse_from(words);
    arguments
        .map(|arguments| arguments.command)
        .map_err(|error| error.to_string())
}

#[test]
fn all_commands_are_well_formed() {
    Arguments::command().debug_assert();
}

#[test]
fn a_soak_is_long_unless_it_is_said_otherwise() {
    let dose = |words| match command(words) {
        Ok(Command::Soak(dose)) => dose,
        other => panic!("{other:?}"),
    };
    let (frames, seed) = (100_000, 1);
    assert_eq!(dose("soak"), Dose { frames, seed });
    let (frames, seed) = (300, 9);
    assert_eq!(dose("soak --seed 9 --frames 300"), Dose { frames, seed });
}

#[test]
fn arguments_of_programs_are_passed_on() {
    let Ok(Command::Validated { program, arguments }) = command("validated life --frames 60")
    else {
        panic!("options of the program are not ours");
    };
    assert_eq!(
        (program.as_str(), arguments.join(" ")),
        ("life", "--frames 60".into())
    );
}

#[test]
fn options_of_the_bench_are_passed_on() {
    let Ok(Command::Bench(options)) = command("bench --n 300 --mode systems --null --pass-us 5")
    else {
        panic!("options stand in any order");
    };
    let words = "--n 300 --mode systems --null --pass-us 5";
    assert_eq!(options.words().join(" "), words);
    assert!(options.has("--mode") && options.has("--null"));
    assert!(!options.has("--verify"));
    let Ok(Command::Bench(options)) = command("bench --mode=reuse") else {
        panic!("options may have their values with them");
    };
    assert!(options.has("--mode") && !options.has("reuse"));
    let Ok(Command::Bench(options)) = command("bench --frames") else {
        panic!("realistic frames are measured alone");
    };
    assert!(options.frames && options.words().is_empty());
}

#[test]
fn wrong_words_are_refused() {
    for (words, named) in [
        ("", "Usage"),
        ("dance", "'dance'"),
        ("soak --frames", "--frames"),
        ("soak --frames x", "'x'"),
        ("soak --frames 0", "'0'"),
        ("soak --days 3", "'--days'"),
        ("plan", "FILE"),
        ("plan a --fast", "'--fast'"),
        ("plan a --topology nonsense", "'nonsense'"),
        ("plan a b", "'b'"),
        ("check", "<FILE>"),
        ("bevy-examples", "<DIR>"),
    ] {
        let error = command(words).expect_err(words);
        assert!(error.contains(named), "{words}: {error}");
    }
}
