# SPDX-License-Identifier: Apache-2.0
"""The fixture assert_layout_waste, in tests that a pytest of its own runs."""

import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).parents[2]
STEP, EARLIER = ROOT / "examples/step.hlo.txt", ROOT / "examples/step-transposed.hlo.txt"


def outcome(tmp_path, call):
    """The exit status and the output of a test with this call."""
    test = tmp_path / "test_waste.py"
    test.write_text(f"def test_waste(assert_layout_waste):\n    {call}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tesela._pytest", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    return done.returncode, done.stdout


def test_entry_point():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entries["pytest11"] == {"tesela": "tesela._pytest"}


def test_limits_hold(tmp_path):
    assert outcome(tmp_path, f"assert_layout_waste({str(STEP)!r}, 0.9, max_peak='79MiB')")[0] == 0


def test_waste(tmp_path):
    status, text = outcome(tmp_path, f"assert_layout_waste({str(STEP)!r})")
    assert status == 1 and "83% of the stored bytes is padding; max_waste allows 0.1" in text


def test_what_grew(tmp_path):
    """f32[4096,20,24]: 24 lanes of 128 in 20 of 24 rows, before 4096 lanes of 4096 in 24 rows of 20."""
    call = f"assert_layout_waste({str(STEP)!r}, None, max_peak='64MiB', baseline={str(EARLIER)!r})"
    status, text = outcome(tmp_path, call)
    more = 4096 * 24 * 128 * 4 - 20 * 24 * 4096 * 4
    assert status == 1 and "the peak is 78.42 MiB; max_peak allows 64MiB" in text
    assert f"+{more / 2**20:.2f} MiB f32[4096,20,24]{{2,1,0:T(8,128)}}  step.py:11, jit(step)/embed/gather" in text


def test_a_peak_that_is_not_known(tmp_path):
    plain = tmp_path / "plain.hlo.txt"
    plain.write_text(STEP.read_text().replace("is_scheduled=true, ", ""))
    status, text = outcome(tmp_path, f"assert_layout_waste({str(plain)!r}, None, max_peak='64MiB')")
    assert status == 1 and "cannot tell whether max_peak=64MiB holds: the peak is 48.00 MiB to 82.4" in text
