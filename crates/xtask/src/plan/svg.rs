//! Plans as pictures: queues as lanes, submissions as boxes with their passes, waits as arrows. The
//! host has a lane too, if it does anything. What stands below each other may run at the same time.

use std::fmt::{self, Write};

use quadrille_sync::{
    Frame, HostStep, Plan, QueueIndex, RelativePoint, Step, Submission, Topology,
};

/// Sizes in pixels.
const LINE: usize = 16;
const LETTER: usize = 8;
const GAP: usize = 48;
const MARGIN: usize = 16;

/// Draws frames below each other.
#[derive(Debug, Default)]
pub(super) struct Picture {
    body: String,
    width: usize,
    height: usize,
}

/// Where a submission or a host pass is drawn.
struct Place {
    /// What it signals; nothing if it is a host pass.
    point: Option<RelativePoint>,
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Place {
    fn right(&self) -> usize {
        self.left + self.width
    }
}

/// A queue, or the host.
struct Lane {
    name: String,
    top: usize,
    height: usize,
}

impl Picture {
    /// Adds a frame's plan below what is there.
    pub(super) fn add(&mut self, title: &str, frame: &Frame, topology: &Topology, plan: &Plan) {
        // Writing to a string cannot fail.
        let _ = self.draw(title, frame, topology, plan);
    }

    /// The picture as a file.
    pub(super) fn finish(self) -> String {
        let (width, height) = (self.width + MARGIN, self.height + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"monospace\" font-size=\"13\">\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn draw(
        &mut self,
        title: &str,
        frame: &Frame,
        topology: &Topology,
        plan: &Plan,
    ) -> fmt::Result {
        let items = items(frame, plan);
        let top = self.height + MARGIN + 2 * LINE;
        let lanes = lanes(&items, topology, !plan.host.is_empty(), top);
        let longest = lanes.iter().map(|lane| lane.name.chars().count()).max();
        let left = MARGIN + longest.unwrap_or(0) * LETTER + GAP;
        let places = places(&items, &lanes, topology, left);
        let right = places.iter().map(Place::right).max().unwrap_or(left) + GAP;
        self.width = self.width.max(right);
        self.height = lanes.last().map_or(top, |lane| lane.top + lane.height);
        writeln!(
            self.body,
            "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top - LINE,
            escape(title)
        )?;
        for Lane { name, top, .. } in &lanes {
            writeln!(
                self.body,
                "<line x1=\"{MARGIN}\" y1=\"{top}\" x2=\"{right}\" y2=\"{top}\" stroke=\"#ccc\"/>\n\
                 <text x=\"{MARGIN}\" y=\"{}\">{name}</text>",
                top + 3 * LINE / 2,
            )?;
        }
        // Arrows pass behind boxes, so that no word is crossed out.
        for (item, place) in items.iter().zip(&places) {
            for (row, (point, why)) in (1..).zip(&item.waits) {
                self.draw_wait(row, *point, why, place, &places)?;
            }
        }
        for (item, place) in items.iter().zip(&places) {
            self.draw_box(place, &item.lines)?;
        }
        Ok(())
    }

    fn draw_box(&mut self, place: &Place, lines: &[String]) -> fmt::Result {
        let Place {
            left,
            top,
            width,
            height,
            ..
        } = place;
        writeln!(
            self.body,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"4\" \
             fill=\"#eef4ff\" stroke=\"#446\"/>"
        )?;
        for (row, line) in (1..).zip(lines) {
            let (x, y) = (left + LETTER, top + row * LINE);
            writeln!(
                self.body,
                "<text x=\"{x}\" y=\"{y}\">{}</text>",
                escape(line)
            )?;
        }
        Ok(())
    }

    /// An arrow from what is waited for; a short one from the left if that is an earlier frame's.
    fn draw_wait(
        &mut self,
        row: usize,
        point: RelativePoint,
        why: &str,
        to: &Place,
        places: &[Place],
    ) -> fmt::Result {
        let y2 = to.top + row * LINE / 2;
        let from = places.iter().find(|place| place.point == Some(point));
        let (x1, y1) = from.map_or((to.left.saturating_sub(GAP / 2), y2), |from| {
            (from.right(), from.top + from.height / 2)
        });
        writeln!(
            self.body,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{}\" y2=\"{y2}\" stroke=\"black\" \
             marker-end=\"url(#head)\"><title>queue {} value {} for {}</title></line>",
            to.left,
            point.queue.0,
            point.offset,
            escape(why)
        )
    }
}

/// A submission or a host pass.
struct Item<'a> {
    submission: Option<&'a Submission>,
    lines: Vec<String>,
    /// What it waits for, and why.
    waits: Vec<(RelativePoint, String)>,
}

impl Item<'_> {
    /// The lane that it stands in, from the top.
    fn lane(&self, topology: &Topology) -> usize {
        self.submission
            .map_or(topology.queues.len(), |it| usize::from(it.queue.0))
    }
}

/// Where items are drawn: behind what their lane has done before, what they wait for, and the host
/// passes before them.
fn places(items: &[Item<'_>], lanes: &[Lane], topology: &Topology, left: usize) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut of_lane = vec![left; lanes.len()];
    let mut behind_host = left;
    for item in items {
        let lane = item.lane(topology);
        let is_waited_for =
            |place: &&Place| item.waits.iter().any(|(it, _)| place.point == Some(*it));
        let waited = places.iter().filter(is_waited_for);
        let behind = waited.map(|place| place.right() + GAP).max();
        let longest = item.lines.iter().map(|line| line.chars().count()).max();
        let point = item.submission.map(|submission| RelativePoint {
            queue: submission.queue,
            offset: submission.signal,
        });
        let place = Place {
            point,
            left: of_lane[lane].max(behind_host).max(behind.unwrap_or(left)),
            top: lanes[lane].top + LINE / 2,
            width: (longest.unwrap_or(0) + 2) * LETTER,
            height: (item.lines.len() + 1) * LINE,
        };
        of_lane[lane] = place.right() + GAP;
        if item.submission.is_none() {
            behind_host = of_lane[lane];
        }
        places.push(place);
    }
    places
}

/// The lanes from the top, each as high as its tallest box needs.
fn lanes(items: &[Item<'_>], topology: &Topology, has_host: bool, top: usize) -> Vec<Lane> {
    let queue_name = |queue: QueueIndex| {
        let family = topology.family(queue).0;
        format!("queue {}, family {family}", queue.0)
    };
    let names = topology.indices().map(queue_name);
    let names = names.chain(has_host.then(|| "host".into()));
    let mut next = top;
    let lanes = names.enumerate().map(|(at, name)| {
        let of_lane = items.iter().filter(|item| item.lane(topology) == at);
        let tallest = of_lane.map(|item| item.lines.len()).max().unwrap_or(0);
        let (top, height) = (next, (tallest + 2) * LINE);
        next += height;
        Lane { name, top, height }
    });
    lanes.collect()
}

/// Submissions and host passes, in order.
fn items<'a>(frame: &Frame, plan: &'a Plan) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut host = plan.host.iter().peekable();
    for at in 0..=plan.submissions.len() {
        let submission = plan.submissions.get(at);
        let is_due = |step: &&HostStep| {
            submission.is_none() || step.before.is_some_and(|before| before as usize <= at)
        };
        while let Some(step) = host.next_if(is_due) {
            let name = frame.pass(step.pass).name.to_string();
            items.push(Item {
                submission: None,
                waits: step.waits.iter().map(|it| (*it, name.clone())).collect(),
                lines: vec![name],
            });
        }
        items.extend(submission.map(|submission| Item {
            submission: Some(submission),
            lines: label(frame, submission),
            waits: waits(frame, submission),
        }));
    }
    items
}

/// What a submission waits for, and the names of the resources that it waits for.
fn waits(frame: &Frame, submission: &Submission) -> Vec<(RelativePoint, String)> {
    let named = submission.waits.iter().map(|wait| {
        let mut names: Vec<&str> = Vec::new();
        for reason in &wait.reasons {
            let name = frame.resource(reason.resource).name.as_ref();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (wait.point, names.join(", "))
    });
    named.collect()
}

/// What a submission does, line by line.
fn label(frame: &Frame, submission: &Submission) -> Vec<String> {
    let name = |at| frame.resource(at).name.as_ref();
    let acquires = submission.acquires.iter();
    let acquires = acquires.map(|it| format!("acquire {}", name(it.resource)));
    let steps = submission.steps.iter().map(|step| match step {
        Step::Barriers(batch) if batch.len() == 1 => "1 barrier".into(),
        Step::Barriers(batch) => format!("{} barriers", batch.len()),
        Step::Pass(pass) => frame.pass(*pass).name.to_string(),
    });
    let presents = submission.presents.iter();
    let presents = presents.map(|at| format!("present {}", name(*at)));
    acquires.chain(steps).chain(presents).collect()
}

/// Text that XML reads as text. Control characters are not allowed in XML at all.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if letter.is_control() => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}
