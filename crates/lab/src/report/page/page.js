
"use strict";
// A click (or Enter) on a heading sorts its table by that column: numbers as numbers; again, the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const sort = (at) => {
    const down = headings[at].getAttribute("aria-sort") === "ascending";
    const key = (row) => row.cells[at].textContent.trim();
    const number = (text) => (/^[+-]?[\d.]/.test(text) ? parseFloat(text) : NaN);
    const compare = (a, b) => {
      const [x, y] = [number(key(a)), number(key(b))];
      if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
      if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
      return key(a).localeCompare(key(b));
    };
    const rows = [...body.rows].sort(compare);
    if (down) rows.reverse();
    body.append(...rows);
    for (const heading of headings) heading.setAttribute("aria-sort", "none");
    headings[at].setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  headings.forEach((heading, at) => {
    heading.addEventListener("click", () => sort(at));
    heading.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(at); });
  });
}
// Paper cannot be clicked: what is folded is shown.
addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
