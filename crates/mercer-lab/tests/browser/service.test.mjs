// The pages of `mercer serve`: the forms that try a row, a picture or a sequence, and the list of addresses.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { CLI, browse, shoot, text, until } from "./lab.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "mercer-serve-"));
let server;
let address;
let browser;

function mercer(...args) {
  execFileSync(CLI, [...args, "--quiet"], { cwd: folder });
}

before(async () => {
  mkdirSync(path.join(folder, "models"));
  const people = Array.from({ length: 60 }, (_, i) => `${20 + i},${["red", "<i>blue</i>", "green"][i % 3]},${i % 3 === 0 || i > 30 ? "yes" : "no"}`);
  writeFileSync(path.join(folder, "people.csv"), `age,colour & "more",label\n${people.join("\n")}\n`);
  mercer("train", "people.csv", "-o", "models/people.mercer");
  mercer("data", "toy", "digits", "digits.csv", "--rows", "120");
  mercer("train", "digits.csv", "--image", "8x8", "-o", "models/digits.mercer");
  writeFileSync(path.join(folder, "dna.txt"), Array.from({ length: 40 }, (_, i) => `${"xy"[i % 2]}\t${(i % 2 ? "ACGTT" : "GGCCA").repeat(3)}${"ACGT"[i % 4]}`).join("\n"));
  mercer("train", "dna.txt", "--kernel", "kmer_spectrum(k=2)", "-o", "models/dna.mercer");
  server = spawn(CLI, ["serve", "models", "--listen", "127.0.0.1:0", "--format", "json"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  address = await new Promise((resolve, reject) => {
    let told = "";
    server.stdout.on("data", (data) => {
      told += data;
      if (told.includes("\n")) resolve(JSON.parse(told.split("\n")[0]).address);
    });
    server.on("exit", (code) => reject(new Error(`mercer serve ended with ${code}`)));
  });
  browser = await browse();
});
after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** The form of a model. */
function form(name) {
  return `form.try[data-model*='"name":"${name}"']`;
}

async function said(page, name, words) {
  await until(page, ([one, want]) => document.querySelector(one)?.querySelector("pre")?.textContent.includes(want), [form(name), words]);
}

for (const [width, theme] of [[400, "dark"], [1400, "light"]]) {
  test(`a row, a picture and a sequence are tried at ${width} pixels`, async () => {
    const page = await browser.open(address, { width, theme });
    // A row by the names of its columns, one of them left empty.
    await page.waitForSelector(`${form("people")} button`);
    const [age, colour] = await page.$$(`${form("people")} label input`);
    await age.type("70");
    await colour.type("red");
    await page.click(`${form("people")} p button`);
    await said(page, "people", '"yes"');
    await page.select(`${form("people")} select`, "decision");
    await page.click(`${form("people")} p button`);
    await said(page, "people", '"values"');
    // What is wrong is said.
    await age.type(" years");
    await page.click(`${form("people")} p button`);
    await said(page, "people", "years");
    // A stroke down the middle.
    const box = await (await page.$(`${form("digits")} canvas`)).boundingBox();
    await page.evaluate((one) => document.querySelector(one).scrollIntoView({ block: "center" }), `${form("digits")} canvas`);
    const place = await (await page.$(`${form("digits")} canvas`)).boundingBox();
    assert.ok(box.width > 100);
    await page.mouse.move(place.x + place.width / 2, place.y + 20);
    await page.mouse.down();
    await page.mouse.move(place.x + place.width / 2, place.y + place.height - 20, { steps: 20 });
    await page.mouse.up();
    await page.evaluate((one) => [...document.querySelector(one).querySelectorAll("button")].find((button) => /picture/.test(button.textContent)).click(), form("digits"));
    await said(page, "digits", '"predictions"');
    // A sequence.
    await page.type(`${form("dna")} textarea`, "ACGTTACGTT");
    await page.evaluate((one) => document.querySelector(one).requestSubmit(), form("dna"));
    await said(page, "dna", '"y"');
    await shoot(page, `service-${width}-${theme}`);
    assert.equal(await page.$("label i"), null, "markup stays text");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `the page sticks out by ${wide} pixels`);
    const troubles = browser.troubles();
    assert.deepEqual(troubles.filter((one) => !/^400 at/.test(one)), []);
    assert.equal(troubles.length, 1, "the wrong age was refused");
    await page.close();
  });
}

test("the list of addresses is that of /openapi.json", async () => {
  const page = await browser.open(`${address}/docs`);
  await until(page, () => document.querySelectorAll("#paths h3").length > 10);
  const { paths } = await (await fetch(`${address}/openapi.json`)).json();
  const all = Object.entries(paths).flatMap(([place, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${place}`));
  assert.deepEqual(await page.$$eval("#paths h3", (heads) => heads.map((head) => head.textContent)), all);
  assert.match(await text(page, "#paths"), /Takes .*text\/csv/);
  await shoot(page, "service-docs");
  assert.deepEqual(browser.troubles(), []);
  await page.close();
});
