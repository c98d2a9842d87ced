//! Parser of the text form of plans.

use super::frame_parse::{family, layout, subresources};
use super::lexer::{Line, ParseError, lines};
use super::names::Names;
use crate::frame::Frame;
use crate::plan::{
    BarrierBatch, BufferBarrier, DependencyKind, HostStep, ImageAcquire, ImageBarrier,
    MemoryBarrier, PassRef, Plan, Reason, RelativePoint, Scope, Step, Submission, Transfer,
    TransferHalf, Wait,
};
use crate::topology::QueueIndex;

/// Parses a plan for a frame from the output of [`Plan::display`].
///
/// The plan has no [`EndStates`](crate::states::EndStates): it can be checked and compared, but not committed.
///
/// # Errors
/// Returns the position of the first error, and the expected token.
pub fn parse_plan(text: &str, frame: &Frame) -> Result<Plan, ParseError> {
    let mut parser = Parser {
        names: Names::new(frame),
        plan: Plan::default(),
        in_host: false,
    };
    for mut line in lines(text)? {
        parser.line(&mut line)?;
        line.end()?;
    }
    Ok(parser.plan)
}

/// State of the parser.
struct Parser<'a> {
    names: Names<'a>,
    plan: Plan,
    /// The last item is a host pass.
    in_host: bool,
}

impl Parser<'_> {
    fn line(&mut self, line: &mut Line) -> Result<(), ParseError> {
        match line.indent {
            0 => self.item(line),
            1..=3 => self.part(line),
            4..=5 => self.barrier(line),
            _ => self.reason(line),
        }
    }

    /// Reads a submission, host pass or culled pass.
    fn item(&mut self, line: &mut Line) -> Result<(), ParseError> {
        self.in_host = false;
        if line.accept("submit") {
            let index = self.plan.submissions.len() as u32;
            for step in &mut self.plan.host {
                step.before.get_or_insert(index);
            }
            let queue = queue(line)?;
            line.expect("signal")?;
            let signal = line.parse("a value")?;
            self.plan.submissions.push(Submission {
                queue,
                waits: Vec::new(),
                acquires: Vec::new(),
                steps: Vec::new(),
                signal,
                presents: Vec::new(),
            });
        } else if line.accept("host") {
            let pass = self.names.read_pass(line)?;
            self.in_host = true;
            self.plan.host.push(HostStep {
                pass,
                waits: Vec::new(),
                before: None,
            });
        } else if line.accept("culled") {
            self.plan.culled.push(self.names.read_pass(line)?);
        } else {
            return Err(line.error("submit, host or culled"));
        }
        Ok(())
    }

    /// Reads a part of a submission or host pass.
    fn part(&mut self, line: &mut Line) -> Result<(), ParseError> {
        if let Some(host) = self.plan.host.last_mut().filter(|_| self.in_host) {
            line.expect("wait")?;
            host.waits.push(point(line)?);
            return Ok(());
        }
        let Some(submission) = self.plan.submissions.last_mut() else {
            return Err(line.error("a submission before its parts"));
        };
        let names = &self.names;
        if line.accept("wait") {
            let point = point(line)?;
            line.expect("at")?;
            let stages = line.flags("stages")?;
            submission.waits.push(Wait {
                point,
                stages,
                reasons: Vec::new(),
            });
        } else if line.accept("acquire") {
            let resource = names.read_resource(line)?;
            line.expect("at")?;
            let stages = line.flags("stages")?;
            submission.acquires.push(ImageAcquire { resource, stages });
        } else if line.accept("barriers") {
            submission.steps.push(Step::Barriers(Box::default()));
        } else if line.accept("pass") {
            submission.steps.push(Step::Pass(names.read_pass(line)?));
        } else if line.accept("present") {
            submission.presents.push(names.read_resource(line)?);
        } else {
            return Err(line.error("wait, acquire, barriers, pass or present"));
        }
        Ok(())
    }

    /// Reads a barrier of the last batch. Barriers with a range have their reason in the next line.
    fn barrier(&mut self, line: &mut Line) -> Result<(), ParseError> {
        let Some(batch) = last_batch(&mut self.plan) else {
            return Err(line.error("`barriers` before a barrier"));
        };
        if line.accept("memory") {
            let (src, dst) = scopes(line)?;
            batch.memory = Some(MemoryBarrier {
                src,
                dst,
                reasons: Vec::new(),
            });
            return Ok(());
        }
        let image = line.accept("image");
        if !image && !line.accept("buffer") {
            return Err(line.error("memory, buffer or image"));
        }
        let resource = self.names.read_resource(line)?;
        let (earlier, later) = (PassRef::None, PassRef::None);
        let reason = Reason {
            resource,
            earlier,
            later,
            dependency_kind: DependencyKind::Execution,
        };
        if image {
            let range = subresources(line)?;
            let (src, dst) = scopes(line)?;
            line.expect("layout")?;
            let old_layout = layout(line)?;
            line.expect("->")?;
            let new_layout = layout(line)?;
            let transfer = transfer(line)?;
            batch.images.push(ImageBarrier {
                resource,
                range,
                src,
                dst,
                old_layout,
                new_layout,
                transfer,
                reason,
            });
        } else {
            line.expect("bytes")?;
            let (offset, size) = line.range("bytes such as 0..16")?;
            let (src, dst) = scopes(line)?;
            let transfer = transfer(line)?;
            batch.buffers.push(BufferBarrier {
                resource,
                offset,
                size,
                src,
                dst,
                transfer,
                reason,
            });
        }
        Ok(())
    }

    /// Reads the reason of the previous item.
    fn reason(&mut self, line: &mut Line) -> Result<(), ParseError> {
        line.expect("because")?;
        let resource = self.names.read_resource(line)?;
        let dependency_kind =
            line.map("a rung such as Memory", |word| dependency_kind(&word.text))?;
        let earlier = self.pass_ref(line)?;
        line.expect("->")?;
        let later = self.pass_ref(line)?;
        let reason = Reason {
            resource,
            earlier,
            later,
            dependency_kind,
        };
        let Some(submission) = self.plan.submissions.last_mut() else {
            return Err(line.error("something before its reason"));
        };
        if let Some(Step::Barriers(batch)) = submission.steps.last_mut() {
            if let Some(image) = batch.images.last_mut() {
                image.reason = reason;
            } else if let Some(buffer) = batch.buffers.last_mut() {
                buffer.reason = reason;
            } else if let Some(memory) = &mut batch.memory {
                memory.reasons.push(reason);
            }
        } else if let Some(wait) = submission.waits.last_mut() {
            wait.reasons.push(reason);
        }
        Ok(())
    }

    fn pass_ref(&self, line: &mut Line) -> Result<PassRef, ParseError> {
        if line.accept("pass") {
            return Ok(PassRef::Pass(self.names.read_pass(line)?));
        }
        if line.accept("earlier") {
            return Ok(PassRef::Earlier(line.word("a name")?.text.into()));
        }
        if line.accept("next") {
            return Ok(PassRef::Next(line.word("a name")?.text.into()));
        }
        if line.accept("presentation") {
            return Ok(PassRef::Presentation);
        }
        line.expect("none").map(|()| PassRef::None)
    }
}

/// The batch that is being read.
fn last_batch(plan: &mut Plan) -> Option<&mut BarrierBatch> {
    match plan.submissions.last_mut()?.steps.last_mut()? {
        Step::Barriers(batch) => Some(batch),
        Step::Pass(_) => None,
    }
}

fn queue(line: &mut Line) -> Result<QueueIndex, ParseError> {
    Ok(QueueIndex(line.parse("the number of a queue")?))
}

fn point(line: &mut Line) -> Result<RelativePoint, ParseError> {
    let queue = queue(line)?;
    line.expect("value")?;
    Ok(RelativePoint {
        queue,
        offset: line.parse("a value")?,
    })
}

fn scope(line: &mut Line) -> Result<Scope, ParseError> {
    let stages = line.flags("stages")?;
    let access = line.flags("an access mask")?;
    Ok(Scope { stages, access })
}

fn scopes(line: &mut Line) -> Result<(Scope, Scope), ParseError> {
    let src = scope(line)?;
    line.expect("->")?;
    Ok((src, scope(line)?))
}

fn transfer(line: &mut Line) -> Result<Option<Transfer>, ParseError> {
    let half = if line.accept("release") {
        TransferHalf::Release
    } else if line.accept("acquire") {
        TransferHalf::Acquire
    } else {
        return Ok(None);
    };
    let from = family(line)?;
    line.expect("->")?;
    let to = family(line)?;
    Ok(Some(Transfer { from, to, half }))
}

fn dependency_kind(word: &str) -> Option<DependencyKind> {
    let all = [
        DependencyKind::Execution,
        DependencyKind::Memory,
        DependencyKind::LayoutTransition,
        DependencyKind::OtherQueue,
        DependencyKind::OwnershipTransfer,
        DependencyKind::Presentation,
        DependencyKind::Aliasing,
    ];
    all.into_iter()
        .find(|dependency_kind| format!("{dependency_kind:?}") == word)
}
