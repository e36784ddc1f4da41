//! Values: small documents that refuse a write with a stale fencing token. Node 1 keeps them, and
//! nobody else.

use super::refusal::{self, Refusal};
use super::{Answer, Desk, persistence};
use conclave_api::limits::{self, VALUES_BYTES_MAX, VALUES_MAX};
use conclave_api::{self as api, Code};
use conclave_net::HostContext;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value, as the disk keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    #[serde(with = "as_json")]
    value: String,
    fence: u64,
}

/// All values. The fence of a value never falls.
#[derive(Debug, Default)]
pub struct Values {
    /// Each as JSON in a text: taken apart, it would need sixteen times the room.
    values: BTreeMap<String, Value>,
    /// How much they take: see [`size`].
    bytes: usize,
}

impl Values {
    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Writes a value, unless a larger fence did so before, or there is no room for it.
    fn set(&mut self, name: &str, value: Value) -> Result<(), Refusal> {
        let kept = self.get(name);
        match kept.map(|kept| kept.fence) {
            Some(latest) if value.fence < latest => {
                let words = format!("fence {} is older than {latest}", value.fence);
                return Err(refusal::refuse(Code::StaleFence, words));
            }
            None if self.values.len() >= VALUES_MAX => {
                let words = format!("node 1 keeps {VALUES_MAX} values already, and forgets none");
                return Err(refusal::used_up(words));
            }
            Some(_) | None => {}
        }
        let before = kept.map_or(0, |kept| size(name, kept));
        let after = size(name, &value);
        if after > before && self.bytes - before + after > VALUES_BYTES_MAX {
            let words = format!("all values have {VALUES_BYTES_MAX} bytes together, and no more");
            return Err(refusal::used_up(words));
        }
        self.restore(name, value);
        Ok(())
    }

    /// Takes up what the disk kept.
    pub fn restore(&mut self, name: &str, value: Value) {
        self.bytes += size(name, &value);
        if let Some(before) = self.values.insert(name.to_string(), value) {
            self.bytes -= size(name, &before);
        }
    }
}

/// What counts of a value against the limit of all.
fn size(name: &str, value: &Value) -> usize {
    name.len() + value.value.len()
}

/// JSON in a text stands on disk as what it says.
mod as_json {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(ser::Error::custom)?;
        value.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|value| value.to_string())
    }
}

impl Desk {
    pub(super) fn value(&self, name: &str) -> Answer<api::Value> {
        limits::name(name)?;
        self.keeps_values()?;
        let unknown = || refusal::not_found(format!("there is no value '{name}'"));
        let kept = self.values.get(name).ok_or_else(unknown)?;
        Ok(api::Value {
            name: name.to_string(),
            value: serde_json::from_str(&kept.value).unwrap_or_default(),
            fence: kept.fence,
            node: self.node(),
            replicated: false,
        })
    }

    pub(super) fn set_value(
        &mut self,
        name: &str,
        request: api::NewValue,
        host: &mut dyn HostContext,
    ) -> Answer<api::Value> {
        limits::name(name)?;
        limits::fence(request.fence)?;
        let value = request.value.to_string();
        limits::value(&value)?;
        self.keeps_values()?;
        self.values.set(name, Value { value, fence: request.fence })?;
        persistence::save_value(name, self.values.get(name), host);
        self.value(name)
    }

    fn keeps_values(&self) -> Result<(), Refusal> {
        if self.config.me.0 == 0 {
            return Ok(());
        }
        Err(refusal::unavailable("node 1 keeps the values"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_api::limits::VALUE_MAX;

    #[test]
    fn a_smaller_fence_writes_nothing() {
        let mut values = Values::default();
        let value = |fence: u64| Value { value: fence.to_string(), fence };
        assert!(values.set("v", value(5)).is_ok());
        let refusal = values.set("v", value(4)).expect_err("it is stale");
        assert_eq!(refusal.error.code, Code::StaleFence);
        assert_eq!(values.get("v"), Some(&value(5)));
        assert!(values.set("v", value(5)).is_ok(), "the same writer again");
    }

    #[test]
    fn all_values_together_have_an_end_and_a_smaller_one_makes_room() {
        let mut values = Values::default();
        let long = Value { value: format!("\"{}\"", "x".repeat(VALUE_MAX - 2)), fence: 1 };
        let mut taken = 0;
        let refusal = loop {
            match values.set(&taken.to_string(), long.clone()) {
                Ok(()) => taken += 1,
                Err(refusal) => break refusal,
            }
        };
        assert_eq!((refusal.error.code, refusal.error.retry), (Code::TooMany, false));
        assert!(taken < VALUES_MAX && values.bytes <= VALUES_BYTES_MAX, "{taken}");
        assert!(values.set("0", long.clone()).is_ok(), "one of the same length in its place");
        let null = Value { value: "null".to_string(), fence: 2 };
        assert!(values.set("0", null.clone()).is_ok());
        assert_eq!(
            values.set("0", long.clone()).map_err(|it| it.error.code),
            Err(Code::StaleFence)
        );
        assert!(values.set("next", long).is_ok(), "there is room again");
        assert_eq!(values.get("0"), Some(&null), "its name and its fence are kept");
    }

    #[test]
    fn the_disk_keeps_a_value_as_what_it_is() {
        let kept = r#"{"value":{"a":[1,"b"]},"fence":7}"#;
        let value: Value = serde_json::from_str(kept).expect("as it always was");
        assert_eq!(value.value, r#"{"a":[1,"b"]}"#);
        assert_eq!(serde_json::to_string(&value).expect("plain data"), kept);
    }
}
