//! Kernel values and support vector machines on NVIDIA devices.
//!
//! The crate stands behind the doors of `mercer::gram` and `mercer::solve` and does nothing else. It needs the NVIDIA
//! driver when it runs and nothing when it is built: the driver is loaded at run time, and the device code lies in the crate
//! as PTX, which the driver compiles and caches. No other library of the vendor is used.
//!
//! What it takes: kernels that are functions of `(x.y, |x|^2, |y|^2)` and sums, products, powers and normalisations of them,
//! on dense and sparse rows of numbers; C-, nu-, regression and one-class problems on rows that it keeps; products with their
//! whole matrix, linear systems in it, and machines on some of its columns. It declines the rest, and the CPU does it.
//!
//! ```
//! use mercer_cuda::Choice;
//! assert_eq!("cuda:1".parse(), Ok(Choice::Cuda(1)));
//! assert!("gpu".parse::<Choice>().is_err());
//! let cpu = mercer_cuda::device(Choice::Cpu).unwrap();
//! assert!(cpu.is_cpu());
//! ```

mod choice;
mod found;

#[cfg(feature = "driver")]
mod back_end;
#[cfg(feature = "driver")]
mod batch;
#[cfg(feature = "driver")]
mod driver;
#[cfg(feature = "driver")]
mod exact;
#[cfg(feature = "driver")]
mod factor;
#[cfg(feature = "driver")]
mod linear;
#[cfg(feature = "driver")]
mod machines;
#[cfg(feature = "driver")]
mod memory;
#[cfg(feature = "driver")]
mod nystrom;
#[cfg(feature = "driver")]
mod pack;
#[cfg(feature = "driver")]
mod plan;
#[cfg(feature = "driver")]
mod program;
#[cfg(feature = "driver")]
mod recheck;
#[cfg(feature = "driver")]
mod rows;
#[cfg(feature = "driver")]
mod sizes;
#[cfg(feature = "driver")]
mod state;
#[cfg(feature = "driver")]
mod trace;
#[cfg(feature = "driver")]
mod values;

pub use choice::Choice;
pub use found::{Found, Seen};

use mercer::exec::Device;

/// What a build without the feature `driver` says.
#[cfg(not(feature = "driver"))]
const ABSENT: &str = "this build has no CUDA support; build with `cargo build --release --features cuda`, or install a packaged build";

/// Looks for devices. Starts the driver, but no device.
pub fn found() -> Found {
    #[cfg(feature = "driver")]
    {
        driver::found()
    }
    #[cfg(not(feature = "driver"))]
    {
        Found { devices: Vec::new(), why: Some(ABSENT.to_owned()), driver: None }
    }
}

/// The device of a choice. [`Choice::Auto`] without a driver is the CPU; a device that was named and cannot be used is an
/// error that says why. With `auto` nothing is started before a call has enough to compute.
///
/// Make each device once per process: its memory is never given back.
pub fn device(choice: Choice) -> Result<Device, String> {
    match choice {
        Choice::Cpu => Ok(Device::CPU),
        #[cfg(feature = "driver")]
        Choice::Auto if driver::present() => Ok(back_end::BackEnd::new(0, true).device()),
        Choice::Auto => Ok(Device::CPU),
        #[cfg(feature = "driver")]
        Choice::Cuda(number) => {
            let back_end = back_end::BackEnd::new(number, false);
            back_end.start()?;
            Ok(back_end.device())
        }
        #[cfg(not(feature = "driver"))]
        Choice::Cuda(_) => Err(ABSENT.to_owned()),
    }
}

/// Starts or ends looking where the time of calls goes: for benches. What [`trace`] then says costs each launch some
/// microseconds more.
#[cfg(feature = "driver")]
pub fn look(on: bool) {
    trace::turn(on);
}

/// What was seen since the last time, as lines of text: launches by the device's clock, work of the host, counts.
#[cfg(feature = "driver")]
pub fn trace() -> String {
    trace::taken()
}
