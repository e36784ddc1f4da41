//! The common name of a certificate's subject: who its owner is called.

use rustls::pki_types::CertificateDer;

/// `id-at-commonName`, 2.5.4.3, as DER has it.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;

/// The first common name of a certificate, if it has one that is text.
pub(crate) fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    let mut names = certificate.subject(); // A sequence of sets of pairs, without its own head.
    while !names.is_empty() {
        let (_, set) = element(&mut names)?;
        let mut set = set;
        while !set.is_empty() {
            let (_, mut pair) = element(&mut set)?;
            let (kind, name) = element(&mut pair)?;
            let (text_kind, text) = element(&mut pair)?;
            let is_text = [UTF8_STRING, PRINTABLE_STRING].contains(&text_kind);
            if kind == OBJECT_IDENTIFIER && name == COMMON_NAME && is_text {
                return std::str::from_utf8(text).ok().map(str::to_string);
            }
        }
    }
    None
}

/// Takes the next element of DER off: its kind and what is inside.
fn element<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&kind, tail) = rest.split_first()?;
    let (&first, mut tail) = tail.split_first()?;
    let mut length = usize::from(first);
    if first >= 0x80 {
        let bytes = usize::from(first & 0x7f);
        if !(1..=2).contains(&bytes) {
            return None; // No name is that long.
        }
        let (digits, after) = tail.split_at_checked(bytes)?;
        length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
        tail = after;
    }
    let (inside, after) = tail.split_at_checked(length)?;
    *rest = after;
    Some((kind, inside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{make_authority, make_client};
    use rustls::pki_types::pem::PemObject;
    use std::time::Duration;

    #[test]
    fn a_client_is_called_by_its_common_name() {
        let authority = make_authority("test").expect("an authority");
        for name in ["ci", "José", &"long ".repeat(40)] {
            let day = Duration::from_secs(24 * 3600);
            let client = make_client(&authority, name, day).expect("a certificate");
            let certificate = CertificateDer::from_pem_slice(client.certificate.as_bytes());
            assert_eq!(common_name(&certificate.expect("PEM")).as_deref(), Some(name));
        }
    }

    #[test]
    fn what_is_cut_short_has_no_name() {
        for mut bytes in [&[0x30][..], &[0x30, 5, 1], &[0x30, 0x84, 1, 1, 1, 1], &[0x30, 0x82, 1]] {
            assert_eq!(element(&mut bytes), None);
        }
    }
}
