import super::gone::tint;
@compute @workgroup_size(1) fn main() { let a = tint(); }
