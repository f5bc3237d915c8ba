// The live page. It requests /api/state once a second while it is live, and draws the answer. Texts of the
// server are set as text and never as markup.
"use strict";
(() => {

const NAMES = { sql: "Statements", wait: "Waits", user: "Users", host: "Hosts", schema: "Schemas", file: "Files", table: "Tables", stage: "Stages", thread: "Threads", process: "Processes" };
const element = (id) => document.getElementById(id);

// What is displayed: a server, by its id (null: the first); `last` milliseconds up to now, or from..to; filters by
// dimension; one statement; the server's status.
const view = { target: null, last: 300000, from: null, to: null, filters: {}, statement: null, server: false };
let state = null; // the last answer
let held = false; // no redraw under a button that is held: a click or drag would lose its element

// ---- small helpers

function create(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const two = (n) => String(n).padStart(2, "0");
function clock(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
function duration(ns) {
  if (!ns) return "";
  const units = [[3.6e12, "h"], [6e10, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "us"]];
  const [size, unit] = units.find(([size]) => ns >= size) || [1, "ns"];
  return `${(ns / size).toPrecision(3)} ${unit}`;
}
const percent = (share) => (share === null ? "unknown" : `${(share * 100).toPrecision(2)} %`);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- the address has the state of the page, so that it can be bookmarked and reached by Back

function addressOf(view) {
  const words = new URLSearchParams();
  if (view.target !== null) words.set("target", view.target);
  if (view.from !== null) { words.set("from", view.from); words.set("to", view.to); }
  else words.set("last", view.last);
  for (const [name, value] of Object.entries(view.filters)) words.set(name, value);
  if (view.statement !== null) words.set("statement", view.statement);
  if (view.server) words.set("server", "1");
  return `#${words}`;
}

function remember(push) {
  history[push ? "pushState" : "replaceState"](null, "", addressOf(view));
}

function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (words.has(name) && Number.isFinite(Number(words.get(name))) ? Number(words.get(name)) : null);
  view.target = words.get("target");
  view.from = number("from");
  view.to = number("to");
  if (view.to === null) view.from = null;
  view.last = number("last") || 300000;
  view.statement = words.get("statement");
  view.server = words.has("server") && view.statement === null;
  view.filters = {};
  for (const name of [...Object.keys(NAMES), "class"]) if (words.has(name)) view.filters[name] = words.get(name);
}

function change(changes, push = true) {
  Object.assign(view, changes);
  remark = "";
  remember(push);
  refresh();
}

// ---- requests

let lastRequest = 0;
let remark = ""; // about the address, until it changes
async function request(path, more) {
  const words = new URLSearchParams(view.filters);
  if (view.target !== null) words.set("target", view.target);
  if (view.from !== null) { words.set("from", Math.round(view.from)); words.set("to", Math.round(view.to)); }
  else words.set("last", view.last);
  for (const [name, value] of Object.entries(more || {})) words.set(name, value);
  const answer = await fetch(`${path}?${words}`);
  if (!answer.ok) throw Object.assign(new Error(await answer.text()), { status: answer.status });
  return answer.json();
}

// Opens or ends an exact window. The message of a refusal stays until the next click.
let refusal = "";
async function changeWindow(action) {
  try {
    const target = view.target === null ? "" : `?${new URLSearchParams({ target: view.target })}`;
    const answer = await fetch(`/api/window/${action}${target}`, { method: "POST" });
    refusal = answer.ok ? "" : await answer.text();
  } catch (error) {
    refusal = `tare live does not answer: ${error.message}`;
  }
  refresh();
}

async function refresh() {
  const mine = ++lastRequest;
  try {
    const [answer, statement, server] = await Promise.all([
      request("/api/state"),
      view.statement === null ? null : request("/api/statement", { sql: view.statement }),
      view.server ? request("/api/status") : null,
    ]);
    if (mine !== lastRequest) return;
    if (held) return;
    state = answer;
    draw(statement, server);
  } catch (error) {
    if (mine !== lastRequest) return;
    if (error.status === 404 && view.target !== null) {
      // A bookmark of a server that this page does not have.
      change({ target: null, statement: null }, false);
      remark = `${error.message.trim()}: this is the first one`;
      return;
    }
    displayError(`tare live does not answer: ${error.message}`);
  }
}

function displayError(why) {
  element("error").hidden = !why;
  element("error").textContent = why || "";
}

// ---- drawing

function draw(statement, server) {
  displayError([remark, state.error].filter(Boolean).join("; "));
  drawServers();
  element("target").textContent = state.target || "history";
  const { sampling, own, bytes, instrumentation } = state.cost;
  const words = [];
  if (own !== null) words.push(`Tare uses ${percent(own)} of one CPU (${percent(sampling)} for sampling${state.servers ? " this server" : ""}) and ${Math.round(bytes / 1e6)} MB`);
  if (instrumentation !== null) words.push(`instrumentation takes ${percent(instrumentation)} of the server's CPU time`);
  element("cost").textContent = words.join("; ");
  for (const button of document.querySelectorAll("#ranges button[data-last]")) {
    button.setAttribute("aria-pressed", String(view.from === null && Number(button.dataset.last) === view.last));
  }
  element("live").setAttribute("aria-pressed", String(view.from === null));
  element("view").textContent = `${clock(state.from)} to ${clock(state.to)}`;
  drawNotices();
  drawCompare();
  drawWindow();
  drawFilters();
  element("overview").hidden = statement !== null || server !== null;
  element("statement").hidden = statement === null;
  element("server").hidden = server === null;
  element("server-button").setAttribute("aria-pressed", String(server !== null));
  if (server) {
    drawServer(server);
    return;
  }
  if (statement) {
    drawStatement(statement);
    return;
  }
  drawCurve();
  drawBlocking();
  drawDeadlocks();
  element("curve-title").textContent = state.title;
  const tops = state.lists.map((name) => ranking(name, state.tops[name] || [], state.sampled));
  preserveFocus(() => element("tops").replaceChildren(...tops));
}

// The same time and page of another server. Filters and statements are of one server.
const selection = (id) => ({ target: id, filters: {}, statement: null });
function drawServers() {
  const servers = state.servers || [];
  const selected = servers.find(({ id }) => id === state.server);
  document.title = selected ? `${selected.name} - Tare live` : "Tare live";
  serversRow.draw(servers, state.server, {
    address: (id) => addressOf({ ...view, ...selection(id) }),
    select: (id) => change(selection(id)),
  });
}

// What is switched off, and the statement that switches it on. Not drawn again while it is the same, so that a
// selection of the statement stays.
let noticesDrawn = "";
function drawNotices() {
  const drawn = JSON.stringify(state.notices);
  if (drawn === noticesDrawn) return;
  noticesDrawn = drawn;
  element("notices").replaceChildren(...state.notices.map(({ sentence, statement }) =>
    create("li", {}, sentence, create("code", {}, statement))));
}

// The link to a comparison of the visible range with the same length before it.
function drawCompare() {
  element("compare").hidden = !state.has_comparisons;
  const length = Math.max(1, Math.round((state.to - state.from) / 1000));
  const range = (from) => `${new Date(from).toISOString().slice(0, 19).replace("T", " ")}/${length}s`;
  const windows = { before: range(state.from - length * 1000), after: range(state.from), ...state.history };
  element("compare").href = `/diff?${new URLSearchParams(windows)}`;
}

// The exact window, and the button that opens and ends it.
function drawWindow() {
  const { left_s: left, length_s: length, is_own: isOwn, has_button: hasButton, refusal: why } = state.window || { left_s: null };
  const isOpen = left !== null;
  element("window").textContent = isOpen ? `Every event is counted for ${left} s` : refusal || (hasButton && why) || "";
  const button = element("exact");
  button.hidden = !hasButton;
  button.disabled = isOpen ? !isOwn : Boolean(why);
  button.textContent = isOpen ? "End exact window" : `Count every event for ${length} s`;
  button.dataset.action = isOpen ? "end" : "open";
}

// What is drawn anew keeps the focus of the keyboard.
function preserveFocus(redraw) {
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.focus : undefined;
  redraw();
  if (!focused) return;
  const again = [...document.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focused);
  if (again) again.focus({ preventScroll: true });
}

function drawFilters() {
  const chips = Object.entries(view.filters).map(([name, value]) => {
    const label = name === "class" ? value : `${NAMES[name]}: ${title(name, value) || "(none)"}`;
    const chip = create("button", { title: "Remove this filter" }, `${label} ✕`);
    chip.addEventListener("click", () => {
      const { [name]: gone, ...filters } = view.filters;
      change({ filters });
    });
    return chip;
  });
  preserveFocus(() => element("filters").replaceChildren(...chips));
}

const texts = new Map(); // of digests
function title(name, key) {
  return name === "sql" ? texts.get(key) || key : key;
}

// The bar of a row; its label has the averages by class for those who do not see it.
function bar(classes, most, sampled) {
  const parts = classes.map((seconds, at) => [at, seconds]).filter(([, seconds]) => seconds > 0);
  const label = parts.map(([at, seconds]) => `${state.classes[at]} ${(seconds / (sampled || 1)).toFixed(2)}`).join(", ");
  const drawn = create("div", { className: "bar", role: "img", "aria-label": label, title: label });
  for (const [at, seconds] of parts) {
    const part = create("span", { className: `c${at}` });
    part.style.width = `${(100 * seconds) / most}%`;
    drawn.append(part);
  }
  return drawn;
}

// Rows and cells have roles, because the style lays them out as a grid, which would take the table's meaning away.
const cell = (properties, ...children) => create("td", { role: "cell", ...properties }, ...children);

function ranking(name, rows, sampled) {
  const most = rows.length ? rows[0].seconds : 1;
  const isStatements = name === "sql";
  const lines = rows.map((row) => {
    if (row.text) texts.set(row.key, row.text);
    const text = row.text || row.key;
    const key = create("button", { className: "key", title: `Show only: ${text}` }, text);
    key.dataset.focus = `${name}=${row.key}`;
    key.addEventListener("click", () => change({ filters: { ...view.filters, [name]: row.key } }));
    const line = create("tr", { role: "row" }, cell({ className: "sum" }, (row.seconds / (sampled || 1)).toFixed(2)),
      cell({ className: "share" }, bar(row.classes, most, sampled)), create("th", { scope: "row", role: "rowheader" }, key));
    if (isStatements) {
      const more = create("button", { className: "more", title: "Latency, plan, waits, samples" }, "Details");
      more.setAttribute("aria-label", `Details of ${text}`);
      more.dataset.focus = `details=${row.key}`;
      more.addEventListener("click", () => change({ statement: row.key, server: false }));
      line.append(cell({}, more));
    }
    return line;
  });
  const heads = ["Average", "By class", NAMES[name], ...(isStatements ? ["Page"] : [])];
  const head = create("tr", { role: "row", className: "unseen" }, ...heads.map((head) => create("th", { scope: "col", role: "columnheader" }, head)));
  const table = create("table", { className: "top", role: "table" }, create("caption", { className: "unseen" }, `${NAMES[name]} by ${state.title.toLowerCase()}`),
    create("tbody", { role: "rowgroup" }, head, ...lines));
  const none = create("p", { className: "none" }, "None in this time.");
  const section = create("section", {}, create("h2", {}, NAMES[name]), rows.length ? table : none);
  section.dataset.top = name;
  return section;
}

function drawLegend(above, hasGaps) {
  const sums = state.curve.classes.map((values) => values.some((value) => value > 0));
  const entries = state.classes.flatMap((name, at) => {
    if (!sums[at]) return [];
    const is = view.filters.class === name;
    const button = create("button", { "aria-pressed": String(is) }, create("span", { className: `swatch c${at}` }), name);
    button.dataset.focus = `class=${name}`;
    button.addEventListener("click", () => {
      const { class: gone, ...filters } = view.filters;
      change({ filters: is ? filters : { ...filters, class: name } });
    });
    return [create("li", {}, button)];
  });
  if (state.cpus) {
    const words = `${state.cpus} CPUs${above ? " (above the picture)" : ""}`;
    entries.push(create("li", {}, create("span", { className: "swatch cpus" }), words));
  }
  if (hasGaps) entries.push(create("li", {}, create("span", { className: "swatch gap" }), "no samples"));
  preserveFocus(() => element("legend").replaceChildren(...entries));
}

const plots = new Map(); // by the element in which they are

// Creates a plot in an element, or changes its data if the element and the colours are as before.
function plotIn(id, data, options, [yMin, yMax], gaps) {
  const host = element(id);
  const size = { width: host.clientWidth, height: host.clientHeight };
  const made = `${matchMedia("(prefers-color-scheme: dark)").matches} ${size.width} ${size.height}`;
  let plot = plots.get(id);
  if (plot && plot.tare.made === made) {
    plot.tare.gaps = gaps;
    plot.setData(data, false);
  } else {
    if (plot) plot.destroy();
    const dim = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const [x, y] = options.axes || [{}, {}];
    const tare = { made, gaps };
    plot = new uPlot({
      ...size,
      legend: { show: Boolean(options.legend) },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: { x: { time: true, auto: false, range: (u, min, max) => [min, max] }, y: { auto: false, range: (u, min, max) => [min, max], ...options.y } },
      axes: [{ ...dim, space: 70, values: (u, marks) => marks.map((at) => clock(at * 1000)), ...x }, { ...dim, size: 52, ...y }],
      series: [{}, ...options.series()],
      hooks: { drawAxes: [(u) => drawings.hatch(u, tare.gaps, colour("--gap"))], setSelect: [select] },
    }, data, host);
    plot.tare = tare;
    plots.set(id, plot);
  }
  plot.setScale("x", { min: state.from / 1000, max: state.to / 1000 });
  plot.setScale("y", { min: yMin, max: yMax });
}

// Selects the time over which the mouse was dragged.
function select(u) {
  const { left, width } = u.select;
  if (width < 4) return;
  const from = u.posToVal(left, "x") * 1000;
  const to = u.posToVal(left + width, "x") * 1000;
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  change({ from: Math.floor(from), to: Math.ceil(Math.max(to, from + 1000)) });
}

// Draws averages by class, stacked, and a line at `limit` if there is one. Each step has two points: its start and
// its end.
function drawStack(id, { times, classes, step }, limit) {
  // Sums from below; the highest is drawn first, and the lower ones over it.
  const sums = [];
  classes.forEach((values, at) => sums.push(values.map((value, i) => (value === null ? null : value + (at ? sums[at - 1][i] || 0 : 0)))));
  const most = sums[sums.length - 1].reduce((most, value) => Math.max(most, value || 0), 0);
  const both = (values) => values.flatMap((value) => [value, value]);
  const seconds = times.flatMap((ms) => [ms / 1000, (ms + step) / 1000 - 0.001]);
  const data = [seconds, ...sums.reverse().map(both), seconds.map(() => limit)];
  const names = state.classes;
  const series = () => [
    ...names.map((_, at) => {
      const is = colour(`--c${names.length - 1 - at}`);
      return { label: names[names.length - 1 - at], stroke: is, fill: is, width: 1, points: { show: false } };
    }),
    { label: "CPUs", stroke: colour("--alarm"), dash: [6, 4], width: 2, points: { show: false } },
  ];
  plotIn(id, data, { series }, [0, Math.max(most, limit || 0, 0.1) * 1.1], drawings.gapsOf(times, classes[0], step));
}

function drawCurve() {
  const { times, classes, step } = state.curve;
  const most = times.reduce((most, _, i) => Math.max(most, classes.reduce((sum, values) => sum + (values[i] || 0), 0)), 0);
  const above = Boolean(state.cpus) && most < state.cpus / 4;
  drawLegend(above, drawings.gapsOf(times, classes[0], step).length > 0);
  drawStack("curve", state.curve, above || !state.cpus ? null : state.cpus);
}

// Whether somebody has waited longer than a second: in a selected time, or now.
const URGENT_WAIT_NS = 1e9;
const NOW_MS = 5000;
function isUrgent(at, rows) {
  const isNow = view.from !== null || at >= state.to - NOW_MS;
  return isNow && rows.some((row) => row.wait_ns > URGENT_WAIT_NS && (row.blocker || row.is_unknown));
}

// An urgent tree is above the curve.
function placeBlocking(at, rows) {
  const [blocking, curve, overview] = ["blocking", "curve-section", "overview"].map(element);
  const urgent = rows.length > 0 && isUrgent(at, rows);
  blocking.classList.toggle("urgent", urgent);
  const isAbove = overview.firstElementChild === blocking;
  if (urgent !== isAbove) overview.insertBefore(blocking, urgent ? curve : curve.nextElementSibling);
}

function drawBlocking() {
  const { at, rows } = state.blocking;
  element("blocking").hidden = !rows.length;
  placeBlocking(at, rows);
  if (!rows.length) return;
  const now = isUrgent(at, rows) && view.from === null;
  element("blocking-at").textContent = now ? `At ${clock(at)}:` : `At ${clock(at)}, the last moment of this time at which a session was blocked:`;
  const byThread = new Map(rows.map((row) => [row.thread, row]));
  const waiting = new Map();
  for (const row of rows) if (row.blocker) waiting.set(row.blocker, [...(waiting.get(row.blocker) || []), row.thread]);
  const drawn = new Set();
  const branch = (thread) => {
    drawn.add(thread);
    const row = byThread.get(thread);
    const line = create("li", {}, create("span", { className: "who" }, row && row.user ? `${row.user} (thread ${thread})` : `Thread ${thread}`), " ", row ? what(row) : "runs nothing, and has the lock");
    // A circle is a deadlock: each thread stands once.
    const below = (waiting.get(thread) || []).filter((one) => !drawn.has(one)).map(branch);
    if (below.length) line.append(create("ul", {}, ...below));
    return line;
  };
  const roots = [...waiting.keys()].filter((thread) => !byThread.get(thread) || !byThread.get(thread).blocker);
  const trees = roots.map(branch);
  for (const row of rows) if (!drawn.has(row.thread)) trees.push(branch(row.thread));
  element("tree").replaceChildren(...trees);
}

function drawDeadlocks() {
  const { count, transactions } = state.deadlocks;
  element("deadlocks").hidden = !count;
  if (!count) return;
  element("deadlocks-count").textContent = `${count} in this time. The transactions of the last ones:`;
  const lines = new Map();
  for (const row of transactions) {
    const name = `${row.at} ${row.deadlock}`;
    if (!lines.has(name)) lines.set(name, { at: row.at, rows: [] });
    lines.get(name).rows.push(row);
  }
  const line = (row) => create("li", {}, create("span", { className: "who" }, `${row.user || "?"} (connection ${row.connection})`),
    ` ${row.is_victim ? "was rolled back" : "went on"}; it waited for ${row.object || "a lock"}: ${row.text || ""}`);
  element("deadlocks-list").replaceChildren(...[...lines.values()].map(({ at, rows }) =>
    create("li", {}, clock(at), create("ul", {}, ...rows.map(line)))));
}

function what(row) {
  const ran = row.text || row.sql || "a statement that is not known";
  if (row.blocker || row.is_unknown) {
    const holder = row.is_unknown ? ", whose holder is not known" : "";
    return `waits ${duration(row.wait_ns)} for ${row.object || row.wait}${holder}: ${ran}`;
  }
  if (row.state !== "sleeping") return `runs ${ran}`;
  const transaction = row.transaction_ns ? ` in a transaction of ${duration(row.transaction_ns)}` : "";
  return `has the lock and sleeps ${duration(row.state_ns)}${transaction}; it ran last: ${ran}`;
}

// ---- a statement's own page

const { PERCENTILES } = drawings;

function drawStatement(answer) {
  element("text").textContent = answer.text || answer.sql;
  element("digest").textContent = answer.text ? answer.sql : "";
  changes.follow(answer.sql, view, state.has_comparisons, () => request("/api/statement/changes", { sql: answer.sql }), refresh);
  drawPlans(answer.plans);
  drawLatency(answer.latencies);
  drawStack("waits", answer.curve, null);
  const order = ["wait", "stage", "table", "file", "user", "host"];
  preserveFocus(() => element("inside").replaceChildren(...order.map((name) => ranking(name, answer.tops[name] || [], answer.sampled))));
  const heads = ["Time", "Thread", "User", "Host", "Runs for", "Stage", "Wait", "For", "Object"];
  const rows = answer.samples.map((row) => create("tr", {}, ...[
    clock(row.at), String(row.thread), row.user, row.host, duration(row.statement_ns), row.stage, row.wait, duration(row.wait_ns), row.object,
  ].map((text) => create("td", {}, text))));
  element("samples").replaceChildren(create("caption", { className: "unseen" }, "The last samples of this statement"),
    create("tr", {}, ...heads.map((head) => create("th", { scope: "col" }, head))), ...rows);
}

// The plan, its example, and the plan before it if the shape changed. Not drawn again while they are the same.
let plansDrawn = "";
function drawPlans(plans) {
  const drawn = JSON.stringify(plans);
  if (drawn === plansDrawn) return;
  plansDrawn = drawn;
  const date = (ms) => new Date(ms).toLocaleString();
  const one = (plan, at) => {
    const heading = at ? "Before it changed" : plans.length > 1 ? "Plan, which changed" : "Plan";
    const scans = plan.full_scans.length ? `Full scan of ${plan.full_scans.join(", ")}. ` : "";
    const indexes = plan.indexes.length ? `Indexes: ${plan.indexes.join(", ")}.` : "";
    const section = create("section", {}, create("h2", {}, heading), create("p", { className: "none" }, `Read ${date(plan.at)}`));
    if (plan.example) section.append(create("p", { className: "none" }, "Example:"), create("pre", { className: "example" }, plan.example));
    if (plan.lines) section.append(create("pre", { className: "plan" }, plan.lines.join("\n")));
    if (plan.problem) section.append(create("p", {}, `No plan: ${plan.problem}`));
    if (scans || indexes) section.append(create("p", { className: scans ? "alarm" : "" }, scans + indexes));
    return section;
  };
  element("plans").replaceChildren(...plans.map(one));
}

// Totals and percentiles since the server began to count, their trend, and the histogram. Times are picoseconds.
function drawLatency({ summary, histogram, percentiles, trend, why }) {
  const terms = [];
  if (summary && summary[0]) {
    const [count, sum, most, errors, examined, sent, affected, lock] = summary;
    const each = (n) => (n / count).toPrecision(3);
    terms.push(["Calls", count], ["Mean", duration(sum / count / 1000)]);
    PERCENTILES.forEach((name, at) => { if (percentiles) terms.push([name, duration(percentiles[at] / 1000)]); });
    terms.push(["Longest", duration(most / 1000)], ["Errors", errors], ["Rows read a call", each(examined)], ["Rows sent a call", each(sent)],
      ["Rows changed a call", each(affected)], ["Waited for table locks", duration(lock / 1000) || "0"]);
  }
  element("summary").replaceChildren(...terms.map(([name, value]) => create("div", {}, create("dt", {}, name), create("dd", {}, String(value)))));
  const buckets = histogram || [];
  const missing = summary && why ? `This server has no histograms of statements, so there are no percentiles: ${why}` : why;
  element("histogram-none").textContent = missing || (buckets.length ? "" : "No execution has ended yet.");
  drawings.drawHistogram(element("histogram"), buckets, percentiles, duration);
  drawTrend(trend || []);
}

// The trend on a logarithmic scale: what the history has, and then with percentiles while this page is open.
function drawTrend(own) {
  const trend = changes.withPast(own);
  const all = trend.flatMap(({ mean, percentiles }) => [mean, ...(percentiles || [])]).filter((ps) => ps > 0);
  element("trend-section").hidden = !all.length;
  if (!all.length) return;
  const of = (at) => trend.map(({ percentiles }) => (percentiles && percentiles[at] > 0 ? percentiles[at] / 1000 : null));
  const data = [trend.map(({ at }) => at / 1000), trend.map(({ mean }) => (mean > 0 ? mean / 1000 : null)), of(0), of(1), of(2)];
  const series = () => ["Mean", ...PERCENTILES].map((label, at) => (
    { label, stroke: colour(["--dim", "--c0", "--c6", "--c2"][at]), width: 2, dash: at ? [] : [4, 4], points: { show: true, size: 4 }, value: (u, ns) => duration(ns) }));
  const axes = [{}, { values: (u, marks) => marks.map((ns) => (ns === null ? "" : duration(ns))), size: 76 }];
  plotIn("trend", data, { series, axes, legend: true, y: { distr: 3 } }, [Math.min(...all) / 2000, (Math.max(...all) / 1000) * 2], []);
}

// ---- the status of the server

const TABLES = { status: "Status", replication: "Replication", transactions: "Transactions", connections: "Connections" };
const figure = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString());

function drawServer({ at, status }) {
  element("server-at").textContent = status ? `At ${clock(at)}; read every ten seconds` : "The status of the server is not read here: it is that of a MySQL or MariaDB which is observed now.";
  element("server-unread").replaceChildren(...(status ? status.unread : []).map((why) => create("li", {}, `Not read: ${why}`)));
  element("server-tables").replaceChildren(...(status ? status.tables : []).map(({ name, columns, rows }) => {
    // Figures with advice come first.
    const advice = columns.indexOf("advice");
    const sorted = advice < 0 ? rows : [...rows.filter((row) => row[advice] !== null), ...rows.filter((row) => row[advice] === null)];
    const line = (row) => create("tr", { className: advice >= 0 && row[advice] !== null ? "advice" : "" }, ...row.map((value) =>
      typeof value === "number" ? create("td", { className: "number" }, figure(value)) : create("td", {}, value === null ? "" : value)));
    const heads = columns.map((column, i) => create("th", { scope: "col", className: rows.some((row) => typeof row[i] === "number") ? "number" : "" }, column.replaceAll("_", " ")));
    const table = create("div", { className: "wide", tabIndex: 0 }, create("table", {}, create("caption", { className: "unseen" }, TABLES[name]), create("tr", {}, ...heads), ...sorted.map(line)));
    const section = create("section", {}, create("h2", {}, TABLES[name]), rows.length ? table : create("p", { className: "none" }, "None."));
    section.dataset.table = name;
    return section;
  }));
}

// ---- keys, buttons, time

function move(share) {
  const length = state.to - state.from;
  change({ from: state.from + share * length, to: state.to + share * length }, false);
}
function zoom(factor) {
  const middle = (state.from + state.to) / 2;
  const half = Math.max(1000, ((state.to - state.from) * factor) / 2);
  change({ from: middle - half, to: middle + half }, false);
}
const KEYS = {
  ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25),
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
};

element("curve").addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || !state) return;
  event.preventDefault();
  act();
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (view.statement !== null) change({ statement: null });
  else if (view.server) change({ server: false });
  else change({ from: null, to: null });
});
for (const button of document.querySelectorAll("#ranges button[data-last]")) {
  button.addEventListener("click", () => change({ last: Number(button.dataset.last), from: null, to: null }));
}
element("live").addEventListener("click", () => change({ from: null, to: null }));
element("exact").addEventListener("click", (event) => changeWindow(event.currentTarget.dataset.action));
element("server-button").addEventListener("click", () => change({ server: !view.server, statement: null }));
element("server-back").addEventListener("click", () => change({ server: false }));
element("back").addEventListener("click", () => change({ statement: null }));
addEventListener("pointerdown", () => { held = true; }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => setTimeout(() => { held = false; }, 0), true);
addEventListener("popstate", () => { recall(); refresh(); });
addEventListener("resize", () => { if (state && view.statement === null && !view.server) drawCurve(); else refresh(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (state && view.statement === null && !view.server) drawCurve(); else refresh(); });

recall();
remember(false);
refresh();
setInterval(() => { if (!document.hidden && view.from === null && !held) refresh(); }, 1000);
})();
