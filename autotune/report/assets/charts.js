// What all charts have in common.

const MANY = 2000; // points that SVG draws with ease; above that a canvas does

let drawnCharts = [];

function forgetCharts() {
  drawnCharts.forEach((chart) => chart.dispose());
  drawnCharts = [];
}

function isNarrow() {
  return document.body.clientWidth <= 600;
}

function isWide() {
  return document.body.clientWidth > 900;
}

// Draw into a box that is on the page already.
function drawChart(box, summary, option, points = 0) {
  const { text, card, line } = colours();
  const chart = echarts.init(box, null, { renderer: points > MANY ? "canvas" : "svg" });
  chart.setOption({
    animation: false,
    aria: { enabled: true, label: { description: summary } },
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: text },
    ...option,
    // All points at once: who prints or looks at a picture does not wait for the rest.
    series: option.series.map((series) => ({ progressive: 0, ...series })),
    tooltip: {
      confine: true,
      backgroundColor: card,
      borderColor: line,
      textStyle: { color: text },
      extraCssText: "white-space: normal",
      ...option.tooltip,
    },
  });
  drawnCharts.push(chart);
  return chart;
}

function axisStyle(name, gap) {
  const { text, muted, line } = colours();
  return {
    name,
    nameLocation: "middle",
    nameGap: gap,
    nameTextStyle: { color: text, fontSize: 12.5 },
    axisLabel: { color: muted, fontSize: 11.5, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: line } },
    axisTick: { lineStyle: { color: line } },
    splitLine: { lineStyle: { color: line, opacity: 0.6 } },
  };
}

function xAxis(name, more = {}) {
  return merged(axisStyle(name, 28), more);
}

function yAxis(name, more = {}) {
  return merged(axisStyle(name, 44), more);
}

// An axis of few values, around each of which its points are spread.
function valuesAxis(style, values) {
  const places = values.map((_, place) => place);
  return merged(style, {
    type: "value",
    min: -0.5,
    max: values.length - 0.5,
    axisLabel: { customValues: places, formatter: (place) => values[place] ?? "" },
    axisTick: { customValues: places },
    splitLine: { show: false },
  });
}

// Labels at powers of ten, and at 2 and 5 between them where the axis is short.
function logAxis(style, numbers) {
  const [least, most] = [Math.min(...numbers) / 1.5, Math.max(...numbers) * 1.5];
  const decades = Array.from({ length: 40 }, (_, position) => 10 ** (position - 20));
  const steps = most / least > 2000 ? [1] : [1, 2, 5];
  const ticks = decades
    .flatMap((decade) => steps.map((step) => decade * step))
    .filter((at) => at >= least && at <= most);
  return merged(style, {
    type: "log",
    min: least,
    max: most,
    axisLabel: { customValues: ticks, formatter: (value) => figure(value) },
    axisTick: { customValues: ticks },
  });
}

function legend(more = {}) {
  const { text, muted } = colours();
  return {
    type: "scroll",
    top: 0,
    left: 0,
    itemGap: 16,
    itemWidth: 10, // as square as symbols are in the plot
    itemHeight: 10,
    textStyle: { color: text, fontSize: 12.5 },
    pageTextStyle: { color: muted },
    pageIconColor: text,
    ...more,
  };
}

// A legend of many names in as many lines as it takes, by which a box grows; and where the plot begins.
function wrappedLegend(box, names) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12.5px ${getComputedStyle(document.body).fontFamily}`;
  let [lines, used] = [1, 0];
  for (const name of names) {
    const width = pen.measureText(name).width + 10 + 5 + 16; // symbol, gap to the name, gap to the next
    if (used && used + width > box.clientWidth) [lines, used] = [lines + 1, 0];
    used += width;
  }
  const more = 25 * (lines - 1);
  box.style.height = `${box.clientHeight + more}px`;
  return { legend: legend({ type: "plain", itemGap: 10, padding: [5, 0] }), top: 40 + more };
}

function grid(more = {}) {
  return { left: 58, right: 18, top: 40, bottom: 46, ...more };
}

function shareScale(numbers, more = {}) {
  const { muted, scale } = colours();
  const most = Math.max(...numbers);
  const least = Math.min(...numbers, 0.9 * most); // trials that are about alike have about the colour of the fast end
  return {
    min: least,
    max: most,
    inRange: { color: scale },
    text: [`${figure(most, 2)} % of the roofline`, `${figure(least, 2)} %`],
    textStyle: { color: muted, fontSize: 11.5 },
    orient: "horizontal",
    right: 0,
    top: 0,
    itemHeight: 110,
    itemWidth: 12,
    calculable: false,
    formatter: (value) => value.toFixed(0),
    ...more,
  };
}

// A number from -0.5 to 0.5, the same each time.
function spread(seed) {
  const part = Math.sin(seed * 12.9898 + 4.1414) * 43758.5453;
  return part - Math.floor(part) - 0.5;
}

function merged(one, other) {
  const both = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const inner = value && typeof value === "object" && !Array.isArray(value) && both[name];
    both[name] = inner ? merged(both[name], value) : value;
  }
  return both;
}
