// The words on top, the filters

function writeTop() {
  document.title = `Replay of ${data.source}`;
  const range = data.zxids.length ? `, ${data.zxids.join(" to ")}` : "";
  const day = new Date(data.began).toISOString().slice(0, 10);
  element("#facts").textContent = `${data.source}: ${data.count.toLocaleString("en")} records${range}; `
    + `${day}, ${clock(0, false)} to ${clock(span, false)} UTC`;
  element("#verdict").textContent = data.sentence;
  element("#verdict").className = `w${data.weight}`;
  for (const line of data.lines) {
    const row = made("li", undefined, `w${line.weight}`), words = made("span", line.text);
    if (line.zxid && atRecord(line.zxid)) words.append(" ", pressed(line.zxid, () => go(line.zxid)));
    row.append(words);
    element("#lines").append(row);
  }
  for (const note of [...data.notes, ...data.problems]) element("#notes").append(made("li", note));
}

function option(select, text, value) {
  const one = made("option", text);
  one.value = value;
  select.append(one);
}

function writeTools() {
  option(element("#topic"), "all topics", "");
  for (const topic of topics) option(element("#topic"), topic, topic);
  option(element("#broker"), "all brokers", "");
  for (const broker of brokers) option(element("#broker"), `broker ${broker}`, broker);
  element("#text").addEventListener("input", (event) => {
    filters.text = event.target.value.trim().toLowerCase();
    refilter();
  });
  for (const name of ["topic", "broker"])
    element(`#${name}`).addEventListener("change", (event) => { filters[name] = event.target.value; refilter(); });
  element("#trouble").addEventListener("change", (event) => { filters.trouble = event.target.checked; refilter(); });
  element("#fold").addEventListener("click", foldAll);
  element("#in").addEventListener("click", () => zoom(0.5));
  element("#out").addEventListener("click", () => zoom(2));
  element("#all").addEventListener("click", () => look(0, span));
  element("#keys").addEventListener("click", () => element("#help").showModal());
}

function writeLegend() {
  const used = new Set(items.map((item) => item.kind.id));
  for (const kind of kinds.filter((one) => used.has(one.id) || (one.id === "metric" && data.metrics.length))) {
    const button = pressed("", () => toggle(kind, button));
    button.dataset.kind = kind.id;
    button.setAttribute("aria-pressed", !filters.off.has(kind.id));
    button.innerHTML = `<svg viewBox="0 0 22 16" aria-hidden="true">${sample(kind)}</svg>`;
    button.append(kind.label);
    element("#legend").append(button);
  }
}

function sample(kind) {
  if (kind.shape === "line") return '<path class="metric" d="M2 12H9V4H20"/>';
  if (kind.shape === "bar") return '<path class="c0" d="M1 4h10v9h-10z"/><path class="c1" d="M11 4h10v9h-10z"/>';
  if (kind.id === "offline") return '<path class="k-offline" d="M2 3h18v10h-18z"/>';
  if (kind.shape === "band" || kind.shape === "thread") return `<path class="k-${kind.id}" d="M1 6h20v4h-20z"/>`;
  return `<path class="mark k-${kind.id}" d="${SHAPES[kind.shape](11, 8)}"/>`;
}

function toggle(kind, button) {
  if (!filters.off.delete(kind.id)) filters.off.add(kind.id);
  button.setAttribute("aria-pressed", !filters.off.has(kind.id));
  refilter();
}

function foldAll() {
  if (unfolded.size) unfolded.clear();
  else for (const topic of topics) unfolded.add(topic);
  refilter();
}

function refilter() {
  rows = rowsOf();
  element("#fold").textContent = unfolded.size ? "fold topics" : "unfold topics";
  draw();
  if (element("#told").open) tell();
}

// Moving

function look(from, to) {
  const wide = Math.min(Math.max(to - from, Math.min(20, span)), span);
  const start = Math.min(Math.max((from + to - wide) / 2, 0), span - wide);
  [view.from, view.to] = [start, start + wide];
  draw();
  if (element("#told").open) tell();
}

function zoom(factor, at = selected && selected.start >= view.from && selected.start <= view.to
  ? selected.start : (view.from + view.to) / 2) {
  const wide = Math.min(Math.max((view.to - view.from) * factor, Math.min(20, span)), span);
  const part = (at - view.from) / (view.to - view.from);
  look(at - part * wide, at - part * wide + wide);
}

const pan = (part) => {
  const by = Math.min(Math.max(part * (view.to - view.from), -view.from), span - view.to);
  look(view.from + by, view.to + by);
};
const inLanes = (event) => {
  const box = element("#space").getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function onWheel(event, always) {
  const zooms = always || event.ctrlKey || event.metaKey || event.altKey;
  if (zooms) zoom(Math.exp(Math.sign(event.deltaY) * 0.25), timeAt(Math.max(inLanes(event)[0], left())));
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) / 1000);
  else return;
  event.preventDefault();
}

function dragged(area, moves, ends) {
  area.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const start = { x: event.clientX, from: view.from, to: view.to, moved: false };
    const move = (now) => {
      if (!start.moved && Math.abs(now.clientX - start.x) < 4) return;
      start.moved = true;
      area.classList.add("dragging");
      moves(start, now);
    };
    const end = (now) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      area.classList.remove("dragging");
      ends(start, now);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  });
}

function slide(start, now) {
  const by = (start.x - now.clientX) / (right() - left()) * (start.to - start.from);
  const kept = Math.min(Math.max(by, -start.from), span - start.to);
  look(start.from + kept, start.to + kept);
}

function overviewTime(clientX) {
  const px = clientX - element("#space").getBoundingClientRect().left;
  return Math.min(Math.max((px - left()) / (right() - left()), 0), 1) * span;
}

// Everything that listens

const KEYS = {
  ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
  0: () => look(0, span), n: () => next(1), p: () => next(-1), v: () => next(1, true), f: foldAll, Escape: closePanel,
  "/": () => element("#text").focus(), "?": () => element("#help").showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest && event.target.closest("input, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
element("#scroll").addEventListener("scroll", () => draw());
element("#scroll").addEventListener("wheel", (event) => onWheel(event, false), { passive: false });
for (const name of ["#axis", "#overview"])
  element(name).addEventListener("wheel", (event) => onWheel(event, true), { passive: false });
dragged(element("#scroll"), slide, (start, event) => { if (!start.moved) clicked(event); });
dragged(element("#axis"), slide, () => {});
dragged(element("#overview"), (start, now) => {
  const [one, other] = [overviewTime(start.x), overviewTime(now.clientX)];
  look(Math.min(one, other), Math.max(one, other));
}, (start, now) => {
  if (start.moved) return;
  const at = overviewTime(now.clientX), half = (view.to - view.from) / 2;
  look(at - half, at + half);
});

function clicked(event) {
  const [px, py] = inLanes(event), row = rows.find((one) => py >= one.top && py < one.top + one.height);
  if (!row || !element("#scroll").contains(event.target)) return;
  if (row.type === "section") {
    if (!closed.delete(row.name)) closed.add(row.name);
    refilter();
    return;
  }
  if (px < left() && row.lane && row.lane.topic !== null && row.lane.partition === null) {
    if (!unfolded.delete(row.lane.topic)) unfolded.add(row.lane.topic);
    refilter();
    return;
  }
  const found = itemsAt(px, py);
  if (found.length) choose(found[0], found);
}

element("#scroll").addEventListener("mousemove", (event) => {
  const [px, py] = inLanes(event), found = itemsAt(px, py), tip = element("#tip");
  tip.hidden = !found.length || event.buttons > 0;
  if (tip.hidden) return;
  const more = found.length > 1 ? ` (and ${(found.length - 1).toLocaleString("en")} more here)` : "";
  tip.replaceChildren(made("b", `${clock(found[0].start)} ${found[0].kind.label}`),
    ` ${found[0].lane.name}: ${found[0].text.slice(0, 300)}${more}`);
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
});
element("#scroll").addEventListener("mouseleave", () => { element("#tip").hidden = true; });
element("#told").addEventListener("toggle", tell);
window.addEventListener("resize", () => draw());
window.addEventListener("hashchange", () => go(location.hash.slice(1)));
window.addEventListener("beforeprint", () => { element("#told").open = true; tell(); draw(true); });
window.addEventListener("afterprint", () => draw());

writeTop();
writeIncidents();
writeTools();
writeLegend();
refilter();
writeMoments();
if (location.hash) go(location.hash.slice(1));
new ResizeObserver(() => draw()).observe(element("#scroll"));
