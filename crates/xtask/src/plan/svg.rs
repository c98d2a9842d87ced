//! Plans as pictures: queues as lanes, submissions as boxes with their passes, waits as arrows.

use std::fmt::{self, Write};

use quadrille_sync::{Frame, Plan, RelativePoint, Step, Submission, Topology};

/// Sizes in pixels.
const LINE: usize = 16;
const LETTER: usize = 8;
const GAP: usize = 48;
const MARGIN: usize = 16;
const LANE_LABEL: usize = 140;

/// Draws frames below each other.
#[derive(Debug, Default)]
pub(super) struct Picture {
    body: String,
    width: usize,
    height: usize,
}

/// Where a submission is drawn.
struct Place {
    point: RelativePoint,
    left: usize,
    top: usize,
    width: usize,
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
        let labels: Vec<Vec<String>> = plan.submissions.iter().map(|it| label(frame, it)).collect();
        let tallest = labels.iter().map(Vec::len).max().unwrap_or(1);
        let lane = (tallest + 2) * LINE;
        let top = self.height + MARGIN + 2 * LINE;
        writeln!(
            self.body,
            "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>",
            top - LINE,
            escape(title)
        )?;
        let mut places: Vec<Place> = Vec::new();
        let mut left = MARGIN + LANE_LABEL;
        for (submission, lines) in plan.submissions.iter().zip(&labels) {
            let longest = lines.iter().map(|line| line.chars().count()).max();
            let place = Place {
                point: RelativePoint {
                    queue: submission.queue,
                    offset: submission.signal,
                },
                left,
                top: top + usize::from(submission.queue.0) * lane + LINE / 2,
                width: (longest.unwrap_or(0) + 2) * LETTER,
                height: (lines.len() + 1) * LINE,
            };
            left += place.width + GAP;
            places.push(place);
        }
        self.width = self.width.max(left);
        self.height = top + topology.queues.len() * lane;
        for queue in topology.indices() {
            let y = top + usize::from(queue.0) * lane;
            let family = topology.family(queue).0;
            writeln!(
                self.body,
                "<line x1=\"{MARGIN}\" y1=\"{y}\" x2=\"{left}\" y2=\"{y}\" stroke=\"#ccc\"/>\n\
                 <text x=\"{MARGIN}\" y=\"{}\">queue {}, family {family}</text>",
                y + 2 * LINE,
                queue.0
            )?;
        }
        for (place, lines) in places.iter().zip(&labels) {
            self.draw_box(place, lines)?;
        }
        for (submission, place) in plan.submissions.iter().zip(&places) {
            self.draw_waits(frame, submission, place, &places)?;
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

    /// Arrows from what a submission waits for; a short one from the left if that is an earlier
    /// frame's.
    fn draw_waits(
        &mut self,
        frame: &Frame,
        submission: &Submission,
        to: &Place,
        places: &[Place],
    ) -> fmt::Result {
        for (row, wait) in (1..).zip(&submission.waits) {
            let y2 = to.top + row * LINE / 2;
            let from = places.iter().find(|place| place.point == wait.point);
            let (x1, y1) = from.map_or((to.left.saturating_sub(GAP / 2), y2), |from| {
                (from.left + from.width, from.top + from.height / 2)
            });
            let mut names: Vec<&str> = Vec::new();
            for reason in &wait.reasons {
                let name = frame.resource(reason.resource).name.as_ref();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            writeln!(
                self.body,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{}\" y2=\"{y2}\" stroke=\"black\" \
                 marker-end=\"url(#head)\"><title>queue {} value {} for {}</title></line>",
                to.left,
                wait.point.queue.0,
                wait.point.offset,
                escape(&names.join(", "))
            )?;
        }
        Ok(())
    }
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
