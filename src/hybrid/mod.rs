//! The hybrid engine, for any device: L in host memory, diagonal blocks on the CPU, and all rows below them streamed through a
//! GPU. What knows the API of a device is an [`api::Api`] in the folder of that API.
//!
//! | file | holds |
//! |---|---|
//! | `tuning` | the parameters of a launch and of the panels |
//! | `form` | the forms in which the kernels process a rank block |
//! | `blocking` | the division of the columns of V into rank blocks |
//! | `api` | the calls of a device's API that the engine makes |
//! | `panels` | the layout of L in host memory |
//! | `reflectors` | converts the CPU's block reflectors to the device's layouts |
//! | `host_part` | the part of a panel that the CPU processes |
//! | `host_diagonal` | its diagonal step |
//! | `pipe` | the device memory of a factor: slots, V, queues, events |
//! | `waits` | the waits of the pipeline, by name |
//! | `enqueue` | the work that is enqueued for a panel |
//! | `schedule` | the sweep: the order of the work on a panel, and its waits |
//! | `factor` | L, and the working memory of modifications |
//! | `resize` | insertion, removal and reordering of rows and columns |

pub(crate) mod api;
pub(crate) mod blocking;
mod enqueue;
pub(crate) mod factor;
pub(crate) mod form;
mod host_diagonal;
mod host_part;
mod panels;
pub(crate) mod pipe;
mod reflectors;
mod resize;
mod schedule;
pub(crate) mod tuning;
pub(crate) mod waits;
