// Runs inside a page under test, after everything else. Nothing of it ships.
const failed = [];
addEventListener("error", (event) => failed.push(String(event.message || event.target.src)), true);
addEventListener("load", () => {
  const name = (e) => `${e.tagName} ${e.getAttribute("class") || ""} ${(e.textContent || "").slice(0, 30)}`.trim();
  const off = [];
  for (const e of document.body.querySelectorAll("*")) {
    const box = e.getBoundingClientRect();
    // A table's box scrolls by itself: what is inside it may be wider, the box may not.
    if (e.tagName === "SCRIPT" || box.width === 0 || e.closest("table")) continue;
    if (box.left < -0.5 || box.right > innerWidth + 0.5) off.push(name(e));
  }
  const spilt = [];
  const pictures = [...document.querySelectorAll("svg")];
  for (const svg of pictures) {
    const frame = svg.getBoundingClientRect();
    for (const e of svg.querySelectorAll("text, path, circle, rect")) {
      const box = e.getBoundingClientRect();
      const out = box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
      if (out) spilt.push(name(e) + " in " + svg.getAttribute("aria-label"));
    }
  }
  const small = pictures.filter((svg) => svg.getBoundingClientRect().width < 250 || svg.getBoundingClientRect().height < 150);
  const empty = pictures.filter((svg) => svg.querySelectorAll("path, rect").length < 5);
  const images = [...document.images];
  const findings = {
    width: innerWidth,
    scroll: document.documentElement.scrollWidth,
    off, spilt, failed,
    pictures: pictures.length,
    small: small.map(name),
    empty: empty.map(name),
    images: images.length,
    blank: images.filter((i) => !i.complete || i.naturalWidth === 0 || i.getBoundingClientRect().width < 20).length,
    letters: Math.min(...[...document.querySelectorAll("svg text")].map((t) => t.getBoundingClientRect()).map((b) => Math.max(b.width, b.height))),
    ground: getComputedStyle(document.documentElement).backgroundColor,
    ink: getComputedStyle(document.body).color,
    headings: document.querySelectorAll("h2").length,
  };
  const pre = parent.document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(findings);
  parent.document.body.append(pre);
});
