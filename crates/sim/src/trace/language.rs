//! The language that drawings are labelled in. The names of messages are those of the papers, in
//! any language.

mod states;

use conclave_core::{Argument, Reason};

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

    /// Why a step did what it did, in a sentence with marks for nodes.
    pub fn reason(self, reason: &Reason) -> String {
        let written = |argument: &Argument| match argument {
            Argument::Span(span) => self.number(span),
            Argument::Node(_)
            | Argument::Nodes(_)
            | Argument::Number(_)
            | Argument::Stamp(_)
            | Argument::Name(_)
            | Argument::Text(_) => argument.text(),
        };
        reason.fill_with(self.pick(reason.why.english, reason.why.portuguese), written)
    }

    /// The rule that a reason comes from: its tag, or what else it is from.
    pub fn rule(self, rule: &str) -> &str {
        match (self, rule) {
            (Self::Portuguese, "service") => "serviço",
            (Self::Portuguese, "clock") => "relógio",
            (Self::Portuguese | Self::English, rule) => rule,
        }
    }

    /// The name of what a message carries, or a state is made of.
    pub fn field(self, name: &str) -> &str {
        if self == Self::English {
            return found(states::COUNTS, name);
        }
        found(states::FIELDS, found(&FIELDS, name))
    }

    /// What a message carries, or a state holds, where that is a word.
    pub fn value(self, word: &str) -> &str {
        if self == Self::English {
            return word;
        }
        found(states::WORDS, found(&VALUES, word))
    }

    /// The name of a timer; what comes after the first word is a node.
    pub fn timer(self, name: &str) -> String {
        let (first, rest) = name.split_at(name.find(' ').unwrap_or(name.len()));
        match self {
            Self::English => name.to_string(),
            Self::Portuguese => format!("{}{rest}", found(&TIMERS, first)),
        }
    }
}

fn found<'a>(table: &[(&str, &'a str)], name: &'a str) -> &'a str {
    table.iter().find(|(known, _)| *known == name).map_or(name, |(_, told)| told)
}

/// What messages carry, in Portuguese. What is not here has the same name.
const FIELDS: [(&str, &str); 43] = [
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
    ("beat", "batimento"),
    ("entries", "entradas"),
    ("pass", "passagem"),
    ("ticket", "senha"),
    ("status", "estado"),
    ("physical", "físico"),
    ("count", "contagem"),
    ("known", "conhecido"),
    ("over", "encerrado"),
    ("yes", "sim"),
    ("prune", "poda"),
    ("inside", "dentro"),
];

/// Words that messages carry, in Portuguese.
const VALUES: [(&str, &str); 9] = [
    ("yes", "sim"),
    ("no", "não"),
    ("forward", "ida"),
    ("back", "volta"),
    ("waiting", "espera"),
    ("inside", "dentro"),
    ("idle", "livre"),
    ("leaf", "folha"),
    ("dup", "repetida"),
];

/// Timers, in Portuguese.
const TIMERS: [(&str, &str); 25] = [
    ("Beat", "batimento"),
    ("Silence", "silêncio"),
    ("Sample", "amostra"),
    ("Tick", "tique"),
    ("Act", "ação"),
    ("Loop", "volta"),
    ("Backoff", "recuo"),
    ("BackOff", "recuo"),
    ("Departure", "partida"),
    ("Abort", "desistência"),
    ("Retransmit", "reenvio"),
    ("Attempt", "tentativa"),
    ("Retry", "repetição"),
    ("Loss", "perda"),
    ("Round", "rodada"),
    ("Lease", "arrendamento"),
    ("Probe", "sondagem"),
    ("Election", "eleição"),
    ("Heartbeat", "batimento"),
    ("Quorum", "quórum"),
    ("Answer", "resposta"),
    ("Announcement", "anúncio"),
    ("Hysteresis", "histerese"),
    ("Recheck", "reexame"),
    ("Doubt", "dúvida"),
];
