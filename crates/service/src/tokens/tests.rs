use super::*;

fn hash(token: &str) -> String {
    Fingerprint::sha_256(token.as_bytes()).expect("there is SHA-256").to_string()
}

fn entry(name: &str, token: &str, rest: &str) -> String {
    format!("[[principals]]\nname = \"{name}\"\ntoken_sha256 = \"{}\"\n{rest}\n", hash(token))
}

#[test]
fn a_token_is_known_by_its_hash_and_a_certificate_by_its_name() {
    let text = entry("ci", "one", "acquire = [\"builds/\"]\ncertificate = \"ci.example\"")
        + &entry("watcher", "two", "read = [\"\"]");
    let tokens = Tokens::parse(&text).expect("a good file");
    let ci = tokens.of_token("one").expect("known");
    assert_eq!(ci.name(), "ci");
    assert!(ci.may(Right::Acquire, "builds/1") && !ci.may(Right::Read, "deploys/1"));
    assert_eq!(tokens.of_certificate("ci.example"), Some(ci));
    assert_eq!(tokens.of_token("two").as_ref().map(Principal::name), Some("watcher"));
    for wrong in ["", "three", "one ", &hash("one")] {
        assert_eq!(tokens.of_token(wrong), None, "{wrong}");
    }
    assert_eq!(tokens.of_certificate("ci"), None, "only the name that the file says");
}

#[test]
fn two_tokens_may_be_good_while_they_are_exchanged() {
    let [old, new] = ["old", "new"].map(hash);
    let text = format!("[[principals]]\nname = \"ci\"\ntoken_sha256 = [\"{old}\", \"{new}\"]\n");
    let tokens = Tokens::parse(&text).expect("a good file");
    assert_eq!(tokens.of_token("old"), tokens.of_token("new"));
    assert!(tokens.of_token("old").is_some());
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let cases = [
        (String::new(), "takes at least one"),
        ("[[principals]]\nname = 1\n".to_string(), "line 2: invalid type"),
        (entry("ci", "one", "write = []"), "unknown field `write`"),
        (entry("ci", "one", "read = [\"a b\"]"), "beginnings of names"),
        (entry("admin", "one", ""), "whoever shows the admin token"),
        (entry("a b", "one", ""), "a name has 1 to 64"),
        (entry("ci", "one", "") + &entry("ci", "two", ""), "twice"),
        (entry("ci", "one", "") + &entry("cd", "one", ""), "another's as well"),
        ("[[principals]]\nname = \"ci\"\n".to_string(), "takes token_sha256"),
        ("[[principals]]\nname = \"ci\"\ntoken_sha256 = \"secret\"\n".into(), "64 hexadecimal"),
    ];
    for (text, expected) in cases {
        let problem = Tokens::parse(&text).expect_err(&text);
        assert!(problem.contains(expected), "{problem}");
        assert!(!problem.contains("secret"), "a token that was put there by mistake is not told");
    }
}

#[test]
fn a_file_that_has_changed_is_read_again_and_a_bad_one_changes_nothing() {
    let path = std::env::temp_dir().join(format!("conclave-tokens-{}", std::process::id()));
    fs::write(&path, entry("ci", "one", "")).expect("written");
    let file = TokenFile::load(&path).expect("a good file");
    fs::write(&path, entry("ci", "another", "read = [\"\"]")).expect("written");
    file.look_again();
    assert!(file.of_token("one").is_none() && file.of_token("another").is_some());
    fs::write(&path, "broken").expect("written");
    file.look_again();
    assert!(file.of_token("another").is_some(), "what it said before counts");
    fs::remove_file(&path).expect("there");
    file.look_again();
    assert!(file.of_token("another").is_some());
}
