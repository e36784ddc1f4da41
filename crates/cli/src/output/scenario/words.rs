//! What is expected of a scenario, in people's words.

use crate::lang::Lang;
use conclave_core::Property;

/// The property of that tag.
pub fn property(what: &str) -> Option<Property> {
    Property::MUTEX
        .into_iter()
        .chain(Property::ELECTION)
        .chain(Property::CLOCK)
        .find(|property| property.tag() == what)
}

/// What a check is about, in a word or two.
pub fn label(what: &str, lang: Lang) -> &str {
    match what {
        "messages" => lang.pick("messages", "mensagens"),
        "requests" => lang.pick("requests", "pedidos"),
        "order" => lang.pick("order", "ordem"),
        "entries" => lang.pick("entries", "entradas"),
        "fences" => lang.pick("fences", "cercas"),
        "same_fence" => lang.pick("same fence", "mesma cerca"),
        "refused" => lang.pick("refused", "recusadas"),
        "messages_per_entry" => lang.pick("messages per entry", "mensagens por entrada"),
        "client_delay" => lang.pick("delay", "atraso"),
        "client_delay_serial" => lang.pick("delay, serially", "atraso, em série"),
        "value" => lang.pick("value", "valor"),
        "lost_updates" => lang.pick("lost updates", "atualizações perdidas"),
        "unfinished" => lang.pick("left half done", "deixadas pela metade"),
        "violation_probability" => lang.pick("two inside, odds", "dois dentro, chance"),
        "timeout" => lang.pick("timeout", "tempo limite"),
        "leader" => lang.pick("leader", "líder"),
        "agreed" => lang.pick("agreed", "acordo"),
        "time_to_leader" => lang.pick("known to all at", "conhecido por todos em"),
        "leaders_seen" => lang.pick("leaders seen", "líderes vistos"),
        "leaders_at_once" => lang.pick("leaders at once", "líderes ao mesmo tempo"),
        "changes" => lang.pick("changes of mind", "mudanças de líder"),
        other => other, // A property, or a type of message.
    }
}

/// What was expected or seen.
pub fn value(text: &str, lang: Lang) -> &str {
    match text {
        "holds" => lang.pick("holds", "vale"),
        "violated" => lang.pick("violated", "violada"),
        "unknown" => lang.pick("unknown", "indefinida"),
        "not-checked" => lang.pick("not checked", "não verificada"),
        "nobody" => lang.pick("nobody", "ninguém"),
        "true" => lang.pick("yes", "sim"),
        "false" => lang.pick("no", "não"),
        other => other,
    }
}

/// A check as a question.
pub fn question(what: &str, lang: Lang) -> String {
    if let Some(property) = property(what) {
        let how = lang.pick("holds or violated?", "vale ou violada?");
        return format!("{property}, {}: {how}", meaning(property, lang));
    }
    match what {
        "messages" => lang.pick("How many messages?", "Quantas mensagens?"),
        "requests" => lang.pick("How many requests?", "Quantos pedidos?"),
        "order" => lang.pick(
            "Who enters, in order (such as 1 2, or nobody)?",
            "Quem entra, em ordem (como 1 2, ou ninguém)?",
        ),
        "entries" => lang.pick("When does each enter?", "Quando entra cada um?"),
        "fences" => lang.pick("With which fences?", "Com quais cercas?"),
        "same_fence" => lang.pick(
            "Do two entries have the same fence (yes or no)?",
            "Duas entradas têm a mesma cerca (sim ou não)?",
        ),
        "refused" => lang.pick("How many writes are refused?", "Quantas escritas são recusadas?"),
        "leader" => lang.pick("Who leads in the end?", "Quem lidera no fim?"),
        "agreed" => lang.pick("Do all agree (yes or no)?", "Todos concordam (sim ou não)?"),
        "leaders_seen" => lang.pick(
            "Who is taken for the leader by anybody, in order?",
            "Quem é tido por líder por alguém, em ordem?",
        ),
        "leaders_at_once" => {
            lang.pick("How many lead at once, at most?", "Quantos lideram ao mesmo tempo?")
        }
        "value" => lang.pick("What is the value in the end?", "Qual é o valor no fim?"),
        kind if kind.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
            return lang.pick("How many {kind}?", "Quantas {kind}?").replace("{kind}", kind);
        }
        other => return format!("{}?", label(other, lang)),
    }
    .to_string()
}

/// Whether the answer to this question is a number and nothing else.
pub fn wants_number(what: &str) -> bool {
    let counts = ["messages", "requests", "refused", "leaders_at_once", "value", "mistakes"];
    let kind = || what.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    counts.contains(&what) || property(what).is_none() && kind()
}

/// A promise in a few words.
pub fn meaning(property: Property, lang: Lang) -> &'static str {
    let portuguese = match property {
        Property::S1 => "no máximo um dentro",
        Property::S1Eff => "no máximo um cujas escritas valem",
        Property::V1 => "alguém que espera entra",
        Property::V2 => "todos os que esperam entram",
        Property::BW => "poucos entram antes de um pedido registrado",
        Property::HB => "entradas na ordem de causa e efeito",
        Property::HBExact => "só causa e efeito são ordenados",
        Property::F1 => "as cercas crescem de entrada a entrada",
        Property::E1 => "quem segue um líder segue o certo",
        Property::E1Term => "um líder por mandato",
        Property::E2 => "todos ficam sabendo de um líder",
        Property::D1 => "toda falha acaba notada por todos",
        Property::D2 => "ninguém vivo é suspeito",
    };
    lang.pick(property.meaning(), portuguese)
}

/// Whether a guess says what was seen, however it is typed.
pub fn same(what: &str, guess: &str, observed: &str) -> bool {
    let judged = property(what).is_some();
    let plain = |text: &str| -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| c.is_whitespace() || ",;".contains(c));
        words.filter(|word| !word.is_empty()).map(|word| canonical(word, judged)).collect()
    };
    plain(guess) == plain(observed)
}

fn canonical(word: &str, judged: bool) -> String {
    let (yes, no) = if judged { ("holds", "violated") } else { ("true", "false") };
    match word {
        "holds" | "vale" => "holds".to_string(),
        "violated" | "broken" | "violada" => "violated".to_string(),
        "y" | "yes" | "s" | "sim" | "true" => yes.to_string(),
        "n" | "no" | "não" | "nao" | "false" => no.to_string(),
        "nobody" | "none" | "ninguém" | "ninguem" => "nobody".to_string(),
        other => match other.parse::<f64>() {
            Ok(number) => number.to_string(),
            Err(_) => other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_counts_however_it_is_typed() {
        for (what, guess, observed) in [
            ("order", "1 2", "1, 2"),
            ("order", "1,2", "1, 2"),
            ("order", "Ninguém", "nobody"),
            ("entries", "2.0, 12", "2, 12"),
            ("S1", "no", "violated"),
            ("S1", "Vale", "holds"),
            ("same_fence", "sim", "true"),
        ] {
            assert!(same(what, guess, observed), "{what}: {guess}");
        }
        for (what, guess, observed) in
            [("order", "2 1", "1, 2"), ("S1", "yes", "violated"), ("messages", "", "3")]
        {
            assert!(!same(what, guess, observed), "{what}: {guess}");
        }
    }
}
