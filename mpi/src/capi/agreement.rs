//! The agreement with which every call of all processes begins: an argument that one process has found wrong is an error of all, with
//! the same status and message, and none of them goes on to wait for the others.

use super::status::{Refused, Status};
use crate::network::Processes;
use cholupdate::distributed::Network;
use cholupdate_ffi::status::shortened;

/// The calls, for the agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Call {
    New,
    FromFactor,
    Scatter,
    ScatterFactor,
    FromScalapack,
    FromScalapackFactor,
    Update,
    Downdate,
    Modify,
    CanDowndate,
    Append,
    RemoveLast,
    Solve,
    SolveL,
    SolveLt,
    Gather,
    ToScalapack,
}

/// Bytes of an error as it is broadcast: the status, then the text, padded with zeros.
const BYTES: usize = 512;

/// Checks that all processes make this call, on numbers of type T, and that none of them refuses its arguments.
pub fn agreed<T, A>(net: &Processes, call: Call, mine: Result<A, Refused>) -> Result<A, Refused> {
    agreed_on(net, Some(16 * call as u64 + size_of::<T>() as u64), mine)
}

/// Makes the call that the others make, whichever it is, as a process that refuses its arguments.
pub fn refused(net: &Processes, mine: Refused) -> Refused {
    match agreed_on::<()>(net, None, Err(mine)) {
        Err(refused) => refused,
        Ok(()) => Refused::not_so("a process has refused its arguments"),
    }
}

fn agreed_on<A>(net: &Processes, call: Option<u64>, mine: Result<A, Refused>) -> Result<A, Refused> {
    // The least of these words is that of the processes that say which call they make.
    let (call, complement) = call.map_or((u64::MAX, u64::MAX), |call| (call, !call));
    let mut words = [call, complement, if mine.is_err() { net.rank() as u64 } else { u64::MAX }];
    net.least(&mut words);
    let [least, of_complement, root] = words;
    if least != u64::MAX && least != !of_complement {
        return Err(Refused::new(Status::DifferentArguments, "the call differs between the processes"));
    }
    if root == u64::MAX {
        return mine;
    }
    let mut bytes = [0; BYTES];
    if let (Err(refused), true) = (&mine, root == net.rank() as u64) {
        write(&mut bytes, refused);
    }
    net.broadcast(root as usize, &mut bytes);
    Err(read(&bytes, (net.ranks() > 1).then_some(root)))
}

fn write(bytes: &mut [u8; BYTES], refused: &Refused) {
    let text = shortened(&refused.message, BYTES - 1);
    bytes[0] = refused.status as u8;
    bytes[1..=text.len()].copy_from_slice(text.as_bytes());
}

/// The error of a process, which the message names if there are several.
fn read(bytes: &[u8; BYTES], process: Option<u64>) -> Refused {
    let text = bytes[1..].split(|&byte| byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let message = process.map_or(text.to_string(), |process| format!("{text} (process {process})"));
    // Arguments are checked here for NULL and for their range; the library checks the rest on all processes.
    let status = match bytes[0] {
        1 => Status::NullPointer,
        _ => Status::InvalidArgument,
    };
    Refused::new(status, message)
}
