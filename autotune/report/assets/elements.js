// Elements of the page. Text from the database is only ever set as text, never as HTML.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && name !== "style") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function card(id, title, hint, ...children) {
  return element(
    "section",
    { id },
    element("h2", {}, title),
    hint && element("p", { className: "hint" }, hint),
    ...children,
  );
}

function chartBox(height) {
  return element("div", { className: "chart", style: `height: ${height}px` });
}

// A select for one of `names`, which calls `choose` with the position of the one that is chosen.
function chooser(label, names, chosen, choose) {
  const options = names.map((name, position) => element("option", { value: position }, name));
  const select = element("select", {}, ...options);
  select.value = chosen;
  select.addEventListener("change", () => choose(Number(select.value)));
  return element("label", {}, label, select);
}

function tile(value, label, share) {
  const track = share === undefined ? null : element("div", { className: "track" });
  if (track) track.append(element("div", { style: `width: ${Math.min(100, share)}%` }));
  return element("div", { className: "tile" }, element("b", {}, value), element("span", {}, label), track);
}

// A row for each fact, without those that are empty.
function factTable(facts) {
  const rows = facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("table", { className: "facts" }, ...rows);
}

// Short facts side by side.
function pairs(facts) {
  const items = facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { className: "pairs" }, ...items);
}

// A table whose columns are {title, number}; cells are text or elements.
function dataTable(columns, rows) {
  const kind = (column) => ({ className: columns[column].number ? "number" : "" });
  const head = columns.map(({ title }, column) => element("th", { scope: "col", ...kind(column) }, title));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, column) => element("td", kind(column), cell))));
  return element(
    "div",
    { className: "scroll", tabIndex: 0 },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)),
  );
}

function tip(title, ...lines) {
  return element(
    "div",
    { className: "tip" },
    element("b", {}, title),
    ...lines.map((line) => element("div", {}, line)),
  );
}

function trialTip(group, row) {
  const share = shareOf(group, row);
  const time =
    share === null ? statusOf(group, row) : `${duration(group.trials.micros[row])}, ${percent(share)} of the roofline`;
  return tip(`Trial ${group.trials.number[row]}: ${time}`, element("code", {}, scheduleOf(group, row)));
}
