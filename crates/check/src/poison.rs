//! What threads share.

use std::sync::{LockResult, PoisonError};

/// Opens a lock even if a thread came to grief while it held it: values are put in whole.
pub fn held<Guard>(lock: LockResult<Guard>) -> Guard {
    lock.unwrap_or_else(PoisonError::into_inner)
}
