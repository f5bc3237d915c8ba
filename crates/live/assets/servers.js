// The row of servers at the top of the live page, if there are several: each has a link with its sessions and a
// small curve. Names are set as text and never as markup.
"use strict";
const serversRow = (() => {

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 30; // of a curve, in units of its picture
const links = new Map(); // by the server's id
const nav = document.getElementById("servers");
const list = nav.firstElementChild;

// `page.address(id)` is the address of a server, `page.select(id)` goes there.
function draw(servers, selected, page) {
  nav.hidden = !servers.length;
  if (servers.length !== links.size || !servers.every(({ id }) => links.has(id))) createLinks(servers, page);
  const totals = servers.map(({ curve: { classes, is_sampled: sampled } }) =>
    sampled.map((_, i) => classes.reduce((sum, values) => sum + (values[i] || 0), 0)));
  // One scale for all: the curves can be compared.
  const most = 1.1 * Math.max(1, ...totals.map((sums) => Math.max(0, ...sums)));
  for (const server of servers) drawLink(server, server.id === selected, most, page);
}

// Links stay, so that the focus, the row's position and a click that began do, too.
function createLinks(servers, page) {
  links.clear();
  list.replaceChildren(...servers.map(({ id }) => {
    const link = document.createElement("a");
    const part = (name) => {
      const made = document.createElement("span");
      made.className = name;
      return made;
    };
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    link.append(part("name"), svg, part("active"), part("blocked"));
    link.addEventListener("click", (event) => {
      // With these keys, a browser opens another tab.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      page.select(id);
    });
    links.set(id, link);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
}

function drawLink({ id, name, error, active, is_now: isNow, blocked, curve }, isSelected, most, page) {
  const link = links.get(id);
  const wasSelected = link.hasAttribute("aria-current");
  link.href = page.address(id);
  link.classList.toggle("alarm", Boolean(error) || blocked.count > 0);
  link.classList.toggle("lost", Boolean(error));
  if (isSelected) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  if (isSelected && !wasSelected) reveal(link);
  const [label, svg, sessions, waits] = link.children;
  label.textContent = name;
  sessions.textContent = sentence(error, active);
  waits.textContent = blocked.count ? `${blocked.count} blocked ${length(blocked.longest_ns / 1e9)}` : "";
  link.title = error ? `${name}: ${error}` : name;
  link.setAttribute("aria-label", [name, `${sessions.textContent}${isNow && active !== null ? " now" : ""}`, waits.textContent].filter(Boolean).join(", "));
  drawCurve(svg, curve, most);
}

function sentence(error, active) {
  if (error) return "does not answer";
  if (active === null) return "no samples";
  return `${active.toFixed(active < 9.95 ? 1 : 0)} active`;
}

// A time in few letters: there is little space.
function length(seconds) {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

// Scrolls the row, but not the page, to a link.
function reveal(link) {
  const [outer, inner] = [list, link].map((one) => one.getBoundingClientRect());
  if (inner.left < outer.left) list.scrollLeft += inner.left - outer.left;
  else if (inner.right > outer.right) list.scrollLeft += inner.right - outer.right;
}

// The outline of adjacent steps that are not empty; a step is one unit wide.
function outline(heights) {
  const line = heights.map((height, i) => {
    const [isOpen, isLast] = [height > 0, !(heights[i + 1] > 0)];
    if (!isOpen) return "";
    const start = heights[i - 1] > 0 ? "" : `M${i} ${HEIGHT}`;
    return `${start}V${(HEIGHT - height).toFixed(2)}h1${isLast ? `V${HEIGHT}z` : ""}`;
  });
  return line.join("");
}

function path(name, heights) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", name);
  made.setAttribute("d", outline(heights));
  return made;
}

// Averages by class, stacked, and the times without samples.
function drawCurve(svg, { is_sampled: sampled, classes }, most) {
  svg.setAttribute("viewBox", `0 0 ${Math.max(1, sampled.length)} ${HEIGHT}`);
  const sums = sampled.map(() => 0);
  const paths = classes.flatMap((values, at) => {
    if (!values.length) return [];
    values.forEach((value, i) => { sums[i] += value || 0; });
    return [path(`c${at}`, sums.map((sum) => (sum / most) * HEIGHT))];
  });
  // The highest is drawn first, and the lower ones over it.
  svg.replaceChildren(path("gap", sampled.map((is) => (is ? 0 : HEIGHT))), ...paths.reverse());
}

return { draw };
})();
