/** The incidents, and the cluster at a moment: both are told by replay, in the words of the terminal. */
function writeIncidents() {
  for (const { kind, incidents, first, ways_out: waysOut } of data.incidents) {
    const told = incidents.map((incident) => incidentRow(kind, incident));
    const rows = told.slice(0, first), more = told.slice(first);
    if (more.length) {
      const row = made("li", undefined, "more"), folded = made("details"), list = made("ul");
      list.append(...more);
      folded.append(made("summary", `and ${more.length.toLocaleString("en")} more of ${kind}`), list);
      row.append(folded);
      rows.push(row);
    }
    element("#incidents").append(...rows, ...waysOut.map((way) => made("li", `way out: ${way}`, "way-out")));
  }
}

/** An incident; its record opens where the timeline has it, and the cluster at it where the page has that. */
function incidentRow(kind, { severity, line, zxid }) {
  const row = made("li", undefined, severity), words = made("span", `${kind}: `);
  const at = zxid && atRecord(zxid) ? line.lastIndexOf(zxid) : -1;
  if (at < 0) words.append(line);
  else words.append(line.slice(0, at), pressed(zxid, () => go(zxid)), line.slice(at + zxid.length));
  if (momentAt(zxid)) words.append(" ", pressed("the cluster then", () => openMoment(zxid)));
  row.append(made("b", severity), words);
  return row;
}

const momentAt = (zxid) => data.clusters?.moments.find((moment) => moment.zxid === zxid);

function writeMoments() {
  if (!data.clusters?.moments.length) return;
  const { headings, moments, chosen, asked } = data.clusters, row = made("tr");
  for (const { zxid, time, name } of moments)
    option(element("#moment"), `${zxid}, ${clock(time - data.began)}: ${name}`, zxid);
  row.append(...headings.map((heading) => made("th", heading)));
  element("#partitions thead").append(row);
  element("#moment").addEventListener("change", (event) => writeMoment(event.target.value));
  element("#cluster").addEventListener("toggle", () => draw());
  element("#cluster").hidden = false;
  element("#cluster").open = asked;
  writeMoment(momentAt(chosen) ? chosen : moments.at(-1).zxid);
}

function openMoment(zxid) {
  element("#cluster").open = true;
  writeMoment(zxid);
  element("#cluster").scrollIntoView();
  element("#moment").focus();
}

function writeMoment(zxid) {
  const { lines, rows: partitions, left_out: leftOut } = momentAt(zxid);
  element("#moment").value = zxid;
  element("#then").replaceChildren(...lines.map((line) => made("li", line)));
  element("#partitions tbody").replaceChildren(...partitions.map((cells) => {
    const row = made("tr", undefined, cells.at(-1));
    row.append(...cells.map((cell) => made("td", cell)));
    return row;
  }));
  element("#left-out").textContent = leftOut
    ? `${leftOut.toLocaleString("en")} more partitions are not in this page: kafkaproof replay DIR --at ${zxid}` : "";
  draw();
}

/** The moment as a line through all lanes, while it is shown. */
function momentLine(from, height) {
  const moment = element("#cluster").open && momentAt(element("#moment").value);
  const at = moment ? x(moment.time - data.began) : -1;
  return at < left() || at > right() ? "" : `<path class="moment" d="M${at.toFixed(1)} ${from}v${height}"/>`;
}
