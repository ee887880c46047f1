# SPDX-License-Identifier: Apache-2.0
"""Running the command, for the tests beside this file."""

import contextlib
import json
import os
import pty
import subprocess
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("TESELA_SOURCE") or HERE.parents[1])
BUILD = Path(os.environ.get("TESELA_BUILD") or SOURCE / "build/release")
TESELA = Path(os.environ.get("TESELA") or BUILD / "tesela")

SANITIZED = "sanitize" in os.environ.get("CFLAGS", "")


def only_if(condition):
    """Leaves a test out where it cannot run; one that skips counts as failed."""
    return lambda test: test if condition else None


def environment(**more):
    """No colour, width or locale from whoever runs the tests; the command first on PATH."""
    unwanted = ("COLUMNS", "NO_COLOR", "TERM", "LANG", "LC_CTYPE")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env["PATH"] = f"{TESELA.parent}{os.pathsep}{env['PATH']}"
    return {**env, "LC_ALL": "C", "TERM": "xterm", **more}


@contextlib.contextmanager
def disturbed():
    """The environment of a command in which disturb.c, compiled here, is at work."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "disturb.so"
        cc = [os.environ.get("CC") or "cc", "-shared", "-fPIC", "-o", library, HERE / "disturb.c", "-ldl"]
        subprocess.run(cc, check=True)
        yield {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}


def run(*words, text=b"", env=None, **how):
    """The finished process; text goes to its standard input."""
    text = text.encode() if isinstance(text, str) else text
    if "stdin" not in how:
        how["input"] = text
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    return subprocess.run([TESELA, *words], env=environment(**(env or {})), timeout=120, **how)


class Terminal:
    """A pseudo-terminal: programs write to `theirs`. What they write is read up to a mark written last: when all writers have
    closed it, a terminal reports the end, and not always all that came before."""

    MARK = b"\0the end\0"

    def __enter__(self):
        self.ours, self.theirs = pty.openpty()
        self.seen = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        return self

    def read(self):
        while not self.seen.endswith(self.MARK):
            self.seen += os.read(self.ours, 1 << 16)

    def wait_for(self, word, seconds):
        end = time.monotonic() + seconds
        while word not in self.seen:
            assert time.monotonic() < end, self.seen
            time.sleep(0.05)

    def __exit__(self, *_):
        os.write(self.theirs, self.MARK)
        self.reader.join()
        self.seen = self.seen.removesuffix(self.MARK)
        os.close(self.theirs)
        os.close(self.ours)


def on_a_terminal(*words, **env):
    """What a person sees, with \\n at the end of lines, and the exit status."""
    with Terminal() as terminal:
        where = {"stdin": terminal.theirs, "stdout": terminal.theirs, "stderr": terminal.theirs}
        status = run(*words, env=env, **where).returncode
    return terminal.seen.decode().replace("\r\n", "\n"), status


def ask(*requests):
    """The responses to requests, each a dict or a line of text."""
    lines = [r if isinstance(r, (str, bytes)) else json.dumps(r) for r in requests]
    lines = [line.encode() if isinstance(line, str) else line for line in lines]
    done = run("query", text=b"".join(line + b"\n" for line in lines))
    assert (done.returncode, done.stderr) == (0, b"")
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(responses) == len(requests)
    return responses


def one(request):
    return ask(request)[0]


def good(request):
    response = one(request)
    assert response.pop("ok") is True, response
    assert response.pop("id") == request.get("id")
    return response


def error(request):
    response = one(request)
    assert set(response) == {"id", "ok", "error"} and response["ok"] is False
    assert set(response["error"]) <= {"code", "status", "limit", "message", "at", "field"}
    assert response["error"]["message"]
    return response["error"]


def where(layout, indices):
    return good({"op": "where", "layout": layout, "indices": [list(index) for index in indices]})["places"]


def what(layout, places):
    return good({"op": "what", "layout": layout, "places": list(places)})["indices"]
