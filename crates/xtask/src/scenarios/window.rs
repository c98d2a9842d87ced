//! `life` in a real window, and `windows` in three: they must show an image, survive resizing, and close on request.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat, MapState, Window,
};
use x11rb::rust_connection::RustConnection;

use crate::host::paths;
use crate::host::process::Running;
use crate::host::xvfb::Xvfb;
use crate::scenarios::examples;
use crate::scenarios::picture;
use crate::scenarios::report::Report;
use crate::setup::validation::{self, Stack};

/// Timeout until a window shows an image, with a debug build, a software driver and the validation layer.
const SHOW_LIMIT: Duration = Duration::from_secs(90);
const CLOSE_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// Pauses between two resizes: shorter and longer than a frame.
const PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(30),
    Duration::from_millis(250),
];
const SIZES: [(u32, u32); 9] = [
    (640, 480),
    (641, 480),
    (1280, 1000),
    (200, 900),
    (1, 1),
    (900, 200),
    (333, 333),
    (1024, 768),
    (800, 600),
];

/// Opens `life` in a window, resizes it, and closes it like a user.
///
/// # Errors
/// When the window shows nothing, the program fails, or the layer reports a message.
pub(crate) fn resize_and_close(stack: &Stack, program: &Path) -> Result<String> {
    let server = Xvfb::start()?;
    let (mut running, report) = start(stack, program, "life-window", &server, &[])?;
    let screen = Screen::connect(&server.display)?;
    let window = screen.wait_for_window(&mut running)?;
    screen.wait_for_picture(&mut running, window)?;
    for (size, pause) in SIZES.into_iter().zip(PAUSES.into_iter().cycle()) {
        screen.resize(window, size)?;
        thread::sleep(pause);
    }
    screen.wait_for_picture(&mut running, window)?;
    screen.close(window)?;
    let report = end(&mut running, &report)?;
    Ok(format!(
        "{} resizes, closed; {}",
        SIZES.len(),
        report.summary()
    ))
}

/// Opens the window of a program that creates its own device, resizes it, and closes it.
///
/// # Errors
/// When the window shows nothing, the program fails, or the layer reports a message.
pub(crate) fn own_device(stack: &Stack, program: &Path) -> Result<String> {
    let server = Xvfb::start()?;
    let mut command: Command = stack.command(program);
    command
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY");
    let mut running = Running::start("own-device", &mut command)?;
    let screen = Screen::connect(&server.display)?;
    let window = screen.wait_for_window(&mut running)?;
    for size in SIZES {
        screen.resize(window, size)?;
        thread::sleep(PAUSES[1]);
    }
    screen.wait_for_picture(&mut running, window)?;
    screen.close(window)?;
    end_well(&mut running)?;
    Ok(format!("{} resizes, closed", SIZES.len()))
}

/// Opens `life` in a window for some frames, after which it exits.
///
/// # Errors
/// When the program fails, or the layer reports a message.
pub(crate) fn some_frames(stack: &Stack, program: &Path) -> Result<String> {
    const FRAMES: u64 = 120;
    let server = Xvfb::start()?;
    let frames = ["--frames", &FRAMES.to_string()];
    let (mut running, report) = start(stack, program, "life-window-frames", &server, &frames)?;
    let report = end(&mut running, &report)?;
    let drawn = report.number("frames")?;
    ensure!(drawn >= FRAMES, "{drawn} frames were drawn of {FRAMES}");
    Ok(report.summary())
}

/// Number of resizes.
const STORM: u32 = 1000;
/// Maximum number of retired swapchains: a window has at most 6, including the current one.
const MOST_RETIRED: u64 = 5;

/// Opens `windows`, resizes its three windows a thousand times, and closes them one by one, the primary one first.
///
/// # Errors
/// When a window does not open or shows nothing, the program fails or keeps too many swapchains, or the layer reports a
/// message.
pub(crate) fn storm(stack: &Stack, program: &Path) -> Result<String> {
    let server = Xvfb::start()?;
    let (mut running, report) = start_with(stack, program, "windows-storm", &server, &[])?;
    let (screen, windows) = three_windows(&mut running, &server)?;
    // A linear congruential generator with a constant seed.
    let mut state = 1_u32;
    let mut length = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + (state >> 16) % 400
    };
    for step in 0..STORM {
        let window = windows[step as usize % windows.len()];
        screen.resize(window, (length(), length()))?;
        // Several resizes per frame, with occasional frames without any.
        if step % 5 == 0 {
            thread::sleep(PAUSES[1] / 4);
        }
    }
    for &window in &windows {
        screen.resize(window, (320, 240))?;
        screen.wait_for_picture(&mut running, window)?;
    }
    for &window in &windows {
        ensure!(
            running.is_alive(),
            "it ended with its first windows\n{}",
            running.tail()
        );
        screen.close(window)?;
        thread::sleep(PAUSES[2]);
    }
    let report = end(&mut running, &report)?;
    let retired = report.number("most_retired")?;
    ensure!(
        retired <= MOST_RETIRED,
        "{retired} old swapchains of one window"
    );
    Ok(format!(
        "{STORM} sizes, {} swapchains of one window, at most {retired} old ones; {}",
        report.number("most_swapchains_made")?,
        report.summary()
    ))
}

/// winit 0.30.13 shares its X connection with the driver, and mistakes the driver's errors for its own. When the driver
/// draws to a destroyed window, winit's next call that checks for errors panics (73 places; seen in `destroy_notify`
/// and `set_title`). The request is `PutImage`, which only software drivers use. To be removed with a fixed winit.
fn is_panic_of_winit(output: &str) -> bool {
    output
        .lines()
        .any(|line| line.contains("panicked at") && line.contains("/winit-0.30"))
}

/// Maximum number of such panics in a row; seen in 13 of 73 runs.
const MOST_PANICS: usize = 5;

/// Opens `windows` and destroys two of its three windows externally during frames, which no window manager does.
///
/// # Errors
/// When the third window does not continue, or the program does not exit successfully after it is closed.
pub(crate) fn killed(stack: &Stack, program: &Path) -> Result<String> {
    let server = Xvfb::start()?;
    let mut panics = 0;
    loop {
        let (mut running, report) = start_with(stack, program, "windows-killed", &server, &[])?;
        let judged = kill_two(&mut running, &server, &report);
        if judged.is_ok() || panics == MOST_PANICS || !is_panic_of_winit(&running.output()) {
            return judged
                .map(|judged| format!("{judged}; winit panicked {panics} times before"))
                .with_context(|| running.tail());
        }
        panics += 1;
    }
}

/// Destroys two of three windows; the third must continue.
fn kill_two(running: &mut Running, server: &Xvfb, report: &Path) -> Result<String> {
    let (screen, windows) = three_windows(running, server)?;
    let (&last, others) = windows.split_last().context("there are no windows")?;
    for &window in others {
        screen.connection.destroy_window(window)?.check()?;
        // New contents at each size prove that the program continues.
        for size in [(300, 200), (200, 300)] {
            screen.resize(last, size)?;
            thread::sleep(PAUSES[2]);
            screen.wait_for_picture(running, last)?;
        }
    }
    screen.close(last)?;
    let report = end(running, report)?;
    Ok(format!(
        "{} of 3 destroyed; {}",
        others.len(),
        report.summary()
    ))
}

/// Waits until `windows` has opened its three windows and each shows an image.
fn three_windows(running: &mut Running, server: &Xvfb) -> Result<(Screen, Vec<Window>)> {
    let screen = Screen::connect(&server.display)?;
    let windows = wait(running, "opened no three windows", || {
        Ok(Some(screen.windows()?).filter(|windows| windows.len() == 3))
    })?;
    for &window in &windows {
        screen.wait_for_picture(running, window)?;
    }
    Ok((screen, windows))
}

fn start(
    stack: &Stack,
    program: &Path,
    name: &str,
    server: &Xvfb,
    arguments: &[&str],
) -> Result<(Running, PathBuf)> {
    let board = [
        "--pattern",
        "assets/patterns/gosper_gun.rle",
        "--size",
        "256x256",
    ];
    start_with(
        stack,
        program,
        name,
        server,
        &[&board[..], arguments].concat(),
    )
}

fn start_with(
    stack: &Stack,
    program: &Path,
    name: &str,
    server: &Xvfb,
    arguments: &[&str],
) -> Result<(Running, PathBuf)> {
    let report = paths::target("verify").join(format!("{name}.report.json"));
    examples::forget(&report)?;
    let mut command: Command = stack.command(program);
    command
        .current_dir(paths::root())
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .arg("--report")
        .arg(&report)
        .args(arguments);
    Ok((Running::start(name, &mut command)?, report))
}

fn end(running: &mut Running, report: &Path) -> Result<Report> {
    end_well(running)?;
    Report::read(report)
}

/// Waits for the program's exit, and checks its output.
fn end_well(running: &mut Running) -> Result<()> {
    let status = running.wait(CLOSE_LIMIT)?;
    ensure!(
        status.success(),
        "it ended with {status}\n{}",
        running.tail()
    );
    validation::check_silence(running.name(), &running.output())
}

/// The screen from the view of another X client.
struct Screen {
    connection: RustConnection,
    root: Window,
}

impl Screen {
    fn connect(display: &str) -> Result<Self> {
        let (connection, screen) = x11rb::connect(Some(display)).context("cannot reach Xvfb")?;
        let root = connection.setup().roots[screen].root;
        Ok(Self { connection, root })
    }

    /// Waits for the first window on the screen.
    fn wait_for_window(&self, running: &mut Running) -> Result<Window> {
        wait(running, "opened no window", || {
            Ok(self.windows()?.first().copied())
        })
    }

    /// Returns the windows on the screen.
    fn windows(&self) -> Result<Vec<Window>> {
        let mut windows = Vec::new();
        for window in self.connection.query_tree(self.root)?.reply()?.children {
            let attributes = self.connection.get_window_attributes(window)?.reply()?;
            if attributes.map_state == MapState::VIEWABLE {
                windows.push(window);
            }
        }
        Ok(windows)
    }

    /// Waits until the window shows more than one color.
    fn wait_for_picture(&self, running: &mut Running, window: Window) -> Result<()> {
        wait(running, "showed nothing in its window", || {
            let size = self.connection.get_geometry(window)?.reply()?;
            let all_planes = u32::MAX;
            let image = self
                .connection
                .get_image(
                    ImageFormat::Z_PIXMAP,
                    window,
                    0,
                    0,
                    size.width,
                    size.height,
                    all_planes,
                )?
                .reply()?;
            let pixel_bytes = 4;
            Ok(picture::has_two_colors(&image.data, pixel_bytes).then_some(()))
        })
    }

    fn resize(&self, window: Window, (width, height): (u32, u32)) -> Result<()> {
        let size = ConfigureWindowAux::new().width(width).height(height);
        self.connection.configure_window(window, &size)?.check()?;
        Ok(())
    }

    /// Requests that the program close its window, like a window manager.
    fn close(&self, window: Window) -> Result<()> {
        let protocols = self
            .connection
            .intern_atom(false, b"WM_PROTOCOLS")?
            .reply()?
            .atom;
        let delete = self
            .connection
            .intern_atom(false, b"WM_DELETE_WINDOW")?
            .reply()?
            .atom;
        let event = ClientMessageEvent::new(
            32,
            window,
            protocols,
            [delete, x11rb::CURRENT_TIME, 0, 0, 0],
        );
        self.connection
            .send_event(false, window, EventMask::NO_EVENT, event)?
            .check()?;
        Ok(())
    }
}

/// Polls until there is a result, the program ends, or the timeout is over.
fn wait<T>(
    running: &mut Running,
    failure: &str,
    mut ask: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + SHOW_LIMIT;
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if !running.is_alive() || Instant::now() >= deadline {
            bail!("it {failure}\n{}", running.tail());
        }
        thread::sleep(POLL);
    }
}
