// The lab under test: the built command and a real browser, which are both ended with the test.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";

export const CLI = process.env.MERCER_CLI ?? path.resolve(import.meta.dirname, "../../../../target/debug/mercer");
const CHROMIUM = process.env.MERCER_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => existsSync(file));
/** Where pictures of the rooms go, for somebody to look at. */
const SCREENS = process.env.MERCER_SCREENS ?? path.resolve(import.meta.dirname, "../../../../target/lab/screens");

/** Starts the command and gives its address. */
export async function serve(...args) {
  const server = spawn(CLI, ["lab", "--no-open", "--format", "json", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(JSON.parse(text.split("\n")[0]).address);
    });
    server.on("exit", (code) => reject(new Error(`mercer lab ended with ${code}`)));
  });
  const ended = new Promise((resolve) => server.on("exit", (code) => resolve(code)));
  return {
    address,
    async stop() {
      server.kill("SIGTERM");
      return ended;
    },
  };
}

/** Starts a browser whose pages note what a person would not want to see. */
export async function browse() {
  const profile = mkdtempSync(path.join(tmpdir(), "mercer-lab-"));
  const browser = await puppeteer.launch({ executablePath: CHROMIUM, headless: true, userDataDir: profile, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  const troubles = [];
  const open = async (address, { width = 1400, height = 900, theme = "light" } = {}) => {
    const page = await browser.newPage();
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    const origin = new URL(address).origin;
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type()) && !/Failed to load resource/.test(message.text())) troubles.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith("blob:")) troubles.push(`request to ${url}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400 && response.status() !== 503) troubles.push(`${response.status()} at ${response.url().replace(/[0-9a-f]{32}/, "SECRET")}`);
    });
    await page.goto(address, { waitUntil: "load" });
    return page;
  };
  return {
    open,
    /** What was noted since it was last asked. */
    troubles: () => troubles.splice(0),
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Waits until a room is there. */
export async function ready(page, room) {
  await page.waitForSelector(`main[data-ready="${room}"]`, { timeout: 60_000 });
}

/** Goes to a room of the same page by its link. */
export async function go(page, room) {
  // The link of the room that is open leads nowhere.
  if ((await page.$eval("main", (main) => main.dataset.ready)) === room) return;
  await page.evaluate(() => document.querySelector("main").removeAttribute("data-ready"));
  await page.click(`nav a[href="#${room}"]`);
  await ready(page, room);
}

/** Keeps a picture of what is there. */
export async function shoot(page, name) {
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENS, `${name}.png`), fullPage: true });
}

/** Moves a slider to a share of its range, as its own keys or the mouse would. */
export async function slide(page, name, share) {
  await page.$eval(
    `input[type=range][data-name="${name}"]`,
    (input, to) => {
      input.value = String(Math.round(Number(input.min) + to * (Number(input.max) - Number(input.min))));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    share,
  );
}

/** The text of the first element that a selector finds. */
export function text(page, selector) {
  return page.$eval(selector, (element) => element.textContent);
}

/** The number or word under a name in a list of facts. */
export function fact(page, name) {
  return page.evaluate((wanted) => [...document.querySelectorAll(".facts dt")].find((dt) => dt.textContent === wanted)?.nextElementSibling?.firstChild?.textContent ?? null, name);
}

/** Waits until something is true in the page. */
export function until(page, what, ...args) {
  return page.waitForFunction(what, { timeout: 60_000, polling: 30 }, ...args);
}
