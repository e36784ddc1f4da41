//! Calls to other processes, which may be of another program: each with a limit of time and size.

use serde_json::Value;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use ureq::http::Uri;

/// The largest answer that is read.
const ANSWER_MAX: u64 = 64 * 1024;
/// How long to wait before somebody who is not there yet is called again.
const RETRY: Duration = Duration::from_millis(100);

/// The address of a process: `http://` and a host, perhaps with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base(String);

impl Base {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let takes = || "takes an address like http://127.0.0.1:5000".to_string();
        let uri: Uri = text.parse().map_err(|_| takes())?;
        let bare = uri.path() == "/" && uri.query().is_none();
        if uri.scheme_str() != Some("http") || uri.host().is_none_or(str::is_empty) || !bare {
            return Err(takes());
        }
        Ok(Self(text.trim_end_matches('/').to_string()))
    }

    /// Reads several, separated by commas: those of the processes 1, 2 and so on.
    pub fn parse_all(text: &str) -> Result<Bases, String> {
        text.split(',').map(Self::parse).collect::<Result<Vec<Self>, String>>().map(Bases)
    }
}

/// The addresses of all processes, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bases(Vec<Base>);

impl Bases {
    /// How many processes there are.
    pub fn n(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The address of a process, by its id.
    pub fn of(&self, id: u32) -> Option<&Base> {
        self.0.get((id as usize).checked_sub(1)?)
    }
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// What it said.
    pub body: String,
}

impl Answer {
    /// Whether all is well: this protocol knows no other good answer than 200.
    pub fn good(self) -> Result<Self, String> {
        let Self { status, body } = self;
        if status == 200 {
            return Ok(Self { status, body });
        }
        let line: String = body.lines().next().unwrap_or_default().chars().take(200).collect();
        Err(if line.is_empty() || line.starts_with('<') {
            format!("answers {status}")
        } else {
            format!("answers {status}: {line}")
        })
    }
}

/// Calls, and waits for an answer so long.
#[derive(Clone, Debug)]
pub struct Caller {
    agent: ureq::Agent,
}

impl Caller {
    /// A caller that waits this long for an answer.
    pub fn new(patience: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(patience))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0) // Every call stands alone, as the original's do.
            .proxy(None)
            .build();
        Self { agent: ureq::Agent::new_with_config(config) }
    }

    /// A GET.
    pub fn get(&self, base: &Base, path: &str, query: &[(&str, &str)]) -> Result<Answer, String> {
        let request = self.agent.get(format!("{}{path}", base.0));
        read(request.query_pairs(query.iter().copied()).call())
    }

    /// A POST without a body.
    pub fn post(
        &self,
        base: &Base,
        path: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<Answer, String> {
        let mut request = self.agent.post(format!("{}{path}", base.0));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(request.query_pairs(query.iter().copied()).send_empty())
    }

    /// A POST of JSON.
    pub fn post_json(&self, base: &Base, path: &str, body: &Value) -> Result<Answer, String> {
        read(self.agent.post(format!("{}{path}", base.0)).send_json(body))
    }
}

fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Answer, String> {
    let mut answer = answer.map_err(|error| format!("does not answer: {error}"))?;
    let status = answer.status().as_u16();
    let body = answer.body_mut().with_config().limit(ANSWER_MAX).lossy_utf8(true).read_to_string();
    Ok(Answer { status, body: body.map_err(|error| format!("breaks off its answer: {error}"))? })
}

/// Waits until something listens at this address, so that programs can be started in any order.
pub fn wait_for(base: &Base, patience: Duration) -> Result<(), String> {
    let authority = base.0.trim_start_matches("http://");
    let default_port = !authority.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(':');
    let target = if default_port { format!("{authority}:80") } else { authority.to_string() };
    let begun = Instant::now();
    loop {
        let left = patience.saturating_sub(begun.elapsed()).max(Duration::from_millis(1));
        match reach(&target, left) {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() >= patience => {
                return Err(format!("{} does not answer: {error}", base.0));
            }
            Err(_) => std::thread::sleep(RETRY.min(left)),
        }
    }
}

/// Connects to any of the addresses that a name stands for.
fn reach(target: &str, patience: Duration) -> io::Result<()> {
    let mut why = io::Error::other("no such host");
    for address in target.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(_) => return Ok(()),
            Err(error) => why = error,
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_perhaps_a_port() {
        for good in ["http://127.0.0.1:5000", "http://service3:5000/", "http://coordinator"] {
            assert!(Base::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "localhost:5000", "https://a", "http://", "http://a/b", "http://a?x=1"] {
            assert!(Base::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn processes_are_counted_from_1() {
        let bases = Base::parse_all("http://a,http://b").expect("two addresses");
        assert_eq!(bases.n(), 2);
        assert_eq!(bases.of(2), Some(&Base("http://b".to_string())));
        assert_eq!((bases.of(0), bases.of(3)), (None, None));
        assert!(Base::parse_all("http://a,").is_err());
    }

    #[test]
    fn only_200_is_good() {
        let answer = |status, body: &str| Answer { status, body: body.to_string() }.good();
        assert!(answer(200, "").is_ok());
        assert_eq!(answer(500, "").err(), Some("answers 500".to_string()));
        assert_eq!(answer(500, "<html>").err(), Some("answers 500".to_string()));
        assert_eq!(answer(409, "not yours\n").err(), Some("answers 409: not yours".to_string()));
        assert!(answer(204, "").is_err());
    }
}
