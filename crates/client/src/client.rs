//! The HTTP client: requests, answers, time-outs, and fail-over from one server to the next.

use crate::Error;
use crate::api::Failure;
use crate::clock::since_boot;
use crate::credentials::{Builder, Secret, is_local, unanswered};
use crate::lease::Leases;
use crate::pinned::Pinned;
use crate::question::Question;
use serde::de::DeserializeOwned;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use ureq::http::{Method, Request, Response, StatusCode, request};
use ureq::tls::TlsConfig;
use ureq::{Agent, AsSendBody, Body, Timeout};

const HTTP: &str = "http://";
const HTTPS: &str = "https://";
/// A server on the same continent answers a connection sooner than this.
const CONNECT: Duration = Duration::from_secs(2);

/// A connection that was closed before it was used again is found out sooner than this.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Where the nodes of a cluster are. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) agent: Agent,
    servers: Arc<[String]>,
    /// The one that answered last; the next request goes there first.
    current: Arc<AtomicUsize>,
    /// Whether a session was asked for: the first one is, at a server of chance.
    spread: Arc<AtomicBool>,
    /// The sessions that it and its clones keep alive.
    pub(crate) leases: Arc<Leases>,
    /// The cluster that it and its clones keep to.
    pub(crate) pinned: Arc<Pinned>,
    /// Whom to trust, and what certificate to show.
    tls: Option<TlsConfig>,
    /// What shows who asks, where that is needed.
    token: Option<Secret>,
    /// No answer is waited for any longer than this.
    patience_max: Duration,
    /// Nor those of all servers together any longer than this.
    total_max: Duration,
}

impl Client {
    /// A client of these servers, each `HOST:PORT` or `http://HOST:PORT`. Nothing is sent yet.
    pub fn new<S: AsRef<str>>(servers: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        Self::builder().servers(servers).build()
    }

    /// A client with credentials.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn made(
        servers: &[String],
        tls: Option<TlsConfig>,
        token: Option<Secret>,
    ) -> Result<Self, Error> {
        let secure = tls.is_some();
        let servers: Result<Vec<_>, _> = servers.iter().map(|s| base(s, secure)).collect();
        let servers = servers?;
        if servers.is_empty() {
            return Err(Error::BadServer { server: "no server".to_string() });
        }
        if let Some(server) = servers.iter().find(|server| server.starts_with(HTTPS) && !secure) {
            let words = format!("{server}: the certificate of the authority (ca) is missing");
            return Err(Error::BadCredentials(words));
        }
        let agent = agent(tls.as_ref());
        let servers = servers.into();
        let leases = Arc::new(Leases::new());
        let patience_max = Duration::MAX;
        let spread = Arc::default();
        Ok(Self {
            agent,
            servers,
            current: Arc::default(),
            spread,
            leases,
            pinned: Arc::default(),
            tls,
            token,
            patience_max,
            total_max: Duration::MAX,
        })
    }

    /// The same client, of one server alone: a session is known nowhere but at its node.
    pub fn at(&self, server: &str) -> Result<Self, Error> {
        let secure = self.server().starts_with(HTTPS); // As all of them are, unless it says so.
        let servers = Arc::from([base(server, secure)?]);
        Ok(Self { servers, current: Arc::default(), ..self.clone() })
    }

    /// The same client, which gives up on an answer after this long at the latest.
    pub fn within(&self, patience: Duration) -> Self {
        Self { patience_max: patience, ..self.clone() }
    }

    /// The same client, which is done with all its servers after this long, one after the other.
    pub(crate) fn within_in_all(&self, total: Duration) -> Self {
        Self { total_max: total, ..self.clone() }
    }

    /// The same client for a quick look around: it gives up on an answer after this long at the
    /// latest, and has connections of its own, which end with it. A node has room for so many.
    pub fn glance(&self, patience: Duration) -> Self {
        Self { agent: agent(self.tls.as_ref()), patience_max: patience, ..self.clone() }
    }

    /// The same, and it begins at another server than the one that was asked last.
    pub(crate) fn glance_elsewhere(&self) -> Self {
        let next = (self.current.load(Ordering::Relaxed) + 1) % self.servers.len();
        Self { current: Arc::new(AtomicUsize::new(next)), ..self.glance(Duration::MAX) }
    }

    /// The same client, which shows this bearer token with each request.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(Secret(token.into())), ..self.clone() }
    }

    /// The next request goes to this server first.
    pub(crate) fn go_to(&self, server: &str) {
        if let Some(index) = self.servers.iter().position(|known| known == server) {
            self.current.store(index, Ordering::Relaxed);
        }
    }

    /// Ends all sessions that this client and its clones keep alive, wherever in the program they
    /// are waited with, and opens no more. What they hold is given back.
    pub fn close(&self) {
        self.leases.close();
    }

    /// The addresses, as they were given.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// How the servers are spoken to: `https://`, or `http://`.
    pub fn scheme(&self) -> &'static str {
        if self.server().starts_with(HTTPS) { HTTPS } else { HTTP }
    }

    /// The server that answered last.
    pub fn server(&self) -> &str {
        &self.servers[self.current.load(Ordering::Relaxed) % self.servers.len()]
    }

    /// Sessions of many clients are spread over all servers, so that the loss of one costs few of
    /// them: each client begins at one that it draws once.
    pub(crate) fn spread(&self) {
        if !self.spread.swap(true, Ordering::Relaxed) {
            let drawn = RandomState::new().build_hasher().finish();
            let n = self.servers.len() as u64;
            let index = usize::try_from(drawn % n).expect("below the number of servers");
            self.current.store(index, Ordering::Relaxed);
        }
    }

    /// The next request goes to another server first, unless one has gone elsewhere since.
    pub(crate) fn pass_over(&self, server: &str) {
        let current = self.current.load(Ordering::Relaxed);
        if self.servers[current % self.servers.len()] == server {
            self.current.store((current + 1) % self.servers.len(), Ordering::Relaxed);
        }
    }

    /// Asks one server after the other, from the one that answered last, until one can answer.
    pub(crate) fn ask<R: DeserializeOwned>(&self, question: &Question) -> Result<R, Error> {
        self.ask_whom(question).map(|(_, answer)| answer)
    }

    /// The same, with the server that answered: another request may have gone elsewhere since.
    pub(crate) fn ask_whom<R>(&self, question: &Question) -> Result<(String, R), Error>
    where
        R: DeserializeOwned,
    {
        let (server, bytes) = self.bytes(question)?;
        match serde_json::from_slice(&bytes) {
            Ok(answer) => Ok((server, answer)),
            Err(error) => Err(Error::Foreign { server, reason: error.to_string() }),
        }
    }

    /// The same where the answer is of no interest.
    pub(crate) fn tell(&self, question: &Question) -> Result<(), Error> {
        self.bytes(question).map(|_| ())
    }

    pub(crate) fn bytes(&self, question: &Question) -> Result<(String, Vec<u8>), Error> {
        let first = self.current.load(Ordering::Relaxed);
        let begun = since_boot();
        let mut refused = None;
        let mut silent = Vec::new();
        for offset in 0..self.servers.len() {
            let index = (first + offset) % self.servers.len();
            let server = &self.servers[index];
            let Some(patience) = question.patience() else {
                silent.push("any other node, in time".to_string());
                break;
            };
            let left = self.total_max.saturating_sub(since_boot().saturating_sub(begun));
            let patience = patience.min(share(left, self.servers.len() - offset));
            let mut sent = false;
            let mut answer = self.exchange(server, question, patience, &mut sent);
            if question.insists && hung_up(&answer, since_boot().saturating_sub(begun)) {
                let anew = self.glance(self.patience_max);
                answer = anew.exchange(server, question, patience, &mut sent);
            }
            match answer {
                Err(error) if question.once && sent && error.may_be_done() => return Err(error),
                Err(Error::Unreachable(reason)) => silent.push(reason),
                Err(error) if error.is_undecided() => refused = Some(error),
                answer => {
                    self.current.store(index, Ordering::Relaxed);
                    return answer.map(|bytes| (server.clone(), bytes));
                }
            }
        }
        Err(refused.unwrap_or_else(|| Error::Unreachable(silent.join(", "))))
    }

    /// Asks one server; `sent` is whether it may have got the question.
    fn exchange(
        &self,
        server: &str,
        question: &Question,
        patience: Duration,
        sent: &mut bool,
    ) -> Result<Vec<u8>, Error> {
        let silent = |error: ureq::Error| unanswered(server, &error);
        let request = self.request(server, question.method.clone(), &question.path)?;
        let answer = match &question.body {
            None => self.send(request.body(()), patience),
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.send(request.body(&body[..]), patience)
            }
        };
        *sent = !matches!(&answer, Err(error) if is_unsent(error));
        let mut answer = answer.map_err(silent)?;
        let status = answer.status();
        let limited = answer.body_mut().with_config().limit(question.answer_max as u64);
        let bytes = limited.read_to_vec().map_err(silent)?;
        if status.is_success() {
            return Ok(bytes);
        }
        Err(refusal(server, status, &bytes))
    }

    /// The beginning of a request, with what shows who asks, unless that could be read on its way.
    pub(crate) fn request(
        &self,
        server: &str,
        method: Method,
        path: &str,
    ) -> Result<request::Builder, Error> {
        let request = Request::builder().method(method).uri(format!("{server}{path}"));
        let Some(token) = &self.token else { return Ok(request) };
        if !server.starts_with(HTTPS) && !is_local(server) {
            return Err(Error::PlainToken { server: server.to_string() });
        }
        Ok(request.header("authorization", format!("Bearer {}", token.0)))
    }

    fn send<B: AsSendBody>(
        &self,
        request: Result<Request<B>, ureq::http::Error>,
        patience: Duration,
    ) -> Result<Response<Body>, ureq::Error> {
        let patience = patience.min(self.patience_max).max(Duration::from_millis(1));
        let request = self.agent.configure_request(request?).timeout_global(Some(patience)).build();
        self.agent.run(request)
    }
}

/// Whether there was no answer, and at once.
fn hung_up(answer: &Result<Vec<u8>, Error>, after: Duration) -> bool {
    after < AT_ONCE && matches!(answer, Err(Error::Unreachable(_)))
}

/// What one of so many servers may take of the time that is left, so that each is asked.
fn share(left: Duration, servers: usize) -> Duration {
    left / u32::try_from(servers.max(1)).unwrap_or(u32::MAX)
}

/// What is asked and answered is short, and a crowd of clients pays for every byte of each buffer.
const BUFFER: usize = 8 << 10;

fn agent(tls: Option<&TlsConfig>) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None) // The nodes are near, and often on this very machine.
        .timeout_connect(Some(CONNECT))
        .input_buffer_size(BUFFER)
        .output_buffer_size(BUFFER)
        .user_agent(concat!("conclave/", env!("CARGO_PKG_VERSION")));
    let config = match tls {
        Some(tls) => config.tls_config(tls.clone()),
        None => config,
    };
    config.build().new_agent()
}

/// Whether there was no connection on which anything could have been sent.
fn is_unsent(error: &ureq::Error) -> bool {
    let refused = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    matches!(error, ureq::Error::Io(error) if refused(error))
        || matches!(error, ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve))
        || matches!(error, ureq::Error::HostNotFound | ureq::Error::ConnectionFailed)
}

fn refusal(server: &str, status: StatusCode, bytes: &[u8]) -> Error {
    let server = server.to_string();
    match serde_json::from_slice::<Failure>(bytes) {
        Ok(failure) => {
            Error::Refused { server, status: status.as_u16(), failure: Box::new(failure) }
        }
        Err(_) => Error::Foreign { server, reason: format!("it answers {status}") },
    }
}

/// The beginning of every address of this server.
fn base(server: &str, secure: bool) -> Result<String, Error> {
    let bad = || Error::BadServer { server: server.to_string() };
    let scheme = match secure {
        _ if server.starts_with(HTTPS) => HTTPS,
        _ if server.starts_with(HTTP) => HTTP,
        true => HTTPS,
        false => HTTP,
    };
    let place = server.strip_prefix(scheme).unwrap_or(server).trim_end_matches('/');
    let (host, port) = place.rsplit_once(':').ok_or_else(bad)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    if host.is_empty() || !host.chars().all(plain) || port.parse::<u16>().is_err() {
        return Err(bad());
    }
    Ok(format!("{scheme}{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_servers_together_take_no_longer_than_was_said() {
        let total = Duration::from_millis(600);
        let mut left = total;
        let mut shares = Vec::new();
        for servers in (1..=5).rev() {
            shares.push(share(left, servers));
            left -= shares[shares.len() - 1];
        }
        assert_eq!(shares.iter().sum::<Duration>(), total);
        assert!(shares.iter().all(|share| *share == total / 5), "{shares:?}");
        assert_eq!(share(Duration::MAX, 1), Duration::MAX);
    }

    #[test]
    fn a_server_is_a_host_and_a_port() {
        assert_eq!(base("127.0.0.1:7070", false).as_deref(), Ok("http://127.0.0.1:7070"));
        assert_eq!(base("127.0.0.1:7070", true).as_deref(), Ok("https://127.0.0.1:7070"));
        assert_eq!(base("http://[::1]:7070/", true).as_deref(), Ok("http://[::1]:7070"));
        assert_eq!(base("https://host:1/", false).as_deref(), Ok("https://host:1"));
        for bad in ["", "host", ":1", "host:", "host:99999", "ftp://host:1", "http://a/b:1"] {
            assert_eq!(base(bad, false), Err(Error::BadServer { server: bad.to_string() }));
        }
    }
}
