"""Plays each role of the protocol of `conclave mc714`, written from its description alone.

    peer.py client URL ID             commands on stdin: ask, release, read, write JSON, hang-up
    peer.py coordinator               keeps a value; prints its address
    peer.py ring ID LEADER PORT URL,URL,... POLL
    peer.py clock ID PORT URL,URL,... APPLICATION RULE    never ticks, never pauses
    peer.py application PORT TASK URL,URL,...

Standard library only. Every line on stdout is one event, for a test to wait for.
"""

import http.client
import json
import socket
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE = 60


SPEAKING = threading.Lock()


def say(*words):
    with SPEAKING:  # Threads would speak into each other's lines.
        print(*words, flush=True)


def call(method, base, path, query=None, body=None, patience=PATIENCE):
    """The status and text of the answer; 0 if there is none."""
    where = urllib.parse.urlsplit(base)
    target = path + ("?" + urllib.parse.urlencode(query) if query else "")
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=patience)
    try:
        data = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, target, body=data, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


class Handler(BaseHTTPRequestHandler):
    """Hands each request to `handle_request(method, path, query, body)` of the server's role."""

    def answer(self):
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        body = json.loads(raw) if raw else None
        status, answer = self.server.role.handle_request(self.command, parts.path, query, body)
        data = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def serve(role, port=0):
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.role = role
    say("listens", "http://127.0.0.1:%d" % server.server_address[1])
    server.serve_forever()


class Coordinator:
    """First come, first served; written with a queue of tickets."""

    def __init__(self):
        self.turn = threading.Condition()
        self.line = []
        self.value = 10

    def handle_request(self, method, path, query, body):
        say(method, path, json.dumps(query), json.dumps(body))
        if (method, path) == ("GET", "/request_access"):
            with self.turn:
                ticket = object()
                self.line.append(ticket)
                self.turn.wait_for(lambda: self.line[0] is ticket, PATIENCE)
            return 200, None
        if (method, path) == ("GET", "/release_access"):
            with self.turn:
                self.line.pop(0)
                self.turn.notify_all()
            return 200, None
        if (method, path) == ("GET", "/get_resource"):
            return 200, {"value": self.value}
        if (method, path) == ("POST", "/change_resource"):
            self.value = body["value"]
            return 200, None
        return 404, None


def client(base, name):
    """Does what it is told on stdin, and says what came back."""
    asked = []
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "ask":
            where = urllib.parse.urlsplit(base)
            connection = socket.create_connection((where.hostname, where.port), PATIENCE)
            request = "GET /request_access?id=%s HTTP/1.1\r\nHost: x\r\n\r\n" % name
            connection.sendall(request.encode())
            asked.append(connection)
            say("asked")
            threading.Thread(target=wait_for_grant, args=(connection,), daemon=True).start()
        elif command == "hang-up":
            connection = asked.pop()
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            say("hung up")
        elif command == "release":
            say("release", call("GET", base, "/release_access", {"id": name})[0])
        elif command == "read":
            status, text = call("GET", base, "/get_resource", {"id": name})
            say("read", status, json.dumps(json.loads(text)["value"]))
        elif command == "write":
            body = {"id": name}
            if rest:
                body["value"] = json.loads(rest)
            say("write", call("POST", base, "/change_resource", body=body)[0])


def wait_for_grant(connection):
    try:
        first = connection.recv(4096).split(b"\r\n")[0].decode()
        if first:
            say("granted", first.split(" ")[1])
    except OSError:
        pass


class Ring:
    """The ring as it is described: nested calls, and a memory of the dead that never forgets."""

    def __init__(self, me, leader, peers):
        self.me, self.leader, self.peers = me, leader, peers
        self.killed = False
        self.dead = set()

    def url(self, process):
        return self.peers[process - 1]

    def after(self, process):
        """The next process that is not known to be dead; None if that is this one."""
        n = len(self.peers)
        for step in range(1, n + 1):
            candidate = (process - 1 + step) % n + 1
            if candidate == self.me:
                return None
            if candidate not in self.dead:
                return candidate
        return None

    def watch(self, period):
        while not self.killed:
            time.sleep(period)
            successor = self.after(self.me)
            if successor is None or self.killed:
                continue
            if call("GET", self.url(successor), "/health_check", patience=5)[0] != 200:
                say("dead", successor)
                self.dead.add(successor)
                if successor == self.leader:
                    self.pass_list([])

    def pass_list(self, clients):
        clients = clients + [self.me]
        while True:
            successor = self.after(self.me)
            if successor is None:
                return
            body = {"clients": clients}
            if call("POST", self.url(successor), "/start_election", body=body)[0] == 200:
                return
            self.dead.add(successor)

    def pass_result(self, clients, leader, starter):
        successor = self.after(self.me)
        if successor is None or successor == starter:
            return
        body = {"clients": clients, "coordinator": leader, "starter": starter}
        call("POST", self.url(successor), "/inform_results", body=body)

    def learn(self, clients, leader):
        self.leader = leader
        self.dead |= set(range(1, len(self.peers) + 1)) - set(clients)
        say("leader", leader, "alive", json.dumps(clients))

    def handle_request(self, method, path, query, body):
        if self.killed:
            return 500, None
        if (method, path) == ("GET", "/health_check"):
            say("is looked at")
            return 200, None
        if (method, path) == ("GET", "/kill"):
            self.killed = True
            say("killed")
            return 200, None
        if (method, path) == ("POST", "/start_election"):
            say("list", json.dumps(body))
            clients = body["clients"]
            if self.me not in clients:
                self.pass_list(clients)
            else:
                clients = sorted(clients)
                self.learn(clients, clients[-1])
                self.pass_result(clients, clients[-1], self.me)
            return 200, None
        if (method, path) == ("POST", "/inform_results"):
            say("result", json.dumps(body, sort_keys=True))
            self.learn(body["clients"], body["clients"][-1])
            self.pass_result(body["clients"], body["coordinator"], body["starter"])
            return 200, None
        return 404, None


class Clock:
    def __init__(self, me, peers, application, rule):
        self.me, self.peers, self.application, self.rule = me, peers, application, rule
        self.now = 0

    def handle_request(self, method, path, query, body):
        if (method, path) != ("POST", "/receive_msg"):
            return 404, None
        stamp, content, before = int(query["ts"]), query["content"], self.now
        if self.rule == "lamport":
            self.now = max(stamp, before) + 1
        elif stamp > before or (self.rule == "code" and stamp == before):
            self.now = stamp + 1
        say("received", stamp, content, "clock", self.now)
        if self.rule == "lamport":
            self.now += 1
        if len(content) > 1:
            base = self.peers[int(content[1]) - 1]
            status = call("POST", base, "/receive_msg", {"ts": self.now, "content": content[1:]})[0]
        else:
            status = call("POST", self.application, "/receive_answer")[0]
        say("handed on", status)
        return 200, None


class Application:
    def handle_request(self, method, path, query, body):
        if (method, path) != ("POST", "/receive_answer"):
            return 404, None
        say("answer")
        return 200, None


def hand_in(task, peers):
    base = peers[int(task[0]) - 1]
    say("handed in", call("POST", base, "/receive_msg", {"ts": 1, "content": task})[0])


def main(role, *rest):
    if role == "client":
        client(*rest)
    elif role == "coordinator":
        serve(Coordinator())
    elif role == "ring":
        me, leader, port, peers, poll = rest
        ring = Ring(int(me), int(leader), peers.split(","))
        threading.Thread(target=ring.watch, args=(float(poll),), daemon=True).start()
        serve(ring, int(port))
    elif role == "clock":
        me, port, peers, application, rule = rest
        serve(Clock(int(me), peers.split(","), application, rule), int(port))
    elif role == "application":
        port, task, peers = rest
        starter = threading.Thread(target=hand_in, args=(task, peers.split(",")), daemon=True)
        starter.start()
        serve(Application(), int(port))


main(*sys.argv[1:])
