//! What a client of the coordinator does, as it is typed: `r,r,w17,w20`.

/// The most operations of one client.
const OPERATIONS_MAX: usize = 1_000;
/// The longest value that is typed.
const VALUE_MAX: usize = 256;

/// One use of the resource, for which access is asked and given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read it.
    Read,
    /// Set it to this. The original sends what was typed as a string, also if it is a number.
    Write(String),
}

/// Reads a list of operations.
pub fn parse(text: &str) -> Result<Vec<Operation>, String> {
    const TAKES: &str = "takes operations like r,r,w17,w20";
    let one = |word: &str| match word.strip_prefix('w') {
        Some(value) if !value.is_empty() && value.len() <= VALUE_MAX => {
            Ok(Operation::Write(value.to_string()))
        }
        None if word == "r" => Ok(Operation::Read),
        Some(_) | None => Err(TAKES.to_string()),
    };
    let operations = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
    if operations.len() > OPERATIONS_MAX {
        return Err(format!("takes at most {OPERATIONS_MAX} operations"));
    }
    Ok(operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_in_order_and_values_stay_text() {
        let written = |value: &str| Operation::Write(value.to_string());
        assert_eq!(
            parse("r,w17,wx y,r"),
            Ok(vec![Operation::Read, written("17"), written("x y"), Operation::Read,])
        );
    }

    #[test]
    fn what_is_no_operation_is_refused() {
        for text in ["", "r,", "w", "x", "r r", "R", "rr"] {
            assert_eq!(parse(text), Err("takes operations like r,r,w17,w20".to_string()), "{text}");
        }
        assert_eq!(parse(&"r,".repeat(1_000)).ok(), None);
        let many = format!("r{}", ",r".repeat(1_000));
        assert_eq!(parse(&many), Err("takes at most 1000 operations".to_string()));
    }
}
