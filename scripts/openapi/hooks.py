"""What schemathesis cannot know: which sessions there are, so that its requests get to where locks
are held, and are not all sent away as those of unknown sessions.

A session is put in place only of what could be one, so that what is wrong stays wrong.
"""
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request

import schemathesis

SERVER = os.environ["CONCLAVE_SERVER"]
SESSION = re.compile(r"[0-9a-f]{32}")
TTL_MS = 3000  # The most with which a session may stand for election.
WAIT_MS_MAX = 300  # A request is not to wait for longer than the test for its answer.
NAME = re.compile(r"[A-Za-z0-9._:/-]{1,256}")
NAMES = ["build", "team:deploy", "taken"]


def post(path, body):
    """The answer to a request that must succeed."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(SERVER + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def opened(label):
    return post("/v1/sessions", {"label": label, "ttl_ms": TTL_MS})["session"]


class Sessions:
    """Two sessions, kept alive: one for the requests, and one that holds what they want."""

    def __init__(self):
        self.own = opened("schemathesis")
        self.other = opened("somebody else")
        post("/v1/locks/taken/acquire", {"session": self.other, "wait_ms": 60000})
        threading.Thread(target=self.keep_alive, daemon=True).start()

    def keep_alive(self):
        while True:
            post(f"/v1/sessions/{self.other}/keepalive", {})
            try:
                post(f"/v1/sessions/{self.own}/keepalive", {})
            except urllib.error.HTTPError:  # A request has closed it: they are told its id.
                self.own = opened("schemathesis")
            time.sleep(TTL_MS / 5 / 1000)


SESSIONS = Sessions()


# The fence of the last grant, by family and name.
FENCES = {}


def family_and_name(case):
    return case.path.split("/")[2], (case.path_parameters or {}).get("name")


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Half of the sessions are real; so are some names and fences; nobody waits for long."""
    body = case.body
    path = case.path_parameters or {}
    if any("%" in str(part) for part in path.values()):
        return  # What is changed is looked at anew, and an escape is then taken for letters.
    real = hash(repr(body) + repr(path)) % 2 == 0
    if real and NAME.fullmatch(str(path.get("name", ""))):
        path["name"] = NAMES[len(path["name"]) % len(NAMES)]
    if real and SESSION.fullmatch(str(path.get("id", ""))):
        path["id"] = opened("to be closed") if case.method == "DELETE" else SESSIONS.own
    if not isinstance(body, dict):
        return
    session = body.get("session")
    if real and type(session) is str and SESSION.fullmatch(session):
        body["session"] = SESSIONS.own
        fence = body.get("fence")
        if type(fence) is int and 0 <= fence < 2**53:
            body["fence"] = FENCES.get(family_and_name(case), fence)
    wait = body.get("wait_ms")
    if type(wait) is int and WAIT_MS_MAX < wait <= 3_600_000:
        body["wait_ms"] = wait % WAIT_MS_MAX


@schemathesis.hook
def after_call(context, case, response):
    """What was granted can be given back."""
    one = case.path != "/v1/acquire" and case.path.endswith(("/acquire", "/campaign"))
    if response.status_code == 200 and one:
        FENCES[family_and_name(case)] = response.json()["fence"]
