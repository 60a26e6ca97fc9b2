/* The page of scores: tables that sort by the column whose head is pressed, and rows that a form filters. */
"use strict";
(function () {
  const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/, LEADS = /^(?:at most |[\w-]+ )?-?\d/;
  const UNITS = { k: 1e3, M: 1e6, s: 1, min: 60, h: 3600 };
  const SHORT = 22, LONG = 90; // letters, up to which a cell is a line, and from which on it needs width

  /* The first number of a cell, with its unit; NaN where there is none. */
  function valueOf(text) {
    const found = text.match(NUMBER);
    if (!found) return NaN;
    const unit = text.slice(found.index + found[0].length).match(/^ (k|M|s|min|h)\b/);
    return Number(found[0]) * (unit ? UNITS[unit[1]] : 1);
  }

  const textOf = (row, column) => row.cells[column].textContent.trim();

  /* Times stand behind steps in columns such as "30.3 k, 12.2 s": the steps are what is sorted by. */
  function isNumeric(rows, column) {
    const full = rows.map((row) => textOf(row, column)).filter(Boolean);
    return full.length > 0 && full.filter((text) => LEADS.test(text)).length > 0.5 * full.length;
  }

  function sort(table, column, down) {
    const body = table.tBodies[0], rows = [...body.rows], numeric = isNumeric(rows, column);
    const keys = new Map(rows.map((row) => [row, numeric ? valueOf(textOf(row, column)) : textOf(row, column)]));
    const empty = (key) => (numeric ? Number.isNaN(key) : key === "");
    rows.sort((one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      if (empty(a) || empty(b)) return empty(a) - empty(b); // at the end, either way
      const order = numeric ? a - b : a.localeCompare(b, "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows);
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : isNumeric([...table.tBodies[0].rows], column);
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, column, down);
      });
    });
    for (const row of rows) {
      for (const cell of row.cells) {
        cell.classList.toggle("short-cell", cell.cellIndex > 0 && cell.textContent.length <= SHORT);
        cell.classList.toggle("long-cell", cell.textContent.length > LONG);
      }
    }
  }

  /* What is known of a row, by what its first cell says: "Name-v0 (level=hard) against somebody". */
  function factsOf(row, standings) {
    const label = textOf(row, 0).replace(/ against .*$/, ""), name = label.split(" ")[0];
    const known = rlenvsEnvironments[name] || { family: "", tags: [], words: "" };
    return {
      family: known.family, tags: known.tags, solved: standings[label] || "",
      rows: label === name ? "default" : "level", text: ` ${known.words} ${row.textContent.toLowerCase()} `,
    };
  }

  function filters(form, tables) {
    const standings = JSON.parse(form.dataset.standings);
    const groups = tables.map((table, i) => {
      const count = document.createElement("p");
      count.className = "table-count";
      count.hidden = i === 0; // the form, which stands above it, has that one
      table.closest(".long-table").before(count);
      return { count, rows: [...table.tBodies[0].rows].map((row) => ({ row, facts: factsOf(row, standings) })) };
    });
    rlenvsFilter(form, (wanted, query) => {
      for (const { count, rows } of groups) {
        const found = rlenvsFind(query, rows.map(({ facts }) => facts.text));
        let shown = 0;
        rows.forEach(({ row, facts }, i) => {
          const fits = Object.entries(wanted).every(([key, value]) => !value || [facts[key]].flat().includes(value));
          row.hidden = !(fits && found[i]);
          shown += row.hidden ? 0 : 1;
        });
        count.textContent = `${shown} of ${rows.length} rows`;
      }
      const { count, rows } = groups[0];
      return { text: count.textContent, all: rows.every(({ row }) => !row.hidden) };
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    const tables = [...document.querySelectorAll(".long-table table")], form = document.getElementById("score-filters");
    tables.forEach(sortable);
    if (form) filters(form, tables);
  });
})();
