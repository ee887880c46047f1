# SPDX-License-Identifier: Apache-2.0
"""What the tests of `tesela report` and `tesela diff` share: the verb as a function, and the project's own inputs."""

import json

from command import SOURCE, run

DUMPS = sorted((SOURCE / "tests/data/hlo").glob("*/*.hlo.txt"))
REPORTS = sorted((SOURCE / "tests/data/reports").glob("*.txt"))
OOM = SOURCE / "examples/oom_report.txt"
STEP = SOURCE / "examples/step.hlo.txt"
UTF8 = {"LC_ALL": "C.UTF-8"}
NO_LIST = REPORTS[0].parent / "hbm-onehot-libtpu0.0.42.txt"
CUT = b"  1. Size: 1.09G\n     Shape: s32[29360128,10]{1,0:T(8,1"
HUGE = b"%b = f32[999999999999,999999999999]{1,0} add(%x)\n"


def report(*words, text=b"", status=0, **how):
    done = run("report", *map(str, words), text=text, **how)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode()


def report_json(*words, **how):
    return json.loads(report("--json", "--top", "0", *words, **how))


def codes(found):
    return {n["code"] for n in found["notes"] if n["loud"]}
