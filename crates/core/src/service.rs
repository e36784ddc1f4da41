//! The services: the words of each family and the law it is judged by.

mod any;
pub mod detector;
pub mod election;
pub mod mutex;
pub mod timekeeping;

pub use any::{AnyIndication, AnyRequest, AnyService};
