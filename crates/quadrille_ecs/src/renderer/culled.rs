//! Culled passes of the last plan, with the reasons, for reports and the log.

use std::sync::Arc;

use quadrille_sync::frame::{Frame, PassIndex};
use quadrille_sync::plan::Plan;
use serde_json::{Value, json};

/// The culled passes of the last frame.
#[derive(Default)]
pub(crate) struct CulledPasses {
    /// The plan that `passes` belong to.
    plan: Option<Arc<Plan>>,
    passes: Vec<Value>,
}

impl CulledPasses {
    /// Notes the plan of a submitted frame, and logs newly culled passes.
    pub(crate) fn note(&mut self, frame: &Frame, plan: &Arc<Plan>) {
        let known = self.plan.replace(Arc::clone(plan));
        if known.is_some_and(|known| Arc::ptr_eq(&known, plan)) {
            return;
        }
        let culled = plan.culled.iter();
        let passes: Vec<Value> = culled.map(|pass| describe(frame, plan, *pass)).collect();
        for pass in passes.iter().filter(|pass| !self.passes.contains(pass)) {
            tracing::debug!("a pass is culled, because no pass reads its results: {pass}");
        }
        self.passes = passes;
    }

    pub(crate) fn to_json(&self) -> Vec<Value> {
        self.passes.clone()
    }
}

/// Describes a culled pass: its name, and the readers of each resource that it writes, all of them culled.
fn describe(frame: &Frame, plan: &Plan, pass: PassIndex) -> Value {
    let name = |pass: &PassIndex| frame.pass(*pass).name.as_ref();
    let unread = plan.unread_writes(frame, pass);
    let unread = unread.iter().map(|unread| {
        let readers: Vec<&str> = unread.readers.iter().map(name).collect();
        let resource = frame.resource(unread.resource).name.as_ref();
        json!({ "resource": resource, "culled_readers": readers })
    });
    json!({ "pass": name(&pass), "unread": unread.collect::<Vec<_>>() })
}
