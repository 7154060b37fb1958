const LABEL = 186, RIGHT = 12;
const view = { from: 0, to: span };
let rows = [], width = 1000;

const left = () => LABEL;
const right = () => width - RIGHT;
const x = (ms) => left() + (ms - view.from) / (view.to - view.from) * (right() - left());
const timeAt = (px) => view.from + (px - left()) / (right() - left()) * (view.to - view.from);
const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const colour = (broker) => `c${brokers.indexOf(broker) % 8}`;

const SHAPES = {
  tick: (px, middle) => `M${px} ${middle - 7}V${middle + 7}`,
  cross: (px, middle) => `M${px - 4} ${middle - 4}l8 8m0-8l-8 8`,
  diamond: (px, middle) => `M${px} ${middle - 5}l5 5l-5 5l-5-5z`,
  up: (px, middle) => `M${px} ${middle - 4}l4 7h-8z`,
  down: (px, middle) => `M${px} ${middle + 4}l4-7h-8z`,
};

/** Where a bar of a kind stands in its lane: distance from the top, and height. */
function place(item) {
  if (item.kind.id === "offline") return [3, 10];
  if (item.kind.shape === "band") return [14, 3];
  if (item.kind.shape === "thread") return [18, 3];
  return item.kind.id === "leader" ? [3, 10] : [4, 13];
}

/** The items of a row as paths, one for each kind and colour; what falls on the same pixel is drawn once. */
function drawItems(row) {
  const paths = new Map(), last = new Map(), words = [];
  for (const item of row.items) {
    if (item.start > view.to || (item.end ?? item.start) < view.from) continue;
    if (row.folds && item.kind.id === "leader") continue;
    const bar = item.end !== null, start = Math.max(x(item.start), left()),
      end = Math.min(x(item.end ?? item.start), right());
    const name = item.kind.shape === "bar" ? colour(item.brokers[0]) : `${bar ? "" : "mark "}k-${item.kind.id}`;
    const px = Math.round(start), stop = Math.round(Math.max(end, start + 1.5));
    if (last.has(name) && (bar ? stop : px) <= last.get(name)) continue;
    last.set(name, bar ? stop : px);
    const [top, high] = bar ? place(item) : [0, 0];
    const edge = item.kind.shape === "bar" && end - start > 4 ? 1 : 0;
    const from = start.toFixed(1), to = Math.max(end - edge, start + 1.5).toFixed(1);
    const drawn = bar ? `M${from} ${row.top + top}H${to}v${high}H${from}z`
      : SHAPES[item.kind.shape](px, row.top + 10);
    paths.set(name, (paths.get(name) ?? "") + drawn);
    const word = barText(item);
    if (bar && word && end - start > 6.5 * word.length + 6)
      words.push(`<text class="in-bar" x="${(start + 4).toFixed(1)}" `
        + `y="${row.top + top + high - 1.5 - (high > 11 ? 2 : 0)}">${escaped(word)}</text>`);
  }
  const order = [...paths.keys()].sort((a, b) => a.startsWith("mark") - b.startsWith("mark"));
  return order.map((name) => `<path class="${name}" d="${paths.get(name)}"/>`).join("") + words.join("");
}

/** What is written into a bar that is wide enough. */
function barText(item) {
  if (item.count > 1) return "";
  if (item.kind.id === "leader") return String(item.brokers[0]);
  return item.kind.id === "term" ? item.text.split(":")[0] : "";
}

function drawMetric(row) {
  const { points, name, text } = row.metric, most = Math.max(1, ...points.map((point) => point[1]));
  const base = row.top + row.height - 4, y = (value) => base - value / most * (row.height - 9);
  let before = points[0][1], path = "", ends = right(), value = points.at(-1)[1];
  for (const [time, now] of points) {
    if (time <= view.from) { before = now; continue; }
    if (time > view.to) break;
    path += `H${x(time).toFixed(1)}V${y(now).toFixed(1)}`;
  }
  const line = `M${left()} ${y(before).toFixed(1)}${path}H${ends}`;
  const told = `<text class="value" x="${LABEL - 8}" y="${row.top + row.height - 9}" text-anchor="end">`
    + `${most.toLocaleString("en")}</text>`;
  return `<path class="metric-area" d="${line}V${base}H${left()}z"/><path class="metric" d="${line}"/>${told}`
    + `<g><title>${escaped(`${name}: ${text}. At the end ${value}.`)}</title>`
    + `<text class="label" x="8" y="${row.top + row.height - 9}">${escaped(name)}</text></g>`;
}

function drawRow(row, number) {
  if (row.type === "section")
    return `<text class="section" x="0" y="${row.top + 17}">${row.closed ? "▸" : "▾"} ${escaped(row.name)}</text>`
      + `<path class="section-rule" d="M0 ${row.top + 22.5}H${width}"/>`;
  if (row.type === "metric") return drawMetric(row);
  const topic = row.lane.topic !== null && row.lane.partition === null;
  const sign = topic && (row.folds || row.unfolded) ? (row.unfolded ? "▾ " : "▸ ") : "";
  const name = sign + (row.lane.partition === null ? row.lane.name : `  ${row.lane.name}`);
  const short = name.length > 27 ? `${name.slice(0, 26)}…` : name;
  const folds = row.folds
    ? `<text class="count" x="${LABEL - 8}" y="${row.top + 15}" text-anchor="end">${row.folds}</text>` : "";
  const stripe = number % 2 ? `<path class="stripe" d="M0 ${row.top}H${width}v${row.height}H0z"/>` : "";
  return `${stripe}<g><title>${escaped(row.lane.name)}: ${row.items.length} items</title>`
    + `<text class="label${sign ? " fold" : ""}" x="${row.lane.partition === null ? 8 : 18}" y="${row.top + 15}">`
    + `${escaped(short)}</text></g>${folds}${drawItems(row)}`;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000,
  300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
  2_592_000_000, 31_536_000_000];

/** The times of the grid, and the distance between them. */
function grid() {
  const most = Math.max(2, (right() - left()) / (span > 86_400_000 ? 170 : 110));
  const step = STEPS.find((one) => (view.to - view.from) / one <= most) ?? STEPS.at(-1), found = [];
  const first = Math.ceil((data.began + view.from) / step) * step - data.began;
  for (let time = first; time <= view.to; time += step) found.push(time);
  return { step, times: found };
}

function drawAxis() {
  const { step, times } = grid();
  element("#axis").innerHTML = times.map((time) => `<path class="section-rule" d="M${x(time).toFixed(1)} 17v7"/>`
    + `<text class="tick-label" x="${x(time).toFixed(1)}" y="13" text-anchor="middle">`
    + `${clock(time, step < 1000)}</text>`).join("")
    + `<text class="tick-label" x="0" y="13">${lasted(Math.round(view.to - view.from))} in view</text>`;
}

function drawOverview() {
  const wide = Math.floor(right() - left()), columns = new Uint8Array(wide + 1), paths = ["", "", ""];
  for (const item of shown) {
    const at = Math.round(item.start / span * wide);
    columns[at] = Math.max(columns[at], Math.max(1, item.kind.weight));
  }
  columns.forEach((weight, at) => { if (weight) paths[weight - 1] += `M${left() + at} ${22 - 6 * weight}V23`; });
  const from = left() + view.from / span * wide, to = left() + view.to / span * wide;
  const seen = `M${from} 1H${Math.max(to, from + 2)}V25H${from}z`;
  element("#overview").innerHTML = paths.map((path, weight) => `<path class="o${weight + 1}" d="${path}"/>`).join("")
    + `<path class="window" d="${seen}"/><path class="window-edge" d="${seen}"/>`
    + '<text class="tick-label" x="0" y="17">all of the log</text>';
}

/** Draw what can be seen; all rows where `whole`. */
function draw(whole = false) {
  const scroll = element("#scroll"), tall = rows.length ? rows.at(-1).top + rows.at(-1).height : 40;
  width = element("#space").clientWidth;
  element("#space").style.height = `${tall}px`;
  const top = whole ? 0 : scroll.scrollTop, bottom = whole ? Math.min(tall, 12_000) : top + scroll.clientHeight;
  const seen = rows.filter((row) => row.top + row.height > top && row.top < bottom);
  const svg = element("#lanes"), from = seen.length ? seen[0].top : 0;
  const height = seen.length ? seen.at(-1).top + seen.at(-1).height - from : 40;
  svg.style.top = `${from}px`;
  svg.style.height = `${height}px`;
  svg.setAttribute("viewBox", `0 ${from} ${width} ${height}`);
  const lines = grid().times.map((time) => `M${x(time).toFixed(1)} ${from}v${height}`).join("");
  const ring = selected && seen.find((row) => row.items && row.items.includes(selected));
  const none = rows.length ? "" : '<text x="8" y="22">Nothing passes the filters.</text>';
  svg.innerHTML = '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    + 'patternTransform="rotate(45)">'
    + '<path class="hatch-line" d="M0 0V6"/></pattern></defs>'
    + seen.map((row) => drawRow(row, rows.indexOf(row))).join("")
    + `<path class="grid" d="${lines}"/>` + momentLine(from, height) + (ring ? drawRing(ring) : "") + none;
  svg.setAttribute("aria-label", `${seen.filter((row) => row.type === "lane").map((row) => row.lane.name).join(", ")}`);
  drawAxis();
  drawOverview();
}

function drawRing(row) {
  const start = Math.max(x(selected.start), left()), end = Math.min(x(selected.end ?? selected.start), right());
  if (start > right() || end < left()) return "";
  const [top, high] = selected.end === null ? [2, 16] : place(selected), wide = selected.end === null ? 7 : 2;
  return `<path class="chosen" d="M${start - wide} ${row.top + top - 2}H${end + wide}v${high + 4}H${start - wide}z"/>`;
}

/** What is at a place of the picture: the gravest first, moments before times. */
function itemsAt(px, py) {
  const row = rows.find((one) => py >= one.top && py < one.top + one.height);
  if (!row || row.type !== "lane" || px < left()) return [];
  const near = (item) => item.end === null ? Math.abs(x(item.start) - px) <= 5
    : x(item.start) - 2 <= px && px <= Math.max(x(item.end), x(item.start) + 2) + 2;
  const found = row.items.filter((item) => near(item) && !(row.folds && item.kind.id === "leader"));
  const rank = (item) => 10 * item.kind.weight + (item.end === null ? 5 : 0);
  return found.sort((a, b) => rank(b) - rank(a) || Math.abs(x(a.start) - px) - Math.abs(x(b.start) - px));
}
