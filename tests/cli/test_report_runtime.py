# SPDX-License-Identifier: Apache-2.0
"""What `tesela report` makes of allocators' messages at run time: their figures, and one sentence on what to get. The texts are
made up in the known forms; the figures expected are those that are written into them."""

import pytest
from command import run
from report_verb import STEP, report_json

LOG = "2026-11-28 10:00:00.123456: W bfc_allocator.cc:501] "
DUMP, SNAPSHOT = "--xla_dump_to=FOLDER", "_record_memory_history"
MESSAGES = [
    ("bfc", f"{LOG}Allocator (GPU_3_bfc) ran out of memory trying to allocate 7.25GiB (rounded to 7784628224)requested by op fusion\n"
            f"{LOG}Bin (256): \tTotal Chunks: 9, Chunks in use: 4. 2.2KiB allocated for chunks. 1.0KiB in use in bin. 1.0KiB client-requested in use in bin.\n"
            f"{LOG}Sum Total of in-use chunks: 31.50GiB\n",
     {"requested": "7.25GiB", "in_use": "31.50GiB"}, DUMP),
    ("reserve", "RESOURCE_EXHAUSTED: Error loading program 'jit_step': Attempting to reserve 13.70G at the bottom of memory. That was "
                "not possible. There are 5.30G free, 0B reserved, and 5.10G reservable.\n",
     {"requested": "13.70G", "free": "5.30G", "reserved": "0B", "reservable": "5.10G"}, DUMP),
    ("allocate", "RESOURCE_EXHAUSTED: Attempting to allocate 8.88G. That was not possible. There are 3.21G free.; (0x0x0_HBM0)\n",
     {"requested": "8.88G", "free": "3.21G"}, DUMP),
    ("remat", f"{LOG}Can't reduce memory use below 9.50GiB (10200547328 bytes) by rematerialization; only reduced to 21.25GiB "
              "(22817013760 bytes), down from 24.00GiB (25769803776 bytes) originally\n",
     {"capacity": "9.50GiB", "requirement": "21.25GiB", "before": "24.00GiB"}, DUMP),
    ("torch", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 39.50 GiB of which "
              "1.75 GiB is free. Process 77 has 37.60 GiB memory in use. Of the allocated memory 35.25 GiB is allocated by PyTorch, "
              "and 1.50 GiB is reserved by PyTorch but unallocated.\n",
     {"requested": "3.00 GiB", "capacity": "39.50 GiB", "free": "1.75 GiB", "in_use": "35.25 GiB", "reserved_unused": "1.50 GiB"}, SNAPSHOT),
    ("old torch", "RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 15.75 GiB total capacity; 11.25 GiB already "
                  "allocated; 1.25 GiB free; 12.50 GiB reserved in total by PyTorch)\n",
     {"requested": "2.50 GiB", "capacity": "15.75 GiB", "in_use": "11.25 GiB", "free": "1.25 GiB", "reserved": "12.50 GiB"}, SNAPSHOT),
    ("summary", "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
                "| Allocated memory      |  12345 MiB |  23456 MiB |  34567 MiB |  22222 MiB |\n"
                "|       from large pool |  12000 MiB |  23000 MiB |  34000 MiB |  22000 MiB |\n"
                "| GPU reserved memory   |  24000 MiB |  24001 MiB |  24002 MiB |      2 MiB |\n",
     {"in_use": "12345 MiB", "most_in_use": "23456 MiB", "reserved": "24000 MiB"}, SNAPSHOT),
    ("stats", "BufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter allocation:    5.50MiB\n"
              "              constant allocation:     1.5KiB\n        maybe_live_out allocation:   700.5KiB\n"
              "     preallocated temp allocation:   61.25MiB\n  preallocated temp fragmentation:    2.50MiB (4.08%)\n"
              "                 total allocation:   67.25MiB\n              total fragmentation:    2.75MiB (4.09%)\n",
     {"arguments": "5.50MiB", "constants": "1.5KiB", "output": "700.5KiB", "hlo_temp": "61.25MiB", "program": "67.25MiB",
      "fragmentation": "2.75MiB"}, None),
]  # fmt: skip


@pytest.mark.parametrize("name, text, figures, instead", MESSAGES, ids=[m[0] for m in MESSAGES])
@pytest.mark.parametrize("before", ["", "step 1\n", "[rank0]: "])
def test_figures_and_one_sentence(name, text, figures, instead, before):
    if before.startswith("["):
        text = "".join(before + line for line in text.splitlines(keepends=True))
    else:
        text = before + text
    found = report_json(text=text)
    assert [s["compiler"] for s in found["sections"]] == [figures]
    said = [n["text"] for n in found["notes"] if n["code"] == "runtime"]
    assert len(said) == (instead is not None) and all(instead in sentence for sentence in said)
    done = run("report", text=text)
    assert done.returncode == 0
    assert all(figure.encode() in done.stdout for key, figure in figures.items() if key not in ("output", "program", "fragmentation", "reserved", "requirement")), done.stdout
    # a message says who speaks, and advises once: the compiler's log has no list for it
    speaks = b"the allocator" if {"requested", "in_use"} & figures.keys() else b"the compiler"
    assert speaks in done.stdout and (b"Memory usage report" in done.stdout) == (instead is None)
    assert run("report", "--max-bytes", "1TiB", "-", text=text).returncode in (0, 3)
    both = report_json("-", STEP, text=text)
    assert both["totals"]["hlo"] == report_json(STEP)["totals"]["hlo"]


def test_the_words_alone_are_no_message():
    for words in ("we tried to allocate memory", "Tried to allocate much", "Attempting to reserve a table", "Allocator (GPU_0_bfc) is ready"):
        assert run("report", text=words + "\n").returncode == 2
