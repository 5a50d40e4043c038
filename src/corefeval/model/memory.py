"""Memory that is used again, for fresh memory costs more than most of the work on it.

A system clears every page before it hands it out. Large columns are therefore laid into blocks
that the next corpus takes over. Blocks that wait are offered to the system, which takes them when
it is short of memory, and not before (`MADV_FREE`). Where a process may have so much memory and no
more (`ulimit -v`), none waits, for it would still be the process's own.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE = 1 << 21  # bytes, a large page of the system; what is smaller comes from where it always did
KEPT = 1 << 28  # bytes in all that wait at most

_OFFER: int = getattr(mmap, "MADV_FREE", 0)  # not every system has them
_LARGE_PAGES: int = getattr(mmap, "MADV_HUGEPAGE", 0)
if _OFFER:
    import resource  # which is where offers are
# Nobody goes through it at one go: other threads may change it meanwhile, and so may the end of
# garbage, which can be found at any moment.
_waiting: deque[mmap.mmap] = deque()
if hasattr(os, "register_at_fork"):
    # To write on a page of the parent costs a copy of it.
    os.register_at_fork(after_in_child=_waiting.clear)


class _Lease:
    """What an array on a block and all views of it hold: at its end nobody looks at the block."""

    def __init__(self, memory: NDArray[Any]) -> None:
        self.__array_interface__ = memory.__array_interface__


def empty(size: int, dtype: DTypeLike = np.uint8) -> NDArray[Any]:
    """`np.empty(size, dtype)`, in memory that was used before where that is at hand."""
    kind = np.dtype(dtype)
    needed = size * kind.itemsize
    block = _block(needed) if _OFFER and needed >= LARGE else None
    if block is None:
        return np.empty(size, dtype=kind)
    lease = _Lease(np.frombuffer(block, dtype=kind, count=size))
    weakref.finalize(lease, _give_back, block).atexit = False
    return np.asarray(lease)


def _block(needed: int) -> mmap.mmap | None:
    """One of those that wait, or else a new one; None where the system has no memory left."""
    with suppress(IndexError):  # others may have taken the last
        for _ in range(len(_waiting)):
            block = _waiting.popleft()
            if needed <= len(block) <= 2 * needed:
                return block
            _waiting.append(block)
    try:
        # Somewhat larger, so that the next file may be, too. What nobody writes on costs nothing.
        block = mmap.mmap(-1, needed + needed // 8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        _waiting.clear()
        return None
    with suppress(OSError):  # a system without them
        block.madvise(_LARGE_PAGES)
    return block


def _give_back(block: mmap.mmap) -> None:
    """Let a block wait, unless the system takes no offers or too much waits already."""
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return
    with suppress(OSError, IndexError):  # others may have taken the last
        block.madvise(_OFFER)
        _waiting.append(block)
        while sum(len(_waiting[place]) for place in range(len(_waiting))) > KEPT:
            _waiting.popleft()
