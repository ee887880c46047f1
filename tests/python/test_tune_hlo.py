# SPDX-License-Identifier: Apache-2.0
"""Costs of scheduled HLO text, as `tesela tune` adds them up; the numbers are added by hand here."""

import pytest

from tesela.tune._compile import measured, too_large
from tesela.tune._hlo import BYTES_PER_CYCLE, Module

TEXT = """HloModule jit_f, is_scheduled=true

FileNames
1 "step.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=2 end_column=9}
2 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=2 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

%condition (c: (s32[], f32[1024])) -> pred[] {
  %n = s32[]{:T(128)} constant(10)
  %c = (s32[]{:T(128)}, f32[1024]{0:T(1024)}) parameter(0)
  %i = s32[]{:T(128)} get-tuple-element(%c), index=0
  ROOT %less = pred[]{:T(512)} compare(%i, %n), direction=LT
}

%body (b: (s32[], f32[1024])) -> (s32[], f32[1024]) {
  %b = (s32[]{:T(128)}, f32[1024]{0:T(1024)}) parameter(0)
  %x = f32[1024]{0:T(1024)} get-tuple-element(%b), index=1
  %y = f32[1024]{0:T(1024)} fusion(%x), kind=kLoop, calls=%unknown, metadata={op_name="f" stack_frame_id=1}, backend_config={"window_config":{"estimated_cycles":"300"}}
  ROOT %t = (s32[]{:T(128)}, f32[1024]{0:T(1024)}) tuple(%b, %y)
}

ENTRY %main (p: f32[1024], q: f32[262144,3]) -> f32[1024] {
  %p = f32[1024]{0:T(1024)} parameter(0)
  %q = f32[262144,3]{1,0:T(8,128)} parameter(1)
  %s = (f32[262144,3]{1,0:T(8,128)}, f32[262144,3]{1,0:T(8,128)S(1)}, u32[]{:S(2)}) copy-start(%q)
  %d = f32[262144,3]{1,0:T(8,128)S(1)} copy-done(%s)
  %sorted = f32[262144,3]{1,0:T(8,128)} sort(%d), dimensions={0}, metadata={op_name="s" stack_frame_id=2}
  %w = (s32[]{:T(128)}, f32[1024]{0:T(1024)}) while(%t0), condition=%condition, body=%body
  ROOT %r = f32[1024]{0:T(1024)} get-tuple-element(%w), index=1
}
"""
PADDED = 262144 * 128 * 4


def test_a_body_counts_as_often_as_it_runs():
    lines, _ = Module(TEXT).costs()
    loop = lines["step.py:7"]
    assert loop.cycles == 3000


def test_operations_without_an_estimate_are_listed_with_the_bytes_of_their_tiles():
    lines, blind = Module(TEXT).costs()
    (one,) = blind
    assert (one.opcode, one.bytes, one.trips, one.source) == ("sort", 2 * PADDED, 1, "step.py:9")
    assert lines["step.py:9"].total == 2 * PADDED / BYTES_PER_CYCLE


def test_an_unknown_bound_is_reported_and_counts_once():
    module = Module(TEXT.replace("constant(10)", "parameter(1)"))
    assert module.costs()[0]["step.py:7"].cycles == 300
    assert module.unknown_trips == ["w"]


def test_copies_beyond_the_other_cycles_are_stalls():
    text = TEXT.replace("%sorted = ", "%tiny = ").replace("sort(%d), dimensions={0}", 'fusion(%d), x="estimated_cycles":"5"')
    lines, _ = Module(text).costs()
    assert lines[None].stalls == pytest.approx(2 * PADDED / BYTES_PER_CYCLE - 5, abs=2)


def test_copies_of_arguments_have_the_name_of_the_argument():
    text = TEXT.replace('sort(%d), dimensions={0}, metadata={op_name="s" stack_frame_id=2}', 'copy(%d), metadata={op_name="given[1]"}')
    lines, _ = Module(text).costs()
    assert lines["given[1]"].total == 2 * PADDED / BYTES_PER_CYCLE


def test_what_is_aliased_counts_once_in_hbm():
    assert measured((100, 50, 30, 40), TEXT).hbm == 140


def test_a_message_has_the_total():
    message = "Ran out of memory on HBM, the total memory required for HLO temporaries (30.50G) exceeds available HBM (15.75G)."
    assert too_large(message).hbm == int(30.5 * 2**30)
    assert not too_large(message).fits
    assert too_large("Ran out of memory in memory space hbm. Used 23.25G of 15.75G hbm. Exceeded by 7.50G.").hbm == int(23.25 * 2**30)
