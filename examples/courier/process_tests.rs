use super::{cpu_of, memory_of};

#[test]
fn times_follow_the_name() {
    let stat = "7 (a b) c) S 1 7 7 0 -1 4194304 99 0 0 0 120 30 0 0 20 0 9 0 5 6 7";
    assert_eq!(cpu_of(stat), Some(1500));
    assert_eq!(cpu_of("7 (a) S 1"), None);
}

#[test]
fn memory_has_a_peak() {
    let status = "Name:\tcourier\nVmHWM:\t  900 kB\nVmRSS:\t  800 kB\n";
    assert_eq!(memory_of(status), Some([800, 900]));
    assert_eq!(memory_of("Name:\tcourier\n"), None);
}
