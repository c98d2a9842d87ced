use ash::vk;

use super::{Addresses, address, text};

#[test]
fn addresses_are_as_precise_as_the_driver_is() {
    let info = vk::DeviceFaultAddressInfoEXT::default()
        .address_type(vk::DeviceFaultAddressTypeEXT::READ_INVALID)
        .reported_address(0x1234_5678)
        .address_precision(0x1000);
    let report = address(&info, None);
    assert_eq!(
        report,
        "the driver names a read from the device addresses 0x12345000 to 0x12345fff"
    );
    // A precision of 0 is invalid, but must not panic.
    let report = address(&info.address_precision(0), Some(&Addresses::default()));
    assert!(
        report.ends_with("0x12345678 to 0x12345678, which no buffer has"),
        "{report}"
    );
}

#[test]
fn texts_are_one_line_and_need_no_end() {
    let chars = |bytes: &[u8]| bytes.iter().map(|&byte| byte as _).collect::<Vec<_>>();
    assert_eq!(text(&chars(b" page\nfault\0garbage")), "page fault");
    assert_eq!(text(&chars(b"no end")), "no end");
    assert_eq!(text(&chars(b"caf\xe9\0")), "caf\u{fffd}");
}
