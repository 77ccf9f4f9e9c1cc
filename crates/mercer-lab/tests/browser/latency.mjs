// From slider to pixels: 300 points of two classes under rbf, 100 x 100 cells. Run it against a release build:
//
//   MERCER_CLI=target/release/mercer node crates/mercer-lab/tests/browser/latency.mjs

import { browse, ready, serve, slide, until } from "./lab.mjs";

const STEPS = Number(process.env.STEPS ?? 150);
const lab = await serve();
const browser = await browse();
const page = await browser.open(lab.address);
await ready(page, "playground");
await until(page, () => document.querySelector(".facts"));
await new Promise((resolve) => setTimeout(resolve, 1500));
const parts = [];
for (let step = 0; step < STEPS; step++) {
  await page.evaluate(() => performance.clearMeasures());
  // Back and forth over the middle of the range, as a hand would.
  await slide(page, "gamma", 0.5 + 0.2 * Math.sin(step / 5));
  await until(page, () => performance.getEntriesByName("slider to pixels").length > 0);
  parts.push(await page.evaluate(() => {
    const [one] = performance.getEntriesByName("slider to pixels");
    return { total: one.duration, ...one.detail };
  }));
  // The request with the span estimate, which follows a pause, must not be in the way of the next step.
  await new Promise((resolve) => setTimeout(resolve, 15));
}
await browser.close();
await lab.stop();
const at = (name, share) => parts.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(share * (parts.length - 1))];
for (const name of ["total", "wait", "request", "fit", "grid", "draw", "frame"]) {
  console.log(`${name.padEnd(8)} median ${at(name, 0.5).toFixed(1).padStart(6)} ms, 95th percentile ${at(name, 0.95).toFixed(1).padStart(6)} ms`);
}
