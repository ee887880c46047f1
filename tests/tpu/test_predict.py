# SPDX-License-Identifier: Apache-2.0
"""What `predict` says of a program before it is compiled is what the compiler says of it after."""

import programs
import pytest
import tpu_compiler

PROGRAMS = 8  # of each target


@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize("target", sorted(tpu_compiler.TOPOLOGIES))
def test_figures(target, ask, seed):
    right = 0
    for number in range(PROGRAMS):
        lowered = programs.lower(f"{seed} {number}", target)
        expected = programs.compiled_sizes(lowered)
        for text in (lowered.as_text(), lowered.as_text(dialect="hlo")):
            (answer,) = ask([{"op": "predict", "text": text, "target": target}])
            if not answer["ok"]:  # HLO text has no memory kinds and no layouts
                assert "memory of the host" in answer["error"]["message"], (number, answer)
                continue
            found = [answer[f"{name}_bytes"] for name in programs.NAMES[:4]]
            hlo = text.startswith("HloModule")
            if hlo and ("pinned_host" in lowered.as_text() or "mhlo.layout_mode" in lowered.as_text()):
                continue
            assert found == expected[:4], (number, text)
            if not any(a["donated"] and "result" not in a for a in answer["arguments"]):
                assert answer["aliased_bytes"] == expected[4], (number, text)
            right += 1
    assert right >= PROGRAMS
