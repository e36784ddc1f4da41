//! Quick detection of dead clients: a session may ask to end soon after its stream at a node does.
//!
//! The end of this process ends the stream, and the next one need not wait for the time to live.
//! For who lives on, the grace is a second deadline: the node may have seen the stream end while
//! this side saw nothing. Pings beside the stream tell: one that was echoed found the stream there
//! when it came, so the grace begins no earlier than when it was sent. A stream that ends, or whose
//! pings are not echoed, is opened anew at another node, under a higher number; unless its last
//! event says that the session has ended.

use crate::api::{Ping, SESSION_HEADER, STREAM_HEADER, SessionEnded};
use crate::clock::{nap, since_boot};
use crate::credentials::unanswered;
use crate::deadline::LeaseDeadline;
use crate::question::Question;
use crate::session::{Shared, State};
use crate::watch::Loss;
use crate::{Client, Error};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;
use ureq::http::Method;

/// A node says something on a stream at least this often.
const SILENCE: Duration = Duration::from_secs(30);
/// A new session has its stream sooner than this.
const BEGIN: Duration = Duration::from_secs(5);
/// No line of a stream is longer.
const LINE_MAX: u64 = 4_096;

/// What comes on a stream.
enum Heard {
    /// A sign of life.
    Life,
    /// The session has ended.
    Ended(SessionEnded),
}

/// How long a session outlives its stream, and when the last ping was sent that a node echoed.
#[derive(Debug)]
pub(crate) struct Grace {
    span: Duration,
    echoed: Option<LeaseDeadline>,
}

impl Grace {
    pub fn new(span: Duration) -> Self {
        Self { span, echoed: None }
    }

    /// How long the session outlives its stream.
    pub fn span(&self) -> Duration {
        self.span
    }

    /// Until when the stream is there for certain, once it was.
    pub fn deadline(&self) -> Option<Duration> {
        self.echoed.map(|echoed| echoed.deadline())
    }

    /// A ping that was sent then is echoed now. One that took too long proves nothing.
    fn on_echo(&mut self, sent: Duration, now: Duration) {
        let fresh = LeaseDeadline::new(self.span, sent);
        match &mut self.echoed {
            Some(echoed) => echoed.renew(sent, now, self.span),
            None if fresh.left(now).is_zero() => {}
            None => self.echoed = Some(fresh),
        }
    }
}

/// Begins to keep a stream for this session, and returns once that protects it.
pub(crate) fn begin(shared: &Arc<Shared>, span: Duration) -> Result<(), Error> {
    let kept = Arc::clone(shared);
    let thread = thread::Builder::new().name("pings".into()).spawn(move || run(&kept, span));
    thread.map_err(|error| Error::Lost(format!("no thread to keep its stream: {error}")))?;
    let until = since_boot() + BEGIN;
    let mut state = shared.lock();
    while state.grace.as_ref().is_some_and(|grace| grace.deadline().is_none()) {
        let left = until.saturating_sub(since_boot());
        if left.is_zero() || is_over(&mut state) {
            return Err(Error::Lost("no node keeps its stream in time".to_string()));
        }
        let woken = shared.changed.wait_timeout(state, nap(left));
        state = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
    Ok(())
}

fn is_over(state: &mut State) -> bool {
    state.closed || state.judge(since_boot()).is_some()
}

/// One stream after the other, until the session is lost or closed.
fn run(shared: &Arc<Shared>, span: Duration) {
    let servers = shared.client.servers();
    let first = servers.iter().position(|server| server == shared.client.server()).unwrap_or(0);
    for (number, server) in (1..).zip(servers.iter().cycle().skip(first)) {
        if let Ok(place) = shared.client.glance(Duration::MAX).at(server)
            && let Some(heard) = attach(shared, place.clone(), number, span)
        {
            ping_while_open(shared, &place, number, span, &heard);
        }
        if is_over(&mut shared.lock()) {
            return;
        }
        thread::sleep(span / 10); // All of them may refuse at once.
    }
}

/// Opens a stream. What is returned hears of whatever comes on it, and of its end.
fn attach(shared: &Shared, place: Client, number: u64, span: Duration) -> Option<Receiver<Heard>> {
    let (tell, heard) = mpsc::channel();
    let session = shared.session.clone();
    let patience = patience(&shared.lock(), span);
    let reading = thread::Builder::new().name("stream".into()).spawn(move || {
        let _ = read(&place, &session, number, patience, &tell); // Either way it has ended.
    });
    reading.ok()?;
    match heard.recv_timeout(patience).ok()? {
        Heard::Life => Some(heard),
        Heard::Ended(ended) => {
            on_end(shared, &ended);
            None
        }
    }
}

/// Whoever holds something knows at once. What was ended from here is no loss.
fn on_end(shared: &Shared, ended: &SessionEnded) {
    let words = match &*ended.reason {
        "closed" => "its session was ended",
        "expired" => "its session was silent for too long",
        "lapsed" => "its session was without its stream for too long",
        _ => "its session has ended",
    };
    let mut state = shared.lock();
    if !state.closed {
        state.loss.get_or_insert(Loss::Told(words.to_string()));
    }
    drop(state);
    shared.changed.notify_all();
}

/// How long a node may take to begin a stream. Where there was one before, another node may still
/// have to be asked.
fn patience(state: &State, span: Duration) -> Duration {
    match state.grace.as_ref().and_then(Grace::deadline) {
        Some(_) => state.left(since_boot()) / 2,
        None => span.max(state.deadline.ttl() / 8),
    }
}

/// Reads for as long as somebody cares. The first event says that the stream counts.
fn read(
    place: &Client,
    session: &str,
    number: u64,
    patience: Duration,
    tell: &Sender<Heard>,
) -> io::Result<()> {
    let stream = place.stream(session, number, patience).map_err(io::Error::other)?;
    let mut stream = BufReader::new(stream);
    let mut event = String::new();
    loop {
        let mut line = String::new();
        if stream.by_ref().take(LINE_MAX).read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some(name) = line.strip_prefix("event:") {
            event = name.trim().to_string();
        }
        let ended = line.strip_prefix("data:").filter(|_| event == "ended");
        let ended = ended.map(|data| serde_json::from_str(data).unwrap_or_default());
        if tell.send(ended.map_or(Heard::Life, Heard::Ended)).is_err() {
            return Ok(());
        }
    }
}

/// Pings the node at a third of the grace, until the stream or the session is over.
fn ping_while_open(
    shared: &Shared,
    place: &Client,
    number: u64,
    span: Duration,
    heard: &Receiver<Heard>,
) {
    let words = Ping { session: shared.session.clone(), stream: number };
    loop {
        let sent = since_boot();
        let question = Question::post("/v1/session/ping".to_string(), &words, span / 2);
        if place.tell(&question).is_err() {
            listen(shared, heard, since_boot() + span / 10); // What became of it is on its way.
            return;
        }
        let mut state = shared.lock();
        if let Some(grace) = &mut state.grace {
            grace.on_echo(sent, since_boot());
        }
        drop(state);
        shared.changed.notify_all();
        if !listen(shared, heard, sent + span / 3) || is_over(&mut shared.lock()) {
            return;
        }
    }
}

/// Hears whatever comes on the stream until then; whether the stream is still there.
fn listen(shared: &Shared, heard: &Receiver<Heard>, until: Duration) -> bool {
    loop {
        match heard.recv_timeout(nap(until.saturating_sub(since_boot()))) {
            Ok(Heard::Life) => {}
            Ok(Heard::Ended(ended)) => {
                on_end(shared, &ended);
                return false;
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if since_boot() >= until => return true,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

impl Client {
    /// The stream of a session, at this client's server. The answer is waited for so long.
    fn stream(
        &self,
        session: &str,
        number: u64,
        patience: Duration,
    ) -> Result<impl Read + use<>, Error> {
        let server = self.server();
        let silent = |error: ureq::Error| unanswered(server, &error);
        let request = self
            .request(server, Method::GET, "/v1/session/stream")?
            .header(SESSION_HEADER, session)
            .header(STREAM_HEADER, number.to_string());
        let request = request.body(()).map_err(|error| silent(error.into()))?;
        let request = self
            .agent
            .configure_request(request)
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(SILENCE))
            .build();
        let answer = self.agent.run(request).map_err(silent)?;
        match answer.status().is_success() {
            true => Ok(answer.into_body().into_reader()),
            false => Err(Error::Unreachable(format!("{server} ({})", answer.status()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grace_counts_from_when_the_last_echoed_ping_was_sent() {
        let ms = Duration::from_millis;
        let mut grace = Grace::new(ms(200));
        assert_eq!(grace.deadline(), None, "no stream was there yet");
        grace.on_echo(ms(1_000), ms(1_300));
        assert_eq!(grace.deadline(), None, "it may be gone by now");
        grace.on_echo(ms(1_300), ms(1_310));
        assert_eq!(grace.deadline(), Some(ms(1_476)));
        grace.on_echo(ms(1_370), ms(1_380));
        assert_eq!(grace.deadline(), Some(ms(1_546)));
        grace.on_echo(ms(1_500), ms(1_546));
        assert_eq!(grace.deadline(), Some(ms(1_546)), "somebody may have been told");
    }
}
