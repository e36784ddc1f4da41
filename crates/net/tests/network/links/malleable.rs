//! A certificate in other bytes, by somebody without the key of the authority.

use super::certified::{Folder, pair};
use super::kit::{A, B, Logs};
use conclave_net::{Fingerprint, Tls, TlsFiles, make_authority};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// How many points the curve P-256 has. With `(r, s)`, `(r, ORDER - s)` is a signature as well.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// A whole number of up to 32 bytes, subtracted from the order.
fn complement(number: &[u8]) -> Vec<u8> {
    let mut result = ORDER.to_vec();
    let mut borrow = 0;
    for (digit, minus) in result.iter_mut().rev().zip(number.iter().rev().chain([&0; 32])) {
        let left = i32::from(*digit) - i32::from(*minus) - borrow;
        borrow = i32::from(left < 0);
        *digit = left.rem_euclid(256) as u8;
    }
    result
}

/// As DER writes a positive number: no more zeros than needed.
fn integer(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|digit| **digit == 0).count();
    let digits = &number[zeros..];
    let sign = if digits[0] >= 0x80 { vec![0] } else { Vec::new() };
    [&[2, (sign.len() + digits.len()) as u8][..], &sign, digits].concat()
}

/// The same certificate with the other signature. It is at the end: bits that are two numbers.
fn rewritten(der: &[u8]) -> Vec<u8> {
    let starts = |at: &usize| {
        let rest = &der[*at..];
        rest[0] == 3 && usize::from(rest[1]) + 2 == rest.len() && rest[2..4] == [0, 0x30]
    };
    let at = (der.len() - 80..der.len() - 60).find(starts).expect("a signature");
    let numbers = &der[at + 5..];
    let (r, s) = numbers.split_at(2 + usize::from(numbers[1]));
    let both = [r, &integer(&complement(&s[2..]))].concat();
    let length = both.len() as u8;
    let body = [&der[4..at], &[3, length + 3, 0, 0x30, length], &both].concat();
    let [high, low] = (body.len() as u16).to_be_bytes();
    [&[0x30, 0x82, high, low], &*body].concat()
}

fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in der.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        let digit = |at: usize| DIGITS[(bits >> (18 - 6 * at)) as usize % 64] as char;
        text.extend((0..4).map(|at| if at <= three.len() { digit(at) } else { '=' }));
    }
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

#[tokio::test]
async fn a_key_that_is_denied_stays_out_in_whatever_bytes_its_certificate_comes() {
    let mut logs = Logs::read();
    let folder = Folder::new("malleable");
    let authority = make_authority("demo").unwrap();
    let first = folder.files(&authority, A);
    let text = std::fs::read_to_string(&first.certificate).unwrap();
    let other = pem(&rewritten(&CertificateDer::from_pem_slice(text.as_bytes()).unwrap()));
    assert_ne!(Fingerprint::of_pem(&text), Fingerprint::of_pem(&other));
    let key = Fingerprint::of_key_in_pem(&text).expect("a key");
    assert_eq!(Fingerprint::of_key_in_pem(&other), Some(key));
    let certificate = folder.write("other.pem", &other);
    let other = Tls::load(&TlsFiles { certificate, ..first }, A).expect("a valid signature");
    let denying = folder.tls(&authority, B).unwrap().deny([key]);
    let _pair = pair(Some(other), Some(denying)).await;
    logs.lines(&format!("its certificate {key} is on the deny list of this node"), 2).await;
    assert_eq!(logs.count("linked to node"), 0);
}
