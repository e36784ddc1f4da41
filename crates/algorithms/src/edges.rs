//! Edges between nodes as files list them: for trees and for other graphs.

/// The edges that a text lists: `a b` per line, nodes numbered from 1; empty lines and what stands
/// behind a `#` do not count. They come out numbered from 0, as they were written. What is wrong is
/// said in one line.
pub fn parse(text: &str, n: u32) -> Result<Vec<(u32, u32)>, String> {
    let mut edges = Vec::new();
    for (number, line) in (1..).zip(lines(text)) {
        if !line.is_empty() {
            edges.push(edge(line, n).map_err(|reason| format!("line {number}: {reason}"))?);
        }
    }
    Ok(edges)
}

/// The lines of a text, without comments.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default().trim())
}

fn edge(line: &str, n: u32) -> Result<(u32, u32), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[a, b] = words.as_slice() else {
        let shown: String = line.chars().take(40).collect();
        return Err(format!("'{shown}' is not an edge, which is two node numbers"));
    };
    let a = node(a, n)?;
    let b = node(b, n)?;
    if a == b {
        return Err(format!("node {} cannot be its own neighbour", a + 1));
    }
    Ok((a, b))
}

fn node(word: &str, n: u32) -> Result<u32, String> {
    let shown: String = word.chars().take(40).collect();
    match word.parse::<u32>() {
        Ok(number) if (1..=n).contains(&number) => Ok(number - 1),
        Ok(_) | Err(_) => Err(format!("'{shown}' is not a node number from 1 to {n}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        assert_eq!(parse("# all\n1 2 # first\n\n 3\t1 \n", 3), Ok(vec![(0, 1), (2, 0)]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, reason) in [
            ("1 2 3", "line 1: '1 2 3' is not an edge, which is two node numbers"),
            ("1 2\n\n1 9", "line 3: '9' is not a node number from 1 to 4"),
            ("1 0", "line 1: '0' is not a node number from 1 to 4"),
            ("# x\n1 x", "line 2: 'x' is not a node number from 1 to 4"),
            ("2 2", "line 1: node 2 cannot be its own neighbour"),
        ] {
            assert_eq!(parse(text, 4), Err(reason.to_string()), "{text:?}");
        }
    }
}
