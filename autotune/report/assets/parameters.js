// Every trial by two parameters, and by many at once.

const MOST_LINES = 1000; // of parallel coordinates: more hide each other
const MOST_AXES = { wide: 9, medium: 6 }; // whose names have room beside each other

function byTwo(group) {
  const axes = axesOf(group);
  const rows = slowestFirst(group);
  if (rows.length < 2 || axes.length < 3) return null;
  const box = chartBox(isNarrow() ? 340 : 420);
  const controls = element("div", { className: "controls" });
  const chosen = { x: 0, y: axes[1].values ? 1 : axes.findIndex((axis) => axis.name === "share") };
  let chart = null;
  const draw = () => {
    if (chart) chart.dispose();
    chart = drawByTwo(box, group, rows, axes[chosen.x], axes[chosen.y]);
  };
  for (const [name, label] of [
    ["x", "Across"],
    ["y", "Up"],
  ]) {
    controls.append(
      chooser(
        label,
        axes.map((axis) => axis.label),
        chosen[name],
        (position) => {
          chosen[name] = position;
          draw();
        },
      ),
    );
  }
  return {
    section: card(
      "by-two",
      "Every trial by any two parameters",
      "The colour is the share of the roofline, and the best are on top. " +
        "Trials with the same values are spread around them.",
      controls,
      box,
    ),
    draw,
  };
}

// Where a row is on an axis: near the value of a field, on which many rows lie.
function place(axis, row, width, seed) {
  return axis.at(row) + (axis.values ? width * spread(seed) : 0);
}

function drawByTwo(box, group, rows, across, up) {
  const placed = rows.filter((row) => across.at(row) !== null && up.at(row) !== null);
  const shares = placed.map((row) => shareOf(group, row));
  const axisOf = (axis, style) =>
    axis.values ? valuesAxis(style, axis.values) : merged(style, { type: "value", scale: true });
  const width = up.values ? Math.max(...up.values.map((value) => value.length)) * 7 + 36 : 60;
  const most = isNarrow() ? 110 : 170;
  return drawChart(
    box,
    `${placed.length} trials by ${across.label} and ${up.label}.`,
    {
      grid: grid({ left: Math.min(width, most), top: 44 }),
      tooltip: { trigger: "item", formatter: ({ data }) => trialTip(group, data[3]) },
      visualMap: shareScale(shares, { dimension: 2 }),
      xAxis: axisOf(across, xAxis(across.label)),
      yAxis: axisOf(
        up,
        merged(yAxis(up.label, { nameGap: Math.min(width, most) - 18 }), {
          axisLabel: { width: Math.min(width, most) - 34, overflow: "truncate" },
        }),
      ),
      series: [
        {
          type: "scatter",
          symbolSize: placed.length > 500 ? 6 : 9,
          itemStyle: { opacity: 0.85 },
          data: placed.map((row, position) => [
            place(across, row, 0.7, row),
            place(up, row, 0.7, row + 0.5),
            shares[position],
            row,
          ]),
        },
      ],
    },
    placed.length,
  );
}

function parallel(group) {
  const fields = axesOf(group)
    .filter((axis) => axis.values)
    .slice(0, isNarrow() || isWide() ? MOST_AXES.wide : MOST_AXES.medium);
  const rows = slowestFirst(group);
  if (rows.length < 2 || fields.length < 2) return null;
  const shown = thinned(rows);
  const box = chartBox(isNarrow() ? 100 + 52 * (fields.length + 1) : 440);
  const some =
    shown.length < rows.length
      ? ` ${shown.length} of ${rows.length} trials are drawn, evenly from the fastest to the slowest.`
      : "";
  return {
    section: card(
      "parallel",
      "Every trial by its parameters at once",
      "A line is a trial, its colour the share of the roofline. " +
        `Drag along an axis to keep only the trials with those values.${some}`,
      box,
    ),
    draw: () => drawParallel(box, group, fields, shown),
  };
}

// Every few of the rows, counted from the fastest, which is the last one.
function thinned(rows) {
  const step = Math.ceil(rows.length / MOST_LINES);
  return rows.filter((_, position) => (rows.length - 1 - position) % step === 0);
}

function drawParallel(box, group, fields, rows) {
  const { text, line, accent, card } = colours();
  const narrow = isNarrow();
  const shares = rows.map((row) => shareOf(group, row));
  const share = { dim: fields.length, name: "roofline (%)", scale: true };
  const axes = fields.map(({ label, values }, dim) => valuesAxis({ dim, name: label }, values));
  return drawChart(
    box,
    `${rows.length} trials by ${fields.length} parameters and their share of the roofline.`,
    {
      tooltip: { formatter: ({ data }) => trialTip(group, data[fields.length + 1]) },
      visualMap: shareScale(shares, { dimension: fields.length }),
      parallel: {
        layout: narrow ? "vertical" : "horizontal",
        left: narrow ? 110 : 40,
        right: narrow ? 16 : 50,
        top: narrow ? 56 : 92,
        bottom: 28,
        parallelAxisDefault: {
          nameLocation: narrow ? "start" : "end",
          nameGap: narrow ? 12 : 14,
          nameTextStyle: { color: text, fontSize: 11.5 },
          nameTruncate: { maxWidth: narrow ? 92 : Math.floor((box.clientWidth - 90) / fields.length) - 6 },
          axisLabel: { color: text, fontSize: 11, hideOverlap: true, textBorderColor: card, textBorderWidth: 3 },
          axisLine: { lineStyle: { color: line } },
          axisTick: { lineStyle: { color: line } },
          areaSelectStyle: { color: accent, borderColor: accent, opacity: 0.25 },
        },
      },
      parallelAxis: [...axes, share],
      series: [
        {
          type: "parallel",
          smooth: false,
          lineStyle: { width: 1.2, opacity: rows.length > 300 ? 0.3 : 0.6 },
          emphasis: { lineStyle: { width: 3, opacity: 1 } },
          data: rows.map((row, position) => [
            ...fields.map((axis) => place(axis, row, 0.35, row)),
            shares[position],
            row,
          ]),
        },
      ],
    },
    rows.length * 2,
  );
}
