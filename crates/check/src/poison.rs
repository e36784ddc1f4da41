//! Lock poisoning: what threads share stays readable when one of them panics.

use std::sync::{LockResult, PoisonError};

/// Opens a lock even if a thread panicked while it held it: values are put in whole.
pub fn held<Guard>(lock: LockResult<Guard>) -> Guard {
    lock.unwrap_or_else(PoisonError::into_inner)
}
