# SPDX-License-Identifier: Apache-2.0
"""A layout from Python: asked, drawn, and an array copied into it and back."""

import numpy as np

import tesela

L = tesela.layout("f32[3,5]{1,0:T(2,2)}")
print(L.draw())
print(f"element (2, 3) is at place {L.where(2, 3)}; place 9 holds {L.what(9) or 'padding'}; {L.expansion:.1f} times the data")

x = np.arange(15, dtype=np.float32).reshape(3, 5)
T = tesela.pack(x, L)
print("in memory:", *map(int, T.physical))
assert np.array_equal(np.asarray(T), x)
