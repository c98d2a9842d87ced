//! The fuzz targets on fixed seeds: the solver's cases with changed bytes and lines, and frames by
//! the whim of random bytes.
//!
//! `QUADRILLE_ORACLE_FUZZ` and `QUADRILLE_ORACLE_SECONDS` say how many inputs of each, whichever
//! is reached first; `QUADRILLE_ORACLE_SEED` says where to begin.

#![expect(clippy::print_stdout, reason = "the counts are the point of the test")]

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use quadrille_oracle::{Random, fuzz};

mod common;

/// Runs inputs by seed, and prints the seed of one that panics.
fn run(name: &str, input: impl Fn(&mut Random) -> Vec<u8>, target: fn(&[u8])) {
    let wanted = common::setting("FUZZ", 20_000);
    let time = Duration::from_secs(common::setting("SECONDS", 10));
    let first = common::setting("SEED", 1);
    let start = Instant::now();
    let mut seed = first;
    while seed - first < wanted && start.elapsed() < time {
        let bytes = input(&mut Random::new(seed));
        if catch_unwind(|| target(&bytes)).is_err() {
            panic!("QUADRILLE_ORACLE_SEED={seed} breaks a promise of fuzz::{name}");
        }
        seed += 1;
    }
    println!("{name}: {} inputs in {:?}", seed - first, start.elapsed());
}

/// The texts of the solver's cases.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../quadrille_sync/cases");
    let files = fs::read_dir(folder).expect("the solver has cases");
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).ok());
    texts.map(|text| text.expect("cases are text")).collect()
}

/// Numbers that break arithmetic.
const ABSURD: [&str; 6] = [
    "0",
    "4294967295",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
    "18446744073709551616",
];

/// A text with one to four changes.
fn changed(random: &mut Random, corpus: &[String]) -> Vec<u8> {
    let text = random.pick(corpus).expect("there are cases");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.between(1, 4) {
        let at = random.below(lines.len());
        match random.below(5) {
            0 => drop(lines.remove(at)),
            1 => {
                let other = random.pick(corpus).expect("there are cases");
                let other: Vec<&str> = other.lines().collect();
                let line = random.pick(&other).copied().unwrap_or_default();
                lines.insert(at, line.to_owned());
            }
            2 => lines.swap(at, 0),
            3 => {
                // A number, or any word.
                let mut words: Vec<&str> = lines[at].split(' ').collect();
                let word = random.below(words.len());
                let choices: Vec<usize> = (0..words.len())
                    .filter(|at| words[*at].starts_with(|c: char| c.is_ascii_digit()))
                    .chain([word])
                    .collect();
                let chosen = random.pick(&choices).copied().unwrap_or(word);
                words[chosen] = random.pick(&ABSURD).copied().unwrap_or("0");
                lines[at] = words.join(" ");
            }
            _ => {
                let mut bytes = lines[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let at = random.below(bytes.len());
                    bytes[at] = random.next() as u8;
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n").into_bytes()
}

#[test]
fn changed_cases_end_in_errors_or_objections() {
    let corpus = corpus();
    run("text", |random| changed(random, &corpus), fuzz::text);
}

#[test]
fn whimsical_frames_are_refused_or_planned_well() {
    let bytes = |random: &mut Random| {
        let count = random.between(20, 400);
        (0..count).map(|_| random.next() as u8).collect()
    };
    run("frames", bytes, fuzz::frames);
}
