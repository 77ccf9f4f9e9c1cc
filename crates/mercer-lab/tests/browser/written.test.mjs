// The command lines that the lab writes down, executed: they make the model that the lab has trained.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { CLI, serve } from "./lab.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "mercer-written-"));
let lab;

before(async () => {
  mkdirSync(path.join(folder, "bin"));
  symlinkSync(path.resolve(CLI), path.join(folder, "bin/mercer"));
  lab = await serve();
});
after(async () => {
  assert.equal(await lab?.stop(), 0);
  rmSync(folder, { recursive: true, force: true });
});

/** As a shell runs it, in a folder with the file. */
function shell(line) {
  return execFileSync("sh", ["-ec", line], { cwd: folder, encoding: "utf8", env: { ...process.env, PATH: `${path.join(folder, "bin")}:${process.env.PATH}` }, stdio: ["ignore", "pipe", "pipe"] });
}

async function ask(place, body) {
  const reply = await fetch(`${lab.address.split("#")[0]}api/${place}`, body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  const found = await reply.json();
  assert.equal(reply.status, 200, JSON.stringify(found));
  return found;
}

/** Starts a job and waits for its result. */
async function result(kind, body) {
  const job = await ask(`jobs/${kind}`, body);
  const events = await (await fetch(`${lab.address.split("#")[0]}api/job/${job.id}/events/0`)).text();
  const told = events.split("\n").filter((line) => line.startsWith("data:")).map((line) => JSON.parse(line.slice(5)));
  const end = told.find((one) => ["done", "failed", "cancelled"].includes(one.event));
  assert.equal(end?.event, "done", JSON.stringify(end));
  return end.result;
}

function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

const next = random(11);
const lines = (n, line) => `${Array.from({ length: n }, (_, i) => line(i)).join("\n")}\n`;
/** Files by name: what they hold, and what is asked beside the defaults. */
const FILES = {
  "two's.csv": [`a,b,label\n${lines(90, (i) => `${(next() + (i % 2)).toFixed(3)},${next().toFixed(3)},${i % 2 ? '"in, side"' : "outside"}`)}`, {}],
  "text.csv": [`colour,age,since,label\n${lines(90, (i) => `${["red", "green", "dark blue"][i % 3]},${i % 7 ? 20 + Math.floor(60 * next()) : ""},2024-0${1 + (i % 9)}-11,${(i % 3 === 0) !== next() < 0.1 ? "yes" : "no"}`)}`, {}],
  "prices.csv": [`a,b,price\n${lines(80, (i) => `${(i / 10).toFixed(2)},${next().toFixed(3)},${(i / 5 + next()).toFixed(3)}`)}`, {}],
  "numbers.csv": [lines(80, (i) => `${(next() + (i % 3)).toFixed(3)},${next().toFixed(3)},${i % 3}`), {}],
  "sparse.svm": [lines(80, (i) => `${i % 2 ? 1 : -1} ${1 + (i % 9)}:${next().toFixed(3)} ${10 + (i % 2)}:1.5`), {}],
  "dna.txt": [lines(60, (i) => `${"xy"[i % 2]}\t${Array.from({ length: 20 }, () => (i % 2 ? "AACG" : "ACGT")[Math.floor(4 * next())]).join("")}`), { kernel: "kmer_spectrum(k=2)" }],
  "ridge.csv": [`a,b,label\n${lines(60, (i) => `${(next() + (i % 2)).toFixed(3)},${next().toFixed(3)},${i % 2 ? "u" : "v"}`)}`, { learner: "ridge" }],
  "all.csv": [`a,b,label\n${lines(60, (i) => `${(next() + (i % 2)).toFixed(3)},${next().toFixed(3)},${i % 2 ? "u" : "v"}`)}`, { held: 0 }],
};

for (const [name, [content, more]] of Object.entries(FILES)) {
  test(`the commands written for ${name} make the same model`, async () => {
    writeFileSync(path.join(folder, name), content);
    const { file } = await ask(`files/${encodeURIComponent(name)}`, content);
    const set = await ask("sets", { file });
    const found = await result("train", { set: set.id, auto: "quick", held: 0.25, ...more });
    const stem = name.replace(/\.\w+$/, "");
    for (const line of found.command.split("\n")) shell(line);
    const model = await fetch(`${lab.address.split("#")[0]}api/models/${found.model}/model`);
    writeFileSync(path.join(folder, "own.mercer"), Buffer.from(await model.arrayBuffer()));
    const rows = /mercer evaluate (\S+|'.*?'(?:\\''.*?')*) /.exec(found.command)?.[1] ?? name;
    const predict = (file_) => shell(`mercer predict ${rows} ${file_} --decision --quiet`);
    const quoted = `'${stem.replaceAll("'", "'\\''")}.mercer'`;
    assert.equal(predict(quoted), predict("own.mercer"), found.command);
    if (found.evaluation?.error !== undefined) {
      const told = JSON.parse(shell(`${found.command.split("\n").at(-1)} --format json --quiet`));
      assert.equal(told.error ?? told.classification?.error, found.evaluation.error);
    }
  });
}

test("the commands written for a compressed model make it", async () => {
  const content = FILES["two's.csv"][0];
  writeFileSync(path.join(folder, "small.csv"), content);
  const { file } = await ask("files/small.csv", content);
  const set = await ask("sets", { file });
  const found = await result("train", { set: set.id, auto: "quick", held: 0.25 });
  await result("compress", { model: found.model });
  const { models } = await ask("files");
  const small = models.filter((one) => /^small-\d+\.mercer$/.test(one.name)).at(-1);
  const { command } = await ask(`models/${small.id}`);
  for (const line of command.split("\n")) shell(line);
  const model = await fetch(`${lab.address.split("#")[0]}api/models/${small.id}/model`);
  writeFileSync(path.join(folder, "own.mercer"), Buffer.from(await model.arrayBuffer()));
  const predict = (file_) => shell(`mercer predict small-test.csv ${file_} --decision --quiet`);
  assert.equal(predict(small.name), predict("own.mercer"), command);
});
