"""Memory that is used again, for fresh memory costs more than most of the work on it.

A system clears every page before it hands it out. Large columns are therefore laid into blocks
that the next corpus takes over. Blocks that wait are offered to the system, which takes them when
it is short of memory, and not before (`MADV_FREE`).
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE = 1 << 21  # bytes, a large page of the system; what is smaller comes from where it always did
KEPT = 1 << 28  # bytes in all that wait at most

_OFFER: int = getattr(mmap, "MADV_FREE", 0)  # not every system has them
_LARGE_PAGES: int = getattr(mmap, "MADV_HUGEPAGE", 0)
_waiting: deque[mmap.mmap] = deque()
if hasattr(os, "register_at_fork"):
    # To write on a page of the parent costs a copy of it.
    os.register_at_fork(after_in_child=_waiting.clear)


class _Lease:
    """What an array and all views of it hold; when the last of them is gone, the block waits."""

    def __init__(self, block: mmap.mmap, memory: NDArray[Any]) -> None:
        self._block = block
        self.__array_interface__ = memory.__array_interface__

    def __del__(self, waiting: deque[mmap.mmap] = _waiting) -> None:
        # Here and below nobody goes through the queue at one go: other threads may change it
        # meanwhile, and so may the end of garbage, which can be found at any moment.
        with suppress(OSError, IndexError):  # a system that takes no offers, and what is gone
            self._block.madvise(_OFFER)
            waiting.append(self._block)
            while sum(len(waiting[place]) for place in range(len(waiting))) > KEPT:
                waiting.popleft()


def empty(size: int, dtype: DTypeLike = np.uint8) -> NDArray[Any]:
    """`np.empty(size, dtype)`, in memory that was used before where that is at hand."""
    kind = np.dtype(dtype)
    needed = size * kind.itemsize
    block = _block(needed) if _OFFER and needed >= LARGE else None
    if block is None:
        return np.empty(size, dtype=kind)
    return np.asarray(_Lease(block, np.frombuffer(block, dtype=kind, count=size)))


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
    except OSError:
        _waiting.clear()
        return None
    with suppress(OSError):  # a system without them
        block.madvise(_LARGE_PAGES)
    return block
