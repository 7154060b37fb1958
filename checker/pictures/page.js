const data = JSON.parse(document.getElementById("data").textContent);
const { histories, rows: places } = data;
const isBeside = histories.length === 2;
const lastRow = places.length - 1;
const [layout, main, intro, heads, rows, panel, help] =
  ["layout", "main", "top", "heads", "rows", "panel", "help"].map((id) => document.getElementById(id));
const isNarrow = isBeside && layout.clientWidth < 1080;
const hasMarks = histories.some((history) => history.steps.some((step) => step.marks.length));
const numberWidth = (hasMarks ? 104 : 64) - (isBeside ? 12 : 0);
const geometries = histories.map(geometryOf);
const foldedPaths = histories.map((history) => foldedAtFirst(history.initial));
let current = null;

/* A row is a place in `places`, which has the number of its step in each history, null for a gap. */
const addressOf = (history, number) => `${history.address}-${number}`;
const rowAddress = (place) => {
  const side = places[place].findIndex((number) => number !== null);
  return addressOf(histories[side], places[place][side]);
};
const stepAt = (side, place) => {
  const number = places[place][side];
  return number ? histories[side].steps[number - 1] : null;
};
const rowOf = (side, number) => places.findIndex((numbers) => numbers[side] === number);
const reached = (side, place) => Math.max(...places.slice(0, place + 1).map((numbers) => numbers[side] ?? 0));

function geometryOf(history) {
  const wide = layout.clientWidth / histories.length;
  const room = isNarrow ? wide - numberWidth - 20 : wide * (isBeside ? 0.5 : 0.42);
  const widest = isBeside ? 92 : 132;
  const pitch = Math.round(Math.min(widest, Math.max(isNarrow ? 30 : 58, room / history.lanes.length)));
  return { lanes: history.lanes, pitch };
}

const widths = (side) =>
  `--number:${numberWidth}px;--picture:${geometries[side].pitch * geometries[side].lanes.length}px`;

/* The top: what this is, what was demanded, where it was violated. */

function introduction(history) {
  const facts = [history.system, history.variant, history.scope].filter(Boolean).join(" · ");
  return el("section", { class: "introduction" },
    el("h1", {}, history.title), el("p", { class: "facts" }, facts), demand(history),
    history.story ? el("p", { class: "story" }, history.story) : null, history.strip ? strip(history) : null);
}

/* Metrics over time: a drawing that comes with the page. */
function strip(history) {
  const holder = el("div", { class: "metrics" });
  holder.innerHTML = history.strip;
  return holder;
}

function demand(history) {
  const found = [...verdicts(history), ...turn(history)];
  if (!history.property && !found.length) return null;
  const words = history.property
    ? el("p", {}, el("b", {}, history.property.name), " ", history.property.text)
    : null;
  const fine = found.length ? null : el("p", { class: "fine" }, "No step of this history violates it.");
  return el("div", { class: found.length ? "demand violated" : "demand" }, words, found, fine);
}

/* The verdict on a lasso, and why its loop may go on for ever. */
function turn(history) {
  if (history.loop === null) return [];
  const target = `#${addressOf(history, Math.min(history.loop + 1, history.steps.length))}`;
  const verdict = `✕ ${history.property?.name ?? "nothing"} violated: `;
  return [el("p", { class: "verdict" }, verdict, el("a", { href: target }, history.turn)),
    el("ul", { class: "reasons" }, history.reasons.map((reason) => el("li", {}, reason)))];
}

const LISTED = 8;

function verdicts(history) {
  const steps = new Map();
  for (const number of history.violations)
    for (const name of history.steps[number - 1].violates) steps.set(name, [...(steps.get(name) || []), number]);
  return [...steps].map(([name, numbers]) => {
    const links = numbers.slice(0, LISTED).map((number) => el("a", { href: `#${addressOf(history, number)}` }, `step ${number}`));
    const more = numbers.length > LISTED ? ` and ${numbers.length - LISTED} more` : "";
    return el("p", { class: "verdict" }, `✕ ${name} violated at `, links.flatMap((link, i) => (i ? [", ", link] : [link])), more);
  });
}

function legend() {
  const used = new Set(histories.flatMap((history) => history.steps.flatMap((step) => step.arrows.map((arrow) => arrow.kind))));
  const samples = ["request", "answer", "event", "message"].filter((kind) => used.has(kind)).map((kind) =>
    el("span", {}, shape("svg", { width: 44, height: 12, "aria-hidden": "true" },
      shape("g", { class: `arrow ${kind}` },
        shape("path", { class: "shaft", d: "M1 6H35" }), shape("path", { class: "head", d: "M43 6l-9-4.5v9z" }))), kind));
  const acts = el("span", {}, shape("svg", { width: 12, height: 12, "aria-hidden": "true" },
    shape("circle", { class: "dot", cx: 6, cy: 6, r: 5 })), "acts");
  const keys = el("button", { type: "button", class: "more" }, "Keys: ?");
  keys.addEventListener("click", () => help.showModal());
  return el("div", { class: "legend" }, acts, samples, keys);
}

function laneHead(history, side) {
  const { pitch } = geometries[side];
  const size = Math.max(9.5, Math.min(12.5, pitch / 6.6));
  const style = `width:${pitch}px;font-size:${size}px`;
  const names = history.lanes.map((lane) => el("span", { style, title: lane }, lane));
  return el("div", { class: "cell", style: widths(side) },
    el("span", { class: "number" }, "step"), el("div", { class: "lanes" }, names),
    el("div", { class: "words" }, isBeside ? [history.variant, history.title].filter(Boolean).join(": ") : "what happens"),
    el("div", { class: "changed-column" }, isBeside ? "" : "what changes"));
}

/* Rows. */

function stepRow(place) {
  const steps = histories.map((_, side) => stepAt(side, place));
  const isViolating = steps.some((step) => step?.violates.length);
  const isShared = isBeside && data.parting !== null && place < data.parting;
  const isLooping = histories.some((history, side) => history.loop !== null && places[place][side] > history.loop);
  const names = ["step", isViolating && "violating", isShared && "shared", !place && "initial", isLooping && "looping"];
  return el("li", { id: rowAddress(place), class: names.filter(Boolean).join(" "), tabindex: "-1", "data-row": place },
    histories.map((history, side) => cell(history, side, place)));
}

function cell(history, side, place) {
  const number = places[place][side], step = stepAt(side, place), style = widths(side);
  if (number === null && reached(side, place) === history.steps.length) return el("div", { class: "cell over", style });
  const own = side && number !== null && addressOf(history, number);
  const id = own !== rowAddress(place) ? own : false;
  if (number === null) return el("div", { class: "cell gap", style }, el("div", { class: "number" }), passing(geometries[side]));
  const marks = step ? step.marks.map((mark) => el("small", {}, mark)) : [];
  return el("div", { class: "cell", style, id },
    el("div", { class: "number" }, String(number), marks),
    picture(geometries[side], step, !step),
    el("div", { class: "words" }, step ? stepWords(step) : el("p", {}, "First state")),
    el("div", { class: "changed-column" }, step && step.changes.length ? changeList(step.changes) : null));
}

/* The lanes where nothing happens. */
const passing = (geometry) => frame(0, "no step", geometry.lanes.map((_, lane) =>
  shape("line", { class: "lane", x1: laneX(geometry, lane), x2: laneX(geometry, lane), y1: 0, y2: "100%" })));

const stepWords = (step) => [
  step.story ? el("p", { class: "told" }, step.story) : null,
  el("code", {}, breakable(step.text)), el("p", {}, step.words),
  step.metrics.map((change) => el("p", { class: "metric" }, change)),
  step.notes.map((note) => el("p", { class: "note" }, note)),
  step.violates.map((name) => el("strong", { class: "badge" }, `✕ violates ${name}`)),
];

function foldRow(fold) {
  const folded = histories.map((_, side) => foldedSteps(side, fold));
  const side = folded.findIndex((numbers) => numbers.length);
  const button = el("button", { type: "button", "aria-expanded": "false", tabindex: "-1" },
    el("b", {}, `${folded[side][0]}–${folded[side].at(-1)}`), ` ${fold.label} `, el("small", {}, `${folded[side].length} steps`));
  return el("li", { class: "fold", tabindex: "-1", "data-row": fold.last, "data-first": fold.first },
    histories.map((history, other) => el("div", { class: "cell", style: widths(other) },
      el("div", { class: "number" }), tally(geometries[other], history, folded[other]),
      el("div", { class: "words" }, other === side ? button : null))));
}

/* The numbers of the steps of a history in a folded run. */
const foldedSteps = (side, fold) =>
  places.slice(fold.first, fold.last + 1).map((numbers) => numbers[side]).filter((number) => number !== null);

/* How often each lane acts in a folded run. */
function tally(geometry, history, numbers) {
  const counts = geometry.lanes.map(() => 0);
  for (const number of numbers) counts[history.steps[number - 1].lane] += 1;
  const words = counts.map((count, lane) => `${geometry.lanes[lane]}: ${count} steps`).join(", ");
  return frame(2 * FIRST, words, counts.map((count, lane) => {
    const x = laneX(geometry, lane);
    return shape("g", {}, shape("line", { class: "lane folded", x1: x, x2: x, y1: 0, y2: "100%" }),
      count ? shape("text", { class: "count", x, y: FIRST, "text-anchor": "middle" }, `×${count}`) : "");
  }));
}

function toggleFold(row) {
  const isOpen = row.classList.toggle("unfolded");
  row.querySelector("button").setAttribute("aria-expanded", String(isOpen));
  const folded = [];
  for (let place = +row.dataset.first; place <= +row.dataset.row; place++) folded.push(place);
  const existing = folded.map((place) => document.getElementById(rowAddress(place)));
  if (existing[0]) existing.forEach((step) => { step.hidden = !isOpen; });
  else row.after(...folded.map(stepRow));
}

const closing = (history) =>
  history.loop === history.steps.length ? history.turn : `and again from the state after step ${history.loop}`;

function drawRows() {
  const folds = new Map(data.folds.map((fold) => [fold.first, fold]));
  const drawn = [];
  for (let place = 0; place <= lastRow; place++) {
    if (place === data.parting) drawn.push(el("li", { class: "parting" }, "here they part"));
    if (!isBeside && place && histories[0].loop === place - 1) drawn.push(el("li", { class: "parting" }, "from here on for ever"));
    const fold = folds.get(place);
    drawn.push(fold ? foldRow(fold) : stepRow(place));
    if (fold) place = fold.last;
  }
  if (!isBeside && histories[0].loop !== null) drawn.push(el("li", { class: "parting" }, closing(histories[0])));
  rows.append(...drawn);
}

function start() {
  document.title = histories.map((one) => one.title).join(" | ");
  document.body.classList.add(isBeside ? "beside" : "single");
  document.body.classList.toggle("narrow", isNarrow);
  document.body.classList.toggle("many", lastRow > 300);
  intro.append(el("div", { class: "introductions" }, histories.map(introduction)), legend());
  heads.append(...histories.map(laneHead));
  drawRows();
  document.body.style.setProperty("--head", `${heads.offsetHeight}px`);
  const steps = histories.map((one) => one.steps.length).join(" and ");
  document.getElementById("end").textContent = `${steps} steps. Press ? for the keys.`;
  mark(rows.firstElementChild);
  rows.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", followAddress);
  main.focus({ preventScroll: true });
  followAddress();
}

start();
