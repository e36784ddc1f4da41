//! Locks and leaderships between real nodes, with an HTTP API.
