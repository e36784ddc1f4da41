//! Redis: one server that syncs its log before it answers (`appendfsync always`). Its replicas
//! would be told of a lock only after the client was, so that there is nothing to fail over to.

use super::{Role, Wanted, is_on_path};
use anyhow::Context;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

pub fn is_there() -> bool {
    is_on_path("redis-server")
}

pub fn command(wanted: &Wanted<'_>, index: usize) -> anyhow::Result<Vec<OsString>> {
    let place = wanted.place(index);
    fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    let own = wanted.addresses[index];
    let flags = [
        ("--bind", own.ip().to_string()),
        ("--port", own.port().to_string()),
        ("--dir", place.display().to_string()),
        ("--appendonly", "yes".to_string()),
        ("--appendfsync", "always".to_string()),
        ("--save", String::new()),
    ];
    let flags = flags.into_iter().flat_map(|(flag, value)| [flag.into(), value.into()]);
    Ok(std::iter::once(OsString::from("redis-server")).chain(flags).collect())
}

pub fn role(address: SocketAddr) -> Option<Role> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(b"PING\r\n").ok()?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer).ok()?;
    (answer == *b"+PONG\r\n").then_some(Role::Alone)
}
