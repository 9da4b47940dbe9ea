// The document of the report, and the trials of a group as rows that charts take.
"use strict";

async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// Share of the roofline in per cent; null for a trial without a time.
function shareOf(group, row) {
  const micros = group.trials.micros[row];
  return micros && (100 * group.roofline.micros) / micros;
}

function isOk(group, row) {
  return statusOf(group, row) === "ok";
}

function statusOf(group, row) {
  const { values, codes } = group.trials.status;
  return values[codes[row]];
}

function rowsOf(group) {
  return group.trials.number.map((_, row) => row);
}

// The rows with a time, slowest first, so that the best are drawn on top.
function slowestFirst(group) {
  const { micros } = group.trials;
  return rowsOf(group)
    .filter((row) => isOk(group, row))
    .sort((a, b) => micros[b] - micros[a]);
}

// What a trial may be placed by: the fields that differ, then what is known of its kernel.
// An axis has a name, the values that it may take if they are few, and the position of a row on it.
function axesOf(group) {
  const fields = group.trials.fields
    .filter((field) => new Set(field.codes).size > 1)
    .map((field) => ({
      name: field.name,
      label: field.label,
      values: field.values.map(word),
      at: (row) => (field.codes[row] < 0 ? null : field.codes[row]),
    }));
  const metrics = group.trials.metrics
    .filter((metric) => new Set(metric.numbers).size > 1)
    .map((metric) => ({
      name: metric.name,
      label: metric.label,
      at: (row) => metric.numbers[row],
    }));
  return [
    ...byImportance(group, fields),
    { name: "share", label: "share of the roofline (%)", at: (row) => shareOf(group, row) },
    ...metrics,
    { name: "number", label: "trial", at: (row) => group.trials.number[row] },
  ];
}

// The axes of fields, the most important first.
function byImportance(group, axes) {
  const shares = group.importances.length ? group.importances[0].shares : {};
  return [...axes].sort((a, b) => (shares[b.name] || 0) - (shares[a.name] || 0));
}

// The fields of a trial's schedule that have short names, and those that differ from their defaults.
function scheduleOf(group, row) {
  return (
    group.trials.fields
      .filter((field) => field.codes[row] >= 0)
      .map((field) => ({ ...field, value: field.values[field.codes[row]] }))
      .filter((field) => field.label !== field.name || field.value !== field.default)
      .map((field) => `${field.label}=${word(field.value)}`)
      .join(" ") || "all fields have their defaults"
  );
}

function word(value) {
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}
