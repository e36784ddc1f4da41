//! Whole numbers as JSON may write them: `330.0` is the integer 330 to JSON Schema, and what some
//! languages make of it.

use crate::limits::FENCE_END;
use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A whole number that the field's type can hold.
pub fn number<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(Number(PhantomData))
}

/// The same, or nothing.
pub fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    deserializer.deserialize_option(Optional(PhantomData))
}

struct Number<T>(PhantomData<T>);

impl<T: TryFrom<u64>> Visitor<'_> for Number<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        // From 2^53 on, a float may stand for its neighbours too.
        let whole = number.fract() == 0.0 && (0.0..FENCE_END as f64).contains(&number);
        match whole {
            true => self.visit_u64(number as u64),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

struct Optional<T>(PhantomData<T>);

impl<'de, T: TryFrom<u64>> Visitor<'de> for Optional<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number or null")
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        number(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Acquire, Verify};

    fn fence(text: &str) -> Option<u64> {
        let body = format!(r#"{{"fence": {text}}}"#);
        serde_json::from_str(&body).ok().map(|verify: Verify| verify.fence)
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        for (text, number) in [("330", 330), ("330.0", 330), ("3.3e2", 330), ("0", 0), ("-0.0", 0)]
        {
            assert_eq!(fence(text), Some(number), "{text}");
        }
        let large =
            [("3720520723358838.0", 3_720_520_723_358_838), ("9007199254740991.0", FENCE_END - 1)];
        for (text, number) in large {
            assert_eq!(fence(text), Some(number), "{text} is read as it is written");
        }
        for text in ["330.5", "-1", "-1.0", "1e300", "9007199254740992.0", "\"330\"", "null", "[]"]
        {
            assert_eq!(fence(text), None, "{text}");
        }
    }

    #[test]
    fn what_may_be_missing_may_be_null_and_must_fit() {
        let wait = |text: &str| {
            let body = format!(r#"{{"session": "", "permits": {text}}}"#);
            serde_json::from_str(&body).ok().map(|acquire: Acquire| acquire.permits)
        };
        assert_eq!((wait("null"), wait("2.0")), (Some(None), Some(Some(2))));
        assert_eq!((wait("4294967296"), wait("true")), (None, None));
    }
}
