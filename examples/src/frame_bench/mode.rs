//! How Quadrille runs the frame.

/// How Quadrille runs the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// The engine alone; declarations repeat, so the plan is used again
    Reuse,
    /// The engine alone; another pass reads another buffer each frame, which is planned again
    Replan,
    /// As `reuse`, with the declared order kept
    Order,
    /// The full front end: each pass is a bevy system; recorded by one thread
    Systems,
    /// As `systems`, recorded on all cores
    Threads,
}

impl Mode {
    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reuse => "reuse",
            Self::Replan => "replan",
            Self::Order => "order",
            Self::Systems => "systems",
            Self::Threads => "threads",
        }
    }

    /// The contestant's name.
    pub fn contestant(self) -> &'static str {
        match self {
            Self::Reuse => "quadrille, plan reused",
            Self::Replan => "quadrille, planned every frame",
            Self::Order => "quadrille, in declared order",
            Self::Systems => "quadrille, a system a pass",
            Self::Threads => "quadrille, a system a pass, all cores",
        }
    }

    /// Whether passes keep the order in which they are declared.
    pub fn keeps_order(self) -> bool {
        self == Self::Order
    }
}
