//! The end of certificates: a link that stands must not outlive the proof that it stands on.

use super::error::ConnectionError;
use crate::tls::End;
use std::future::pending;
use std::time::{Duration, SystemTime};
use tokio::time::sleep;

/// The clock may be set, and the machine may sleep: it is looked at this often.
const LOOK: Duration = Duration::from_secs(30);

/// Waits until a certificate of the link is valid no more; for ever, if it has none.
pub(crate) async fn expired(end: Option<End>) -> ConnectionError {
    let Some(End { at, own }) = end else { return pending().await };
    while let Ok(left) = at.duration_since(SystemTime::now())
        && !left.is_zero()
    {
        sleep(left.min(LOOK)).await;
    }
    if own { ConnectionError::ExpiredHere } else { ConnectionError::Expired }
}
