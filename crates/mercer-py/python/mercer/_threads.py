"""How many threads the compiled part may use, as threadpoolctl asks and sets it."""

from __future__ import annotations

import numbers
import os

from ._mercer import __version__

#: What :func:`threadpoolctl.threadpool_limits` has set; None: nothing.
LIMIT: int | None = None


def threads_of(n_jobs) -> int:
    """Threads for the compiled part; 0 means as many as the machine has.

    None means all of them, unless ``OMP_NUM_THREADS`` says less, as joblib's workers do, or a limit of threadpoolctl.
    """
    if n_jobs is None:
        given = os.environ.get("OMP_NUM_THREADS", "")
        wanted = int(given) if given.isdigit() else 0
    elif isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs = {n_jobs!r}: must be None, a negative int or an int from 1")
    else:
        wanted = max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs < 0 else int(n_jobs)
    if LIMIT is None:
        return wanted
    return LIMIT if wanted == 0 else min(wanted, LIMIT)


class Unlimited(int):
    """A number of threads that no limit of threadpoolctl has set."""


def register() -> None:
    """Make Mercer one of the libraries that threadpoolctl lists and limits."""
    try:
        from threadpoolctl import LibController
        from threadpoolctl import register as add
    except ImportError:
        return

    class Mercer(LibController):  # type: ignore[misc]
        """The compiled part, for threadpoolctl."""

        user_api = "mercer"
        internal_api = "mercer"
        filename_prefixes = ("_mercer",)

        def get_num_threads(self) -> int:
            known = threads_of(None) or os.cpu_count() or 1
            return known if LIMIT is not None else Unlimited(known)

        def set_num_threads(self, num_threads: int) -> None:
            global LIMIT
            # Limits are put back by setting what was read before them.
            free = isinstance(num_threads, Unlimited) or num_threads >= (os.cpu_count() or 1)
            LIMIT = None if free else int(num_threads)

        def get_version(self) -> str:
            return __version__

    add(Mercer)
