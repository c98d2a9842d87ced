//! Threads that compile pipelines in the background.
//!
//! A job only makes sure that a pipeline is compiled. Whoever needs the pipeline earlier compiles
//! it himself or waits for the thread that has begun, through the `OnceLock` that both fill.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::lock;

type Job = Box<dyn FnOnce() + Send>;

/// The threads; started at the first job.
#[derive(Default)]
pub(crate) struct Compiler(Mutex<State>);

#[derive(Default)]
struct State {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

/// More threads than this would steal the frame's.
const MOST_THREADS: usize = 4;

impl Compiler {
    /// Runs a job soon. Without threads (the system gives none) the job is dropped; the pipeline
    /// is then compiled by who needs it.
    pub(crate) fn run(&self, job: Job) {
        let mut state = lock(&self.0);
        if state.jobs.is_none() {
            state.start();
        }
        if let Some(jobs) = &state.jobs
            && jobs.send(job).is_err()
        {
            tracing::warn!("no thread compiles pipelines in the background");
        }
    }

    /// Ends the threads once the jobs that have begun are done.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.0);
        state.jobs = None;
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        for thread in threads {
            // The device is dropped by its last user, which may be one of these threads.
            if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
                tracing::error!("a thread that compiles pipelines has panicked");
            }
        }
    }
}

impl State {
    fn start(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        self.jobs = Some(sender);
        for _ in 0..cores.div_ceil(2).min(MOST_THREADS) {
            let receiver = Arc::clone(&receiver);
            let thread = std::thread::Builder::new()
                .name("quadrille pipelines".to_owned())
                .spawn(move || work(&receiver));
            match thread {
                Ok(thread) => self.threads.push(thread),
                Err(error) => tracing::warn!("no thread to compile pipelines: {error}"),
            }
        }
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = lock(jobs).recv();
        match job {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}
