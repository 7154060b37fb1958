const data = JSON.parse(document.getElementById("data").textContent);
const { histories } = data;
const isBeside = histories.length === 2;
const lastStep = Math.max(...histories.map((history) => history.steps.length));
const [layout, main, intro, heads, rows, panel, help] =
  ["layout", "main", "top", "heads", "rows", "panel", "help"].map((id) => document.getElementById(id));
const geometries = histories.map(geometryOf);
const foldedPaths = histories.map((history) => foldedAtFirst(history.initial));
let current = null;

function geometryOf(history) {
  const room = (layout.clientWidth / histories.length) * (isBeside ? 0.5 : 0.42);
  const widest = isBeside ? 92 : 132;
  const pitch = Math.round(Math.min(widest, Math.max(58, room / history.lanes.length)));
  return { lanes: history.lanes, pitch };
}

const hasMarks = histories.some((history) => history.steps.some((step) => step.marks.length));
const numberWidth = (hasMarks ? 104 : 64) - (isBeside ? 12 : 0);
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
  const target = `#step-${Math.min(history.loop + 1, history.steps.length)}`;
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
    const links = numbers.slice(0, LISTED).map((number) => el("a", { href: `#step-${number}` }, `step ${number}`));
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
    el("div", { class: "words" }, isBeside ? history.title : "what happens"),
    el("div", { class: "changed-column" }, isBeside ? "" : "what changes"));
}

/* Rows. */

function stepRow(number) {
  const isViolating = histories.some((history) => history.steps[number - 1]?.violates.length);
  const isShared = isBeside && number < (data.parting ?? Infinity);
  const isLooping = histories.some((history) => history.loop !== null && history.loop < number && number <= history.steps.length);
  const names = ["step", isViolating && "violating", isShared && "shared", !number && "initial", isLooping && "looping"];
  return el("li", { id: `step-${number}`, class: names.filter(Boolean).join(" "), tabindex: "-1", "data-step": number },
    histories.map((history, side) => cell(history, side, number)));
}

function cell(history, side, number) {
  const style = widths(side);
  if (number > history.steps.length) return el("div", { class: "cell over", style });
  const step = number ? history.steps[number - 1] : null;
  const marks = step ? step.marks.map((mark) => el("small", {}, mark)) : [];
  return el("div", { class: "cell", style },
    el("div", { class: "number" }, String(number), marks),
    picture(geometries[side], step, !step),
    el("div", { class: "words" }, step ? stepWords(step) : el("p", {}, "First state")),
    el("div", { class: "changed-column" }, step && step.changes.length ? changeList(step.changes) : null));
}

const stepWords = (step) => [
  step.story ? el("p", { class: "told" }, step.story) : null,
  el("code", {}, breakable(step.text)), el("p", {}, step.words),
  step.metrics.map((change) => el("p", { class: "metric" }, change)),
  step.notes.map((note) => el("p", { class: "note" }, note)),
  step.violates.map((name) => el("strong", { class: "badge" }, `✕ violates ${name}`)),
];

function foldRow(fold) {
  const button = el("button", { type: "button", "aria-expanded": "false", tabindex: "-1" },
    el("b", {}, `${fold.first}–${fold.last}`), ` ${fold.label} `, el("small", {}, `${fold.last - fold.first + 1} steps`));
  const row = el("li", { class: "fold", tabindex: "-1", "data-step": fold.last, "data-first": fold.first },
    histories.map((history, side) => el("div", { class: "cell", style: widths(side) },
      el("div", { class: "number" }), tally(geometries[side], history, fold),
      el("div", { class: "words" }, side ? null : button))));
  return row;
}

/* How often each lane acts in a folded run. */
function tally(geometry, history, fold) {
  const counts = geometry.lanes.map(() => 0);
  for (const step of history.steps.slice(fold.first - 1, fold.last)) counts[step.lane] += 1;
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
  const numbers = [];
  for (let number = +row.dataset.first; number <= +row.dataset.step; number++) numbers.push(number);
  const existing = numbers.map((number) => document.getElementById(`step-${number}`));
  if (existing[0]) existing.forEach((step) => { step.hidden = !isOpen; });
  else row.after(...numbers.map(stepRow));
}

const closing = (history) =>
  history.loop === history.steps.length ? history.turn : `and again from the state after step ${history.loop}`;

function drawRows() {
  const folds = new Map(data.folds.map((fold) => [fold.first, fold]));
  const drawn = [];
  for (let number = 0; number <= lastStep; number++) {
    if (number === data.parting) drawn.push(el("li", { class: "parting" }, "here they part"));
    if (!isBeside && number && histories[0].loop === number - 1) drawn.push(el("li", { class: "parting" }, "from here on for ever"));
    const fold = folds.get(number);
    drawn.push(fold ? foldRow(fold) : stepRow(number));
    if (fold) number = fold.last;
  }
  if (!isBeside && histories[0].loop !== null) drawn.push(el("li", { class: "parting" }, closing(histories[0])));
  rows.append(...drawn);
}

/* Selection, the state panel, and moving about. */

function mark(row) {
  current?.removeAttribute("aria-current");
  current?.setAttribute("tabindex", "-1");
  current = row;
  row.setAttribute("aria-current", "step");
  row.setAttribute("tabindex", "0");
}

function select(row) {
  if (!row) return;
  mark(row);
  if (!panel.hidden) fillPanel();
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  if (row.id) history.replaceState(null, "", `#${row.id}`);
}

function reveal(number) {
  const fold = data.folds.find((one) => one.first <= number && number <= one.last);
  const row = fold && rows.querySelector(`[data-first="${fold.first}"]`);
  if (row && !row.classList.contains("unfolded")) toggleFold(row);
  select(document.getElementById(`step-${number}`));
}

function move(direction) {
  let row = current;
  do row = row[direction]; while (row && (row.hidden || row.className === "parting"));
  select(row);
}

function nextViolation() {
  const numbers = histories.flatMap((one) => one.violations).sort((one, other) => one - other);
  if (numbers.length) reveal(numbers.find((number) => number > +current.dataset.step) ?? numbers[0]);
}

function fillPanel() {
  const number = +current.dataset.step;
  const close = el("button", { type: "button", "aria-label": "Close the state" }, "✕");
  close.addEventListener("click", closePanel);
  const title = number ? `State after step ${number}` : "First state";
  const trees = histories.map((one, side) => {
    const name = isBeside ? el("h3", {}, one.title) : null;
    if (number > one.steps.length) return el("section", {}, name, el("p", {}, `This history ends at step ${one.steps.length}.`));
    const changes = number ? one.steps[number - 1].changes : [];
    return el("section", {}, name, stateTree(stateAt(one, number), changes, foldedPaths[side]));
  });
  const scrolled = panel.scrollTop;
  panel.replaceChildren(el("header", {}, el("h2", {}, title), close), el("div", { class: "trees" }, trees));
  panel.scrollTop = scrolled;
}

function openPanel() {
  panel.hidden = false;
  layout.classList.add("open");
  fillPanel();
}

function closePanel() {
  panel.hidden = true;
  layout.classList.remove("open");
  current.focus({ preventScroll: true });
}

function enter() {
  if (current.classList.contains("fold")) toggleFold(current);
  else if (panel.hidden) openPanel();
  else closePanel();
}

function toEnd() {
  const all = [...rows.children].filter((row) => !row.hidden);
  select(all.at(-1));
}

const KEYS = {
  ArrowDown: () => move("nextElementSibling"), j: () => move("nextElementSibling"),
  ArrowUp: () => move("previousElementSibling"), k: () => move("previousElementSibling"),
  Home: () => select(rows.firstElementChild), End: toEnd,
  n: nextViolation, Enter: enter, Escape: closePanel, "?": () => help.showModal(),
};

function onKey(event) {
  const isOwnEnter = event.key === "Enter" && event.target.closest("button, summary, a");
  const action = KEYS[event.key];
  if (!action || isOwnEnter || help.open || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

function onClick(event) {
  const row = event.target.closest("li.step, li.fold");
  if (!row || String(getSelection())) return;
  select(row);
  if (row.classList.contains("fold")) toggleFold(row);
  else if (panel.hidden) openPanel();
}

function followAddress() {
  const number = /^#step-(\d+)$/.exec(location.hash)?.[1];
  if (number === undefined || +number > lastStep) return;
  openPanel();
  reveal(+number);
}

function start() {
  document.title = histories.map((one) => one.title).join(" | ");
  document.body.classList.add(isBeside ? "beside" : "single");
  document.body.classList.toggle("many", lastStep > 300);
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
