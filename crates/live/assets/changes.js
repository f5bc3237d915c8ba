// What changed of a statement, from the history: its last hour compared with earlier ones, and its mean time before this
// page counted it. The history is read when the page of a statement opens, and once a minute. Texts of the server are
// set as text and never as markup.
"use strict";
const changes = (() => {

const INTERVAL_MS = 60000;
const NONE = { after: null, comparisons: [], why: null, trend: [] };
const section = document.getElementById("changes");
let subject = null; // of the answer: server and statement
let key = null; // subject, visible time, and the minute
let answer = NONE;

function element(tag, className, text) {
  const created = document.createElement(tag);
  if (className) created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

// Reads what changed of a statement in the visible time, if that is due. `request()` reads it, and `redraw()` draws the
// page again.
function follow(statement, view, hasHistory, request, redraw) {
  section.hidden = !hasHistory;
  if (!hasHistory) {
    [subject, key, answer] = [null, null, NONE];
    return;
  }
  const mine = JSON.stringify([view.target, statement]);
  const time = view.from === null ? [view.last, Math.floor(Date.now() / INTERVAL_MS)] : [view.from, view.to];
  const due = JSON.stringify([mine, time]);
  if (mine !== subject) {
    [subject, answer] = [mine, NONE];
    section.lastElementChild.replaceChildren(element("p", "none", "Reading the history"));
  }
  if (due === key) return;
  key = due;
  const draw = (next) => {
    if (due !== key) return;
    answer = next;
    drawComparisons();
    redraw();
  };
  request().then(draw, (error) => draw({ ...NONE, why: error.message.trim() }));
}

const two = (n) => String(n).padStart(2, "0");
function clock(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}
// A date only if the time is of another day than the later window.
function range([from, to], day) {
  const date = new Date(from).toLocaleDateString();
  return `${date === day ? "" : `${date} `}${clock(from)} to ${clock(to)}`;
}

function drawComparisons() {
  const { after, comparisons, why } = answer;
  const parts = comparisons.map((one) => comparison(one, after));
  if (why) parts.push(element("p", "none", why));
  section.lastElementChild.replaceChildren(...parts);
}

function comparison({ title, before, figures, why, remark, control }, after) {
  const day = new Date(after[1]).toLocaleDateString();
  const part = element("div");
  part.append(element("h3", "", `Compared with ${title}`), element("p", "none", `${range(before, day)}, and then ${range(after, day)}`));
  if (remark) part.append(element("p", remark.includes("changed") ? "alarm" : "", remark));
  if (control) part.append(element("p", "none", control));
  if (why) part.append(element("p", "none", `Not compared: ${why}`));
  if (!figures.length) return part;
  const head = element("tr");
  for (const [at, name] of ["", "before", "after", "change"].entries()) {
    const cell = element("th", ["", "number", "number", "change"][at], name);
    cell.scope = "col";
    head.append(cell);
  }
  const lines = figures.map((figure) => {
    const line = element("tr", figure.is_changed ? "changed" : "");
    const name = element("th", "", figure.name);
    name.scope = "row";
    line.append(name, element("td", "number", figure.before), element("td", "number", figure.after), change(figure));
    return line;
  });
  const table = element("table", "figures");
  const [heads, body] = [element("thead"), element("tbody")];
  heads.append(head);
  body.append(...lines);
  table.append(element("caption", "unseen", `This statement compared with ${title}`), heads, body);
  const wide = element("div", "wide");
  wide.tabIndex = 0;
  wide.append(table);
  part.append(wide);
  return part;
}

// The estimate, and its interval, which may be on a line of its own.
function change({ change: text }) {
  const [estimate, interval] = text.split(/(?= \[)/);
  const cell = element("td", "change", estimate || "too few calls");
  if (interval) cell.append(element("span", "interval", interval));
  return cell;
}

// The trend of the visible time: the history's means, until the first figures of this page.
function withPast(trend) {
  const first = trend.length ? trend[0].at : Infinity;
  const past = answer.trend.filter(({ at }) => at < first);
  document.getElementById("trend-title").textContent = past.length ? "Latency over time" : "Latency while this page is open";
  document.getElementById("trend-note").textContent = past.length ? "The history has means. Percentiles are of the time since this page was opened." : "";
  return [...past.map((point) => ({ ...point, percentiles: null })), ...trend];
}

return { follow, withPast };
})();
