"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const element = (selector) => document.querySelector(selector);
const span = Math.max(data.ended - data.began, 1);
const kinds = data.kinds;
const lanes = data.lanes.map(([section, name, topic, partition]) => ({ section, name, topic, partition, items: [] }));
const items = data.items.map(([lane, kind, start, length, text, zxids, brokers, count, records], place) => {
  const item = { place, lane: lanes[lane], kind: kinds[kind], start, end: length < 0 ? null : start + length,
                 text: data.texts[text], zxids, brokers, count, records };
  item.lane.items.push(item);
  return item;
});
const brokers = [...new Set(items.flatMap((item) => item.brokers))].filter((broker) => broker >= 0)
  .sort((a, b) => a - b);
const topics = [...new Set(lanes.map((lane) => lane.topic).filter((topic) => topic !== null))];
const inTopics = lanes.filter((lane) => lane.partition !== null);
for (const lane of lanes) lane.trouble = lane.items.some((item) => item.kind.weight > 1);

const FEW = 40;
const filters = { text: "", topic: "", broker: "", trouble: false,
  off: new Set(kinds.filter((k) => k.off).map((k) => k.id)) };
const closed = new Set();
const unfolded = new Set(inTopics.length <= FEW ? topics : []);

/** Whether an item is let through by the filters of kind, broker and text. */
function passes(item) {
  if (filters.off.has(item.kind.id)) return false;
  if (filters.broker !== "" && !item.brokers.includes(Number(filters.broker))) return false;
  if (!filters.text) return true;
  const told = `${item.lane.name} ${item.kind.label} ${item.text} ${item.zxids.join(" ")}`.toLowerCase();
  return told.includes(filters.text) || item.zxids.some((zxid) => recordText(zxid).includes(filters.text));
}

const texts = new Map();

/** What a record writes, in lower case, for the filter. */
function recordText(zxid) {
  if (!texts.has(zxid)) {
    const record = data.records[zxid];
    texts.set(zxid, record ? record[4].map((operation) => operation.join(" ")).join(" ").toLowerCase() : "");
  }
  return texts.get(zxid);
}

let shown = [];

/** The rows of the picture: headings, lanes with the items that pass, metrics.
    A folded topic has those of its partitions. */
function rowsOf() {
  shown = [];
  const rows = [], narrow = filters.text || filters.broker !== "";
  const sections = new Map(data.sections.map((section) => [section, []]));
  const folded = new Map();
  for (const lane of lanes) {
    if (filters.topic && lane.topic !== null && lane.topic !== filters.topic) continue;
    if (filters.topic && lane.section === "Other records") continue;
    if (filters.trouble && !lane.trouble) continue;
    const passing = lane.items.filter(passes);
    if (!passing.length) continue;
    for (const item of passing) shown.push(item);
    if (lane.topic === null || unfolded.has(lane.topic)) {
      sections.get(lane.section).push({ type: "lane", lane, items: passing, height: 22 });
      continue;
    }
    if (!folded.has(lane.topic)) {
      const row = { type: "lane", lane: { ...lane, name: lane.topic, partition: null },
        items: [], height: 22, folds: 0 };
      folded.set(lane.topic, row);
      sections.get(lane.section).push(row);
    }
    const row = folded.get(lane.topic);
    row.items = row.items.concat(passing);
    row.folds += lane.partition !== null;
  }
  for (const row of folded.values()) row.items.sort((a, b) => a.start - b.start);
  for (const topic of unfolded) {
    const own = sections.get("Topics and partitions").filter((row) => row.lane.topic === topic);
    if (own.length && own[0].lane.partition === null) own[0].unfolded = true;
  }
  if (!filters.off.has("metric") && !narrow && !filters.topic)
    for (const metric of data.metrics)
      sections.get(metric.worry ? "Metrics" : "More metrics").push({ type: "metric", metric, height: 26 });
  for (const [section, found] of sections)
    if (found.length) rows.push({ type: "section", name: section, height: 24, closed: closed.has(section) },
      ...(closed.has(section) ? [] : found));
  shown.sort((a, b) => a.start - b.start);
  let top = 0;
  for (const row of rows) { row.top = top; top += row.height; }
  return rows;
}

const pad = (number, digits) => String(number).padStart(digits, "0");

/** A time of the log in UTC, with the day where the log has several. */
function clock(ms, fine = true) {
  const at = new Date(data.began + ms);
  const day = span > 86_400_000
    ? `${at.getUTCFullYear()}-${pad(at.getUTCMonth() + 1, 2)}-${pad(at.getUTCDate(), 2)} ` : "";
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map((part) => pad(part, 2)).join(":");
  return day + time + (fine ? `.${pad(at.getUTCMilliseconds(), 3)}` : "");
}

/** How long something takes, in words. */
function lasted(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
