// Forms that ask a model for one row. Everything goes to this server; nothing else is loaded.

const make = (tag, fields = {}, ...inside) => {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...inside);
  return element;
};

const headers = {};
const token = () => {
  const given = window.prompt("This server requires a token");
  if (given) headers.authorization = `Bearer ${given}`;
  return Boolean(given);
};

async function ask(model, output, body, type, show) {
  const query = output ? `?output=${encodeURIComponent(output)}` : "";
  const address = `/v1/models/${encodeURIComponent(model.name)}/predict${query}`;
  for (;;) {
    const response = await fetch(address, {
      method: "POST",
      headers: { ...headers, "content-type": type, accept: "application/json" },
      body,
    });
    if (response.status === 401 && token()) continue;
    const text = await response.text();
    try {
      show.textContent = JSON.stringify(JSON.parse(text), null, 1);
    } catch {
      show.textContent = text;
    }
    return;
  }
}

// A place to draw with the pointer, or to drop a picture on.
function picture([height, width], form, send) {
  const scale = Math.max(1, Math.floor(256 / Math.max(height, width)));
  const canvas = make("canvas", { width: width * scale, height: height * scale, role: "img", ariaLabel: "Picture" });
  const light = make("input", { type: "checkbox", checked: true });
  const pen = canvas.getContext("2d");
  const clear = () => {
    pen.fillStyle = light.checked ? "black" : "white";
    pen.fillRect(0, 0, canvas.width, canvas.height);
  };
  clear();
  light.addEventListener("change", clear);
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    const place = canvas.getBoundingClientRect();
    pen.fillStyle = light.checked ? "white" : "black";
    pen.beginPath();
    pen.arc(event.clientX - place.left, event.clientY - place.top, 1.2 * scale, 0, 7);
    pen.fill();
  });
  canvas.addEventListener("dragover", (event) => event.preventDefault());
  canvas.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (!file) return;
    const image = await createImageBitmap(file);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    send(file, file.type || "image/png");
  });
  const go = make("button", { type: "button", textContent: "Predict the picture" });
  go.addEventListener("click", () => {
    const small = make("canvas", { width, height });
    small.getContext("2d").drawImage(canvas, 0, 0, width, height);
    small.toBlob((blob) => send(blob, "image/png"), "image/png");
  });
  const again = make("button", { type: "button", textContent: "Clear" });
  again.addEventListener("click", clear);
  form.append(
    make("p", { textContent: "Draw, or drop a picture." }),
    canvas,
    make("p", {}, make("label", {}, light, " white on black"), go, again),
  );
}

function prepare(form) {
  const model = JSON.parse(form.dataset.model);
  const show = make("pre", { hidden: true });
  const choice = make("select");
  for (const name of model.outputs) choice.append(make("option", { value: name, textContent: name }));
  const send = (body, type) => {
    show.hidden = false;
    show.textContent = "…";
    ask(model, choice.value, body, type, show).catch((error) => {
      show.textContent = String(error);
    });
  };
  if (model.image) picture(model.image, form, send);
  const fields = model.columns.map(({ name, kind }) => ({ name, kind, input: make("input", { size: 10 }) }));
  // Nobody types the pixels of an image one by one.
  const many = Boolean(model.image) || fields.length === 0 || fields.length > 64;
  const lines = make("textarea", { rows: 3, placeholder: "One row per line, values separated by commas", ariaLabel: "Rows" });
  if (many) {
    form.append(lines);
  } else {
    for (const { name, input } of fields) form.append(make("label", {}, `${name} `, input));
  }
  form.append(make("p", {}, make("label", {}, "Output ", choice), make("button", { textContent: "Predict" })), show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (many) {
      send(lines.value, model.sequences ? "text/plain" : "text/csv");
      return;
    }
    const row = {};
    for (const { name, kind, input } of fields) {
      const value = input.value.trim();
      const number = kind === "number" && value !== "" && Number.isFinite(Number(value));
      row[name] = value === "" ? null : number ? Number(value) : value;
    }
    send(JSON.stringify([row]), "application/json");
  });
}

document.querySelectorAll("form.try").forEach(prepare);
