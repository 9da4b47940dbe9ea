// The fastest schedules, and all that is known of the first.

const MOST_LISTED = 10;

function fastestSection(group) {
  const rows = slowestFirst(group).reverse().slice(0, MOST_LISTED);
  if (rows.length < 2) return null;
  const metric = (name, row) => {
    const value = group.trials.metrics.find((one) => one.name === name).numbers[row];
    return value === null ? "" : String(value);
  };
  const columns = [
    { title: "trial", number: true },
    { title: "time", number: true },
    { title: "of roofline", number: true },
    { title: "registers", number: true },
    { title: "occupancy (%)", number: true },
    { title: "schedule: tile sizes, and what differs from the defaults" },
  ];
  const cells = rows.map((row) => [
    String(group.trials.number[row]),
    duration(group.trials.micros[row]),
    percent(shareOf(group, row)),
    metric("registers", row),
    metric("occupancy", row),
    element("code", {}, scheduleOf(group, row)),
  ]);
  return {
    section: card("fastest", `The ${rows.length} fastest schedules`, null, dataTable(columns, cells)),
    draw: () => {},
  };
}

function winnerSection(group) {
  const { winner } = group;
  if (!winner) return null;
  const boxes = winner.occupancy.map((kernel) => occupancyBoxes(kernel));
  const section = card(
    "winner",
    "The winner",
    winner.stale ? `This version of autotune ${winner.stale}: the source below was not measured.` : null,
    element("h3", {}, "Schedule"),
    element("p", { className: "hint" }, "Coloured: not the default."),
    scheduleOfWinner(group),
    element("h3", {}, "Resources"),
    pairs(resourceFacts(winner)),
    element("h3", {}, "Where the time comes from"),
    pairs(Object.entries(winner.facts)),
    ...boxes.map((box) => element("div", { className: "part" }, ...box.elements)),
    ...(winner.command ? [element("h3", {}, "To print its source"), element("code", {}, winner.command)] : []),
    ...(winner.source ? [sourceBox(winner.source)] : []),
  );
  return { section, draw: () => boxes.forEach((box) => box.draw()) };
}

function scheduleOfWinner(group) {
  const defaults = Object.fromEntries(group.trials.fields.map((field) => [field.name, field.default]));
  const rows = Object.entries(group.winner.schedule).map(([name, value]) => [
    name,
    element("span", { className: value === defaults[name] ? "" : "changed" }, word(value)),
  ]);
  return pairs(rows);
}

function resourceFacts({ resources, grid }) {
  const names = {
    registers: "registers of a thread",
    shared_bytes: "static shared memory of a block (B)",
    stack_bytes: "stack of a thread (B)",
    spill_store_bytes: "spill stores (B)",
    spill_load_bytes: "spill loads (B)",
  };
  const facts = Object.entries(names).map(([name, label]) => [label, name in resources ? String(resources[name]) : ""]);
  return grid ? [["blocks of the grid", grid.join(", ")], ...facts] : facts;
}

function occupancyBoxes(kernel) {
  const charts = Object.entries({
    registers: "registers of a thread",
    threads: "threads of a block",
    shared_bytes: "shared memory of a block (KiB)",
  }).filter(([name]) => kernel.resources[name].steps.length);
  const boxes = charts.map(() => chartBox(240));
  const limits = kernel.limiters.join(" and ");
  const blocks = kernel.blocks_per_sm === 1 ? "1 block" : `${kernel.blocks_per_sm} blocks`;
  const shares = `${kernel.warps_per_sm} of ${kernel.most_warps_per_sm} warps (${percent(100 * kernel.fraction)})`;
  const needs = charts
    .map(([name, label]) => [kernel.resources[name].most_for_one_more, name, label])
    .filter(([most, name]) => most !== null && most < kernel.resources[name].of_block)
    .map(([most, name, label]) => `at most ${amount(name, most)} ${label.replace(" (KiB)", "")}`);
  return {
    elements: [
      element("h3", {}, `What limits its occupancy: ${limits}`),
      element(
        "p",
        { className: "hint" },
        `An SM holds ${blocks} of ${kernel.entry}: ${shares}. ` +
          (needs.length ? `One block more needs ${needs.join(", ")}. ` : "") +
          "Each picture changes one resource; the dot is the kernel.",
      ),
      element("div", { className: "columns" }, ...boxes),
    ],
    draw: () => charts.forEach(([name, label], position) => drawOccupancy(boxes[position], kernel, name, label)),
  };
}

function amount(name, value) {
  return name === "shared_bytes" ? `${figure(value / 1024)} KiB of` : String(value);
}

function drawOccupancy(box, kernel, name, label) {
  const { series } = colours();
  const { steps, of_block: own } = kernel.resources[name];
  const scale = name === "shared_bytes" ? 1024 : 1;
  let from = name === "shared_bytes" ? 0 : 1;
  const corners = steps.flatMap(({ most, blocks_per_sm: blocks }) => {
    const ends = [
      [from / scale, blocks],
      [most / scale, blocks],
    ];
    from = most;
    return ends;
  });
  drawChart(box, `Resident blocks of an SM by ${label}; the kernel has ${figure(own / scale)}.`, {
    grid: grid({ top: 14, right: 22 }),
    tooltip: {
      trigger: "item",
      formatter: () => tip(`${figure(own / scale)} ${label}`, `${kernel.blocks_per_sm} blocks of an SM`),
    },
    xAxis: xAxis(label, { type: "value", min: 0 }),
    yAxis: yAxis("blocks of an SM", { type: "value", min: 0, minInterval: 1, nameGap: 32 }),
    series: [
      { type: "line", silent: true, symbol: "none", lineStyle: { color: series[0], width: 2 }, data: corners },
      {
        type: "scatter",
        symbolSize: 12,
        itemStyle: { color: series[1] },
        z: 3,
        data: [[own / scale, kernel.blocks_per_sm]],
      },
    ],
  });
}

function sourceBox(source) {
  const button = element("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source);
    button.textContent = "Copied";
  });
  return element(
    "details",
    { className: "source" },
    element("summary", {}, `Source (${source.split("\n").length} lines of CUDA C++)`),
    element("p", {}, button),
    element("pre", {}, source),
  );
}
