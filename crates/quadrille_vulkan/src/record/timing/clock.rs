//! Conversion of device ticks to the CPU's clock.

use std::time::{Duration, Instant};

use ash::{ext, vk};

use crate::device::Device;

/// Validity of a calibration: the clocks drift apart by some microseconds a second.
const VALID: Duration = Duration::from_secs(1);

/// The device's clock, calibrated with the CPU's if supported.
pub(super) struct DeviceClock {
    calibrated: Option<ext::calibrated_timestamps::Device>,
    reading: Option<Reading>,
    /// Nanoseconds of a tick.
    period: f64,
}

/// Values of both clocks at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) ticks: u64,
    pub(super) at: Instant,
    pub(super) period: f64,
}

impl DeviceClock {
    pub(super) fn new(device: &Device) -> Self {
        let calibrated = device
            .has_calibrated_timestamps
            .then(|| ext::calibrated_timestamps::Device::new(&device.instance.raw, &device.raw));
        Self {
            calibrated,
            reading: None,
            period: f64::from(device.limits.timestamp_period),
        }
    }

    /// Calibrates the clocks, unless the last calibration is still valid.
    pub(super) fn calibrate(&mut self, device: &Device) {
        let Some(calibrated) = &self.calibrated else {
            return;
        };
        let is_fresh = |reading: &Reading| reading.at.elapsed() < VALID;
        if self.reading.as_ref().is_some_and(is_fresh) {
            return;
        }
        let infos =
            [vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE)];
        let before = Instant::now();
        // SAFETY: the extension is enabled, and every device with it has its own domain.
        let read = unsafe { calibrated.get_calibrated_timestamps(&infos) };
        let took = before.elapsed();
        match read {
            Ok((ticks, _)) => {
                self.reading = Some(Reading {
                    ticks: ticks[0],
                    at: before + took / 2,
                    period: self.period,
                });
            }
            Err(error) => {
                let device = &device.info.name;
                tracing::debug!(%device, "vkGetCalibratedTimestampsEXT fails: {error}");
            }
        }
    }

    /// Whether the clocks are calibrated.
    pub(super) fn is_calibrated(&self) -> bool {
        self.reading.is_some()
    }

    /// Returns the calibration; without one, assumes that the device clock was at `ticks` at time `at`.
    pub(super) fn or_guess(&self, ticks: u64, at: Instant) -> Reading {
        self.reading.unwrap_or(Reading {
            ticks,
            at,
            period: self.period,
        })
    }
}

impl Reading {
    /// Converts ticks to a time. `mask` has the valid bits of timestamps, which may have wrapped since.
    pub(super) fn instant(&self, ticks: u64, mask: u64) -> Instant {
        let later = ticks.wrapping_sub(self.ticks) & mask;
        let earlier = self.ticks.wrapping_sub(ticks) & mask;
        let span = |ticks: u64| Duration::from_nanos((ticks as f64 * self.period) as u64);
        if later <= earlier {
            self.at + span(later)
        } else {
            self.at.checked_sub(span(earlier)).unwrap_or(self.at)
        }
    }
}

#[cfg(test)]
mod tests;
