//! Values: small documents that refuse a write with a stale fencing token. Node 1 keeps them, and
//! nobody else.

use super::refusal::{self, Refusal};
use super::{Answer, Desk, persistence};
use conclave_api::limits::{self, VALUES_MAX};
use conclave_api::{self as api, Code};
use conclave_net::HostContext;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value, as the disk keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    value: serde_json::Value,
    fence: u64,
}

/// All values. The fence of a value never falls.
#[derive(Debug, Default)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Writes a value, unless a larger fence did so before, or there are too many.
    fn set(&mut self, name: &str, value: Value) -> Result<(), Refusal> {
        match self.get(name).map(|kept| kept.fence) {
            Some(latest) if value.fence < latest => {
                let words = format!("fence {} is older than {latest}", value.fence);
                return Err(refusal::refuse(Code::StaleFence, words));
            }
            None if self.0.len() >= VALUES_MAX => {
                let words = format!("node 1 keeps {VALUES_MAX} values already");
                return Err(refusal::too_many(words));
            }
            Some(_) | None => {}
        }
        self.restore(name, value);
        Ok(())
    }

    /// Takes up what the disk kept.
    pub fn restore(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_string(), value);
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
            value: kept.value.clone(),
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
        self.keeps_values()?;
        self.values.set(name, Value { value: request.value, fence: request.fence })?;
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
    use serde_json::json;

    #[test]
    fn a_smaller_fence_writes_nothing() {
        let mut values = Values::default();
        let value = |fence| Value { value: json!(fence), fence };
        assert!(values.set("v", value(5)).is_ok());
        let refusal = values.set("v", value(4)).expect_err("it is stale");
        assert_eq!(refusal.error.code, Code::StaleFence);
        assert_eq!(values.get("v"), Some(&value(5)));
        assert!(values.set("v", value(5)).is_ok(), "the same writer again");
    }
}
