"""What schemathesis cannot know: which sessions there are, so that its requests get to where locks
are held, and are not all sent away as those of unknown sessions; and when to leave a stream.

A session is put in place only of what could be one, so that what is wrong stays wrong.
"""
import itertools
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request

import requests
import schemathesis

SERVER = os.environ["CONCLAVE_SERVER"]
SESSION = re.compile(r"[0-9a-f]{32}")
TTL_MS = 3000  # The most with which a session may stand for election.
WAIT_MS_MAX = 300  # A request is not to wait for longer than the test for its answer.
NAME = re.compile(r"[A-Za-z0-9._:/-]{1,256}")
NAMES = ["build", "team:deploy", "taken"]


def ask(path, body=None):
    """The answer to a request that must succeed."""
    headers = {"content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def opened(label):
    return ask("/v1/sessions", {"label": label, "ttl_ms": TTL_MS})["session"]


def is_kept(session):
    """Whether a session lives on. A request may have closed it: they are told its id."""
    try:
        ask(f"/v1/sessions/{session}/keepalive", {})
    except urllib.error.HTTPError:
        return False
    return True


class Sessions:
    """Two sessions, kept alive: one for the requests, and one that holds what they want."""

    def __init__(self):
        self.own = opened("schemathesis")
        self.other = self.holder()
        threading.Thread(target=self.keep_alive, daemon=True).start()

    def holder(self):
        session = opened("somebody else")
        ask("/v1/locks/taken/acquire", {"session": session, "wait_ms": 60000})
        return session

    def keep_alive(self):
        while True:
            if not is_kept(self.own):
                self.own = opened("schemathesis")
            if not is_kept(self.other):  # On a busy machine its time may have passed.
                self.other = self.holder()
            time.sleep(TTL_MS / 5 / 1000)


SESSIONS = Sessions()
# The node that is tried: it must stay in the cluster.
NODE = ask("/v1/cluster")["node"]
# The sessions that requests have opened; they are used again.
OPENED = set()
# The fence of the last grant, by family and name.
FENCES = {}
# The numbers of streams rise, and so do those of requests, where they are numbers.
STREAMS = itertools.count(1)
REQUESTS = itertools.count(1)
NUMBER = re.compile(r"[1-9][0-9]{0,14}|[1-8][0-9]{15}|900[0-7][0-9]{12}")


def family_and_name(case):
    return case.path.split("/")[2], (case.path_parameters or {}).get("name")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """OpenAPI 3.1 describes a stream as one text. To have its events looked at one by one, they are
    described as version 3.2 does it."""
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                stream = answer.get("content", {}).get("text/event-stream")
                if stream is not None:
                    event = {"type": "object", "properties": {"data": stream.pop("schema")}}
                    stream["itemSchema"] = {**event, "required": ["data"]}


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Half of the sessions are real; so are some names and fences; nobody waits for long."""
    path = case.path_parameters or {}
    if any("%" in str(part) for part in path.values()):
        return  # What is changed is looked at anew, and an escape is then taken for letters.
    real = hash(repr(case.body) + repr(path) + repr(case.headers)) % 2 == 0
    if str(path.get("member")) == str(NODE):
        path["member"] = NODE + 1000
    if real and NAME.fullmatch(str(path.get("name", ""))):
        path["name"] = NAMES[len(path["name"]) % len(NAMES)]
    if real and SESSION.fullmatch(str(path.get("id", ""))):
        path["id"] = opened("to be closed") if case.method == "DELETE" else SESSIONS.own
    if real and SESSION.fullmatch(str((case.headers or {}).get("conclave-session", ""))):
        case.headers["conclave-session"] = SESSIONS.own
        if str(case.headers.get("conclave-stream", "")).isdecimal():
            case.headers["conclave-stream"] = str(next(STREAMS))
    if isinstance(case.body, dict):
        change_body(case, real)


def change_body(case, real):
    body = case.body
    session = body.get("session")
    if real and type(session) is str and SESSION.fullmatch(session):
        body["session"] = SESSIONS.own
    fence = body.get("fence")
    if real and is_whole(fence) and 0 <= fence < 2**53:
        body["fence"] = known_fence(case, fence)
    sessions = {str(body.get("session")), str((case.path_parameters or {}).get("id"))}
    if sessions & (OPENED | {SESSIONS.own}):
        change_numbers(body)
    wait = body.get("wait_ms")
    if is_whole(wait) and WAIT_MS_MAX < wait <= 3_600_000:
        body["wait_ms"] = wait % WAIT_MS_MAX


def is_whole(number):
    """Whether JSON Schema takes this for an integer."""
    return type(number) is int or type(number) is float and number.is_integer()


def known_fence(case, fence):
    """That of the last grant; for a value, of any, since those that nobody has are refused."""
    family, name = family_and_name(case)
    if family == "values":
        return max(FENCES.values(), default=0)
    return FENCES.get((family, name), fence)


def change_numbers(body):
    """One request with a large number, and all later ones would come too late."""
    number = str(next(REQUESTS))
    marks = [name for name in ("request_id", "lowest_open") if type(body.get(name)) is str]
    if all(NUMBER.fullmatch(body[name]) for name in marks):
        body.update({name: number for name in marks})


@schemathesis.hook
def after_call(context, case, response):
    """What was granted can be given back, and what was opened be known."""
    if response.status_code == 200 and (case.method, case.path) == ("POST", "/v1/sessions"):
        OPENED.add(response.json()["session"])
    one = case.path != "/v1/acquire" and case.path.endswith(("/acquire", "/campaign"))
    if response.status_code == 200 and one:
        FENCES[family_and_name(case)] = response.json()["fence"]


def send(session, request, whole=requests.Session.send, **kwargs):
    """A stream of events never ends: what comes first is read, and then the client leaves."""
    response = whole(session, request, **{**kwargs, "stream": True})
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        response._content = until_blank_line(response)
        response._content_consumed = True
        response.close()
    return response


def until_blank_line(response):
    text = b""
    for part in response.iter_content(chunk_size=None):
        text += part
        if b"\n\n" in text:
            break
    return text[: text.rfind(b"\n\n") + 2]  # Whole events.


requests.Session.send = send
