//! The page: its files inside the binary, and the questions of the lab over HTTP.
//!
//! [`Page::router`] has the routes, [`guarded`] puts the checks and headers around them and around
//! whatever else is served at the same address, and [`serve`] serves it all with limits.
//!
//! ```
//! use conclave_page::{Page, guarded};
//!
//! let page = Page { lab: true, ..Page::default() };
//! let router = guarded(page.router(), vec!["127.0.0.1:7070".to_string()]);
//! # let _ = router;
//! ```

mod about;
pub mod access;
mod assets;
mod connection;
mod guard;
mod lab;
mod problem;
mod server;
mod write_timeout;

pub use connection::prepare;
pub use guard::{guarded, with_headers};
pub use problem::Problem;
pub use server::serve;
pub use write_timeout::WriteTimeout;

use axum::Router;
use conclave_lab::player::QUESTION_TIME;
use std::time::Duration;

/// Which halves of the page a server has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The lab: algorithms to play with.
    pub lab: bool,
    /// The cluster: the API of a node is at the same address.
    pub cluster: bool,
    /// Whether nodes can be killed and paused here, as `conclave up` lets one do.
    pub up: bool,
}

impl Page {
    /// The routes of these halves: the shell, its files, what there is, and the lab's questions.
    pub fn router(self) -> Router {
        self.shell().merge(self.questions())
    }

    /// The shell, its files and what there is: they are the same for everybody.
    pub fn shell(self) -> Router {
        assets::routes().merge(about::routes(self))
    }

    /// The lab's questions, each of which takes work to answer; or, where the lab is not served,
    /// a line that says so.
    pub fn questions(self) -> Router {
        self.questions_within(QUESTION_TIME)
    }

    /// The same, where each may take so long.
    pub fn questions_within(self, time: Duration) -> Router {
        if self.lab { lab::routes(time) } else { lab::absent() }
    }
}
