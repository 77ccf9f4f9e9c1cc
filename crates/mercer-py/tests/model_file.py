"""A reader of Mercer's model files, written from docs/model-file.md with numpy and json alone."""

import json
import re
import struct
import zlib

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "U64": "<u8", "U32": "<u4", "U8": "u1"}


def load(path):
    """The body and the arrays of a file."""
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    text = json.loads(header.pop("__metadata__")["mercer"])
    if text["format"] != "mercer" or text["version"] != 2:
        raise ValueError(f"format {text['format']}, version {text['version']}")
    crc = text["crc32"].encode()
    blank = data.replace(b'\\"crc32\\":\\"' + crc, b'\\"crc32\\":\\"00000000', 1)
    if int(crc, 16) != zlib.crc32(blank):
        raise ValueError("the checksum does not match")
    arrays = {}
    for name, about in header.items():
        start, end = (8 + size + at for at in about["data_offsets"])
        arrays[name] = np.frombuffer(data[start:end], TYPES[about["dtype"]]).reshape(about["shape"])
    return text["body"], arrays


def rows_of(start, index, value, shape):
    """Compressed rows as a dense array."""
    out = np.zeros(shape)
    for i in range(shape[0]):
        run = slice(int(start[i]), int(start[i + 1]))
        out[i, index[run]] = value[run]
    return out


def kernel(line):
    """k(X, Y) of a kernel's line; the formulas are those of `mercer kernel list`."""
    line = line.strip()
    if " + " in line:
        parts = [kernel(part) for part in line.split(" + ")]
        return lambda x, y: sum(part(x, y) for part in parts)
    if factor := re.match(r"([\d.e+-]+)\*(.*)", line):
        inner = kernel(factor[2])
        return lambda x, y: float(factor[1]) * inner(x, y)
    name, _, inside = line.partition("(")
    args = dict(part.split("=") for part in inside.rstrip(")").split(", ")) if inside else {}
    number = {key: float(value) for key, value in args.items()}
    if name == "linear":
        return lambda x, y: x @ y.T
    if name == "rbf":
        return lambda x, y: np.exp(-number["gamma"] * ((x[:, None] - y[None]) ** 2).sum(2))
    if name == "poly":
        degree, scale, coef0 = number["degree"], number.get("scale", 1.0), number.get("coef0", 0.0)
        return lambda x, y: (scale * (x @ y.T) + coef0) ** degree
    raise NotImplementedError(line)


class Expansion:
    """`f_j(x) = sum_i c_ij k(x_i, x) + b_j`."""

    def __init__(self, prefix, meta, arrays):
        m, d, k = meta["centres"]["rows"], meta["centres"]["columns"], meta["outputs"]
        get = lambda name: arrays[f"{prefix}.{name}"]
        if meta["centres"]["kind"] in ("f64", "f32"):
            self.centres = get("centres").astype(float)
        elif meta["centres"]["kind"] == "sparse":
            parts = [get(f"centres.{part}") for part in ("start", "column", "value")]
            self.centres = rows_of(*parts, (m, d))
        else:
            raise NotImplementedError(meta["centres"]["kind"])
        if f"{prefix}.coef" in arrays:
            self.coef = get("coef")
        else:
            self.coef = rows_of(*(get(f"coef.{part}") for part in ("start", "output", "value")), (m, k))
        self.offset, self.kernel = get("offset"), kernel(meta["kernel"])

    def __call__(self, x):
        return self.kernel(x, self.centres) @ self.coef + self.offset


def staged(x, stages, arrays):
    """Rows after the stages."""
    for i, about in enumerate(stages):
        stage = about["stage"]
        get = lambda name: np.resize(arrays[f"stage.{i}.{name}"], x.shape[1])
        if stage["name"] == "standard":
            x = (x - get("mean")) / get("std")
        elif stage["name"] == "minmax":
            low, high = stage["lo"], stage["hi"]
            span = get("max") - get("min")
            moved = (x - get("min")) / np.where(span == 0, 1, span) * (high - low) + low
            x = np.where(span == 0, np.clip(0, low, high), moved)
        elif stage["name"] == "scale":
            x = stage["by"] * x + stage["add"]
        elif stage["name"] == "unit":
            length = np.sqrt((x**2).sum(1, keepdims=True))
            x = x / np.where(length == 0, 1, length)
        elif stage["name"] == "power":
            x = np.sign(x) * np.abs(x) ** stage["p"]
        else:
            raise NotImplementedError(stage["name"])
    return x


class Model:
    """A model file that predicts."""

    def __init__(self, path):
        self.body, self.arrays = load(path)
        self.layers = [Expansion(f"layer{i}", meta, self.arrays) for i, meta in enumerate(self.body["layers"])]
        self.machine = self.body["machine"]
        self.f = Expansion("f", self.machine["expansion"], self.arrays)

    def decision(self, x):
        """Decision values, a row per point."""
        x = staged(np.asarray(x, float), self.body["stages"], self.arrays)
        for layer in self.layers:
            x = layer(x)
        readout, f = self.machine["readout"], self.f
        if readout == "plain" or "pairs" in readout:
            out = f(x)
        elif "ball" in readout:
            own = np.array([f.kernel(row[None], row[None])[0, 0] for row in x])[:, None]
            ball = readout["ball"]
            out = ball["radius2"] - np.maximum(0, own - 2 * f(x) + ball["norm2"])
        elif "votes" in readout:
            weight = self.arrays["votes"].reshape(-1, readout["votes"])
            out = np.where(f(x) > 0, 1.0, -1.0) @ weight
        else:
            k, n = readout["nearest"], readout["neighbours"]
            says = self.arrays["says"].reshape(-1, k)
            far = self.arrays["own"] - 2 * f.kernel(x, f.centres)
            near = np.argsort(far, axis=1, kind="stable")[:, :n]
            out = says[near].mean(1)
            out = out[:, 1:] - out[:, :1] if k == 2 else out
        features = self.machine["role"].get("features") if isinstance(self.machine["role"], dict) else None
        if features and features["whiten"]:
            out = out * np.sqrt(features["rows"] / np.abs(self.arrays["values"]))
        return out

    def predict(self, x):
        """Class names, numbers, novelty or clusters."""
        role, v = self.machine["role"], self.decision(x)
        if role == "numbers":
            return v[:, 0]
        if role == "novelty":
            return np.where(v[:, 0] > 0, "1", "-1")
        if "clusters" in role:
            return (v.argmax(1) + 1).astype(str)
        names = np.array(role["classes"])
        if len(names) == 2:
            return names[(v[:, 0] > 0).astype(int)]
        if "pairs" not in self.machine["readout"]:
            return names[v.argmax(1)]
        k = len(names)
        votes, sums = np.zeros((len(v), k)), np.zeros((len(v), k))
        for p, (a, b) in enumerate((a, b) for a in range(k) for b in range(a + 1, k)):
            votes[:, b] += v[:, p] > 0
            votes[:, a] += v[:, p] <= 0
            sums[:, b] += v[:, p]
            sums[:, a] -= v[:, p]
        if self.machine["readout"]["pairs"] == "sum":
            votes = votes + sums / (3 * (np.abs(sums) + 1))
        return names[votes.argmax(1)]
