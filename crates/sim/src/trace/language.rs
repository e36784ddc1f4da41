//! The language that drawings are labelled in. The words of the algorithms (messages, timers) are
//! those of their papers, in any language.

/// A language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Portuguese.
    Portuguese,
}

impl Language {
    /// One of two texts.
    pub fn pick<'a>(self, english: &'a str, portuguese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Portuguese => portuguese,
        }
    }

    /// A text in which `@` stands for something else, in one of the two languages.
    pub(super) fn fill(self, english: &str, portuguese: &str, what: &str) -> String {
        self.pick(english, portuguese).replacen('@', what, 1)
    }

    /// The tag that HTML and SVG have for it.
    pub fn tag(self) -> &'static str {
        self.pick("en", "pt-BR")
    }

    /// A time or another number as people write it here.
    pub(super) fn number(self, number: &impl ToString) -> String {
        match self {
            Self::English => number.to_string(),
            Self::Portuguese => number.to_string().replace('.', ","),
        }
    }

    /// The name of what a message carries.
    pub fn field(self, name: &str) -> &str {
        if self == Self::English {
            return name;
        }
        FIELDS.iter().find(|(field, _)| *field == name).map_or(name, |(_, told)| told)
    }
}

/// What messages carry, in Portuguese. What is not here has the same name.
const FIELDS: [(&str, &str); 31] = [
    ("time", "tempo"),
    ("clock", "relógio"),
    ("term", "mandato"),
    ("rank", "posto"),
    ("fence", "fencing token"),
    ("request", "pedido"),
    ("client", "cliente"),
    ("release", "saída"),
    ("attempt", "tentativa"),
    ("number", "número"),
    ("seen", "visto"),
    ("counter", "contador"),
    ("list", "lista"),
    ("round", "rodada"),
    ("leader", "líder"),
    ("origin", "origem"),
    ("hops", "saltos"),
    ("hop", "salto"),
    ("owed", "devido"),
    ("phase", "fase"),
    ("way", "sentido"),
    ("best", "melhor"),
    ("source", "fonte"),
    ("granted", "concedido"),
    ("greatest", "maior"),
    ("overslept", "atrasado"),
    ("served", "atendidos"),
    ("queue", "fila"),
    ("queued", "na fila"),
    ("node", "nó"),
    ("sent", "enviado"),
];
