// The addresses of /openapi.json as a list.

const place = document.getElementById("paths");
const response = await fetch("/openapi.json");
const { paths } = await response.json();
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, about] of Object.entries(methods)) {
    const head = document.createElement("h3");
    head.textContent = `${method.toUpperCase()} ${path}`;
    const text = document.createElement("p");
    const takes = about.requestBody ? ` Takes ${Object.keys(about.requestBody.content).join(", ")}.` : "";
    text.textContent = `${about.summary}.${takes}`;
    place.append(head, text);
    for (const one of about.parameters ?? []) {
      if (one.in !== "query") continue;
      const line = document.createElement("p");
      line.textContent = `?${one.name}= ${one.description}`;
      place.append(line);
    }
  }
}
