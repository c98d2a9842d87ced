//! Reasons for culled passes.

use super::Plan;
use crate::frame::{Frame, PassIndex};
use crate::resource::ResourceIndex;

/// A resource that a culled pass writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadWrite {
    /// The resource: a transient one.
    pub resource: ResourceIndex,
    /// The culled passes that read it. No other pass reads the written contents.
    pub readers: Vec<PassIndex>,
}

impl Plan {
    /// The reasons why a pass of [`Plan::culled`] is culled: the resources that it writes, each once.
    ///
    /// ```
    /// use quadrille_sync::frame::PassIndex;
    /// use quadrille_sync::resource::ResourceIndex;
    /// use quadrille_sync::solve::plan;
    /// use quadrille_sync::states::States;
    /// use quadrille_sync::text::{parse_frame, parse_topology};
    /// let mut frame = parse_frame(
    ///     "cull\nbuffer x 0 bytes 4 transient\npass fill\n  CopyWrite x\npass draw\n",
    /// ).unwrap();
    /// let plan = plan(&frame, &parse_topology("gct:1").unwrap(), &States::default()).unwrap();
    /// assert_eq!(plan.culled, [PassIndex(0)]);
    /// let unread = plan.unread_writes(&frame, PassIndex(0));
    /// assert_eq!((unread[0].resource, unread[0].readers.len()), (ResourceIndex(0), 0));
    /// ```
    pub fn unread_writes(&self, frame: &Frame, pass: PassIndex) -> Vec<UnreadWrite> {
        let mut unread: Vec<UnreadWrite> = Vec::new();
        for one in frame.uses_of(pass).iter().filter(|it| it.access.is_write()) {
            if unread.iter().all(|it| it.resource != one.resource) {
                let readers = self.culled_readers(frame, pass, one.resource);
                unread.push(UnreadWrite {
                    resource: one.resource,
                    readers,
                });
            }
        }
        unread
    }

    /// The culled passes that read a resource, without `writer`.
    fn culled_readers(
        &self,
        frame: &Frame,
        writer: PassIndex,
        resource: ResourceIndex,
    ) -> Vec<PassIndex> {
        let reads = |pass: &PassIndex| {
            let mut uses = frame.uses_of(*pass).iter();
            uses.any(|it| it.resource == resource && it.access.is_read() && !it.discard)
        };
        let others = self.culled.iter().copied().filter(|pass| *pass != writer);
        others.filter(reads).collect()
    }
}
