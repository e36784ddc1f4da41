//! Canonical encoding and hash: the same on every machine and in every build.
//!
//! Integers are little-endian and of fixed width, enum variants are a `u32`, sequences and text
//! are preceded by their length as a `u64`. `derive(Hash)` promises none of this.

use serde::ser::{self, Serialize};
use std::fmt;

/// Appends the encoding of a value.
pub fn encode<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    value.serialize(Encoder { out }).expect("plain data always encodes");
}

/// Most values take fewer bytes, so that what holds them need not grow.
const ROOM: usize = 256;

/// The hash of a value's encoding.
pub fn hash<T: Serialize + ?Sized>(value: &T) -> u64 {
    let mut bytes = Vec::with_capacity(ROOM);
    encode(value, &mut bytes);
    let mut hasher = Hasher::default();
    hasher.write(&bytes);
    hasher.finish()
}

/// A fixed 64-bit hash over bytes: eight at a time, multiply and rotate, mixed once more at the
/// end. Not meant to resist an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hasher(u64);

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for Hasher {
    fn default() -> Self {
        Self(0x636F_6E63_6C61_7665)
    }
}

impl Hasher {
    /// Takes in bytes. Where one call ends and the next begins counts.
    pub fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        last[7] = bytes.len() as u8;
        self.write_u64(u64::from_le_bytes(last));
    }

    /// Takes in a number.
    pub fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(ODD);
    }

    /// The hash of all that was taken in.
    pub fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 29)
    }
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
}

impl Encoder<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn nested(&mut self) -> Encoder<'_> {
        Encoder { out: self.out }
    }
}

/// Encoding writes to memory and has no way to fail but a type that refuses to be data.
#[derive(Debug)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(mut self, value: $type) -> Result<(), Refused> {
            self.put(&value.to_le_bytes());
            Ok(())
        })*
    };
}

impl ser::Serializer for Encoder<'_> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_f32: f32, serialize_f64: f64);

    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        self.serialize_u8(u8::from(value))
    }
    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.serialize_u32(u32::from(value))
    }
    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.serialize_bytes(value.as_bytes())
    }
    fn serialize_bytes(mut self, value: &[u8]) -> Result<(), Refused> {
        self.put(&(value.len() as u64).to_le_bytes());
        self.put(value);
        Ok(())
    }
    fn serialize_none(self) -> Result<(), Refused> {
        self.serialize_u8(0)
    }
    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), Refused> {
        self.put(&[1]);
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Refused> {
        Ok(())
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Refused> {
        self.serialize_u32(index)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        self.put(&index.to_le_bytes());
        value.serialize(self)
    }
    fn serialize_seq(mut self, len: Option<usize>) -> Result<Self, Refused> {
        let len = len.ok_or_else(|| Refused("a sequence of unknown length".into()))?;
        self.put(&(len as u64).to_le_bytes());
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refused> {
        self.put(&index.to_le_bytes());
        Ok(self)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Self, Refused> {
        self.serialize_seq(len)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refused> {
        self.put(&index.to_le_bytes());
        Ok(self)
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The compound forms all do the same: their parts, one after the other.
macro_rules! parts {
    ($($trait:ident :: $method:ident ($($key:ident)?)),*) => {
        $(impl ser::$trait for Encoder<'_> {
            type Ok = ();
            type Error = Refused;
            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), Refused> {
                $(let _ = $key;)?
                value.serialize(self.nested())
            }
            fn end(self) -> Result<(), Refused> {
                Ok(())
            }
        })*
    };
}

parts!(
    SerializeSeq::serialize_element(),
    SerializeTuple::serialize_element(),
    SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field(),
    SerializeStruct::serialize_field(key),
    SerializeStructVariant::serialize_field(key)
);

impl ser::SerializeMap for Encoder<'_> {
    type Ok = ();
    type Error = Refused;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        key.serialize(self.nested())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        value.serialize(self.nested())
    }
    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use serde::Serialize;

    #[derive(Serialize)]
    enum Sample {
        Pair { node: NodeId, list: Vec<u16>, maybe: Option<bool> },
    }

    #[test]
    fn the_encoding_is_little_endian_and_fixed() {
        let sample = Sample::Pair { node: NodeId(258), list: vec![1, 2], maybe: Some(true) };
        let mut bytes = Vec::new();
        encode(&sample, &mut bytes);
        let expected: &[u8] = &[0, 0, 0, 0, 2, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 1, 1];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_hash_is_the_same_everywhere() {
        assert_eq!(format!("{:016x}", hash(&(1u64, "conclave"))), "e5eeb97d01dcc7ee");
    }

    #[test]
    fn what_differs_hashes_differently() {
        assert_ne!(hash("ab"), hash("ba"));
        assert_ne!(hash(&[1u8, 0].as_slice()), hash(&[1u8].as_slice()));
    }
}
