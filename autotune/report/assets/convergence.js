// How the best time came down, trial by trial.

const CONVERGENCE_AXES = [
  { label: "trial", at: (group, row) => group.trials.number[row] },
  { label: "seconds since the first trial", at: (group, row) => group.trials.begun[row] },
];

function convergence(group) {
  const box = chartBox(isNarrow() ? 320 : 380);
  const controls = element("div", { className: "controls" });
  const section = card(
    "convergence",
    "How the search converged",
    `Each point is a trial by its share of the roofline, the least time that the device needs: ` +
      `${duration(group.roofline.micros)}, bound by ${group.roofline.bound}. The line is the best so far.`,
    controls,
    box,
  );
  let chart = null;
  const draw = (chosen) => {
    if (chart) chart.dispose();
    chart = drawConvergence(box, group, CONVERGENCE_AXES[chosen]);
  };
  controls.append(
    chooser(
      "Over",
      CONVERGENCE_AXES.map((axis) => axis.label),
      0,
      draw,
    ),
  );
  return { section, draw: () => draw(0) };
}

function drawConvergence(box, group, axis) {
  const { series, bad, text } = colours();
  const timed = rowsOf(group).filter((row) => isOk(group, row));
  const failed = rowsOf(group).filter((row) => !isOk(group, row));
  const shares = timed.map((row) => shareOf(group, row));
  const [most, interval] = roundedUp(Math.max(...shares, 0.1) * 1.02);
  let best = 0;
  const steps = [];
  timed.forEach((row, position) => {
    if (shares[position] > best) steps.push([axis.at(group, row), (best = shares[position]), row]);
  });
  const last = Math.max(...rowsOf(group).map((row) => axis.at(group, row)));
  if (steps.length) steps.push([last, best, steps[steps.length - 1][2]]);
  const rate = (share) => (share / 100) * group.roofline.rate;
  return drawChart(
    box,
    `The share of the roofline of ${group.trials.number.length} trials, and the best so far: ${percent(best)}.`,
    {
      legend: legend(),
      grid: grid({ right: 62 }),
      tooltip: { trigger: "item", formatter: ({ data }) => trialTip(group, data[2]) },
      xAxis: xAxis(axis.label, { type: "value", min: axis.label === "trial" ? 1 : 0, max: Math.max(last, 1) }),
      yAxis: [
        yAxis("share of the roofline (%)", { type: "value", min: 0, max: most, interval }),
        yAxis(group.roofline.unit, {
          type: "value",
          min: 0,
          max: rate(most),
          interval: rate(interval),
          splitLine: { show: false },
          axisLabel: { formatter: (value) => figure(value, 3) },
        }),
      ],
      series: [
        {
          name: "trial",
          type: "scatter",
          symbolSize: timed.length > 500 ? 4 : 7,
          itemStyle: { color: series[0], opacity: timed.length > 500 ? 0.35 : 0.6 },
          data: timed.map((row, position) => [axis.at(group, row), shares[position], row]),
        },
        {
          name: "best so far",
          type: "line",
          step: "end",
          symbol: "circle",
          symbolSize: 6,
          lineStyle: { color: series[1], width: 2.5 },
          itemStyle: { color: series[1] },
          z: 3,
          data: steps,
          markLine: baselineLines(group, text),
        },
        ...(failed.length
          ? [
              {
                name: "failed",
                type: "scatter",
                symbol: "path://M0,1L1,0L5,4L9,0L10,1L6,5L10,9L9,10L5,6L1,10L0,9L4,5Z",
                symbolSize: 7,
                itemStyle: { color: bad },
                data: failed.map((row) => [axis.at(group, row), 0, row]),
              },
            ]
          : []),
      ],
    },
    timed.length,
  );
}

// The end of an axis from 0 that reaches a value in four to eight steps, and the step.
function roundedUp(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [0.2, 0.5, 1, 2].map((part) => part * decade).find((one) => value / one <= 8);
  return [Math.ceil(value / step) * step, step];
}

// The baselines that were measured beside the winner, as lines at their share of the roofline.
function baselineLines(group, colour) {
  const lines = Object.entries(group.winner ? group.winner.ratios : {}).map(([name, times]) => ({
    name,
    yAxis: (100 * group.roofline.micros) / (group.winner.micros * times),
  }));
  return {
    symbol: "none",
    silent: true,
    lineStyle: { color: colour, type: "dashed", width: 1 },
    label: { formatter: "{b}", position: "insideStartTop", color: colour },
    data: lines,
  };
}
