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

function reveal(place) {
  const fold = data.folds.find((one) => one.first <= place && place <= one.last);
  const row = fold && rows.querySelector(`[data-first="${fold.first}"]`);
  if (row && !row.classList.contains("unfolded")) toggleFold(row);
  select(document.getElementById(rowAddress(place)));
}

function move(direction) {
  let row = current;
  do row = row[direction]; while (row && (row.hidden || row.className === "parting"));
  select(row);
}

function nextViolation() {
  const numbers = (one) => (one.loop === null ? one.violations : [...one.violations, one.loop]);
  const found = histories.flatMap((one, side) => numbers(one).map((number) => rowOf(side, number)));
  found.sort((one, other) => one - other);
  if (found.length) reveal(found.find((place) => place > +current.dataset.row) ?? found[0]);
}

function fillPanel() {
  const place = +current.dataset.row;
  const numbers = histories.map((_, side) => reached(side, place));
  const close = el("button", { type: "button", "aria-label": "Close the state" }, "✕");
  close.addEventListener("click", closePanel);
  const titleOf = (number) => number ? `State after step ${number}` : "First state";
  const trees = histories.map((one, side) => {
    const number = numbers[side];
    const name = isBeside ? el("h3", {}, `${one.title}: ${titleOf(number).toLowerCase()}`) : null;
    const changes = stepAt(side, place)?.changes ?? [];
    return el("section", {}, name, stateTree(stateAt(one, number), changes, foldedPaths[side]));
  });
  const scrolled = panel.scrollTop;
  panel.replaceChildren(el("header", {}, el("h2", {}, isBeside ? "States" : titleOf(numbers[0])), close), el("div", { class: "trees" }, trees));
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
  const place = histories.map((one, side) => {
    const [name, number] = location.hash.slice(1).split("-");
    return name === one.address && /^\d+$/.test(number) ? rowOf(side, +number) : -1;
  }).find((found) => found >= 0);
  if (place === undefined) return;
  openPanel();
  reveal(place);
}
