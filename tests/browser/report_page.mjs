// Test of the report page in a headless browser: node report_page.mjs PAGE.html [PICTURE.png operations|subgraphs]
// It draws, search finds, zoom moves, each panel shows, and the console stays free of errors. Prints the times.
import assert from "node:assert/strict";
import {pathToFileURL} from "node:url";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

// The most milliseconds that a page with 5,000 boxes may take, on two cores without a GPU.
const MAX_LOAD = 20_000, MAX_FRAME = 100;
const [file, picture, view] = process.argv.slice(2);

const browser = await puppeteer.launch({
  args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell",
  defaultViewport: {width: 1400, height: 900},
});
try {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", error => errors.push(String(error)));
  page.on("console", message => { if (["error", "warn"].includes(message.type())) errors.push(message.text()); });
  page.on("request", request => { if (!/^(file|data|blob):/.test(request.url())) errors.push(request.url()); });

  const started = Date.now();
  await page.goto(pathToFileURL(file).href, {waitUntil: "load"});
  // Two frames later the graph is on the canvas.
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  const load = Date.now() - started;
  const counts = await page.evaluate(() => ({
    boxes: cy.nodes().length, nodes: report.nodes.length, lines: cy.edges().length,
    colors: new Set(cy.nodes().map(node => node.style("background-color"))).size,
  }));
  assert.equal(counts.boxes, counts.nodes);
  assert.ok(await countPixels() > 100, "nothing is drawn");
  assert.ok(load < MAX_LOAD, `the page took ${load} ms`);

  // The page opens with text that can be read: Cytoscape draws none below its minimum, which counts pixels of the screen.
  const text = await page.evaluate(() => cy.zoom() * cy.nodes()[0].numericStyle("font-size"));
  assert.ok(text >= 9.5, `the text of a box is ${text.toFixed(1)} pixels high`);
  assert.match(await page.$eval("#seen", one => one.textContent), /^Each box is an operation/);
  await showOnScreens();

  // Boxes do not overlap.
  const overlaps = await page.evaluate(() => {
    const rows = new Map();
    cy.nodes().forEach(node => {
      const {x, y} = node.position();
      rows.set(y, [...(rows.get(y) ?? []), x]);
    });
    return [...rows.values()].flatMap(row => row.sort((a, b) => a - b).slice(1).filter((x, i) => x - row[i] < WIDTH)).length;
  });
  assert.equal(overlaps, 0);

  // Search for the last operation by its name, and go to it.
  const last = await page.evaluate(() => report.nodes.findLast(node => node.device !== null).name);
  const before = await page.evaluate(() => ({zoom: cy.zoom(), pan: {...cy.pan()}}));
  await page.type("#search", last);
  assert.ok(await page.evaluate(name => cy.nodes(".found").some(node => node.data("text").startsWith(name)), last));
  await page.keyboard.press("Enter");
  const after = await page.evaluate(() => ({zoom: cy.zoom(), pan: {...cy.pan()}}));
  assert.notDeepEqual(before, after);
  assert.match(await page.$eval("#details", list => list.textContent), /device/);

  // The wheel zooms; dragging moves.
  const box = await (await page.$("#graph")).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel({deltaY: 300});
  await page.waitForFunction(zoom => cy.zoom() !== zoom, {}, after.zoom);
  await page.click("#fit");
  const frame = await frameTime(page, box);
  assert.ok(frame < MAX_FRAME, `a frame takes ${frame.toFixed(1)} ms while the graph moves`);

  for (const tab of await page.$$("#tabs button")) {
    await tab.click();
    assert.ok(await page.$eval("#panel", panel => panel.textContent.length) > 0);
  }
  await page.select("#view", "subgraphs");
  assert.equal(await page.evaluate(() => cy.nodes().length), await page.evaluate(() => report.subgraphs.length));
  if (picture) await takePicture();
  assert.deepEqual(errors, []);
  console.log(`${file}: ${counts.boxes} boxes and ${counts.lines} lines in ${load} ms, ${frame.toFixed(1)} ms a frame`);

  // The operations with the details of the slowest one of the last device, or the subgraphs with the table of boundaries.
  async function takePicture() {
    await page.select("#view", view);
    await page.$eval("#search", input => { input.value = ""; input.dispatchEvent(new Event("input")); });
    await page.evaluate(view => {
      [...byId("tabs").children].find(tab => tab.textContent === (view === "operations" ? "Timeline" : "Boundaries")).click();
      if (view === "subgraphs") return;
      showOperation(report.steps.filter(step => step.device === report.steps.at(-1).device)
        .sort((a, b) => (b.milliseconds ?? 0) - (a.milliseconds ?? 0))[0].operations[0]);
      cy.zoom({level: 0.8, renderedPosition: {x: cy.width() / 2, y: cy.height() / 2}});
    }, view);
    await new Promise(done => setTimeout(done, 500));  // Cytoscape redraws texts at a new scale a little later
    await page.screenshot({path: picture});
  }

  // Desktop and phone at pixel ratios 1 and 2, with pictures beside the page: nothing is wider than the screen.
  async function showOnScreens() {
    for (const [name, width, height] of [["desktop", 1400, 900], ["phone", 390, 844]])
      for (const scale of [1, 2]) {
        const screen = await browser.newPage();
        await screen.setViewport({width, height, deviceScaleFactor: scale, isMobile: name === "phone"});
        await screen.goto(pathToFileURL(file).href, {waitUntil: "load"});
        await new Promise(done => setTimeout(done, 500));
        assert.ok(await screen.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: too wide`);
        assert.ok(await screen.evaluate(() => cy.width() > 200 && cy.height() > 200), `${name}: the graph is too small`);
        if (picture) await screen.screenshot({path: file.replace(/\.html$/, `-${name}-${scale}x.png`)});
        await screen.close();
      }
    await page.bringToFront();
  }

  // Return how many pixels of the canvas are not transparent.
  async function countPixels() {
    return page.evaluate(() => {
      const bytes = [...document.querySelectorAll("#graph canvas")].map(
        canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data);
      return bytes.reduce((sum, data) => sum + data.filter((value, index) => index % 4 === 3 && value).length, 0);
    });
  }
} finally {
  await browser.close();
}

// Return the mean milliseconds of a frame while the mouse drags the graph.
async function frameTime(page, box) {
  await page.evaluate(() => {
    window.frames_ = [];
    const note = time => { window.frames_.push(time); window.ticking = requestAnimationFrame(note); };
    requestAnimationFrame(note);
  });
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  for (let step = 0; step < 40; step++) await page.mouse.move(box.x + 30 + 4 * step, box.y + 30 + 3 * step);
  await page.mouse.up();
  const times = await page.evaluate(() => { cancelAnimationFrame(window.ticking); return window.frames_; });
  return (times.at(-1) - times[0]) / (times.length - 1);
}
