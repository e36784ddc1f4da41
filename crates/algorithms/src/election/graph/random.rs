//! Graphs by chance: the same words make the same graph on every machine.

use super::Graph;

/// How often at most a graph is drawn before giving up on a connected one.
const TRIES_MAX: u64 = 1_000;

/// How many pairs of nodes are looked at before giving up, however few tries that makes.
const PAIRS_MAX: u64 = 200_000_000;

/// The first connected graph of those drawn from `P` or `P:SEED`, each pair of nodes having an edge
/// with probability P.
pub fn draw(how: &str, n: u32) -> Result<Graph, String> {
    let (probability, seed) = how.split_once(':').unwrap_or((how, "1"));
    let chance = threshold(probability).ok_or_else(|| {
        format!("'random:{how}': '{probability}' is no probability above 0 and up to 1")
    })?;
    let mut seed: u64 = seed
        .parse()
        .map_err(|_| format!("'random:{how}': '{seed}' is no seed, which is a whole number"))?;
    let pairs = u64::from(n) * u64::from(n - 1) / 2;
    for _ in 0..TRIES_MAX.min(1 + PAIRS_MAX / pairs.max(1)) {
        let mut edges = Vec::new();
        for a in 0..n {
            // Of 53 bits, so that a probability of 1 is certain.
            edges.extend((a + 1..n).filter(|_| next(&mut seed) >> 11 < chance).map(|b| (a, b)));
        }
        if edges.len() as u64 + 1 >= u64::from(n)
            && let Ok(graph) = Graph::of_edges(n, edges)
        {
            return Ok(graph);
        }
    }
    Err(format!("'random:{how}': no graph of {n} nodes drawn this way was connected; raise P"))
}

/// A probability as a number of 2^53.
fn threshold(text: &str) -> Option<u64> {
    let probability: f64 = text.parse().ok()?;
    let valid = probability > 0.0 && probability <= 1.0;
    valid.then_some((probability * (1_u64 << 53) as f64) as u64)
}

/// The generator `SplitMix64` of Steele, Lea and Flood, 2014.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_numbers() {
        let mut state = 1_234_567;
        assert_eq!(next(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(next(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_same_seed_draws_the_same_connected_graph() {
        assert_eq!(draw("0.3", 20), draw("0.3:1", 20));
        assert_ne!(draw("0.3:2", 20), draw("0.3:1", 20));
        assert_eq!(draw("1", 6).expect("complete").edges(), 15);
        let sparse = draw("0.2:7", 20).expect("connected after a few tries");
        assert!((19..80).contains(&sparse.edges()), "{}", sparse.edges());
    }

    #[test]
    fn what_cannot_be_drawn_is_told_why() {
        for (how, reason) in [
            ("0", "'random:0': '0' is no probability above 0 and up to 1"),
            ("", "'random:': '' is no probability above 0 and up to 1"),
            ("NaN", "'random:NaN': 'NaN' is no probability above 0 and up to 1"),
            ("1.5:2", "'random:1.5:2': '1.5' is no probability above 0 and up to 1"),
            ("0.5:x", "'random:0.5:x': 'x' is no seed, which is a whole number"),
            ("0.001", "'random:0.001': no graph of 20 nodes drawn this way was connected; raise P"),
        ] {
            assert_eq!(draw(how, 20), Err(reason.to_string()));
        }
    }
}
