# SPDX-License-Identifier: Apache-2.0
"""Places of elements from tesela, one process for many layouts."""

import itertools
import json
import os
import subprocess


def indices_of(shape):
    return [list(index) for index in itertools.product(*map(range, shape))]


def ask(requests):
    """The answers to requests of `tesela query`."""
    requests = list(requests)
    text = "".join(json.dumps({"id": i} | request) + "\n" for i, request in enumerate(requests))
    command = os.environ.get("TESELA_COMMAND", "build/release/tesela")
    done = subprocess.run([command, "query"], input=text, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), done.stderr
    return answers


def places_of(layouts, shapes):
    """The places of all elements, row-major, of each layout; or the message of its refusal."""
    answers = ask({"op": "where", "layout": layout, "indices": indices_of(shape)} for layout, shape in zip(layouts, shapes))
    return [answer["places"] if answer["ok"] else answer["error"]["message"] for answer in answers]
