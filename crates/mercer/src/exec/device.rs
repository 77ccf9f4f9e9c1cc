//! A handle to a device: the CPU, or a back end in another crate.
//!
//! Floor 0 knows neither kernels nor solvers, so a device here is a name and a list of interfaces ("doors") of
//! unknown type. The modules that define a door (`gram`, `solve`) look it up by its type. There is no registry: the
//! caller that makes a device passes it in an [`Exec`](crate::Exec).

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// An interface of a back end, known to the module that defines its type.
type Door = Box<dyn Any + Send + Sync>;

struct Handle {
    name: String,
    doors: Vec<Door>,
    answered: AtomicU64,
}

/// A device: the CPU, or a handle to a back end. Copies are the same device; two handles made apart are two devices.
///
/// ```
/// use mercer::exec::Device;
/// let device = Device::new("toy", vec![Box::new(7_u8)]);
/// assert_eq!((device.name(), device.door::<u8>()), ("toy", Some(&7)));
/// assert!(device.door::<u16>().is_none() && device != Device::CPU && device == device.clone());
/// ```
#[derive(Clone, Copy)]
pub struct Device(Option<&'static Handle>);

impl Device {
    /// The processor this program runs on.
    pub const CPU: Device = Device(None);

    /// A device with its doors. Its memory is never freed: make each device once per process.
    pub fn new(name: impl Into<String>, doors: Vec<Box<dyn Any + Send + Sync>>) -> Self {
        Device(Some(Box::leak(Box::new(Handle { name: name.into(), doors, answered: AtomicU64::new(0) }))))
    }

    /// Whether this is the CPU, which has no doors.
    pub fn is_cpu(self) -> bool {
        self.0.is_none()
    }

    /// Its name: `cpu`, or the back end's name.
    pub fn name(self) -> &'static str {
        self.0.map_or("cpu", |handle| &handle.name)
    }

    /// Its door of a type, if it has one.
    pub fn door<T: Any>(self) -> Option<&'static T> {
        self.0?.doors.iter().find_map(|door| door.downcast_ref())
    }

    /// Number of calls that this device has accepted since it was made.
    pub fn answered(self) -> u64 {
        self.0.map_or(0, |handle| handle.answered.load(Ordering::Relaxed))
    }

    /// Counts a call that the device has accepted.
    pub(crate) fn note(self) {
        if let Some(handle) = self.0 {
            handle.answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
