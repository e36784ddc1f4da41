//! What people read, in Portuguese: every text is written in English where it is used, and looked
//! up here on its way out, by the command line as by the page.
//!
//! The Portuguese is in `pt/*.po`, in the format of gettext. A `msgid` may have holes, `{name}`:
//! then it stands for every text of that form. The most particular form wins. The name of a hole
//! says what it takes: `{n1}` a number, `{id1}` one word, `{any1}` anything, any other what has no
//! semicolon in it. What is in a hole is looked up, too, unless its name begins with `n` or `id`:
//! those are numbers, and names such as people give.
//!
//! ```
//! let told = conclave_texts::portuguese().look_up("takes a whole number from 1");
//! assert_eq!(told.as_deref(), Some("requer um número inteiro a partir de 1"));
//! ```

mod book;

pub use book::{Book, entries};

use std::sync::LazyLock;

/// The Portuguese of every area.
pub const PORTUGUESE: &[&str] = &[
    include_str!("pt/algorithms.po"),
    include_str!("pt/check.po"),
    include_str!("pt/compare.po"),
    include_str!("pt/costs.po"),
    include_str!("pt/errors.po"),
    include_str!("pt/help.po"),
    include_str!("pt/lab.po"),
    include_str!("pt/run.po"),
    include_str!("pt/scenario.po"),
    include_str!("pt/service.po"),
    include_str!("pt/story.po"),
];

static BOOK: LazyLock<Book> = LazyLock::new(|| Book::of(PORTUGUESE));

/// What the module docs of the algorithms say, in Portuguese: apart, for nothing else is looked up
/// there.
pub const DOCUMENTS: &str = include_str!("pt/documents.po");

static DOCUMENTS_BOOK: LazyLock<Book> = LazyLock::new(|| Book::of(&[DOCUMENTS]));

/// The book of what the module docs say.
pub fn documents() -> &'static Book {
    &DOCUMENTS_BOOK
}

/// The book of all of it.
pub fn portuguese() -> &'static Book {
    &BOOK
}
