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
  // Texts of one picture that lie over each other. Boxes are as high as a line: letters that touch are two units apart.
  const overlap = [];
  for (const svg of pictures) {
    const texts = [...svg.querySelectorAll("text")].map((e) => [e, e.getBoundingClientRect()]);
    texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide > 0.5 && high > 3) overlap.push(`${name(a)} over ${name(b)} in ${svg.getAttribute("aria-label")}`);
    }));
  }
  // A shape that no style mentions is filled with black.
  const unstyled = [];
  for (const e of document.querySelectorAll("svg path, svg rect, svg circle, svg text")) {
    const style = getComputedStyle(e);
    if (style.fill === "rgb(0, 0, 0)" && style.stroke === "none") unstyled.push(name(e));
  }
  // Tables of which a part can be seen only by scrolling.
  const hidden = [...document.querySelectorAll(".table")].filter((e) => e.scrollWidth > e.clientWidth + 1).map(name);
  // The mean colour of an image as the browser draws it, and whether a style changes it.
  const shade = (image) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const mean = (c) => data.filter((_, i) => i % 4 === c).reduce((a, b) => a + b, 0) / (data.length / 4);
    return [mean(0), mean(1), mean(2)].map(Math.round);
  };
  const small = pictures.filter((svg) => svg.getBoundingClientRect().width < 250 || svg.getBoundingClientRect().height < 150);
  const empty = pictures.filter((svg) => svg.querySelectorAll("path, rect").length < 5);
  const images = [...document.images];
  const findings = {
    width: innerWidth,
    scroll: document.documentElement.scrollWidth,
    off, spilt, failed, overlap, unstyled, hidden,
    filtered: [...document.images].filter((i) => getComputedStyle(i).filter !== "none").length,
    shades: images.filter((i) => i.naturalWidth > 0).slice(0, 40).map(shade),
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
  pre.id = "probe" + window.name;
  pre.textContent = JSON.stringify(findings);
  parent.document.body.append(pre);
});
