//! Small values that refuse a stale fence. Node 1 keeps them, and nobody else.

use super::refusal::{self, Refusal};
use super::{Answer, Desk, persistence};
use conclave_api::limits::{self, VALUES_MAX};
use conclave_api::{self as api, Code};
use conclave_net::Hands;

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
        hands: &mut dyn Hands,
    ) -> Answer<api::Value> {
        limits::name(name)?;
        self.keeps_values()?;
        match self.values.get(name).map(|kept| kept.fence) {
            Some(latest) if request.fence < latest => {
                let words = format!("fence {} is older than {latest}", request.fence);
                return Err(refusal::refuse(Code::StaleFence, words));
            }
            None if self.values.len() >= VALUES_MAX => {
                let words = format!("node 1 keeps {VALUES_MAX} values already");
                return Err(refusal::too_many(words));
            }
            Some(_) | None => {}
        }
        let value = persistence::Value { value: request.value, fence: request.fence };
        self.values.insert(name.to_string(), value);
        self.save_value(name, hands);
        self.value(name)
    }

    fn keeps_values(&self) -> Result<(), Refusal> {
        if self.config.me.0 == 0 {
            return Ok(());
        }
        Err(refusal::unavailable("node 1 keeps the values"))
    }
}
