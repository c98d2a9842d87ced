//! Threads that compile pipelines in the background.
//!
//! A job compiles a pipeline ahead of its use. A thread that needs the pipeline earlier compiles it, or waits for the
//! thread that is compiling it, through a shared `OnceLock`. So jobs can be dropped at any time: the pipeline is then
//! compiled at its first use.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::{deep_stack, lock};

type Job = Box<dyn FnOnce() + Send>;

/// The threads; started at the first job.
#[derive(Default)]
pub(crate) struct Compiler {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Number of running jobs.
    running: usize,
    closed: bool,
}

/// Maximum number of threads, to leave CPU cores to the frame.
const MAX_THREADS: usize = 4;

impl Compiler {
    /// Runs a job soon.
    pub(crate) fn run(&self, job: Job) {
        let mut threads = lock(&self.threads);
        if threads.is_empty() {
            threads.extend(start(&self.shared));
        }
        if !threads.is_empty() {
            lock(&self.shared.state).jobs.push_back(job);
            self.shared.changed.notify_all();
        }
    }

    /// Drops the jobs that have not begun and waits for the others. A running job keeps the device alive, so after this
    /// only the caller's thread can drop the last reference to it.
    pub(crate) fn settle(&self) {
        let mut state = lock(&self.shared.state);
        let dropped = std::mem::take(&mut state.jobs);
        while state.running > 0 {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        drop(dropped);
    }

    /// Ends the threads once the jobs that have begun are done.
    pub(crate) fn close(&self) {
        lock(&self.shared.state).closed = true;
        self.shared.changed.notify_all();
        for thread in lock(&self.threads).drain(..) {
            // The last reference to the device may be dropped by one of these threads, which must not join itself.
            if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
                tracing::error!("a thread that compiles pipelines has panicked");
            }
        }
    }
}

fn start(shared: &Arc<Shared>) -> Vec<JoinHandle<()>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = Vec::new();
    for _ in 0..cores.div_ceil(2).min(MAX_THREADS) {
        let shared = Arc::clone(shared);
        let thread = deep_stack::builder()
            .name("quadrille pipelines".to_owned())
            .spawn(move || {
                deep_stack::begin();
                work(&shared);
            });
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => tracing::warn!("no thread to compile pipelines: {error}"),
        }
    }
    threads
}

fn work(shared: &Shared) {
    let mut state = lock(&shared.state);
    while !state.closed {
        let Some(job) = state.jobs.pop_front() else {
            state = shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        state.running += 1;
        drop(state);
        let running = Running(shared);
        // A panic must not end the thread, or later jobs would never run.
        if deep_stack::run(job).is_err() {
            tracing::error!("a job of a thread that compiles pipelines panics; it is left out");
        }
        drop(running);
        state = lock(&shared.state);
    }
}

/// Guard of a running job; dropping it, even by a panic, ends the count.
struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
        self.0.changed.notify_all();
    }
}
