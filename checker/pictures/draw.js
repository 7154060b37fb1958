"use strict";

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null));
  return node;
}

const el = (tag, attributes = {}, ...children) =>
  made(document.createElement(tag), attributes, children);

const shape = (tag, attributes = {}, ...children) =>
  made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Text that may be broken after a sign that joins its parts. */
const breakable = (text) =>
  text.split(/(?<=[(._/])/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));

/* The space-time picture of one row. A geometry is {lanes, pitch}: names, and pixels per lane. */

const FIRST = 24, GAP = 26, DOT = 5.5, LETTER = 6.1, LONGEST = 48;

const laneX = (geometry, lane) => geometry.pitch * (lane + 0.5);

function picture(geometry, step, isStart) {
  const arrows = step ? step.arrows : [];
  const height = FIRST + GAP * Math.max(0, arrows.length - 1) + 20;
  const lines = geometry.lanes.map((_, lane) => {
    const x = laneX(geometry, lane);
    return shape("line", { class: "lane", x1: x, x2: x, y1: isStart ? FIRST : 0, y2: "100%" });
  });
  const starts = isStart
    ? geometry.lanes.map((_, lane) =>
        shape("path", { class: "start", d: `M${laneX(geometry, lane) - 6} ${FIRST}h12` }))
    : [];
  const drawn = arrows.map((arrow, place) => arrowShape(geometry, step, arrow, FIRST + GAP * place));
  const own = step ? [activity(geometry, step), ...drawn, dot(geometry, step)] : [];
  return frame(height, spoken(geometry, step), [...lines, ...starts, ...own]);
}

const frame = (height, words, shapes) =>
  el("div", { class: "picture", style: `min-height:${height}px` },
    shape("svg", { role: "img", "aria-label": words }, shapes));

function spoken(geometry, step) {
  if (!step) return "initial state";
  const arrows = step.arrows.map(
    (arrow) => `${arrow.kind} from ${geometry.lanes[arrow.from]} to ${geometry.lanes[arrow.to]}: ${arrow.label}`);
  return [`${geometry.lanes[step.lane]} acts`, ...arrows].join("; ");
}

function activity(geometry, step) {
  const own = step.arrows.map((arrow) => arrow.from === step.lane || arrow.to === step.lane).lastIndexOf(true);
  const x = laneX(geometry, step.lane);
  return own > 0 ? shape("line", { class: "activity", x1: x, x2: x, y1: FIRST, y2: FIRST + GAP * own }) : null;
}

function dot(geometry, step) {
  const x = laneX(geometry, step.lane);
  if (!step.violates.length) return shape("circle", { class: "dot", cx: x, cy: FIRST, r: DOT });
  return shape("g", { class: "dot violating" },
    shape("circle", { cx: x, cy: FIRST, r: 9 }),
    shape("path", { d: `M${x - 3.5} ${FIRST - 3.5}l7 7m0-7l-7 7` }));
}

function arrowShape(geometry, step, arrow, y) {
  const clearance = (lane) => (lane === step.lane && y === FIRST ? (step.violates.length ? 10 : DOT + 1.5) : 2);
  const way = Math.sign(arrow.to - arrow.from);
  const route = `${arrow.kind}, ${geometry.lanes[arrow.from]} → ${geometry.lanes[arrow.to]}: ${arrow.label}`;
  const start = laneX(geometry, arrow.from) + way * clearance(arrow.from);
  const end = laneX(geometry, arrow.to) - way * clearance(arrow.to);
  const body = way
    ? { d: `M${start} ${y}H${end - way * 7}`, head: `M${end} ${y}l${-way * 9}-4.5v9z` }
    : { d: `M${start + 5} ${y - 4}h14q6 0 6 6t-6 6h-8`, head: `M${end + 7} ${y + 8}l9-4.5v9z` };
  return shape("g", { class: `arrow ${arrow.kind}` },
    shape("title", {}, route),
    shape("path", { class: "reach", d: way ? `M${start} ${y}H${end}` : body.d }),
    shape("path", { class: "shaft", d: body.d }),
    shape("path", { class: "head", d: body.head }),
    arrowLabel(geometry, arrow, way ? (start + end) / 2 : start + 30, y - 8));
}

function arrowLabel(geometry, arrow, middle, y) {
  const width = geometry.pitch * geometry.lanes.length;
  const most = Math.min(LONGEST, Math.floor((width - 8) / LETTER));
  const text = arrow.label.length > most ? arrow.label.slice(0, most - 1) + "…" : arrow.label;
  const half = (text.length * LETTER) / 2 + 4;
  const x = Math.min(Math.max(middle, half), width - half);
  return shape("text", { x, y, "text-anchor": "middle" }, text);
}

/* What a step changed, beside its row. */

const SHOWN = 5;

function changeList(changes) {
  const list = el("ul", { class: "changes", "aria-label": "What changed" }, changes.map(changeItem));
  const hidden = changes.length - SHOWN;
  const shortened = changes.some((change) => change.full);
  if (hidden <= 1 && !shortened) return list;
  list.classList.add("brief");
  if (hidden > 1) list.classList.add("long");
  const label = hidden > 1 ? `${hidden} more` : "in full";
  const button = el("button", { class: "more", type: "button", "aria-expanded": "false" }, label);
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    const brief = list.classList.toggle("brief");
    button.setAttribute("aria-expanded", String(!brief));
    button.textContent = brief ? label : "less";
  });
  return el("div", {}, list, button);
}

function changeItem(change) {
  const full = change.full ? el("span", { class: "full" }, ...values(...change.full)) : null;
  const short = el("span", { class: full ? "short" : null }, ...values(change.old, change.new));
  return el("li", {}, el("span", { class: "path" }, breakable(change.path), ": "), short, full);
}

const values = (old, now) => [
  el("span", { class: "old" }, old), el("span", { class: "to" }, " → "), el("span", { class: "new" }, now),
];

/* The state after a step, and as a tree with what the step changed marked. */

function stateAt(history, number) {
  const state = structuredClone(history.initial);
  for (const step of history.steps.slice(0, number)) for (const change of step.changes) apply(state, change);
  return state;
}

function apply(state, change) {
  const last = change.keys.at(-1);
  const holder = change.keys.slice(0, -1).reduce((value, key) => value[key], state);
  if (!("value" in change)) Array.isArray(holder) ? holder.splice(last, 1) : delete holder[last];
  else if (change.appears && Array.isArray(holder)) holder.splice(last, 0, structuredClone(change.value));
  else holder[last] = structuredClone(change.value);
}

const LARGE_STATE = 150;

const address = (keys) => JSON.stringify(keys);
const isNested = (value) => value !== null && typeof value === "object";
const isPlainList = (value) => Array.isArray(value) && !value.some(isNested);
const literal = (value) => (typeof value === "string" && value.trim() ? value : JSON.stringify(value));

function stateTree(state, changes, folded) {
  const context = { marks: new Map(), gone: new Map(), within: new Set(), folded };
  for (const change of changes) {
    const parent = address(change.keys.slice(0, -1));
    if ("value" in change) context.marks.set(address(change.keys), change);
    else context.gone.set(parent, [...(context.gone.get(parent) || []), change]);
    change.keys.forEach((_, depth) => context.within.add(address(change.keys.slice(0, depth))));
  }
  return branches(state, [], context);
}

/* The addresses of what a large state shows folded at first: all below its first level. */
function foldedAtFirst(state) {
  const nested = [], count = (value, keys) => {
    if (!isNested(value)) return 1;
    if (keys.length > 1 && !isPlainList(value)) nested.push(address(keys));
    const entries = Array.isArray(value) ? value.map((item, place) => [place, item]) : Object.entries(value);
    return entries.reduce((sum, [key, item]) => sum + count(item, [...keys, key]), 0);
  };
  return new Set(count(state, []) > LARGE_STATE ? nested : []);
}

function branches(value, keys, context) {
  const entries = Array.isArray(value) ? value.map((item, place) => [place, item]) : Object.entries(value);
  const gone = context.gone.get(address(keys)) || [];
  return el("ul", { class: "tree" },
    entries.map(([key, item]) => branch(key, item, [...keys, key], context)),
    gone.map((change) => el("li", { class: "gone" },
      el("span", { class: "key" }, keyText(change.keys.at(-1))), el("del", {}, change.old), el("small", {}, " gone"))));
}

const keyText = (key) => (typeof key === "number" ? `[${key}] ` : `${key}: `);

function branch(key, value, keys, context) {
  const change = context.marks.get(address(keys));
  const name = el("span", { class: "key" }, keyText(key));
  const size = isNested(value) ? Object.keys(value).length : 0;
  const isLeaf = !isNested(value) || isPlainList(value) || !size;
  if (isLeaf && !context.gone.has(address(keys))) return leaf(name, value, keys, change, context);
  const hasChanged = context.within.has(address(keys)) || change;
  const summary = el("summary", {}, name, el("small", {}, `${size} ${size === 1 ? "entry" : "entries"}`));
  const fold = el("details", { open: hasChanged || !context.folded.has(address(keys)) },
    summary, branches(value, keys, context));
  summary.addEventListener("click", () => context.folded[fold.open ? "add" : "delete"](address(keys)));
  return el("li", { class: change ? "changed" : null }, fold);
}

function leaf(name, value, keys, change, context) {
  const texts = isPlainList(value) ? listText(value, keys, context) : [literal(value)];
  const shown = el("span", { class: "value" }, texts);
  const inside = isPlainList(value) && context.within.has(address(keys));
  const was = change ? el("span", { class: "was" }, change.appears ? " new" : ` was ${change.old}`) : null;
  return el("li", { class: change || inside ? "changed" : null }, name, shown, was);
}

function listText(list, keys, context) {
  const items = list.map((item, place) => {
    const change = context.marks.get(address([...keys, place]));
    return change ? el("mark", { title: `was ${change.old}` }, literal(item)) : literal(item);
  });
  return ["[", ...items.flatMap((item, place) => (place ? [", ", item] : [item])), "]"];
}
