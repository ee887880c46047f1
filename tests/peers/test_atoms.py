# SPDX-License-Identifier: Apache-2.0
"""tensor-layouts' copies of CuTe's traits: A, B and C of each atom of mma against the fragment of the atom's name.

Known errors: docs/peers.md.
"""

import tesela
import tensor_layouts
from counts import counted, known_error
from tensor_layouts import atoms_nv

WRONG = {("SM80_16x8x32_S32S4S4S32_TN", "B")}


def modes(layout):
    """The thread mode and the value mode, each as [(extent, stride), ...]."""

    def flat(shape, stride):
        if isinstance(shape, tuple):
            return [mode for pair in zip(shape, stride) for mode in flat(*pair)]
        return [(shape, stride)]

    return [flat(shape, stride) for shape, stride in zip(layout.shape, layout.stride)]


def at(number, digits):
    place = 0
    for extent, stride in digits:
        place, number = place + number % extent * stride, number // extent
    return place


def agrees(fragment, layout, rows, flip):
    thread, value = modes(layout)
    for lane, elements in enumerate(fragment.elements):
        for i, index in enumerate(elements):
            place = at(lane, thread) + at(i, value)
            if index != ((place // rows, place % rows) if flip else (place % rows, place // rows)):
                return False
    return True


def test_atoms():
    compared, wrong = 0, set()
    for name in dir(atoms_nv):
        atom = getattr(atoms_nv, name)
        if not isinstance(atom, tensor_layouts.MMAAtom) or not name.startswith(("SM75_", "SM80_", "SM89_", "SM90_16x")):
            continue
        m, n, _ = atom.shape_mnk
        for operand, layout, rows in (("A", atom.a_layout, m), ("B", atom.b_layout, n), ("C", atom.c_layout, m)):
            if not agrees(tesela.fragment(f"{name}.{operand}"), layout, rows, operand == "B"):
                wrong.add((name, operand))
            compared += 1
    answer = atoms_nv.SM80_16x8x32_S32S4S4S32_TN.b_layout
    right = ("SM80_16x8x32_S32S4S4S32_TN", "B") not in wrong
    known_error("tensor-layouts", "SM80_16x8x32_S32S4S4S32_TN.B", str(answer).replace(" ", ""), right)
    others = {(name.replace("_SATURATE", ""), operand) for name, operand in wrong} - WRONG
    counted("tensor-layouts", "operands of atoms", compared, len(others), f"{len(wrong) - len(others)} wrong in tensor-layouts")
    assert compared >= 60 and not others, others
