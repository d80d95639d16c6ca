/** Tables of figures. */

/** The first column is text, the others are figures. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

/** Empty where nothing was measured. */
export function number(value, digits) {
  return value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);
}
