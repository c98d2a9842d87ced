//! Access to arguments that an app passes by pointer.

use std::ffi::c_void;

use ash::vk;

/// Returns an array argument as a slice; empty if the pointer is null.
///
/// # Safety
/// A non-null `first` must point to `count` valid elements that live as long as `'a`.
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: not null; the rest is the caller's contract.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// Finds the structure of type `T` in a chain.
///
/// # Safety
/// `p_next` must be null or start a valid chain that lives as long as `'a`.
pub(crate) unsafe fn find<'a, T: vk::TaggedStructure>(p_next: *const c_void) -> Option<&'a T> {
    // SAFETY: by the caller's contract.
    let base = unsafe { chain(p_next) }.find(|base| base.s_type == T::STRUCTURE_TYPE)?;
    // SAFETY: `sType` identifies a `T`.
    Some(unsafe { &*std::ptr::from_ref(base).cast::<T>() })
}

/// Finds the structure of type `T` in a chain, for writing.
///
/// # Safety
/// `p_next` must be null or start a valid chain that lives as long as `'a` and that no other thread uses.
pub(crate) unsafe fn find_mut<'a, T: vk::TaggedStructure>(
    p_next: *mut c_void,
) -> Option<&'a mut T> {
    let mut next = p_next.cast::<vk::BaseOutStructure<'a>>();
    // SAFETY: every structure of a valid chain begins with a type and a pointer.
    while let Some(base) = unsafe { next.as_mut() } {
        if base.s_type == T::STRUCTURE_TYPE {
            // SAFETY: `sType` identifies a `T`.
            return Some(unsafe { &mut *std::ptr::from_mut(base).cast::<T>() });
        }
        next = base.p_next;
    }
    None
}

/// Runs a closure while a chain seems to lack a structure of this type: its `sType` is temporarily an unknown one,
/// which drivers must ignore.
///
/// # Safety
/// `p_next` must be null or start a valid chain that no other thread uses.
pub(crate) unsafe fn without<T>(
    p_next: *const c_void,
    kind: vk::StructureType,
    run: impl FnOnce() -> T,
) -> T {
    let mut next = p_next.cast_mut().cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: every structure of a valid chain begins with a type and a pointer.
    while let Some(base) = unsafe { next.as_mut() } {
        if base.s_type == kind {
            base.s_type = vk::StructureType::from_raw(i32::MAX - 1);
            let result = run();
            base.s_type = kind;
            return result;
        }
        next = base.p_next;
    }
    run()
}

/// Iterates over the structures of a chain.
///
/// # Safety
/// `p_next` must be null or start a valid chain that lives as long as `'a`.
pub(crate) unsafe fn chain<'a>(
    p_next: *const c_void,
) -> impl Iterator<Item = &'a vk::BaseInStructure<'a>> {
    let mut next = p_next.cast::<vk::BaseInStructure<'a>>();
    std::iter::from_fn(move || {
        // SAFETY: every structure of a valid chain begins with a type and a pointer.
        let base = unsafe { next.as_ref() }?;
        next = base.p_next;
        Some(base)
    })
}
