//! A phrase book: texts of one language, and what they are in another.

use std::collections::HashMap;

/// All phrases.
#[derive(Debug, Default)]
pub struct Book {
    /// Without holes.
    exact: HashMap<String, String>,
    /// With holes; what leaves the least to its holes comes first.
    templates: Vec<Template>,
}

/// A phrase with holes.
#[derive(Debug)]
struct Template {
    known: Pattern,
    meaning: Pattern,
}

/// Texts with a hole between each two: one text more than there are holes.
#[derive(Debug)]
struct Pattern {
    texts: Vec<String>,
    holes: Vec<String>,
}

impl Book {
    /// The book made of these files.
    pub fn of(files: &[&str]) -> Self {
        let mut book = Self::default();
        for (known, meaning) in files.iter().flat_map(|file| entries(file)) {
            let pattern = Pattern::of(&known);
            if pattern.holes.is_empty() {
                book.exact.insert(known, meaning);
            } else {
                let meaning = Pattern::of(&meaning);
                book.templates.push(Template { known: pattern, meaning });
            }
        }
        book.templates.sort_by_key(|template| std::cmp::Reverse(template.known.letters()));
        book
    }

    /// What a text without holes is in the other language.
    pub fn exact(&self, text: &str) -> Option<&str> {
        self.exact.get(text).map(String::as_str)
    }

    /// What a text is in the other language.
    pub fn look_up(&self, text: &str) -> Option<String> {
        let exact = self.exact.get(text).cloned();
        exact.or_else(|| self.templates.iter().find_map(|template| template.apply(text, self)))
    }

    /// The same; a text that is not known as a whole, not even behind names, is taken apart at
    /// semicolons, then at its first colons. One word before the first of them is a name, which
    /// stays as it is.
    pub fn sentence(&self, text: &str) -> Option<String> {
        let whole = self.look_up(text).or_else(|| self.after_flag(text));
        whole
            .or_else(|| self.after_names(text, true))
            .or_else(|| self.in_parts(text, "; ", true))
            .or_else(|| {
                self.in_parts(text, ": ", true) // A name, a flag, or what the rest is about.
            })
    }

    /// What is said of a flag and is known as a whole.
    fn after_flag(&self, text: &str) -> Option<String> {
        let (flag, rest) = text.split_once(": ").filter(|(flag, _)| flag.starts_with("--"))?;
        Some(format!("{flag}: {}", self.look_up(rest)?))
    }

    /// What is said of a place, `file: scenario: …`, and is known as a whole.
    fn after_names(&self, text: &str, first: bool) -> Option<String> {
        let (name, rest) = text.split_once(": ").filter(|(name, _)| !name.contains("; "))?;
        let rest = self.look_up(rest).or_else(|| self.after_names(rest, false))?;
        let told = if first && !name.contains(' ') { None } else { self.look_up(name) };
        Some(format!("{}: {rest}", told.as_deref().unwrap_or(name)))
    }

    /// What is said of a field of a file, `name = value`, and is known as a whole.
    fn after_field(&self, text: &str) -> Option<String> {
        let (field, rest) = text.split_once(": ").filter(|(field, _)| field.contains(" = "))?;
        Some(format!("{field}: {}", self.look_up(rest)?))
    }

    fn in_parts(&self, text: &str, mark: &str, named: bool) -> Option<String> {
        let (first, rest) = text.split_once(mark)?;
        let is_name = mark == ": " && named && !first.contains(' ');
        let first_told = if is_name { None } else { self.sentence(first) };
        let rest_told = match mark {
            ": " => self.look_up(rest).or_else(|| self.in_parts(rest, mark, false)),
            _ => self.sentence(rest),
        };
        if first_told.is_none() && rest_told.is_none() {
            return None;
        }
        let first = first_told.unwrap_or_else(|| first.to_string());
        let rest = rest_told.unwrap_or_else(|| rest.to_string());
        Some(format!("{first}{mark}{rest}"))
    }
}

impl Book {
    /// A text of several paragraphs, however their lines are broken, if each is known; of a list of
    /// commands, the title.
    pub fn paragraphs(&self, text: &str) -> Option<String> {
        let told = text.split("\n\n").map(|paragraph| match paragraph.split_once(":\n  ") {
            Some((title, commands)) => {
                let title = self.look_up(&format!("{title}:"))?;
                Some(format!("{title}\n  {commands}"))
            }
            None => self.look_up(&paragraph.replace('\n', " ")),
        });
        Some(told.collect::<Option<Vec<_>>>()?.join("\n\n"))
    }
}

impl Template {
    /// The meaning with its holes filled, if the text is of this form.
    fn apply(&self, text: &str, book: &Book) -> Option<String> {
        let found = self.known.captured(text)?;
        let (first, others) = self.meaning.texts.split_first()?;
        let mut told = first.clone();
        for (hole, text) in self.meaning.holes.iter().zip(others) {
            let place = self.known.holes.iter().position(|known| known == hole)?;
            let content = found.get(place)?;
            let known = match is_verbatim(hole) {
                true => None,
                false => book.look_up(content).or_else(|| book.after_field(content)),
            };
            told += &known.unwrap_or_else(|| content.to_string());
            told += text;
        }
        Some(told)
    }
}

impl Pattern {
    /// Splits a text at its holes, `{name}`.
    fn of(text: &str) -> Self {
        let mut texts = vec![String::new()];
        let mut holes = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let last = texts.len() - 1;
            texts[last] += before;
            let hole = after.split_once('}').filter(|(name, _)| is_name(name));
            if let Some((name, after)) = hole {
                holes.push(name.to_string());
                texts.push(String::new());
                rest = after;
            } else {
                texts[last].push('{');
                rest = after;
            }
        }
        let last = texts.len() - 1;
        texts[last] += rest;
        Self { texts, holes }
    }

    /// How much of it is no hole.
    fn letters(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }

    /// What is in the holes, if a text is of this form. Each takes as little as it can.
    fn captured<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, others) = self.texts.split_first()?;
        let (last, between) = others.split_last()?;
        let mut rest = text.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
        let mut found = Vec::with_capacity(self.holes.len());
        for (text, hole) in between.iter().zip(&self.holes) {
            let (content, after) = self.split(rest, text, hole)?;
            found.push(content);
            rest = after;
        }
        let fits = fits(rest, self.holes.last()?);
        found.push(rest);
        fits.then_some(found)
    }

    /// The content of a hole that ends with this text, and what comes after it.
    fn split<'t>(&self, rest: &'t str, text: &str, hole: &str) -> Option<(&'t str, &'t str)> {
        let mut places = rest.match_indices(text).map(|(place, _)| place);
        let place = places.find(|&place| fits(&rest[..place], hole))?;
        Some((&rest[..place], &rest[place + text.len()..]))
    }
}

/// What may be in a hole depends on its name: of `n`, `n1` and so on numbers, of `id…` one word
/// without what ends a clause, of `n…` a name, of `any…` anything, and of all others what has no
/// semicolon.
fn fits(content: &str, hole: &str) -> bool {
    let named = |name: &str| hole.strip_prefix(name);
    let digit = |c: char| c.is_ascii_digit() || ".,-".contains(c);
    match hole {
        _ if content.is_empty() => false,
        _ if named("n").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())) => {
            content.chars().all(digit)
        }
        _ if named("id").is_some() => {
            !content.contains([' ', ';']) && !content.ends_with([':', ','])
        }
        _ if named("n").is_some() => !content.contains("; ") && !content.contains(": "),
        _ => named("any").is_some() || !content.contains("; "),
    }
}

/// Numbers, and the names of nodes and algorithms, stay as they are.
fn is_verbatim(hole: &str) -> bool {
    hole.starts_with('n') || hole.starts_with("id")
}

fn is_name(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    !text.is_empty() && text.bytes().all(letter)
}

/// The pairs of a file in the format of gettext: `msgid "…"`, then `msgstr "…"`, each of one or
/// more quoted lines.
pub fn entries(file: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut meaning = false;
    for line in file.lines() {
        if line.starts_with("msgid ") {
            pairs.push((String::new(), String::new()));
        }
        meaning = line.starts_with("msgstr ") || meaning && line.starts_with('"');
        let Some(quoted) = quoted(line) else { continue };
        if let Some((known, told)) = pairs.last_mut() {
            *(if meaning { told } else { known }) += &quoted;
        }
    }
    pairs.retain(|(known, _)| !known.is_empty());
    pairs
}

/// What stands between the quotes of a line.
fn quoted(line: &str) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let (_, after) = line.split_once('"')?;
    let text = after.strip_suffix('"')?;
    Some(text.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(pairs: &[(&str, &str)]) -> Book {
        let text: String = pairs
            .iter()
            .map(|(known, meaning)| format!("msgid \"{known}\"\nmsgstr \"{meaning}\"\n\n"))
            .collect();
        Book::of(&[&text])
    }

    #[test]
    fn holes_are_filled_and_looked_up() {
        let book = book(&[
            ("{n} of {what}", "{n} de {what}"),
            ("{n} requests", "{n} pedidos"),
            ("sends {message} to {whom}", "envia {message} a {whom}"),
            ("{name} at node {n}", "{name} no nó {n}"),
            ("nobody", "ninguém"),
        ]);
        assert_eq!(book.look_up("7 of 9 requests").as_deref(), Some("7 de 9 pedidos"));
        assert_eq!(book.look_up("some of 9 requests"), None);
        assert_eq!(book.look_up("sends OK to nobody").as_deref(), Some("envia OK a ninguém"));
        assert_eq!(book.look_up("sends OK to "), None);
        let told = book.sentence("sends OK to 1; sends OK to 2");
        assert_eq!(told.as_deref(), Some("envia OK a 1; envia OK a 2"));
        // What somebody is called stays as it is, and a name has no colon in it.
        assert_eq!(book.look_up("nobody at node 3").as_deref(), Some("nobody no nó 3"));
        assert_eq!(book.look_up("build: held by nobody at node 3"), None);
        let book = self::book(&[("{id1} takes {what}", "{id1} aceita {what}")]);
        assert_eq!(book.look_up("--plot: takes a value"), None, "--plot is a clause of its own");
    }

    #[test]
    fn what_is_said_of_a_flag_or_a_field_is_looked_up_as_a_whole() {
        let book = book(&[
            ("takes {what}", "aceita {what}"),
            ("takes HB; all else is judged", "aceita HB; o resto é julgado"),
            ("line {n}: {any1}", "linha {n}: {any1}"),
            ("a time or none", "um tempo ou nenhum"),
        ]);
        let told = book.sentence("--check X: takes HB; all else is judged");
        assert_eq!(told.as_deref(), Some("--check X: aceita HB; o resto é julgado"));
        let told = book.sentence("line 3: cs = x: a time or none");
        assert_eq!(told.as_deref(), Some("linha 3: cs = x: um tempo ou nenhum"));
    }

    #[test]
    fn the_most_particular_form_wins() {
        let book = book(&[("{a} at {b}", "{a} em {b}"), ("{a} cut at {n}", "{a} cortada em {n}")]);
        assert_eq!(book.look_up("run cut at 5").as_deref(), Some("run cortada em 5"));
        assert_eq!(book.look_up("run cut at home").as_deref(), Some("run cut em home"));
    }

    #[test]
    fn clauses_are_looked_up_one_by_one() {
        let book = book(&[
            ("is missing", "falta"),
            ("see --help", "veja --help"),
            ("time", "tempo"),
            ("waiting", "esperando"),
        ]);
        let told = book.sentence("time: waiting: is missing");
        assert_eq!(told.as_deref(), Some("time: esperando: falta"));
        let told = book.sentence("--nodes: is missing; see --help");
        assert_eq!(told.as_deref(), Some("--nodes: falta; veja --help"));
        assert_eq!(book.sentence("a: b; c"), None);
        let told = book.sentence("is missing: is missing");
        assert_eq!(told.as_deref(), Some("falta: falta"));
    }

    #[test]
    fn of_several_paragraphs_each_is_looked_up() {
        let book = book(&[("one two", "um dois"), ("Example:", "Exemplo:")]);
        let told = book.paragraphs("one\ntwo\n\nExample:\n  one two");
        assert_eq!(told.as_deref(), Some("um dois\n\nExemplo:\n  one two"));
        assert_eq!(book.paragraphs("one two\n\nthree"), None);
    }

    #[test]
    fn a_file_may_have_comments_and_long_lines() {
        let file = "# note\nmsgid \"\"\n\"one \"\n\"\\\"two\\\"\"\nmsgstr \"um\\n\"\n\"dois\"\n";
        assert_eq!(entries(file), [("one \"two\"".to_string(), "um\ndois".to_string())]);
    }
}
