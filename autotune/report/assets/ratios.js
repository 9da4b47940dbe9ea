// Kernels beside other libraries.

const NAME_SIZE = 10.5; // of the letters of a problem's name, of which each is about 0.6 as wide

function ratioSections(report) {
  return report.benches.map((bench, position) => {
    const rows = labelledRows(bench);
    const box = chartBox(94 + (5 + 12 * nameLines(rows)) * rows.length);
    const means = Object.entries(bench.means).map(([name, mean]) =>
      tile(ratio(mean), `as fast as ${name}, geometric mean`),
    );
    const summaries = Object.entries(bench.baselines)
      .map(([name, summary]) => `${name}: ${summary}`)
      .join("; ");
    return {
      section: card(
        `ratios-${position}`,
        `How many times as fast as others: ${bench.title}`,
        "A point is a problem, measured alternately with the baseline; right of 1 it is faster than that." +
          (summaries && ` ${summaries}.`),
        element("div", { className: "tiles" }, ...means),
        box,
        energyTable(bench),
      ),
      draw: () => drawRatios(box, bench, rows),
    };
  });
}

// The energy of a launch of each contender and the average power, as the table of bench has them.
function energyTable(bench) {
  const rows = bench.rows.flatMap(({ problem, energy }) =>
    Object.entries(energy).map(([name, [joules, watts]]) => [problem, name, millijoules(joules), `${figure(watts, 3)} W`]),
  );
  const columns = [
    { title: "problem" },
    { title: "of" },
    { title: "energy", number: true },
    { title: "power", number: true },
  ];
  return rows.length ? dataTable(columns, rows) : null;
}

function millijoules(joules) {
  return `${figure(1e3 * joules, 3)} mJ`;
}

// Below the name of each group its problems, the fastest ones first.
function labelledRows(bench) {
  const groups = new Map();
  for (const row of bench.rows) {
    if (Object.keys(row.ratios).length) groups.set(row.group, [...(groups.get(row.group) || []), row]);
  }
  const best = (row) => Object.values(row.ratios)[0];
  return [...groups].flatMap(([name, rows]) => [
    ...(name ? [{ heading: name }] : []),
    ...rows.sort((a, b) => best(b) - best(a)),
  ]);
}

// The lines that the longest name takes.
function nameLines(rows) {
  const longest = Math.max(0, ...rows.map((row) => (row.heading || row.problem).length));
  return Math.max(1, Math.ceil((longest * NAME_SIZE * 0.6) / nameWidth()));
}

function nameWidth() {
  return isNarrow() ? 120 : 218;
}

function drawRatios(box, bench, rows) {
  const { series, text, muted, line } = colours();
  const names = Object.keys(bench.means);
  const all = rows.flatMap((row) => Object.values(row.ratios || {}));
  const [least, most] = [Math.min(0.9, ...all) * 0.95, Math.max(1.1, ...all) * 1.05];
  drawChart(box, `${bench.title}: ratios to ${names.join(", ")}.`, {
    legend: legend(),
    grid: grid({ left: nameWidth() + 12, right: 24, top: 84, bottom: 10 }),
    tooltip: {
      trigger: "item",
      formatter: ({ data, seriesName }) => tip(rows[data[1]].problem, `${ratio(data[0])} as fast as ${seriesName}`),
    },
    xAxis: xAxis("times as fast (logarithmic)", {
      type: "log",
      position: "top",
      min: least,
      max: most,
      axisLabel: { customValues: ratioTicks(least, most), formatter: (value) => figure(value, 3) },
      axisTick: { customValues: ratioTicks(least, most) },
      splitLine: { show: false },
    }),
    yAxis: merged(yAxis(""), {
      type: "category",
      inverse: true,
      data: rows.map((_, position) => position),
      axisLabel: {
        interval: 0,
        hideOverlap: false,
        width: nameWidth(),
        overflow: "breakAll",
        formatter: (position) =>
          rows[position].heading ? `{heading|${rows[position].heading}}` : rows[position].problem,
        rich: { heading: { fontWeight: "bold", color: text, fontSize: 12 } },
        color: muted,
        fontSize: NAME_SIZE,
        lineHeight: 12,
      },
      axisTick: { show: false },
      splitLine: { show: true, lineStyle: { color: line, opacity: 0.35 } },
    }),
    series: names.map((name, position) => ({
      name,
      type: "scatter",
      symbol: SYMBOLS[position % SYMBOLS.length],
      symbolSize: 8,
      itemStyle: { color: series[position % series.length] },
      data: rows.flatMap((row, place) => (row.ratios && row.ratios[name] ? [[row.ratios[name], place]] : [])),
      markLine: position
        ? undefined
        : {
            symbol: "none",
            silent: true,
            lineStyle: { color: text, type: "solid", width: 1 },
            label: { show: false },
            data: [{ xAxis: 1 }],
          },
    })),
  });
}

function ratioTicks(least, most) {
  return [0.1, 0.2, 0.5, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100].filter((tick) => tick >= least && tick <= most);
}
