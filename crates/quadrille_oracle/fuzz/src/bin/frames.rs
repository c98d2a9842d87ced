//! `quadrille_oracle::fuzz::frames` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| quadrille_oracle::fuzz::frames(bytes));
