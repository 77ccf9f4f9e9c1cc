"""A peer as a line server: one JSON object a line in, one a line out.

The driver starts one process a peer, so that peak memory is the peer's own, and asks the processes in turn, so that
all of them see the same machine. A request names what to do; the answer holds `seconds` and `peak_mb`, or `error`.
"""

import gc
import json
import sys
import time
import traceback


def reset_peak():
    """Makes the kernel forget this process's peak memory."""
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


def peak_mb():
    """Peak resident memory since the last reset, in MB of 10^6 bytes."""
    try:
        with open("/proc/self/status") as f:
            for line in f:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


class timed:
    """`with timed() as t:` then `t.answer` has seconds and peak memory."""

    def __enter__(self):
        gc.collect()
        reset_peak()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.answer = {"seconds": time.perf_counter() - self.start, "peak_mb": peak_mb()}


def serve(verbs):
    """Answers requests until the input ends. `verbs` maps the word under `do` to a function of the request."""
    # What libraries print must not end up between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            request = json.loads(line)
            answer = verbs[request["do"]](request) or {}
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
