"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const rows = (table) => all("tbody tr:not(.none)", table);
  const on = (target, event, run) => target && target.addEventListener(event, run);

  // Rows: by the text of the filter, and by whether a cell is off

  const filter = one("#filter");
  const onlyOff = one("#only-off");

  const showRows = () => {
    const wanted = filter ? filter.value.trim().toLowerCase() : "";
    const off = Boolean(onlyOff && onlyOff.checked);
    document.body.classList.toggle("only-off", off);
    for (const table of all("table.data[data-filtered]")) {
      const hasStates = Boolean(one("td.equal, td.near, td.off", table));
      let shown = 0;
      for (const row of rows(table)) {
        const matches = row.cells[0].textContent.toLowerCase().includes(wanted) && (!off || !hasStates || "off" in row.dataset);
        row.hidden = !matches;
        shown += matches;
      }
      const frame = table.closest(".frame");
      const empty = shown === 0 && !one("tbody tr.none", table);
      frame.hidden = empty;
      frame.nextElementSibling.hidden = !empty;
    }
  };
  on(filter, "input", showRows);
  on(onlyOff, "change", showRows);

  // Sorting: what has no value comes last in both directions

  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.classList.contains("number")) {
      return "value" in cell.dataset ? Number(cell.dataset.value) : null;
    }
    return cell.textContent.trim().toLowerCase();
  };

  const sortBy = (head) => {
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const keyed = rows(body).map((row) => [key(row, column), row]);
    keyed.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
    for (const other of all("thead th[aria-sort]", head.closest("table"))) {
      other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    body.append(...keyed.map(([, row]) => row));
  };
  for (const head of all("table.data th[aria-sort]")) {
    on(one("button", head), "click", () => sortBy(head));
  }

  // Legends switch series on and off

  for (const button of all(".legend button")) {
    on(button, "click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const series of all(`g.series[data-series="${button.dataset.series}"]`, button.closest("figure"))) {
        series.classList.toggle("away", !shown);
      }
    });
  }

  // Sections

  const parts = all("details.part");
  on(one("#expand"), "click", () => parts.forEach((part) => (part.open = true)));
  on(one("#collapse"), "click", () => parts.forEach((part) => (part.open = false)));

  const contents = one("nav details");
  const narrow = window.matchMedia("(max-width: 70rem)");
  const fit = () => (contents.open = !narrow.matches);
  on(narrow, "change", fit);
  fit();

  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const part = target && target.closest("details.part");
    if (part && !part.open) {
      part.open = true;
      part.scrollIntoView();
    }
  };
  on(window, "hashchange", open);
  open();
  // following a link to the section one is already at changes no address
  on(one("nav"), "click", (event) => event.target.closest("a") && setTimeout(open));

  let folded = [];
  on(window, "beforeprint", () => {
    folded = all("main details:not([open])");
    folded.forEach((part) => (part.open = true));
  });
  on(window, "afterprint", () => folded.forEach((part) => (part.open = false)));

  // Theme: that of the system, until one is picked

  const root = document.documentElement;
  const button = one("#theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = (value) => {
    try {
      return value === undefined ? localStorage.getItem("suffice-theme") : localStorage.setItem("suffice-theme", value);
    } catch {
      return null; // a browser may keep nothing for files
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  const earlier = kept();
  if (earlier === "dark" || earlier === "light") {
    root.dataset.theme = earlier;
  }
  on(button, "click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept(root.dataset.theme);
    label();
  });
  on(system, "change", label);
  label();
  showRows();
})();
