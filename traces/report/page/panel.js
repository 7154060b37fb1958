let selected = null;

const made = (tag, text, cls) => {
  const one = document.createElement(tag);
  if (text !== undefined) one.textContent = text;
  if (cls) one.className = cls;
  return one;
};
const pressed = (text, act, cls) => {
  const button = made("button", text, cls);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
};

const atRecord = (zxid) => byRecord.get(zxid);
const byRecord = new Map();
for (const item of [...items].sort((a, b) =>
  b.kind.weight - a.kind.weight || (a.end === null ? -1 : 1) - (b.end === null ? -1 : 1)))
  for (const zxid of item.zxids) if (!byRecord.has(zxid)) byRecord.set(zxid, item);

/** Show the item of a record, whatever the filters. */
function go(zxid) {
  const item = atRecord(zxid);
  if (!item) return;
  choose(item, [], zxid);
}

function choose(item, others, zxid) {
  selected = item;
  let row = rows.find((one) => one.items && one.items.includes(item));
  if (!row) {
    closed.clear();
    Object.assign(filters, { text: "", topic: "", broker: "", trouble: false });
    filters.off.delete(item.kind.id);
    for (const name of ["text", "topic", "broker"]) element(`#${name}`).value = "";
    element("#trouble").checked = false;
    document.querySelectorAll("#legend button").forEach((button) =>
      button.setAttribute("aria-pressed", !filters.off.has(button.dataset.kind)));
    rows = rowsOf();
    row = rows.find((one) => one.items && one.items.includes(item));
  }
  const ends = Math.min(item.end ?? item.start, item.start + (view.to - view.from));
  openPanel(item, others, zxid);
  if (item.start > view.to || (item.end ?? item.start) < view.from)
    look((item.start + ends) / 2 - (view.to - view.from) / 2, (item.start + ends) / 2 + (view.to - view.from) / 2);
  const scroll = element("#scroll");
  if (row.top < scroll.scrollTop || row.top + row.height > scroll.scrollTop + scroll.clientHeight)
    scroll.scrollTop = row.top - scroll.clientHeight / 2;
  draw();
  const first = zxid ?? item.zxids[0];
  if (first) history.replaceState(null, "", `#${first}`);
}

function openPanel(item, others, zxid) {
  const panel = element("#panel");
  panel.replaceChildren(pressed("close", closePanel, "close"), made("h2", `${item.kind.label}: ${item.lane.name}`));
  const until = item.end === null ? "" : ` to ${clock(item.end)}, ${lasted(item.end - item.start)}`;
  panel.append(made("p", clock(item.start) + until, "when"), made("p", item.text, "what"));
  if (others.length > 1) {
    const list = made("div", undefined, "here");
    for (const other of others.slice(0, 100)) {
      const button = pressed(`${clock(other.start)} ${other.kind.label}: ${other.lane.name}: ${other.text}`,
        () => choose(other, others));
      if (other === item) button.setAttribute("aria-current", "true");
      list.append(button);
    }
    panel.append(made("p", `${others.length.toLocaleString("en")} items here:`, "when"), list);
  }
  const known = item.zxids.filter((one) => data.records[one]);
  for (const one of known) panel.append(recordOf(one, one === zxid));
  if (known.length < item.records)
    panel.append(made("p",
      `${(item.records - known.length).toLocaleString("en")} more records are not in this page, or before the log.`,
      "when"));
  panel.hidden = false;
  element("#layout").classList.add("open");
}

function closePanel() {
  element("#panel").hidden = true;
  element("#layout").classList.remove("open");
  selected = null;
  draw();
}

/** A record: when and whose it is, the transition of the specification that explains it, and what it does. */
function recordOf(zxid) {
  const [time, session, broker, account, operations, told] = data.records[zxid];
  const section = made("section", undefined, "record");
  section.append(made("h3",
    `${zxid} · ${clock(time)} · session ${session} · ${broker === null ? "no broker's" : `broker ${broker}`}`));
  if (account === null)
    section.append(made("p", "no step of the specification explains it, or it was not followed", "step unexplained"));
  else {
    const [system, name] = account;
    section.append(made("p", (system ? `${system}: ${name}` : name) + (told ? ` (${told})` : ""), "step"));
    const words = new Set(system
      ? name.split(" or ").map((one) => data.glossary[`${system}.${one.split(" -> ")[0].split(":")[0]}`])
      : [data.glossary[name]]);
    for (const word of words)
      if (word) section.append(made("p", word.replaceAll("`b`", broker ?? "b").replaceAll("`", ""), "words"));
  }
  const list = made("ol");
  for (const [form, text] of operations) {
    const row = made("li");
    row.append(made("code", form));
    if (text) row.append(made("pre", text));
    list.append(row);
  }
  section.append(list);
  return section;
}

function next(by, grave) {
  const among = grave ? shown.filter((item) => item.kind.weight > 1) : shown;
  if (!among.length) return;
  const place = selected ? among.indexOf(selected) : -1;
  const start = selected && place < 0 ? among.findIndex((item) => item.start >= selected.start)
    - (by > 0 ? 1 : 0) : place;
  choose(among[(Math.max(start, by > 0 ? -1 : 0) + by + among.length) % among.length], []);
}

/** The table of what is in view. */
function tell() {
  const MOST = 500, body = element("#told tbody");
  const seen = shown.filter((item) =>
    item.start <= view.to && (item.end ?? item.start) >= view.from && item.kind.id !== "leader");
  const grave = seen.length > MOST ? seen.filter((item) => item.kind.weight > 0) : seen;
  body.replaceChildren(...grave.slice(0, MOST).map((item) => {
    const row = made("tr"), what = made("td");
    what.append(pressed(`${item.kind.label}: ${item.text}`, () => choose(item, [])));
    row.append(made("td", clock(item.start)), made("td", item.lane.name), what);
    return row;
  }));
  element("#told summary").textContent =
    `What is in view, in order: ${Math.min(grave.length, MOST).toLocaleString("en")} of `
    + `${seen.length.toLocaleString("en")} items`;
}
