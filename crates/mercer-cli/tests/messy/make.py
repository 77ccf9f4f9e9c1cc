"""Makes the files of this folder with the programs that people export with: pandas, openpyxl, pyarrow, Pillow.

The tests read the files that are committed; run this only to change them.
"""

import bz2
import zipfile
import pathlib

import numpy as np
import pandas as pd
from PIL import Image

HERE = pathlib.Path(__file__).parent
ROWS = 160


def customers():
    """Who buys depends on age, city and membership, none of which alone tells."""
    rng = np.random.default_rng(5)
    age = rng.uniform(18, 78, ROWS).round(1)
    city = rng.choice(["Köln", "Zürich", "São Paulo", "東京"], ROWS)
    member = rng.random(ROWS) < 0.4
    offset = pd.Series(city).map({"Köln": 1.5, "Zürich": -1.5, "São Paulo": 0.5, "東京": -0.5})
    score = (age - 45) / 15 + offset + np.where(member, 1.0, -1.0)
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:05}" for i in range(ROWS)],
            "age": age,
            "city": city,
            "member": member,
            "visit": pd.date_range("2024-01-03 08:15", periods=ROWS, freq="31h"),
            "outcome": np.where(score > 0, "buys", "leaves"),
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame.loc[::13, "city"] = None
    return frame


def workbook(frame):
    """A sheet as people have it: a title, an empty row, the table, a total."""
    with pd.ExcelWriter(HERE / "customers.xlsx", engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name="Kunden", index=False, startrow=3)
        sheet = writer.sheets["Kunden"]
        sheet["A1"] = "Customers of all shops"
        sheet["A2"] = "as of 2024-12-31"
        sheet.cell(row=ROWS + 5, column=1, value="Total")
        sheet.cell(row=ROWS + 5, column=2, value=f"=AVERAGE(B5:B{ROWS + 4})")


def photographs():
    """Bright and dark pictures of several sizes, some in colour."""
    rng = np.random.default_rng(6)
    for kind, level in [("day", 190), ("night", 60)]:
        (HERE / "photographs" / kind).mkdir(parents=True, exist_ok=True)
        for i in range(10):
            height, width = rng.integers(9, 25, 2)
            shape = (height, width, 3) if i % 2 else (height, width)
            pixels = np.clip(rng.normal(level, 25, shape), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(HERE / "photographs" / kind / f"IMG_{i:04}.jpg", quality=70)


def main():
    frame = customers()
    text = frame.assign(member=np.where(frame["member"], "yes", "no"))
    text.to_csv(HERE / "customers-utf16.csv", index=False, encoding="utf-16", sep="\t")
    (HERE / "customers.csv.bz2").write_bytes(bz2.compress(text.to_csv(index=False).encode()))
    with zipfile.ZipFile(HERE / "customers.zip", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(zipfile.ZipInfo("export/"), "")
        package.writestr("export/customers.csv", text.to_csv(index=False))
        package.writestr("__MACOSX/export/._customers.csv", "x")
    frame.to_json(HERE / "customers.jsonl", orient="records", lines=True, date_format="iso", force_ascii=False)
    frame.to_parquet(HERE / "customers.parquet", index=False)
    frame.to_feather(HERE / "customers.feather")
    workbook(frame)
    photographs()


if __name__ == "__main__":
    main()
