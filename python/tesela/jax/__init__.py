# SPDX-License-Identifier: Apache-2.0
"""tesela for JAX: trees of arrays in layouts, and relayout inside jax.jit on the CPU.

    import jax, tesela.jax

    packed = tesela.jax.pack(params, "{1,0:T(8,128)}")                           # every array -> TiledArray
    f = jax.jit(lambda x: tesela.jax.to_places(x, "{1,0:T(8,128)}"))             # inside a compiled function
    tesela.report(jax.jit(g).lower(x).compile()).top(1)[0].advice[0].format      # a Layout for jax.experimental.layout.Format

Needs JAX 0.5 or later (pip install "tesela[jax]"); relayout needs a C compiler on first use.
"""

import jax

if jax.__version_info__ < (0, 5):
    raise ImportError(f"tesela.jax needs JAX 0.5 or later, which has jax.ffi; found {jax.__version__}", name="jax")

from ._pytrees import pack, unpack
from ._relayout import from_places, register, relayout, to_places

__all__ = ["from_places", "pack", "register", "relayout", "to_places", "unpack"]
