// Your data: drop a file, see what is in it, train, tune, evaluate, explain, compress, take it with you.

import { about, get, post } from "../api.js";
import { write } from "../address.js";
import { confusion, curve, heatmap } from "../charts.js";
import { css } from "../colours.js";
import { choice, declared, line, segments, slider } from "../controls.js";
import { facts, fill, h, number, percent, svg, table } from "../dom.js";
import { grey } from "../draw.js";
import { bar, list, start } from "../jobs.js";

/** @type {import("../main.js").Room} */
export const room = {
  title: "Your data",
  intro: "Drop a file: a table, LIBSVM text, NPY, JSON lines, a spreadsheet, pictures, or a model. It stays on this machine.",
  open,
};

/**
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 */
async function open(main, values) {
  const known = await about();
  /** @type {{ set: number | null, model: number | null, job: number | null }} */
  const state = { set: whole(values.get("set")), model: whole(values.get("model")), job: whole(values.get("job")) };
  /** @type {(() => void)[]} */
  const open_ = [];
  let closed = false;
  const remember = () => write("data", { set: state.set, model: state.model, job: state.job });
  const problem = h("p", { class: "problem", role: "alert" });
  const before = h("div", { class: "row" });
  const what = h("div", { class: "stack" });
  const work = h("div", { class: "stack" });
  const results = h("div", { class: "stack" });

  const input = h("input", { type: "file", id: "file", onchange: () => {
    const file = input.files?.[0];
    // The same file may be chosen again, after it was changed.
    if (file) void bring(file).then(() => { input.value = ""; });
  } });
  const drop = h("section", { class: "drop", "aria-label": "Bring a file" }, h("p", {}, h("label", { htmlFor: "file" }, "Drop a file here, or choose one")), input, before);
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const { files, items } = event.dataTransfer ?? {};
    const [file] = files ?? [];
    if (items?.[0]?.webkitGetAsEntry?.()?.isDirectory) failed(new Error("folders cannot be dropped: start `mercer lab FOLDER`, or drop one file"));
    else if (files && files.length > 1) failed(new Error(`${files.length} files were dropped, expected one: put them into a folder and start \`mercer lab FOLDER\``));
    else if (file) void bring(file);
  });

  /** @param {unknown} error */
  const failed = (error) => {
    problem.textContent = error instanceof Error ? error.message : String(error);
  };

  /** @param {File} file */
  async function bring(file) {
    problem.textContent = "";
    if (file.size > known.largest) {
      failed(new Error(`${file.name} has ${number(file.size / 2 ** 20)} MiB; a page takes up to ${number(known.largest / 2 ** 20)} MiB: start \`mercer lab FILE\` instead`));
      return;
    }
    fill(what, h("p", { class: "wait" }, `Reading ${file.name}`));
    /** @type {number | null} */
    let brought = null;
    try {
      const got = await post(`files/${encodeURIComponent(file.name)}`, file);
      if ("model" in got) {
        fill(what);
        await showModel(got.model);
      } else {
        brought = got.file;
        await readSet({ file: got.file });
      }
    } catch (error) {
      // Text that a spreadsheet of older times has written.
      const latin = brought !== null && /--encoding latin-1/.test(String(error));
      fill(what, latin ? h("div", { class: "row" }, h("button", { type: "button", onclick: () => readSet({ file: brought, encoding: "latin-1" }).then(previous).catch(failed) }, "Read it as Latin-1")) : null);
      failed(error);
    }
    void previous();
  }

  /** @param {object} how */
  async function readSet(how) {
    problem.textContent = "";
    const set = await post("sets", how);
    state.set = set.id;
    state.model = null;
    state.job = null;
    remember();
    fill(results);
    showSet(set);
  }

  async function previous() {
    const { sets, models } = await get("files");
    if (closed) return;
    // A file that was brought again stands here once: as it was read last.
    const newest = [...new Map(sets.map((/** @type {any} */ set) => [`${set.name} ${set.rows}`, set])).values()].slice(-12);
    fill(before, ...newest.map((/** @type {any} */ set) => h("button", { type: "button", class: "quiet", onclick: async () => {
      state.set = set.id;
      state.model = null;
      state.job = null;
      remember();
      fill(results);
      showSet(await get(`sets/${set.id}`));
    } }, `${set.name} (${number(set.rows)} rows)`)), ...models.filter((/** @type {any} */ one) => one.name).slice(-6).map((/** @type {any} */ one) => h("button", { type: "button", class: "quiet", onclick: () => void showModel(one.id) }, `${one.name} (${one.kind})`)));
  }

  /** @param {any} set */
  function showSet(set) {
    const { info } = set;
    const target = set.targets.kind === "classes" ? `${set.targets.classes.length} classes` : set.targets.kind === "numbers" ? "numbers" : "none";
    const columns = (info.each ?? []).slice(0, 60).map((/** @type {any} */ column, /** @type {number} */ k) => [set.names?.[k] ?? `column ${k + 1}`, column.least ?? column.min ?? "", column.mean ?? "", column.largest ?? column.max ?? "", column.deviation ?? ""]);
    const labels = ["auto", "none", ...(set.names ?? []), ...(set.target && !(set.names ?? []).includes(set.target) ? [set.target] : [])];
    const again = { file: set.file, label: "auto", targets: "auto", encoding: set.encoding ?? "auto", image: /** @type {number[] | null} */ (null) };
    const reread = () => readSet(again).catch(failed);
    const messages = info.messages ?? [];
    fill(
      what,
      h(
        "section",
        { class: "card", "aria-label": "Contents" },
        h("h2", { "data-set": set.id }, set.name),
        facts([["Rows", number(set.rows)], ["Columns", number(set.columns), set.image ? `images of ${set.image[0]} x ${set.image[1]}` : undefined], ["Target", target, set.target ? `column ${set.target}${set.guessed ? ", a guess" : ""}` : undefined], ["In memory", `${number((info.bytes ?? 0) / 1024)} kB`, info.storage]]),
        ...messages.map((/** @type {string} */ words) => h("p", { class: "note" }, words)),
        messages.length ? null : h("p", { class: "small" }, "Nothing looks wrong."),
        ...(info.notes ?? []).map((/** @type {string} */ words) => h("p", { class: "small" }, words)),
        set.plane ? scatter(set) : null,
        set.images?.rows?.length ? tiles(set.images, (/** @type {any} */ one) => one.label ?? "") : null,
        set.targets.kind === "classes" && set.targets.classes.length <= 40 ? table("Classes", ["class", "rows"], set.targets.classes) : null,
        h("details", {}, h("summary", {}, "All facts"), h("pre", { tabIndex: 0 }, set.text)),
        info.table?.length ? h("details", { open: info.table.length <= 12 }, h("summary", {}, "Columns"), table("Columns", ["column", "kind", "missing", "values", "for example"], info.table.slice(0, 200).map((/** @type {any} */ one) => [one.name, one.kind, one.missing ? percent(one.missing) : "none", one.values, one.examples.join(" · ")]))) : null,
        columns.length && columns.some((/** @type {any[]} */ row) => row[1] !== "") ? h("details", {}, h("summary", {}, "Columns"), table("Columns", ["column", "least", "mean", "largest", "deviation"], columns)) : null,
        h(
          "details",
          {},
          h("summary", {}, "Read with other settings"),
          set.names || set.target ? choice({ label: "Label column", help: "Column to predict.", options: labels.map((name) => [name, name]), value: "auto", change: (v) => {
            again.label = v;
            void reread();
          } }) : null,
          choice({ label: "Targets", help: "Whether the targets are classes or numbers.", options: [["auto", "detected"], ["classes", "classes"], ["reals", "numbers"], ["none", "none"]], value: "auto", change: (v) => {
            again.targets = v;
            void reread();
          } }),
          set.names || set.target ? choice({ label: "Encoding", help: "Encoding of non-ASCII characters in a text file.", options: [["auto", "by itself"], ["utf-8", "UTF-8"], ["latin-1", "Latin-1 or Windows-1252"], ["utf-16", "UTF-16"]], value: again.encoding, change: (v) => {
            again.encoding = v;
            void reread();
          } }) : null,
          line({ label: "Image size", help: "Height and width of rows that are images, for example 16x16.", value: set.image ? `${set.image[0]}x${set.image[1]}` : "", change: (v) => {
            const sides = /^\s*(\d+)\s*x\s*(\d+)\s*$/.exec(v);
            again.image = sides ? [Number(sides[1]), Number(sides[2])] : null;
            void reread();
          } }),
        ),
      ),
    );
    training(set);
  }

  /** @param {any} set */
  function training(set) {
    const task = set.targets.kind === "classes" ? "classification" : set.targets.kind === "numbers" ? "regression" : "novelty";
    const ask = { set: set.id, learner: "", kernel: "", params: /** @type {Record<string, any>} */ ({}), auto: "quick", held: task === "novelty" ? 0 : 0.25, folds: 5 };
    const learners = known.learners.filter((one) => one.tasks.includes(task) || one.tasks.includes("novelty") || one.tasks.includes("clustering"));
    const own = h("div", {});
    const drawOwn = () => {
      const entry = known.learners.find((one) => one.name === ask.learner);
      fill(own, ...(entry?.params ?? []).filter((param) => entry?.known.includes(param.name) && param.allowed.kind === "number" && param.name !== "seed").map((param) => declared(param, param.value, (value) => {
        if (value === null) delete ask.params[param.name];
        else ask.params[param.name] = value;
      })));
    };
    const run = (/** @type {string} */ kind) => async () => {
      problem.textContent = "";
      try {
        const job = await start(kind, { ...ask, learner: ask.learner || null, kernel: ask.kernel || null });
        state.job = job.id;
        state.model = null;
        remember();
        watchJob(job);
      } catch (error) {
        failed(error);
      }
    };
    fill(
      work,
      h(
        "section",
        { class: "card", "aria-label": "Train" },
        h("h2", {}, "Train or tune"),
        h(
          "div",
          { class: "columns" },
          h(
            "div",
            {},
            choice({ label: "Learner", help: "Automatic: a support vector machine for the targets.", options: [["", "chosen from the data"], ...learners.map((one) => /** @type {[string, string]} */ ([one.name, `${one.name}: ${one.doc}`]))], value: "", change: (v) => {
              ask.learner = v;
              ask.params = {};
              drawOwn();
            } }),
            own,
          ),
          h(
            "div",
            {},
            choice({ label: "Kernel", help: "Automatic: a Gaussian whose width is chosen by cross-validation.", options: [["", "chosen from the data"], ["rbf", "rbf"], ["linear", "linear"], ["poly(degree=2, scale=1, coef0=1)", "poly of degree 2"], ["poly(degree=3, scale=1, coef0=1)", "poly of degree 3"]], value: "", change: (v) => {
              ask.kernel = v;
            } }),
            line({ label: "Kernel line", help: "Any kernel that the command accepts, such as rbf(gamma=1) + 0.5*linear.", value: "", change: (v) => {
              ask.kernel = v.trim();
            } }),
          ),
          h(
            "div",
            {},
            segments({ label: "Choose settings", options: [["off", "Not"], ["quick", "Quickly"], ["good", "Well"]], value: "quick", help: "Quick: cross-validation of a few settings. Good: a search over kernels and scalings for up to a minute.", change: (v) => {
              ask.auto = v;
            } }),
            slider({ label: "Held out", help: "Fraction of the rows held out for evaluation.", low: 0, high: 0.5, value: ask.held, show: percent, change: (v) => {
              ask.held = v;
            } }),
          ),
        ),
        h("div", { class: "row" }, h("button", { type: "button", class: "main", onclick: run("train") }, "Train"), task === "novelty" ? null : h("button", { type: "button", onclick: run("tune") }, "Tune with a heat map")),
      ),
    );
  }

  /** @param {import("../api.js").Job} job */
  function watchJob(job) {
    const place = h("div", { class: "stack" });
    /** @type {ReturnType<typeof heatmap> | null} */
    let map = null;
    const { element, stop } = bar(job, (event) => {
      if (event.event === "grid") {
        map = heatmap(event);
        place.append(h("section", { class: "card" }, h("h2", {}, "Cross-validation"), map.element));
      } else if (event.event === "score") map?.add(event.setting, event.score);
      else if (event.event === "done") {
        if (map && event.result.best) map.lowerIsBetter(!["accuracy", "roc-area", "pr-area", "r2"].includes(event.result.best.metric));
        showResult(event.result, place);
        void previous();
      }
    });
    open_.push(stop);
    fill(results, h("section", { class: "card", "aria-label": "Job" }, element), place);
  }

  /** @param {any} result @param {HTMLElement} place */
  function showResult(result, place) {
    state.model = result.model;
    remember();
    const { trained, evaluation } = result;
    place.append(
      h(
        "section",
        { class: "card", "aria-label": "Result", "data-result": result.model },
        h("h2", {}, "Result"),
        facts([...score(evaluation ?? trained.training, Boolean(evaluation)), [trained.support ? "Support vectors" : "Centres", number(trained.support || trained.model?.centres)], result.best ? [`Best ${result.best.metric}`, number(result.best.score), `${result.best.kernel}`] : null]),
        ...(trained.warnings ?? []).map((/** @type {string} */ words) => h("p", { class: "note" }, words)),
        table("Chosen settings", ["what", "value", "why"], (trained.choices ?? []).map((/** @type {any} */ one) => [one.what, one.value, one.why ?? "as given"]), true),
        evaluation?.confusion && evaluation.classes.length <= 26 ? h("div", {}, h("h3", {}, "Confusion matrix"), confusion(evaluation.classes, evaluation.confusion)) : null,
        evaluation?.pairs ? pairs(evaluation.pairs) : null,
      ),
      unsure(result.unsure),
      more(result.model, result.command, result.python, true),
    );
  }

  /** @param {any} found @param {boolean} held @returns {[string, string, string?][]} */
  function score(found, held) {
    if (!found) return [];
    const on = `${held ? "on held-out rows" : "on the training rows"}, ${number(found.rows)}`;
    if (found.task === "classification") return [["Error", percent(found.error), on], ["95 % confidence interval", `${percent(found.interval[0])} to ${percent(found.interval[1])}`], ["Always the largest class", percent(found.baseline), "baseline error"]];
    if (found.task === "regression") return [["Root mean squared error", number(found.rmse), on], ["R squared", number(found.r2)], ["Mean alone", number(found.baseline), "baseline error"]];
    if (found.task === "novelty") return [["Outside", `${number(found.outside)} of ${number(found.rows)}`, held ? "held-out rows" : "training rows"]];
    return [["Clusters", found.sizes.join(", "), "rows each"]];
  }

  /** @param {any} found */
  function unsure(found) {
    if (!found?.rows?.length) return "";
    return h("section", { class: "card" }, h("h2", {}, "Least certain rows"), found.images?.rows?.length ? tiles(found.images, (/** @type {any} */ _, /** @type {number} */ k) => `${found.rows[k].given}: ${found.rows[k].predicted}`) : null, table("Rows whose two best classes are nearest", ["row", "truth", "prediction", "gap"], found.rows.map((/** @type {any} */ one) => [one.row + 1, one.given ?? "", one.predicted, one.gap])));
  }

  /** Explain, compress, downloads. @param {number} model @param {string} command @param {string} python @param {boolean} data */
  function more(model, command, python, data) {
    const explained = h("div", {});
    const sizes = h("div", {});
    const explain = async () => {
      const job = await start("explain", { model });
      const { element, stop } = bar(job, (event) => {
        if (event.event === "done") fill(explained, explanation(event.result));
      });
      open_.push(stop);
      fill(explained, element);
    };
    const compress = async () => {
      const job = await start("compress", { model });
      /** @type {any[]} */
      const points = [];
      const chart = h("div", {});
      const { element, stop } = bar(job, (event) => {
        if (event.event !== "size") return;
        points.push(event);
        points.sort((a, b) => a.centres - b.centres);
        fill(chart, curve(points.map((one) => ({ x: one.centres, y: one.score })), { x: "centres", y: `${event.metric} on ${event.held ? "held-out" : "training"} rows`, label: `${event.metric} against the number of centres`, percent: event.share }), table("Sizes", ["centres", event.metric, "agreement", "model"], points.map((one) => [one.centres, event.share ? percent(one.score) : one.score, percent(one.agreement), h("a", { href: `api/models/${one.model}/model`, download: "" }, "download")])));
      });
      open_.push(stop);
      fill(sizes, element, chart);
    };
    return h(
      "div",
      { class: "stack" },
      h("section", { class: "card" }, h("h2", {}, "Explain"), h("p", { class: "small" }, "The components of the model, and training rows that it disagrees with."), h("div", { class: "row" }, h("button", { type: "button", onclick: () => explain().catch(failed) }, "Explain")), explained),
      data ? h("section", { class: "card" }, h("h2", {}, "Compress"), h("p", { class: "small" }, "Fewer centres give faster predictions: the curve shows the error at each size."), h("div", { class: "row" }, h("button", { type: "button", onclick: () => compress().catch(failed) }, "Compress")), sizes) : null,
      h("section", { class: "card", "aria-label": "Export" }, h("h2", {}, "Export"), h("div", { class: "row" }, h("a", { class: "button", href: `api/models/${model}/model`, download: "" }, "Model"), data ? h("a", { class: "button", href: `api/models/${model}/report`, download: "" }, "Report") : null, data ? h("a", { class: "button", href: `api/models/${model}/predictions`, download: "" }, "Predictions") : null), h("h3", {}, "The same with the command"), h("pre", { "data-command": "", tabIndex: 0 }, command), h("h3", {}, "In Python"), h("pre", { tabIndex: 0 }, python)),
    );
  }

  /** @param {any} found */
  function explanation(found) {
    const e = found.explanation;
    const machine = (/** @type {any} */ one) => [one.name || "machine", one.rows ?? "", typeof one.free === "number" ? one.free + one.bounded : "", one.margin ?? "", one.norm2 ?? ""];
    return h(
      "div",
      {},
      facts([["Kernel", e.model.kernel], ["Centres", number(e.model.centres)], e.suspect_count !== null && e.suspect_count !== undefined ? ["Disagreements", number(e.suspect_count), "training rows whose label the model contradicts"] : null]),
      e.machines?.length ? table("Machines", ["machine", "rows", "support vectors", "margin", "|w|^2"], e.machines.slice(0, 45).map(machine)) : null,
      e.suspects?.length ? table("Training rows that the model disagrees with", ["row", "label", "model", "by"], e.suspects.map((/** @type {any} */ one, /** @type {number} */ k) => [(found.suspect_rows[k] ?? one.row) + 1, one.given ?? "", one.answer, one.by])) : null,
      found.suspect_images?.rows?.length ? tiles(found.suspect_images, (/** @type {any} */ _, /** @type {number} */ k) => `${e.suspects[k].given}: ${e.suspects[k].answer}`) : null,
      found.influential_images?.rows?.length ? h("div", {}, h("h3", {}, "Support vectors with the largest coefficients"), tiles(found.influential_images, (/** @type {any} */ one) => one.label ?? "")) : null,
    );
  }

  /** @param {any} images @param {(one: any, k: number) => string} words */
  function tiles(images, words) {
    const zoom = Math.max(1, Math.min(6, 56 / images.height));
    return h("ul", { class: "tiles" }, ...images.rows.map((/** @type {any} */ one, /** @type {number} */ k) => h("li", {}, grey(one.pixels, images.height, images.width, zoom, `Row ${one.row + 1}${one.label ? `, ${one.label}` : ""}`), words(one, k))));
  }

  /** @param {any} set */
  function scatter(set) {
    const [w, t] = [520, 320];
    const xs = set.plane;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < xs.length; i += 2) {
      x0 = Math.min(x0, xs[i]);
      x1 = Math.max(x1, xs[i]);
      y0 = Math.min(y0, xs[i + 1]);
      y1 = Math.max(y1, xs[i + 1]);
    }
    const chart = svg("svg", { class: "chart", viewBox: `0 0 ${w} ${t}`, role: "img", "aria-label": "The rows as points of the plane" });
    for (let i = 0; i < xs.length / 2; i++) {
      chart.append(svg("circle", { cx: 8 + ((xs[2 * i] - x0) / (x1 - x0 || 1)) * (w - 16), cy: t - 8 - ((xs[2 * i + 1] - y0) / (y1 - y0 || 1)) * (t - 16), r: 3, fill: css(set.classes ? set.classes[i] : 0), "fill-opacity": 0.8 }));
    }
    chart.style.maxWidth = "40rem";
    const [across, up] = [0, 1].map((k) => set.names?.[k] ?? `column ${k + 1}`);
    return h("figure", {}, chart, h("figcaption", { class: "small" }, `Across: ${across}; up: ${up}`));
  }

  /** Targets against predictions. @param {[number, number][]} all */
  function pairs(all) {
    const some = all.length > 1500 ? all.filter((_, k) => k % Math.ceil(all.length / 1500) === 0) : all;
    const both = some.flat();
    const [low, high] = [Math.min(...both), Math.max(...both)];
    const place = (/** @type {number} */ v) => 10 + ((v - low) / (high - low || 1)) * 280;
    const chart = svg("svg", { class: "chart", viewBox: "0 0 300 300", role: "img", "aria-label": "Targets against predictions" });
    chart.append(svg("line", { class: "axis", x1: 10, y1: 290, x2: 290, y2: 10 }));
    for (const [y, f] of some) chart.append(svg("circle", { class: "dot", cx: place(y), cy: 300 - place(f), r: 2.5, "fill-opacity": 0.6 }));
    const box = h("div", {}, h("h3", {}, "Targets (across) against predictions (up)"), chart);
    chart.style.maxWidth = "26rem";
    return box;
  }

  /** @param {number} id */
  async function showModel(id) {
    const kept = await get(`models/${id}`);
    if (closed) return;
    state.model = id;
    remember();
    const { about: described } = kept;
    fill(results, h("section", { class: "card", "aria-label": "Model", "data-result": id }, h("h2", {}, kept.name), facts([["Learner", described.kind], ["Kernel", described.kernel], ["Centres", number(described.centres)], ["Columns", number(described.columns)], described.classes?.length ? ["Classes", described.classes.join(", ").slice(0, 200)] : null])), more(id, kept.command, kept.python, kept.set !== null));
  }

  fill(main, h("div", { class: "stack" }, drop, problem, what, work, results));
  await previous().catch(failed);
  try {
    if (state.set !== null) {
      const kept = { ...state };
      showSet(await get(`sets/${state.set}`));
      Object.assign(state, kept);
    }
    if (state.job !== null) {
      const job = (await list()).find((one) => one.id === state.job);
      if (job) watchJob(job);
    } else if (state.model !== null) await showModel(state.model);
  } catch (error) {
    failed(error);
  }
  return {
    close() {
      closed = true;
      open_.forEach((stop) => stop());
    },
  };
}

/** @param {string | null} text */
function whole(text) {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
