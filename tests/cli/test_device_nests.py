# SPDX-License-Identifier: Apache-2.0
"""Transfers of more nests than a response of `tesela query` lists: refused as a limit of the response, not of the engine."""

import pytest
from command import error, good

MOST = 65536


def blocks_of_two(rank):
    """A whole block and half a one of each dim: 2**rank nests."""
    dims = [[d, 2, 2] for d in range(rank)] + [[d, 1, 2] for d in range(rank)]
    return {"op": "dma", "host": {"size": [3] * rank}, "stick_bytes": 4, "layout": {"dims": dims}}


@pytest.mark.parametrize("limits", [None, {}, {"max_nests": 0}, {"max_nests": 2 * MOST}, {"max_nests": 2**40}])
def test_too_many_for_a_response(limits):
    asked = blocks_of_two(17) | ({} if limits is None else {"limits": limits})
    said = error(asked)
    assert said["code"] == "LIMIT"
    assert said["message"] == (
        f"max_nests is {MOST}; the list found has {2 * MOST} nests even without the other limits; a response lists up to {MOST}"
    )


def test_too_many_once_cut():
    line = {"op": "dma", "host": {"size": [MOST + 1]}, "layout": {"dim_order": [0]}, "limits": {"max_extent": 1}}
    said = error(line)
    assert said["code"] == "LIMIT" and said["message"].endswith(f"a response lists up to {MOST}")
    assert good(line | {"host": {"size": [500]}})["count"] == 500


@pytest.mark.parametrize("most", [1, 15])
def test_the_limit_of_the_engine(most):
    said = error(blocks_of_two(4) | {"limits": {"max_nests": most}})
    assert (said["code"], said["limit"]) == ("UNSUPPORTED", "MAX_NESTS") and said["message"].startswith(f"max_nests is {most}; ")
    assert good(blocks_of_two(4) | {"limits": {"max_nests": 16}})["count"] == 16
