//! Programs: their text, and how the driver compiles it.

use super::error::failed;
use crate::error::Error;
use core::fmt::Write;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::program::Program;

/// A program's text, and the names that it leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub name: &'static str,
    pub text: &'static str,
    pub parameters: Vec<(&'static str, usize)>,
}

/// Compiles a program for a device of this name. Without `rounds_correctly` a quotient in single precision may be wrong by 2.5
/// units in the last place, a root by 3.
///
/// # Errors
/// [`Error::Device`], with the compiler's log if it refuses the program.
pub(super) fn compile(
    (device, name): (Device, &str),
    context: &Context,
    source: &Source,
    rounds_correctly: bool,
) -> Result<Program, Error> {
    let attempt = || failed(format!("compiling {} for {name}", source.name));
    let mut program = Program::create_from_source(context, source.text).map_err(attempt())?;
    let mut options = "-cl-std=CL1.2".to_string();
    if rounds_correctly {
        options.push_str(" -cl-fp32-correctly-rounded-divide-sqrt");
    }
    for (name, value) in &source.parameters {
        let _ = write!(options, " -D {name}={value}");
    }
    match program.build(context.devices(), &options) {
        Ok(()) => Ok(program),
        Err(error) => Err(with_log(attempt()(error), program.get_build_log(device.id()).ok())),
    }
}

/// Appends the compiler's log to the message.
fn with_log(mut error: Error, log: Option<String>) -> Error {
    if let (Error::Device { message, .. }, Some(log)) = (&mut error, log) {
        message.push_str("; the compiler's log:\n");
        message.push_str(log.trim());
    }
    error
}
