//! Settings as words, and back.

use conclave_lab::machines::{Chosen, Settings};

fn chosen(id: &str, set: &[(&str, &str)]) -> Chosen {
    let set = set.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Chosen { id: id.to_string(), set: set.collect() }
}

#[test]
fn what_is_written_is_read() {
    let settings = Settings {
        nodes: 3,
        engine: chosen("maekawa", &[("quorums", "1 2; \"3\"\n"), ("sanders", "true")]),
        election: chosen("majority", &[]),
        detector: chosen("phi-accrual", &[("period", "0.5")]),
    };
    let text = settings.to_string();
    assert!(text.starts_with("3 nodes; engine maekawa quorums=\"1 2; "), "{text}");
    assert!(text.ends_with("; election majority; detector phi-accrual period=0.5"), "{text}");
    assert_eq!(text.parse(), Ok(settings));
    for wrong in ["", "3 nodes", "x nodes; engine a; election b; detector c", &text[..40]] {
        assert!(wrong.parse::<Settings>().is_err(), "{wrong}");
    }
    let more = format!("{text}; more");
    assert!(more.parse::<Settings>().is_err());
}
