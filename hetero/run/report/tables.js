// The panel below the graph: timeline, subgraphs, boundaries, steps, reasons and memory.
"use strict";

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A table that a click on a title sorts. `onRow` is called with the index of a clicked row.
function table(titles, rows, onRow) {
  const body = element("tbody");
  const fill = order => body.replaceChildren(...order.map(index => element(
    "tr", {className: onRow ? "link" : "", onclick: () => onRow?.(index)},
    ...rows[index].map(cell => typeof cell === "number"
      ? element("td", {className: "number"}, Number.isInteger(cell) ? cell.toLocaleString("en") : cell.toFixed(3))
      : element("td", {}, cell ?? "")))));
  const order = rows.map((row, index) => index);
  let last = null, sign = 1;
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? b - a : String(a ?? "").localeCompare(b ?? "");
  const head = titles.map((title, column) => element("th", {onclick: () => {
    sign = last === column ? -sign : 1;
    last = column;
    fill(order.sort((a, b) => sign * compare(rows[a][column], rows[b][column])));
  }}, title));
  fill(order);
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), body);
}

function timeline() {
  const end = Math.max(...report.spans.map(span => span.end), 0.001);
  const rows = new Map();
  for (const span of report.spans) {
    if (!rows.has(span.request)) {
      const label = element("b", {className: "label"}, `request ${span.request}`);
      rows.set(span.request, element("div", {className: "row"}, label));
    }
    const bar = element("i", {
      className: span.name.startsWith("copy") ? "copy" : "",
      title: `${span.name} on ${span.device}: ${(span.end - span.start).toFixed(3)} ms from ${span.start.toFixed(3)} ms`,
    });
    bar.style.left = `${100 * span.start / end}%`;
    bar.style.width = `${100 * (span.end - span.start) / end}%`;
    if (!bar.className) bar.style.background = deviceColor(span.device).fill;
    rows.get(span.request).append(bar);
  }
  const lanes = element("div", {id: "lanes"}, ...[...rows].sort((a, b) => a[0] - b[0]).map(([, row]) => row));
  const zoom = element("input", {
    type: "range", min: 1, max: 50, value: 1, oninput: event => { lanes.style.width = `${100 * event.target.value}%`; }});
  return element("div", {}, `${end.toFixed(2)} ms of ${rows.size} overlapped requests; zoom `, zoom, lanes);
}

// A span has the full name of a device, such as GPU.0, for what a placement calls GPU.
function deviceColor(name) {
  return colorOf.get(name) ?? colorOf.get(name.split(".")[0]) ?? NO_COLOR;
}

function memory() {
  const steps = report.steps, largest = Math.max(...steps.map(step => step.live_bytes), 1);
  const peak = steps.find(step => step.live_bytes === largest);
  const unknown = report.unknown_sizes ? ` ${report.unknown_sizes} values of unknown size are not counted.` : "";
  const bars = steps.map((step, index) =>
    `<rect x="${index}" width="1" y="${1 - step.live_bytes / largest}" height="${step.live_bytes / largest}" ` +
    `fill="${deviceColor(step.device).fill}"/>`).join("");
  const chart = element("div", {innerHTML:
    `<svg viewBox="0 0 ${Math.max(1, steps.length)} 1" preserveAspectRatio="none">${bars}</svg>`});
  const at = event => steps[Math.min(
    steps.length - 1, Math.floor(steps.length * event.offsetX / chart.clientWidth))];
  const caption = element("div");
  const describe = step => caption.textContent = step ? `${step.name} on ${step.device}: ${bytes(step.live_bytes)}` : "";
  chart.onmousemove = event => describe(at(event));
  chart.onclick = event => showOperation(at(event).operations[0]);
  return element("div", {},
    `Size of the values that are live at each executed step, without weights. Peak: ${bytes(peak ? largest : 0)}` +
    (peak ? ` at '${peak.name}'.` : ".") + unknown, chart, caption);
}

function reasons() {
  const counts = new Map();
  for (const node of report.nodes) {
    if (node.device === null) continue;
    const key = JSON.stringify([node.device, node.reason]);
    counts.set(key, [...(counts.get(key) ?? []), node]);
  }
  const groups = [...counts.values()].sort((a, b) => b.length - a.length);
  const rows = groups.map(nodes => [
    nodes[0].device, nodes[0].reason, nodes.length, [...new Set(nodes.map(node => node.type_name))].join(", ")]);
  const failures = report.failures.map(one => element(
    "p", {}, `${one.device} is not used for ${one.operations.length} operations: ${one.reason}`));
  const list = table(["device", "reason", "operations", "types"], rows, index => showOperation(groups[index][0].name));
  return element("div", {}, ...failures, list);
}

const PANELS = {
  "Timeline": timeline,
  "Subgraphs": () => table(
    ["subgraph", "device", "operations", "inputs", "outputs", "ms", "transfers (ms)"],
    report.subgraphs.map(s => [
      s.index, s.device, s.operations, s.inputs, s.outputs, s.milliseconds, s.transfer_milliseconds]),
    index => showDetails(subgraphDetails(report.subgraphs[index]))),
  "Boundaries": () => table(
    ["value", "type", "shape", "bytes", "from", "to", "memory"],
    report.boundaries.map(b => [
      b.value, b.element_type, b.shape, b.byte_size, b.source, b.targets.join(", "), b.memory])),
  "Steps": () => table(
    ["step", "type", "kernel", "device", "ms", "operations"],
    report.steps.map(s => [s.name, s.type_name, s.kernel, s.device, s.milliseconds, s.operations.length]),
    index => showOperation(report.steps[index].operations[0])),
  "Reasons": reasons,
  "Memory": memory,
};

for (const [name, make] of Object.entries(PANELS)) {
  byId("tabs").append(element("button", {onclick: event => {
    byId("tabs").querySelector(".chosen")?.classList.remove("chosen");
    event.target.classList.add("chosen");
    byId("panel").replaceChildren(make());
  }}, name));
}
byId("tabs").firstChild.click();
