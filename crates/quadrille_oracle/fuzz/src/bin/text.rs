//! `quadrille_oracle::fuzz::text` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| quadrille_oracle::fuzz::text(bytes));
