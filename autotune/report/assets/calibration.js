// What a device was measured to do: figures, and a chart for each curve.

function measured(report, group) {
  const device = report.devices[group.device];
  const found = device.calibration;
  if (!found) return null;
  const boxes = found.curves.map(() => chartBox(260));
  const charts = found.curves.map(({ title }, position) =>
    element("div", {}, element("h3", {}, title), boxes[position]),
  );
  return {
    section: card(
      "calibration",
      `What ${device.name} was measured to do`,
      `By autotune calibrate, ${found.taken}.`,
      pairs(found.figures.map(({ label, value, quantity }) => [label, inUnits(value, quantity)])),
      element("div", { className: "columns" }, ...charts),
    ),
    draw: () => found.curves.forEach((curve, position) => drawCurve(boxes[position], curve)),
  };
}

function drawCurve(box, curve) {
  const { text, series } = colours();
  const { unit, by } = SCALES[curve.quantity];
  const points = curve.points.map(([x, y]) => [x, y / by]);
  const [xs, ys] = [0, 1].map((at) => points.map((point) => point[at]));
  const law = curve.law ? [xs[0], (Math.max(...ys) * by) / curve.law].map((x) => [x, (x * curve.law) / by]) : [];
  const upwards = yAxis(unit, { nameGap: 52 });
  drawChart(box, `${curve.title}, ${points.length} points.`, {
    grid: grid({ left: 66, top: 16, bottom: 28 }),
    tooltip: { trigger: "item", formatter: ({ data: [x, y] }) => tip(bytes(x), inUnits(y * by, curve.quantity)) },
    xAxis: bytesAxis(xs),
    // Little's law is a line where both axes are logarithmic.
    yAxis: law.length ? logAxis(upwards, [...ys, law[0][1]]) : merged(upwards, { type: "value", min: 0 }),
    series: [
      { type: "line", symbolSize: 7, color: series[0], data: points },
      {
        type: "line",
        silent: true,
        symbol: "none",
        lineStyle: { color: text, width: 1.2, type: "dashed" },
        endLabel: { show: true, formatter: "Little's law", color: text, align: "right", offset: [-12, 0] },
        data: law,
      },
    ].filter(({ data }) => data.length),
  });
}

// Powers of two; offsets begin at 0.
function bytesAxis(xs) {
  const labels = { customValues: xs, formatter: (value) => bytes(value) };
  const style = xAxis("", { axisLabel: labels, axisTick: { customValues: xs } });
  const ends = { min: xs[0], max: xs[xs.length - 1] };
  return merged(style, xs[0] ? { type: "log", logBase: 2, ...ends } : { type: "value", ...ends });
}

const SCALES = {
  "B/s": { unit: "GB/s", by: 1e9 },
  "FLOP/s": { unit: "TFLOP/s", by: 1e12 },
  s: { unit: "ns", by: 1e-9 },
};

function inUnits(value, quantity) {
  if (quantity === "B") return bytes(value);
  if (quantity === "s" && value >= 1e-6) return duration(value * 1e6);
  const { unit, by } = SCALES[quantity];
  return `${figure(value / by)} ${unit}`;
}
