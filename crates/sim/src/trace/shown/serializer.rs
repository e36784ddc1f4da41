//! A serializer that makes a value readable: see [`Shown`].

use super::Shown;
use conclave_core::clock::Stamp;
use conclave_core::{NodeId, Ticks};
use serde::ser::{self, Serialize};
use std::fmt;

/// Never happens: a state is plain data.
#[derive(Debug)]
pub(super) struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl ser::Error for Unreadable {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

/// Makes a [`Shown`] of whatever is serialized.
pub(super) struct Shower;

type Result<T> = std::result::Result<T, Unreadable>;

/// Several values being taken in, of a type or a variant of this name.
pub(super) struct Several {
    name: &'static str,
    items: Vec<Shown>,
}

/// Values with names being taken in.
pub(super) struct Named {
    name: &'static str,
    fields: Vec<(String, Shown)>,
}

/// A map being taken in.
pub(super) struct Pairs {
    pairs: Vec<(Shown, Shown)>,
    key: Option<Shown>,
}

fn number(number: impl Into<i128>) -> Result<Shown> {
    Ok(Shown::Number(number.into()))
}

impl ser::Serializer for Shower {
    type Ok = Shown;
    type Error = Unreadable;
    type SerializeSeq = Several;
    type SerializeTuple = Several;
    type SerializeTupleStruct = Several;
    type SerializeTupleVariant = Several;
    type SerializeMap = Pairs;
    type SerializeStruct = Named;
    type SerializeStructVariant = Named;

    fn serialize_bool(self, value: bool) -> Result<Shown> {
        Ok(Shown::Word(if value { "yes" } else { "no" }.to_string()))
    }
    fn serialize_i8(self, value: i8) -> Result<Shown> {
        number(value)
    }
    fn serialize_i16(self, value: i16) -> Result<Shown> {
        number(value)
    }
    fn serialize_i32(self, value: i32) -> Result<Shown> {
        number(value)
    }
    fn serialize_i64(self, value: i64) -> Result<Shown> {
        number(value)
    }
    fn serialize_u8(self, value: u8) -> Result<Shown> {
        number(value)
    }
    fn serialize_u16(self, value: u16) -> Result<Shown> {
        number(value)
    }
    fn serialize_u32(self, value: u32) -> Result<Shown> {
        number(value)
    }
    /// The largest number stands for none: nothing counts so far.
    fn serialize_u64(self, value: u64) -> Result<Shown> {
        if value == u64::MAX { Ok(Shown::Nothing) } else { number(value) }
    }
    fn serialize_f32(self, value: f32) -> Result<Shown> {
        self.serialize_f64(value.into())
    }
    fn serialize_f64(self, value: f64) -> Result<Shown> {
        Ok(Shown::Text(format!("{value:.3}")))
    }
    fn serialize_char(self, value: char) -> Result<Shown> {
        Ok(Shown::Text(value.to_string()))
    }
    fn serialize_str(self, value: &str) -> Result<Shown> {
        Ok(Shown::Text(value.to_string()))
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<Shown> {
        Ok(Shown::List(value.iter().map(|&byte| Shown::Number(byte.into())).collect()))
    }
    fn serialize_none(self) -> Result<Shown> {
        Ok(Shown::Nothing)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Shown> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Shown> {
        Ok(Shown::Nothing)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Shown> {
        Ok(Shown::Nothing)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Shown> {
        Ok(Shown::Word(variant.to_string()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Shown> {
        let inner = value.serialize(Self)?;
        Ok(match (name, &inner) {
            ("NodeId", Shown::Number(index)) => {
                Shown::Node(NodeId(u32::try_from(*index).unwrap_or(u32::MAX)))
            }
            ("Ticks", Shown::Number(ticks)) => {
                Shown::Text(Ticks(u64::try_from(*ticks).unwrap_or(u64::MAX)).to_string())
            }
            (_, _) => inner,
        })
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Shown> {
        Ok(Shown::Variant(variant.to_string(), Box::new(value.serialize(Self)?)))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Several> {
        Ok(Several { name: "", items: Vec::new() })
    }
    fn serialize_tuple(self, _: usize) -> Result<Several> {
        Ok(Several { name: "", items: Vec::new() })
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Several> {
        Ok(Several { name: "", items: Vec::new() })
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Several> {
        Ok(Several { name, items: Vec::new() })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Pairs> {
        Ok(Pairs { pairs: Vec::new(), key: None })
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Named> {
        Ok(Named { name, fields: Vec::new() })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Named> {
        Ok(Named { name, fields: Vec::new() })
    }
}

impl Several {
    fn take(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.items.push(value.serialize(Shower)?);
        Ok(())
    }

    fn finish(self) -> Shown {
        match self.name {
            "" => Shown::List(self.items),
            name => Shown::Variant(name.to_string(), Box::new(Shown::List(self.items))),
        }
    }
}

impl ser::SerializeSeq for Several {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.take(value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for Several {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.take(value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for Several {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.take(value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for Several {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.take(value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}

impl ser::SerializeMap for Pairs {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = Some(key.serialize(Shower)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = self.key.take().unwrap_or(Shown::Nothing);
        self.pairs.push((key, value.serialize(Shower)?));
        Ok(())
    }
    fn end(self) -> Result<Shown> {
        Ok(Shown::Map(self.pairs))
    }
}

impl Named {
    fn take(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.fields.push((name.to_string(), value.serialize(Shower)?));
        Ok(())
    }

    fn finish(self) -> Shown {
        match (self.name, &self.fields[..]) {
            ("NodeSet", [(_, Shown::List(words)), _]) => Shown::Nodes(members(words)),
            ("Stamp", [(_, Shown::Number(time)), (_, Shown::Node(node))]) => {
                Shown::Stamp(Stamp::new(u64::try_from(*time).unwrap_or(u64::MAX), *node))
            }
            (name, _) => Shown::Fields(name.to_string(), self.fields),
        }
    }
}

/// The nodes of a set, which has one bit for each.
fn members(words: &[Shown]) -> Vec<NodeId> {
    let bits = |(place, word): (usize, &Shown)| {
        let full = i128::from(u64::MAX); // As a number it stands for none.
        let word = if let Shown::Number(word) = word { *word } else { full };
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * place as u32 + bit)
    };
    words.iter().enumerate().flat_map(bits).map(NodeId).collect()
}

impl ser::SerializeStruct for Named {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.take(name, value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Named {
    type Ok = Shown;
    type Error = Unreadable;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.take(name, value)
    }
    fn end(self) -> Result<Shown> {
        Ok(self.finish())
    }
}
