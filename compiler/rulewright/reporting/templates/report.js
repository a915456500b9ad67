"use strict";
// Search, filters and sorting for tables marked `data-list`. Without this script the page shows everything.
(() => {
  const make = (name, text = "", more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value ?? cell.textContent.trim();
  };

  function labelled(text, field) {
    const label = make("label", text);
    label.append(field);
    return label;
  }

  function enhance(table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = rows.map((row) => fold(row.textContent));
    const heads = [...table.tHead.rows[0].cells];
    const controls = make("div", "", { className: "controls" });
    const search = make("input", "", { type: "search" });
    const count = make("output");
    const filters = heads.flatMap((head, at) => {
      if (!("filter" in head.dataset)) return [];
      const words = [...new Set(rows.map((row) => value(row, at)))].sort();
      if (words.length < 2 || words.length > 200) return [];
      const select = make("select");
      select.append(make("option", "all", { value: "" }), ...words.map((word) => make("option", word || "none", { value: "=" + word })));
      controls.append(labelled(head.textContent.trim(), select));
      select.addEventListener("change", show);
      return [[at, select]];
    });

    function show() {
      const words = fold(search.value).split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, n) => {
        const kept = words.every((word) => texts[n].includes(word)) && filters.every(([at, select]) => !select.value || "=" + value(row, at) === select.value);
        row.hidden = !kept;
        left += kept;
      });
      const all = rows.length + (rows.length === 1 ? " row" : " rows");
      count.textContent = left === rows.length ? all : left + " of " + all;
    }

    function sort(head, at) {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const number = head.classList.contains("n");
      const keys = new Map(rows.map((row) => [row, number ? parseFloat(value(row, at)) : value(row, at)]));
      const order = number ? (a, b) => a - b : new Intl.Collator(undefined, { numeric: true }).compare;
      const gone = (key) => key === "" || Number.isNaN(key);
      const sorted = [...rows].sort((one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        return gone(a) || gone(b) ? gone(a) - gone(b) : up ? order(a, b) : order(b, a);
      });
      body.append(...sorted);
    }

    heads.forEach((head, at) => {
      const button = make("button", head.textContent.trim(), { type: "button" });
      button.addEventListener("click", () => sort(head, at));
      head.replaceChildren(button);
    });
    search.addEventListener("input", show);
    controls.prepend(labelled("Search", search));
    controls.append(count);
    table.closest(".scroll").before(controls);
    show();
  }

  // A link to something inside of a closed part opens it, also in browsers that don't do so by themselves.
  function open() {
    const target = document.getElementById(location.hash.slice(1));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target) target.scrollIntoView();
  }

  document.querySelectorAll("table[data-list]").forEach(enhance);
  addEventListener("hashchange", open);
  if (location.hash) open();
})();
