//! Who may enter: mutual exclusion.
