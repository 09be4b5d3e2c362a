// The graph of operations or of subgraphs: layout, colors, search, and the details of what is clicked.
"use strict";

const MAX_SPAN = 16;  // layers that a line may cross and still take part in the layout
const MANY = 1500;    // boxes above which lines are straight and hidden while the graph moves
const READABLE = 0.9;  // the scale at which the text of a box is 10 pixels high
const WIDTH = 170, HEIGHT = 40;
const byId = id => document.getElementById(id);
const colorOf = new Map(report.devices.map(device => [device.name, device]));
const NO_COLOR = {fill: "#ffffff", text: "#000000"};

function shortened(text, length = 26) {
  return text.length <= length ? text : "…" + text.slice(text.length - length + 1);
}

function bytes(count) {
  if (count === null) return "unknown size";
  const power = count < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(count) / 3));
  return power ? `${(count / 1000 ** power).toFixed(1)} ${["", "kB", "MB", "GB"][power]}` : `${count} bytes`;
}

function milliseconds(value) {
  return value === null ? "" : value.toFixed(3);
}

// Each operation's steps: several kernels may run one operation, and one kernel several operations.
const stepsOf = new Map();
for (const step of report.steps)
  for (const name of step.operations) stepsOf.set(name, [...(stepsOf.get(name) ?? []), step]);

function operationGraph() {
  const boxes = report.nodes.map((node, id) => ({
    id: String(id), device: node.device, label: `${node.type_name}\n${shortened(node.name)}`,
    text: `${node.name} ${node.type_name} ${node.device ?? ""}`, details: () => operationDetails(node),
  }));
  const lines = new Map();
  report.nodes.forEach((node, target) => {
    for (const [source, output] of node.inputs) {
      lines.set(`${source}>${target}`, {source, target, label: report.nodes[source].outputs[output]});
    }
  });
  return {boxes, lines: [...lines.values()]};
}

function subgraphGraph() {
  const boxes = report.subgraphs.map(part => ({
    id: String(part.index), device: part.device,
    label: `${part.index}: ${part.device}\n${part.operations} operations` +
      (part.milliseconds === null ? "" : `\n${part.milliseconds.toFixed(2)} ms`),
    text: `${part.index} ${part.device}`, details: () => subgraphDetails(part),
  }));
  const sizes = new Map();
  for (const one of report.boundaries)
    for (const target of one.targets) {
      const key = `${one.source}>${target}`;
      const line = sizes.get(key) ?? {source: one.source, target, values: 0, size: 0};
      line.values += 1;
      line.size = line.size === null || one.byte_size === null ? null : line.size + one.byte_size;
      sizes.set(key, line);
    }
  const lines = [...sizes.values()].map(line => (
    {...line, label: `${line.values} ${line.values === 1 ? "value" : "values"}, ${bytes(line.size)}`}));
  return {boxes, lines};
}

// Positions of boxes and the points of lines, by box id and by line. Boxes and lines are in topological order.
function layout({boxes, lines}) {
  const depth = new Map(boxes.map(box => [box.id, 0]));
  const readers = new Map(boxes.map(box => [box.id, []]));
  for (const line of lines) readers.get(String(line.source)).push(line);
  for (const box of boxes)
    for (const line of readers.get(box.id)) {
      const target = String(line.target);
      depth.set(target, Math.max(depth.get(target), depth.get(box.id) + 1));
    }
  const parents = new Map(boxes.map(box => [box.id, []]));
  for (const line of lines) {
    line.isLong = depth.get(String(line.target)) - depth.get(String(line.source)) > MAX_SPAN;
    if (!line.isLong) parents.get(String(line.target)).push(String(line.source));
  }
  const graph = d3.graphStratify()(boxes.map(box => ({id: box.id, parentIds: parents.get(box.id)})));
  d3.sugiyama()
    .layering(d3.layeringLongestPath())
    .decross(d3.decrossTwoLayer().order(d3.twolayerAgg()))
    .coord(boxes.length > 400 ? d3.coordCenter() : d3.coordSimplex())  // the other takes seconds for more
    .nodeSize([WIDTH, HEIGHT]).gap([24, 36])(graph);
  const positions = new Map([...graph.nodes()].map(node => [node.data.id, {x: node.x, y: node.y}]));
  const points = new Map([...graph.links()].map(
    link => [`${link.source.data.id}>${link.target.data.id}`, link.points]));
  return {positions, points};
}

// Cytoscape wants the inner points of a line relative to the straight line between the centers of its boxes.
function bends(points, from, to) {
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
  const weights = [], distances = [];
  for (const [x, y] of points.slice(1, -1)) {
    weights.push(((x - from.x) * dx + (y - from.y) * dy) / length ** 2);
    distances.push(((y - from.y) * dx - (x - from.x) * dy) / length);
  }
  return {weights, distances};
}

function elements(graph) {
  const {positions, points} = layout(graph);
  const isSmall = graph.boxes.length <= MANY;
  const nodes = graph.boxes.map(box => ({
    data: {...box, ...(({fill, text}) => ({fill, ink: text}))(colorOf.get(box.device) ?? NO_COLOR)},
    position: positions.get(box.id),
  }));
  const edges = graph.lines.map(line => {
    const id = `${line.source}>${line.target}`, inner = points.get(id) ?? [];
    const {weights, distances} = bends(inner, positions.get(String(line.source)), positions.get(String(line.target)));
    return {
      data: {id, source: String(line.source), target: String(line.target), label: line.label, weights, distances},
      classes: line.isLong ? "long" : isSmall && weights.length ? "bent" : "",
    };
  });
  return [...nodes, ...edges];
}

let cy = null, found = [], shown = -1;

function draw(view) {
  const graph = view === "subgraphs" ? subgraphGraph() : operationGraph();
  const isLarge = graph.boxes.length > MANY;
  cy?.destroy();
  cy = cytoscape({
    container: byId("graph"), elements: elements(graph), layout: {name: "preset"},
    pixelRatio: isLarge ? 1 : "auto", hideEdgesOnViewport: isLarge, textureOnViewport: isLarge,
    minZoom: 0.001, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false,
    style: [
      {selector: "node", style: {
        shape: "rectangle", width: WIDTH, height: HEIGHT, label: "data(label)", "text-wrap": "wrap",
        "text-valign": "center", "font-size": 11, color: "data(ink)", "background-color": "data(fill)",
        "border-width": 1, "border-color": "#445", "min-zoomed-font-size": 6}},
      {selector: "edge", style: {
        width: 1.2, "line-color": "#889", "curve-style": isLarge ? "haystack" : "straight",
        "target-arrow-shape": isLarge ? "none" : "triangle", "target-arrow-color": "#889", "arrow-scale": 0.8,
        label: isLarge ? "" : "data(label)", "font-size": 9, "min-zoomed-font-size": 7, color: "#556",
        "text-background-color": "#fff", "text-background-opacity": 0.8}},
      {selector: "edge.bent", style: {
        "curve-style": "segments", "segment-weights": "data(weights)", "segment-distances": "data(distances)"}},
      {selector: "edge.long", style: {"line-style": "dashed", opacity: 0.35, label: ""}},
      {selector: "node.found", style: {"border-width": 4, "border-color": "#d00"}},
      {selector: "node:selected", style: {"border-width": 5, "border-color": "#c0f"}},
    ],
  });
  fit(READABLE);
  byId("seen").textContent = whatIsSeen(view);
  cy.on("tap", "node", event => showDetails(event.target.data("details")()));
  search(byId("search").value);
}

// Show the whole graph, or, if that needs a smaller scale than `least`, its begin.
function fit(least = 0) {
  cy.fit(undefined, 20);
  cy.zoom(Math.min(1.5, Math.max(least, cy.zoom())));
  cy.center();
  if (cy.extent().y1 > cy.elements().boundingBox().y1) {
    cy.center(cy.nodes()[0]);
    cy.panBy({x: 0, y: 40 - cy.height() / 2});
  }
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  cy.nodes(".found").removeClass("found");
  found = wanted ? cy.nodes().filter(node => node.data("text").toLowerCase().includes(wanted)) : [];
  shown = -1;
  if (wanted) found.addClass("found");
  byId("found").textContent = wanted ? `${found.length} found; Enter shows the next` : "";
}

// Select a box, bring it to the center at a readable size, and describe it.
function show(node) {
  cy.nodes(":selected").unselect();
  node.select();
  cy.zoom(Math.max(cy.zoom(), 0.9));
  cy.center(node);
  showDetails(node.data("details")());
}

function showOperation(name) {
  if (byId("view").value !== "operations") {
    byId("view").value = "operations";
    draw("operations");
  }
  const index = report.nodes.findIndex(node => node.name === name && node.device !== null);
  if (index >= 0) show(cy.getElementById(String(index)));
}

function operationDetails(node) {
  const steps = stepsOf.get(node.name) ?? [];
  const others = new Set(steps.flatMap(step => step.operations).filter(name => name !== node.name));
  return {
    [node.type_name]: node.name,
    ...(node.device === null ? {} : {
      device: `${node.device}: ${node.reason}`,
      subgraph: node.subgraph === null ? "none: its value was computed when the model was compiled" : node.subgraph,
      "arithmetic operations": node.work.toLocaleString("en"),
      "executed as": steps.map(
        step => `${step.type_name} '${step.name}', ${step.kernel}: ` +
          (step.milliseconds === null ? "no time" : `${milliseconds(step.milliseconds)} ms`)).join("\n"),
      "together with": [...others].slice(0, 20).join("\n") + (others.size > 20 ? `\nand ${others.size - 20} more` : ""),
    }),
    inputs: node.inputs.map(
      ([source, output]) => `${report.nodes[source].name}: ${report.nodes[source].outputs[output]}`).join("\n"),
    outputs: node.outputs.join("\n"),
  };
}

function subgraphDetails(part) {
  const boundaries = report.boundaries.filter(one => one.source === part.index || one.targets.includes(part.index));
  return {
    subgraph: `${part.index} on ${part.device}, ${part.operations} operations`,
    "time (ms)": milliseconds(part.milliseconds), "of which transfers (ms)": milliseconds(part.transfer_milliseconds),
    boundaries: boundaries.map(
      one => `${one.value}: ${bytes(one.byte_size)}, ${one.source} → ${one.targets.join(", ")}, ${one.memory}`).join("\n"),
  };
}

function showDetails(details) {
  const list = document.createElement("dl");
  for (const [term, text] of Object.entries(details)) {
    if (text === "") continue;
    list.append(Object.assign(document.createElement("dt"), {textContent: term}));
    list.append(Object.assign(document.createElement("dd"), {textContent: text}));
  }
  byId("details").replaceChildren(list);
}

// One sentence about the graph for who sees it first.
function whatIsSeen(view) {
  const what = view === "subgraphs" ? "a subgraph, a part of the model that is compiled as one" : "an operation of the model";
  const boxes = `Each box is ${what}, in the color of the device that runs it`;
  const parts = report.subgraphs.length, values = report.boundaries.length;
  if (parts < 2) return `${boxes}; one device runs the whole model.`;
  return `${boxes}: ${parts} subgraphs, and ${values} ${values === 1 ? "value" : "values"} ` +
    "passed between them.";
}

document.title = `${report.model} on ${report.device}`;
byId("title").textContent = document.title;
byId("summary").textContent = `${report.summary}. One request: ${report.latency.toFixed(2)} ms, ` +
  `overlapped: ${report.throughput.toFixed(1)} inferences per second.`;
for (const device of report.devices) {
  const color = Object.assign(document.createElement("span"), {className: "color"});
  color.style.background = device.fill;
  byId("legend").append(color, `${device.name}  `);
}
byId("view").onchange = event => {
  draw(event.target.value);
  showDetails({});
};
byId("search").oninput = event => search(event.target.value);
byId("search").onkeydown = event => {
  if (event.key !== "Enter" || !found.length) return;
  shown = (shown + 1) % found.length;
  show(found[shown]);
  byId("found").textContent = `${shown + 1} of ${found.length}`;
};
byId("fit").onclick = () => fit();
draw("operations");
