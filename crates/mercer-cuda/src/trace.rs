//! Where the time of calls goes: launches by the device's own clock, work of the host by its clock, and counts. Off unless
//! asked for, because each launch then has two events more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cudarc::driver::{result, sys};

static ON: AtomicBool = AtomicBool::new(false);
static SEEN: Mutex<Seen> =
    Mutex::new(Seen { launches: Vec::new(), host: BTreeMap::new(), counts: BTreeMap::new() });

struct Seen {
    launches: Vec<Launch>,
    host: BTreeMap<&'static str, (f64, usize)>,
    counts: BTreeMap<&'static str, f64>,
}

struct Launch {
    name: &'static str,
    from: sys::CUevent,
    to: sys::CUevent,
}

// SAFETY: events of the one context, used under the lock.
unsafe impl Send for Launch {}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Starts or ends looking.
pub(crate) fn turn(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

fn seen(work: impl FnOnce(&mut Seen)) {
    work(&mut SEEN.lock().unwrap_or_else(PoisonError::into_inner));
}

/// An event on the stream, now.
pub(crate) fn mark(stream: sys::CUstream) -> Option<sys::CUevent> {
    if !is_on() {
        return None;
    }
    let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).ok()?;
    // SAFETY: an event just made, on our own stream.
    unsafe { result::event::record(event, stream) }.ok()?;
    Some(event)
}

/// Ends a launch that began at an event.
pub(crate) fn launched(name: &'static str, from: Option<sys::CUevent>, stream: sys::CUstream) {
    if let Some(from) = from
        && let Some(to) = mark(stream)
    {
        seen(|s| s.launches.push(Launch { name, from, to }));
    }
}

/// Does work of the host under a name.
pub(crate) fn host<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    if !is_on() {
        return work();
    }
    let clock = Instant::now();
    let done = work();
    let seconds = clock.elapsed().as_secs_f64();
    seen(|s| {
        let (sum, count) = s.host.entry(name).or_default();
        (*sum, *count) = (*sum + seconds, *count + 1);
    });
    done
}

/// Adds to a count.
pub(crate) fn count(name: &'static str, by: f64) {
    if is_on() {
        seen(|s| *s.counts.entry(name).or_default() += by);
    }
}

/// What was seen since the last time, as lines of text.
pub(crate) fn taken() -> String {
    let mut text = String::new();
    seen(|s| {
        let mut device: BTreeMap<&str, (f64, f64, usize)> = BTreeMap::new();
        for launch in s.launches.drain(..) {
            // SAFETY: both events were recorded; the later one is waited for.
            let ms = unsafe {
                let waited = result::event::synchronize(launch.to);
                let ms = waited.and_then(|()| result::event::elapsed(launch.from, launch.to)).unwrap_or(0.0);
                let _ = result::event::destroy(launch.from);
                let _ = result::event::destroy(launch.to);
                f64::from(ms)
            };
            let (sum, most, count) = device.entry(launch.name).or_default();
            (*sum, *most, *count) = (*sum + ms, most.max(ms), *count + 1);
        }
        for (name, (sum, most, count)) in device {
            let _ = writeln!(text, "  device {name:<18} {sum:9.3} ms  {count:6} x  longest {most:.3}");
        }
        for (name, (sum, count)) in std::mem::take(&mut s.host) {
            let _ = writeln!(text, "  host   {name:<18} {:9.3} ms  {count:6} x", 1e3 * sum);
        }
        for (name, by) in std::mem::take(&mut s.counts) {
            let _ = writeln!(text, "  count  {name:<18} {by:9}");
        }
    });
    text
}
