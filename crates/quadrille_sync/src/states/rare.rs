//! The parts of a state that few ranges have.

use super::range_state::{HostVisibility, Pending};

/// The parts of a state that few ranges have: releases, promised reads, visibility to the host,
/// and accesses to shared memory.
///
/// There is a state for each resource of a frame, and planning copies them. So this takes only one word if
/// all parts are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RareParts<M> {
    /// None if all parts are empty, so that equal states are equal.
    parts: Option<Box<Parts<M>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Parts<M> {
    promised: Option<M>,
    pending: Option<Pending<M>>,
    host: Option<HostVisibility<M>>,
    aliased: Vec<M>,
}

impl<M> Parts<M> {
    const NOTHING: Self = Self {
        promised: None,
        pending: None,
        host: None,
        aliased: Vec::new(),
    };

    fn is_nothing(&self) -> bool {
        let Self {
            promised,
            pending,
            host,
            aliased,
        } = self;
        promised.is_none() && pending.is_none() && host.is_none() && aliased.is_empty()
    }
}

impl<M> RareParts<M> {
    /// All parts are empty.
    pub(crate) const NOTHING: Self = Self { parts: None };

    /// Whether all parts are empty.
    #[inline]
    pub(crate) fn is_nothing(&self) -> bool {
        self.parts.is_none()
    }

    /// The last read by another stream that borrowed the resource. The read may not happen at all, so
    /// being ordered after it does not imply being ordered after the last write.
    #[inline]
    pub(crate) fn promised(&self) -> Option<&M> {
        self.parts.as_deref()?.promised.as_ref()
    }

    /// The release of the range, until it is acquired.
    #[inline]
    pub(crate) fn pending(&self) -> Option<&Pending<M>> {
        self.parts.as_deref()?.pending.as_ref()
    }

    /// The visibility of the last write to the host, if there is any.
    #[inline]
    pub(crate) fn host(&self) -> Option<&HostVisibility<M>> {
        self.parts.as_deref()?.host.as_ref()
    }

    /// The visibility of the last write to the host, for changes.
    pub(crate) fn host_mut(&mut self) -> Option<&mut HostVisibility<M>> {
        self.parts.as_deref_mut()?.host.as_mut()
    }

    /// Accesses to the memory by its earlier occupants, while a frame is planned and until the range is
    /// written. The first write depends on all of them.
    #[inline]
    pub(crate) fn aliased(&self) -> &[M] {
        self.parts.as_deref().map_or(&[], |parts| &parts.aliased)
    }

    pub(crate) fn set_promised(&mut self, promised: M) {
        self.change(|parts| parts.promised = Some(promised));
    }

    pub(crate) fn set_pending(&mut self, pending: Pending<M>) {
        self.change(|parts| parts.pending = Some(pending));
    }

    pub(crate) fn set_host(&mut self, host: HostVisibility<M>) {
        self.change(|parts| parts.host = Some(host));
    }

    pub(crate) fn set_aliased(&mut self, aliased: Vec<M>) {
        self.change(|parts| parts.aliased = aliased);
    }

    pub(crate) fn forget_promised(&mut self) {
        self.forget(|parts| parts.promised = None);
    }

    #[inline]
    pub(crate) fn forget_pending(&mut self) {
        self.forget(|parts| parts.pending = None);
    }

    pub(crate) fn forget_host(&mut self) {
        self.forget(|parts| parts.host = None);
    }

    pub(crate) fn forget_aliased(&mut self) {
        self.forget(|parts| parts.aliased = Vec::new());
    }

    /// Clears all parts except the release.
    #[inline]
    pub(crate) fn keep_pending(&mut self) {
        self.forget(|parts| {
            *parts = Parts {
                pending: parts.pending.take(),
                ..Parts::NOTHING
            }
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut Parts<M>)) {
        let parts = self.parts.take();
        let mut parts = parts.unwrap_or_else(|| Box::new(Parts::NOTHING));
        change(&mut parts);
        self.parts = Some(parts).filter(|parts| !parts.is_nothing());
    }

    /// Changes the parts, if any is not empty.
    #[inline]
    fn forget(&mut self, change: impl FnOnce(&mut Parts<M>)) {
        if self.parts.is_some() {
            self.change(change);
        }
    }

    /// Returns the parts with every access replaced, in the order of [`RareParts::accesses`]. Drops accesses to
    /// aliased memory, which blocks store between frames.
    #[inline]
    pub(super) fn map<'a, N>(&'a self, tracked: impl FnMut(&'a M) -> N) -> RareParts<N> {
        let parts = self.parts.as_deref();
        let parts = parts.map(|parts| Box::new(parts.map(tracked)));
        RareParts {
            parts: parts.filter(|parts| !parts.is_nothing()),
        }
    }

    /// The accesses that outlive the frame, in a fixed order.
    pub(super) fn accesses(&self) -> impl Iterator<Item = &M> {
        let promised = self.promised().into_iter();
        let pending = self.pending().map(|pending| &pending.tracked);
        promised
            .chain(pending)
            .chain(self.host().map(|host| &host.tracked))
    }

    /// The accesses that outlive the frame, in the order of [`RareParts::accesses`], for changes.
    pub(super) fn accesses_mut(&mut self) -> impl Iterator<Item = &mut M> {
        let parts = self.parts.as_deref_mut().into_iter();
        parts.flat_map(|parts| {
            let pending = parts.pending.as_mut().map(|pending| &mut pending.tracked);
            let host = parts.host.as_mut().map(|host| &mut host.tracked);
            parts.promised.iter_mut().chain(pending).chain(host)
        })
    }
}

impl<M> Parts<M> {
    fn map<'a, N>(&'a self, mut tracked: impl FnMut(&'a M) -> N) -> Parts<N> {
        Parts {
            promised: self.promised.as_ref().map(&mut tracked),
            pending: (self.pending.as_ref()).map(|pending| pending.map(&mut tracked)),
            host: (self.host.as_ref()).map(|host| host.map(&mut tracked)),
            aliased: Vec::new(),
        }
    }
}
