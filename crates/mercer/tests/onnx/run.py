"""Runs every model of a folder in onnxruntime: `NAME.onnx` on the rows of `NAME.json`; prints all outputs as JSON."""

import json
import pathlib
import sys

import numpy
import onnxruntime

answers = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    rows = numpy.array(json.loads(path.with_suffix(".json").read_text()), dtype=numpy.float32)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    values = session.run(None, {"X": rows})
    outputs = {o.name: v for o, v in zip(session.get_outputs(), values)}
    # One row alone must do as well: sizes are not baked in.
    for name, value in zip([o.name for o in session.get_outputs()], session.run(None, {"X": rows[:1]})):
        assert value.shape[0] == 1, (path, name, value.shape)
    answers[path.stem] = {
        "shapes": {name: list(value.shape) for name, value in outputs.items()},
        "declared": {o.name: [o.type, o.shape] for o in session.get_outputs()},
        **{name: value.ravel().tolist() for name, value in outputs.items()},
    }
json.dump(answers, sys.stdout)
