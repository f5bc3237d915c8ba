//! Ticks: the one time line of a segment.
//!
//! Ticks are the processor's time stamp counter where that can be trusted, else clock_gettime's
//! nanoseconds. Other timers of `setup_timers` are converted to ticks when read, so that no sum
//! ever mixes units.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::time::Duration;

use tare_layout::control::Timer;

/// The result of the calibration, which is done once per process.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// Whether ticks are the time stamp counter.
    pub cycles: bool,
    /// Ticks a second.
    pub ticks_per_second: u64,
    /// Ticks and CLOCK_MONOTONIC's nanoseconds at the same moment.
    origin: (u64, u64),
}

static CYCLES: AtomicBool = AtomicBool::new(false);
static TICKS_PER_SECOND: AtomicU64 = AtomicU64::new(1_000_000_000);
/// See [`Calibration`].
static ORIGIN: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));
static CALIBRATION: OnceLock<Calibration> = OnceLock::new();

/// How long the counter is compared with the system's clock. Both ends are known to some 50 ns, so that
/// 5 ms give the frequency to 20 in a million, less than the drift of a crystal.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const CALIBRATION_TIME: Duration = Duration::from_millis(5);

/// Now, in ticks.
#[inline]
pub fn now() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if CYCLES.load(Ordering::Relaxed) {
        return cycles();
    }
    monotonic_ns()
}

/// The present time by the timer that the control page sets for an event type.
#[cold]
#[inline(never)]
pub fn read_other(timer: u8) -> u64 {
    let ns = match timer {
        t if t == Timer::Nanosecond as u8 => monotonic_ns(),
        t if t == Timer::Microsecond as u8 => monotonic_ns() / 1_000 * 1_000,
        t if t == Timer::Millisecond as u8 => monotonic_ns() / 1_000_000 * 1_000_000,
        t if t == Timer::ThreadCpu as u8 => return ns_to_ticks(thread_cpu_ns()) | THREAD_CPU,
        _ => return now() & !THREAD_CPU,
    };
    ns_to_ticks(ns) & !THREAD_CPU
}

/// The bit that marks a time of THREAD_CPU among times by other timers than the counter.
const THREAD_CPU: u64 = 1;

/// Whether a result of [`read_other`] is a time of THREAD_CPU.
pub fn is_thread_cpu(ticks: u64) -> bool {
    ticks & THREAD_CPU != 0
}

/// Converts nanoseconds of CLOCK_MONOTONIC to ticks, which have another zero. So TIMER_START is
/// comparable for all timers, and an event that begins by one timer and ends by another has about its
/// real duration. (Times of THREAD_CPU, whose zero is the thread's own, are only comparable with each
/// other.)
fn ns_to_ticks(ns: u64) -> u64 {
    let (ticks, origin) = (
        ORIGIN.0.load(Ordering::Relaxed),
        ORIGIN.1.load(Ordering::Relaxed),
    );
    let since = i128::from(ns) - i128::from(origin);
    let since = since * i128::from(TICKS_PER_SECOND.load(Ordering::Relaxed)) / 1_000_000_000;
    (i128::from(ticks) + since) as u64
}

/// The processor's time stamp counter.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction. If the kernel forbids it to user space
    // (PR_SET_TSC), the kernel's own clock source is not tsc, which `trustworthy` checks.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// There is no counter: flags never select it (see `Control::no_cycles`).
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
pub fn cycles() -> u64 {
    monotonic_ns()
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Wall clock in nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

/// Seconds since boot, as those of a process's start.
pub fn boot_s() -> u32 {
    (clock_ns(super::system::BOOT_CLOCK) / 1_000_000_000) as u32
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to; an unknown clock leaves it zero.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The calibration, done at the first call.
pub fn calibrate() -> Calibration {
    let calibration = *CALIBRATION.get_or_init(|| match measured_frequency() {
        Some((ticks_per_second, origin)) => Calibration {
            cycles: true,
            ticks_per_second,
            origin,
        },
        None => Calibration {
            cycles: false,
            ticks_per_second: 1_000_000_000,
            origin: (0, 0),
        },
    });
    TICKS_PER_SECOND.store(calibration.ticks_per_second, Ordering::Relaxed);
    ORIGIN.0.store(calibration.origin.0, Ordering::Relaxed);
    ORIGIN.1.store(calibration.origin.1, Ordering::Relaxed);
    CYCLES.store(calibration.cycles, Ordering::Relaxed);
    calibration
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn measured_frequency() -> Option<(u64, (u64, u64))> {
    None
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn measured_frequency() -> Option<(u64, (u64, u64))> {
    if !trustworthy() {
        return None;
    }
    let (cycles_0, ns_0) = pair();
    std::thread::sleep(CALIBRATION_TIME);
    let (cycles_1, ns_1) = pair();
    let (cycles, ns) = (cycles_1.checked_sub(cycles_0)?, ns_1.checked_sub(ns_0)?);
    let frequency = u128::from(cycles) * 1_000_000_000 / u128::from(ns.max(1));
    // No processor's time stamp counter is outside of this range.
    (100_000_000..20_000_000_000)
        .contains(&frequency)
        .then_some((frequency as u64, (cycles_1, ns_1)))
}

/// The counter and the system's clock at the same moment: the closest of a few tries.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn pair() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..16 {
        let before = cycles();
        let ns = monotonic_ns();
        let after = cycles();
        let width = after.wrapping_sub(before);
        if width < best.0 {
            best = (width, before + width / 2, ns);
        }
    }
    (best.1, best.2)
}

/// Whether the counter has one rate on all processors and never goes back: the processor declares it
/// (CPUID 8000_0007 EDX bit 8, "invariant TSC"; AMD APM vol. 3, Intel SDM vol. 2A), or the kernel,
/// which checks it, uses it as its clock; and it does not go back during this test.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn trustworthy() -> bool {
    #[allow(unused_unsafe)] // It is needed before Rust 1.94.
    let cpuid = |leaf| {
        // SAFETY: all processors of this architecture have the instruction.
        unsafe { core::arch::x86_64::__cpuid(leaf) }
    };
    let invariant = cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & (1 << 8) != 0;
    let clock =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let kernel = clock.as_deref().map(str::trim);
    // A kernel that has rejected the counter ("hpet", "acpi_pm") overrules the processor.
    let trusted = match kernel {
        Ok("tsc") => true,
        Ok("kvm-clock" | "hyperv_clocksource_tsc_page" | "xen") | Err(_) => invariant,
        Ok(_) => false,
    };
    let mut last = cycles();
    trusted
        && (0..1000).all(|_| {
            let next = cycles();
            let forward = next >= last;
            last = next;
            forward
        })
}

/// Smallest step and cost (in CYCLE units) of a timer.
pub fn facts(timer: Timer) -> (u64, u64, u64) {
    let unit = match timer {
        Timer::Cycle => 1,
        Timer::Nanosecond | Timer::ThreadCpu => 1,
        Timer::Microsecond => 1_000,
        Timer::Millisecond => 1_000_000,
    };
    let read = || match timer {
        Timer::Cycle => now(),
        Timer::ThreadCpu => thread_cpu_ns(),
        _ => monotonic_ns() / unit,
    };
    let frequency = match timer {
        Timer::Cycle => TICKS_PER_SECOND.load(Ordering::Relaxed),
        _ => 1_000_000_000 / unit,
    };
    const READS: u64 = 200;
    let mut resolution = u64::MAX;
    let begin = now();
    let mut last = read();
    for _ in 0..READS {
        let next = read();
        let step = next.wrapping_sub(last);
        if step != 0 && step < resolution {
            resolution = step;
        }
        last = next;
    }
    let overhead = now().wrapping_sub(begin) / READS;
    // A step that never came within 200 reads is the unit itself.
    (
        frequency,
        if resolution == u64::MAX {
            1
        } else {
            resolution
        },
        overhead,
    )
}
