const data = JSON.parse(document.getElementById("data").textContent);
const part = (id) => document.getElementById(id);
const [pathList, possible, impossible, stateOf, properties, metrics, find, error, help] =
  ["path", "possible", "impossible", "state", "properties", "metrics", "find", "error", "help"].map(part);

/* The place: {initial, steps}, in the address after the #. `ahead` are steps that were stepped back from. */
let place = data.begin, ahead = [], seen = null, asked = 0;

const addressOf = ({ initial, steps }) =>
  `#initial=${initial}&steps=${encodeURIComponent(steps.join(";"))}`;
const placeIn = (address) => {
  const named = new URLSearchParams(address.slice(1));
  if (!named.has("steps")) return null;
  const steps = named.get("steps").split(";").filter((text) => text.trim());
  return { initial: Number(named.get("initial") || 0), steps };
};

async function ask(what, more = {}, at = place) {
  const answer = await fetch(what, { method: "POST", body: JSON.stringify({ ...at, ...more }) }).catch(() => null);
  if (answer === null) throw new Error("kafkaproof explore has ended; start it again with the command below");
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

async function told(work) {
  try {
    error.hidden = true;
    return await work();
  } catch (problem) {
    error.textContent = problem.message;
    error.hidden = false;
    return null;
  }
}

async function go(next, later = []) {
  const number = ++asked;
  await told(async () => {
    const answer = await (await ask("look", {}, next)).json();
    if (number !== asked) return;
    [place, ahead, seen] = [next, later, answer];
    if (location.hash !== addressOf(place)) history.pushState(null, "", addressOf(place));
    drawAll();
  });
}

const take = (text) => go({ ...place, steps: [...place.steps, text] });
const goTo = (count) => {
  const all = [...place.steps, ...ahead];
  return go({ ...place, steps: all.slice(0, count) }, all.slice(count));
};

/* The path: the steps taken, and those that were stepped back from. */
function drawPath() {
  const rows = [{ text: data.opened ? "where it opens" : "initial state", breaks: [] }, ...seen.path].map((step, number) =>
    pathRow(number, step.text, step.breaks, number === place.steps.length, false));
  const later = ahead.map((text, number) => pathRow(place.steps.length + number + 1, text, [], false, true));
  pathList.replaceChildren(...rows, ...later);
  pathList.querySelector("[aria-current]").scrollIntoView({ block: "nearest" });
}

function pathRow(number, text, breaks, isHere, isLater) {
  const button = el("button", { "aria-current": isHere ? "step" : null, class: isLater ? "later" : null },
    `${number}  `, breakable(text), breaks.map((name) => el("span", { class: "breaks" }, `✕ violates ${name}`)));
  button.addEventListener("click", () => goTo(number));
  return el("li", {}, button);
}

/* Steps that are possible, by who takes them. */
function drawPossible() {
  let number = 0;
  const groups = seen.possible.map((group) =>
    [el("p", { class: "lane" }, group.lane), group.steps.map((step) => stepButton(step, ++number))]);
  const some = number ? groups.flat(2) : [el("p", { class: "soft" }, "Nothing: no step is possible within the bounds.")];
  const beyond = seen.beyond.map((step) =>
    el("li", {}, el("code", {}, breakable(step.text)), ` (${step.beyond}) ${step.words}`));
  const rest = el("details", { class: "beyond" }, el("summary", {}, `Beyond the bounds: ${beyond.length}`), el("ul", {}, beyond));
  possible.replaceChildren(...some, ...(beyond.length ? [rest] : []));
}

function stepButton(step, number) {
  const effects = step.changes.slice(0, 4).map((text) => el("span", { class: "effect" }, text));
  const rest = step.changes.length - effects.length;
  const button = el("button", { class: `step ${step.kind}`, "data-number": number },
    el("code", {}, `${number}  `, breakable(step.text)), el("small", {}, step.words), effects,
    rest > 0 ? el("span", { class: "effect" }, `and ${rest} more`) : null,
    step.breaks.map((name) => el("span", { class: "breaks" }, `✕ violates ${name}`)));
  button.addEventListener("click", () => take(step.text));
  return button;
}

/* Transitions that are not possible; each says why when it is opened. */
function drawImpossible() {
  impossible.replaceChildren(...seen.impossible.map(({ transition, words }) => {
    const reasons = el("ul", { class: "why" });
    const row = el("details", {}, el("summary", {}, el("code", {}, breakable(transition)), " ", words), reasons);
    row.addEventListener("toggle", () => row.open && !reasons.childElementCount && explain(transition, reasons));
    return row;
  }));
}

const explain = (transition, reasons) => told(async () => {
  const why = await (await ask("why", { transition })).json();
  reasons.replaceChildren(...why.map((guard) => el("li", {}, guard)));
});

function drawState() {
  stateOf.replaceChildren(...seen.state.map((group) => el("table", {}, el("caption", {}, group.of),
    group.fields.map((field) => el("tr", { class: field.was === null ? null : "changed", title: field.field },
      el("td", {}, breakable(field.field.slice(group.of.length).replace(/^\./, "") || field.field)),
      el("td", {}, field.value, field.was === null ? null : el("span", { class: "was" }, `  was ${field.was}`)))))));
}

function drawProperties() {
  const order = ({ mark, kind }) => (mark === "bad" ? 0 : kind.startsWith("eventually") ? 1 : mark === "good" ? 2 : 3);
  const sorted = [...seen.properties].sort((one, other) => order(one) - order(other));
  properties.replaceChildren(...sorted.map((property) => el("details", { class: `property ${property.mark}` },
    el("summary", {}, el("code", {}, breakable(property.name)), " ", el("span", { class: "mark" }, property.status)),
    el("p", {}, `${property.kind}: ${property.text}`))));
  metrics.replaceChildren(...seen.metrics.map((metric) =>
    el("tr", { title: metric.text }, el("td", {}, breakable(metric.name)), el("td", {}, String(metric.value)))));
}

/* What is found by text stays; groups without a find go. */
function filter() {
  const wanted = find.value.trim().toLowerCase();
  const rows = document.querySelectorAll("#possible .step, #impossible details, #state tr, #properties details, #metrics tr");
  for (const row of rows) row.hidden = !`${row.textContent} ${row.title}`.toLowerCase().includes(wanted);
  for (const table of stateOf.children) table.hidden = !table.querySelector("tr:not([hidden])");
}

function drawAll() {
  drawPath();
  drawPossible();
  drawImpossible();
  drawState();
  drawProperties();
  part("command").textContent = seen.command;
  part("back").disabled = part("start").disabled = place.steps.length === 0;
  part("initials").hidden = seen.initial_states < 2 || Boolean(data.opened);
  part("choice").value = place.initial;
  part("initial").value = place.initial;
  part("initial").max = seen.initial_states - 1;
  filter();
}

async function save(what, name, type) {
  const text = await told(async () => (await ask(what)).text());
  if (text === null) return;
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
}

async function drawPicture() {
  const text = await told(async () => (await ask("picture")).text());
  if (text !== null) window.open(URL.createObjectURL(new Blob([text], { type: "text/html" })));
}

/* Keys. In a field they are the field's own. */
const steps = () => [...possible.querySelectorAll(".step:not([hidden])")];
function moveFocus(direction) {
  const all = steps();
  const now = all.indexOf(document.activeElement);
  all.at(now < 0 ? (direction > 0 ? 0 : -1) : (now + direction) % all.length)?.focus();
}
const KEYS = {
  ArrowDown: () => moveFocus(1),
  ArrowUp: () => moveFocus(-1),
  Backspace: () => place.steps.length && goTo(place.steps.length - 1),
  "/": () => find.focus(),
  "?": () => help.showModal(),
};

function onKey(event) {
  const inField = event.target.matches?.("input, select");
  if (inField && event.key === "Escape") event.target.blur();
  if (inField || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const numbered = /^[1-9]$/.test(event.key) && possible.querySelector(`[data-number="${event.key}"]`);
  const action = numbered ? () => numbered.click() : KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

part("title").textContent = document.title = `Explore ${data.title}`;
part("scope").textContent = data.scope;
part("story").replaceChildren(...data.story.map((told) => el("p", {}, told)));
part("live").textContent = data.live.why_not ? `Not possible: ${data.live.why_not}.` : "Save as trace, then";
part("live-command").textContent = data.live.command || "";
part("live-command").hidden = !data.live.command;
if (data.opened) {
  part("scenario").hidden = part("trace").hidden = true;
  part("choices").hidden = data.opened.length < 2;
  part("choice").append(...data.opened.map(({ label }, number) => el("option", { value: number }, `${number}: ${label}`)));
}
part("choice").addEventListener("change", ({ target }) =>
  go({ initial: Number(target.value), steps: data.opened[target.value].steps }));
part("back").addEventListener("click", KEYS.Backspace);
part("start").addEventListener("click", () => goTo(0));
part("picture").addEventListener("click", drawPicture);
part("scenario").addEventListener("click", () => save("scenario", "path.scenario", "text/plain"));
part("trace").addEventListener("click", () => save("trace", "path.json", "application/json"));
part("help-button").addEventListener("click", KEYS["?"]);
part("initial").addEventListener("change", (event) => go({ initial: event.target.valueAsNumber || 0, steps: [] }));
find.addEventListener("input", filter);
document.addEventListener("keydown", onKey);
window.addEventListener("popstate", () => go(placeIn(location.hash) || data.begin));
go(placeIn(location.hash) || data.begin);
