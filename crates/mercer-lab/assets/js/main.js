// The frame: rooms by address, theme, jobs that run.

import { about } from "./api.js";
import { read, shown } from "./address.js";
import { fill, h } from "./dom.js";
import { restyle } from "./draw.js";
import * as jobs from "./jobs.js";

/** @typedef {{ title: string, intro: string, open: (main: HTMLElement, values: URLSearchParams) => Promise<{ close?: () => void, redraw?: () => void }> }} Room */

/** @type {[string, string, () => Promise<{ room: Room }>][]} */
const ROOMS = [
  ["playground", "Playground", () => import("./rooms/playground.js")],
  ["data", "Your data", () => import("./rooms/data.js")],
  ["digits", "Digits", () => import("./rooms/digits.js")],
  ["back", "Back from feature space", () => import("./rooms/back.js")],
  ["components", "Components", () => import("./rooms/components.js")],
];

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("rooms"));
const themeButton = /** @type {HTMLButtonElement} */ (document.getElementById("theme"));
const tray = /** @type {HTMLElement} */ (document.getElementById("tray"));

/** @type {{ close?: () => void, redraw?: () => void } | null} */
let current = null;
/** Counts the rooms that were entered: one that opens slowly must not replace the one after it. */
let turn = 0;

function links() {
  const { room } = read();
  fill(nav, ...ROOMS.map(([name, words]) => h("a", { href: `#${name}`, "aria-current": name === room ? "page" : null }, words)));
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

async function enter() {
  const { room: wanted, values } = read();
  const entry = ROOMS.find(([name]) => name === wanted) ?? ROOMS[0];
  const own = ++turn;
  shown.hash = location.hash;
  shown.room = entry[0];
  delete main.dataset.ready;
  current?.close?.();
  current = null;
  links();
  document.title = `${entry[1]} · Mercer lab`;
  fill(main, h("p", { class: "wait" }, "Loading"));
  try {
    const [{ room }] = await Promise.all([entry[2](), about()]);
    const body = h("div", {});
    if (own !== turn) return;
    fill(main, h("div", { class: "intro" }, h("h1", {}, room.title), h("p", {}, room.intro)), body);
    const opened = await room.open(body, values);
    if (own !== turn) {
      opened.close?.();
      return;
    }
    current = opened;
    main.dataset.ready = entry[0];
  } catch (error) {
    if (own !== turn) return;
    fill(main, h("p", { class: "problem", role: "alert" }, `The room cannot be opened: ${error instanceof Error ? error.message : error}`));
  }
}

/** @param {string} name */
function wear(name) {
  document.documentElement.dataset.theme = name;
  themeButton.textContent = name === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", name === "dark" ? "Light: change the theme" : "Dark: change the theme");
  restyle();
  current?.redraw?.();
}

/** What was chosen before, else what the system says. */
function theme() {
  const kept = localStorage.getItem("theme");
  return kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

themeButton.addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  wear(next);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => wear(theme()));
document.getElementById("skip")?.addEventListener("click", () => main.focus());
window.addEventListener("hashchange", () => {
  if (location.hash !== shown.hash) void enter();
});
// A file that misses its place is not opened instead of the lab.
for (const name of /** @type {const} */ (["dragover", "drop"])) {
  window.addEventListener(name, (event) => {
    if (!(event.target instanceof Element && event.target.matches("input[type=file]"))) event.preventDefault();
  });
}
let wait = 0;
window.addEventListener("resize", () => {
  clearTimeout(wait);
  wait = setTimeout(() => current?.redraw?.(), 60);
});

/** Jobs that run, wherever they were started. */
async function look() {
  if (document.hidden) return;
  try {
    const running = (await jobs.list()).filter((job) => job.state === "running");
    fill(tray, running.length ? `${running.length} ${running.length === 1 ? "job" : "jobs"} running` : null);
  } catch {
    fill(tray, "The server has stopped");
  }
}

wear(theme());
void enter();
void look();
setInterval(look, 3000);
