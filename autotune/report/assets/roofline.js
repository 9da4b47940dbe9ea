// The records of a device: how near they are to what it can do, and where loads are too few to hide their latency.

function roofs(report, group) {
  const device = report.devices[group.device];
  const charts = [
    {
      kernels: device.kernels.filter((kernel) => kernel.intensity),
      title: "Arithmetic against intensity",
      hint:
        "By the arithmetic unit that is busy for longest. " +
        "A kernel cannot be above the roof: bandwidth on the left, peak rate on the right" +
        (isNarrow() ? `: ${roofNames(device, device.kernels).join("; ")}.` : "."),
      draw: drawRoofline,
    },
    {
      kernels: device.kernels.filter((kernel) => !kernel.bound),
      title: "Bandwidth against size",
      hint: "Problems that device memory bounds. The bytes are those that must be read and written once.",
      draw: drawBandwidth,
    },
    {
      kernels: device.kernels.filter((kernel) => kernel.needed),
      title: "Where latency is not hidden",
      hint:
        "Little's law: to run at its roofline, an SM needs as many bytes in flight as it loads in the time of one " +
        `load, ${figure(device.latency * 1e6)} µs. Kernels below the line have fewer, as far as the schedule tells: ` +
        "more resident blocks, more stages or larger tiles would help. Their colour is the share of the roofline.",
      draw: drawLatency,
    },
  ].filter((chart) => chart.kernels.length);
  if (!charts.length) return null;
  const boxes = charts.map(() => chartBox(isNarrow() ? 340 : 420));
  const parts = charts.map(({ title, hint }, position) =>
    element(
      "div",
      { className: "part" },
      element("h3", {}, title),
      element("p", { className: "hint" }, hint),
      boxes[position],
    ),
  );
  return {
    section: card(
      "roofline",
      `The records of ${device.name} and its roofline`,
      "Every operator's best kernel of each problem in the database; the chosen problem is outlined.",
      ...parts,
    ),
    draw: () => charts.forEach(({ draw, kernels }, position) => draw(boxes[position], group, device, kernels)),
  };
}

function unitsUsed(device, kernels) {
  return [...new Set(kernels.map((kernel) => kernel.unit))].filter((unit) => device.peaks[unit]);
}

// The peak rates of the units that kernels use, the highest first.
function roofPeaks(device, kernels) {
  return [...new Set(unitsUsed(device, kernels).map((unit) => device.peaks[unit]))].sort((one, other) => other - one);
}

// Each of those with its units: "FP8, INT8 tensor cores 2140".
function roofNames(device, kernels) {
  const units = unitsUsed(device, kernels);
  return roofPeaks(device, kernels).map((peak) => {
    const sharing = units.filter((unit) => device.peaks[unit] === peak).join(", ");
    return `${sharing.replace(/ tensor cores(?=,.* tensor cores)/g, "")} ${figure(peak / 1e12, 3)}`;
  });
}

function drawRoofline(box, group, device, kernels) {
  const { text } = colours();
  const peaks = roofPeaks(device, kernels);
  const names = roofNames(device, kernels);
  const xs = [...kernels.map((kernel) => kernel.intensity), ...peaks.map((peak) => (2 * peak) / device.bandwidth)];
  const ys = [...kernels.map((kernel) => kernel.operations_per_second / 1e12), ...peaks.map((peak) => peak / 1e12)];
  const x = logAxis(xAxis("operations per byte of device memory"), xs);
  const y = logAxis(yAxis("rate (10¹² operations/s)"), ys);
  const roof = (peak) => {
    const ridge = peak / device.bandwidth;
    return [
      [x.min, (x.min * device.bandwidth) / 1e12],
      [ridge, peak / 1e12],
      [x.max, peak / 1e12],
    ].filter(([at]) => at >= x.min);
  };
  const points = byOperator(group, device, kernels, (kernel) => [
    kernel.intensity,
    kernel.operations_per_second / 1e12,
  ]);
  const wrapped = wrappedLegend(
    box,
    points.map((one) => one.name),
  );
  drawChart(
    box,
    `${kernels.length} kernels below the roofline of ${device.name}.`,
    {
      legend: wrapped.legend,
      grid: grid({ top: wrapped.top, right: isNarrow() ? 18 : 190 }),
      tooltip: { trigger: "item", formatter: ({ data }) => (data.kernel ? kernelTip(data.kernel) : "") },
      xAxis: x,
      yAxis: y,
      series: [
        ...peaks.map((peak, position) => ({
          type: "line",
          silent: true,
          symbol: "none",
          clip: true,
          lineStyle: { color: text, width: 1.5, type: position ? "dashed" : "solid" },
          endLabel: {
            show: !isNarrow(), // there they would stand on each other
            formatter: names[position],
            color: text,
            fontSize: 11.5,
          },
          data: roof(peak),
        })),
        ...points,
      ],
    },
    kernels.length,
  );
}

function drawBandwidth(box, group, device, kernels) {
  const { text } = colours();
  const most = device.bandwidth / 1e9;
  const top =
    Math.ceil((Math.max(most, ...kernels.map((kernel) => kernel.bytes_per_second / 1e9)) * 1.1) / 1000) * 1000;
  const points = byOperator(group, device, kernels, (kernel) => [kernel.bytes / 1e6, kernel.bytes_per_second / 1e9]);
  const wrapped = wrappedLegend(
    box,
    points.map((one) => one.name),
  );
  drawChart(
    box,
    `The bandwidth of ${kernels.length} kernels on ${device.name}.`,
    {
      legend: wrapped.legend,
      grid: grid({ left: 66, top: wrapped.top }),
      tooltip: { trigger: "item", formatter: ({ data }) => (data.kernel ? kernelTip(data.kernel) : "") },
      xAxis: logAxis(
        xAxis("bytes moved (MB)"),
        kernels.map((kernel) => kernel.bytes / 1e6),
      ),
      yAxis: merged(yAxis("GB/s", { nameGap: 52 }), { type: "value", min: 0, max: top }),
      series: points.map((one, position) => ({
        ...one,
        markLine: position
          ? undefined
          : {
              symbol: "none",
              silent: true,
              lineStyle: { color: text, type: "solid", width: 1.5 },
              label: { formatter: `peak ${figure(most)} GB/s`, position: "insideStartTop", color: text },
              data: [{ yAxis: most }],
            },
      })),
    },
    kernels.length,
  );
}

function drawLatency(box, group, device, kernels) {
  const { text } = colours();
  const kib = (count) => count / 1024;
  const all = kernels.flatMap((kernel) => [kib(kernel.needed), kib(kernel.in_flight)]);
  const x = logAxis(xAxis("KiB in flight that an SM needs"), all);
  const y = logAxis(yAxis("KiB in flight that it has"), all);
  drawChart(
    box,
    `The bytes in flight of ${kernels.length} kernels, and those that they need.`,
    {
      grid: grid({ top: 44 }),
      visualMap: shareScale(
        kernels.map((kernel) => 100 * kernel.share),
        { dimension: 2, seriesIndex: 1 },
      ),
      tooltip: { trigger: "item", formatter: ({ data }) => (data.kernel ? kernelTip(data.kernel) : "") },
      xAxis: x,
      yAxis: y,
      series: [
        {
          type: "line",
          silent: true,
          symbol: "none",
          lineStyle: { color: text, width: 1.5 },
          endLabel: { show: true, formatter: "enough", color: text, align: "right", offset: [-6, -6] },
          data: [x.min, x.max].map((end) => [end, end]),
        },
        {
          type: "scatter",
          symbolSize: 9,
          data: kernels.map((kernel) => ({
            value: [kib(kernel.needed), kib(kernel.in_flight), 100 * kernel.share],
            kernel,
            ...outline(group, kernel),
          })),
        },
      ],
    },
    kernels.length,
  );
}

// An operator has the same colour and symbol in every chart; no other has both.
function byOperator(group, device, kernels, place) {
  const { series } = colours();
  const operators = [...new Set(device.kernels.map((kernel) => kernel.operator))].sort();
  return operators
    .map((operator, position) => ({
      name: operator,
      type: "scatter",
      symbol: SYMBOLS[(position + Math.floor(position / series.length)) % SYMBOLS.length],
      symbolSize: 8,
      itemStyle: { color: series[position % series.length], opacity: 0.8 },
      data: kernels
        .filter((kernel) => kernel.operator === operator)
        .map((kernel) => ({ value: place(kernel), kernel, ...outline(group, kernel) })),
    }))
    .filter((one) => one.data.length);
}

function outline(group, kernel) {
  const own = kernel.operator === group.operator && kernel.problem === group.problem;
  return own ? { symbolSize: 12, itemStyle: { borderColor: colours().text, borderWidth: 1.5, opacity: 1 } } : {};
}

function kernelTip(kernel) {
  const lines = [`${duration(kernel.micros)} ${kernel.time_source}, ${percent(100 * kernel.share)} of the roofline`];
  if (kernel.intensity)
    lines.push(`${figure(kernel.operations_per_second / 1e12, 3)}·10¹² ${kernel.unit} operations/s`);
  lines.push(`${figure(kernel.bytes_per_second / 1e9, 3)} GB/s`);
  if (kernel.needed) {
    const part = kernel.in_flight / kernel.needed;
    lines.push(
      `occupancy ${percent(100 * kernel.occupancy)}`,
      `${bytes(kernel.in_flight)} in flight, ${figure(part, 2)}× what it needs`,
    );
  }
  return tip(`${kernel.operator} ${kernel.problem}`, ...lines);
}
