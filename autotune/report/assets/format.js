// Numbers as people read them, with their units.

function figure(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 1e6 || (rounded && Math.abs(rounded) < 1e-4) ? rounded.toExponential() : String(rounded);
}

function scaled(value, units) {
  const [unit, scale] = units.find(([, least]) => value >= least) || units[units.length - 1];
  return `${figure(value / scale)} ${unit}`;
}

function duration(micros) {
  return scaled(micros, [
    ["s", 1e6],
    ["ms", 1e3],
    ["µs", 1],
  ]);
}

function bytes(count) {
  return scaled(count, [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
    ["B", 1],
  ]);
}

function percent(share) {
  return `${share.toFixed(1)} %`;
}

function ratio(value) {
  return `${value.toFixed(value < 10 ? 3 : 1)}×`;
}
