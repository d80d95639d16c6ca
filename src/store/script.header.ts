/** What a script says of itself in the comment at its top. */
export interface ScriptHeader {
  readonly purpose: string;
  readonly keys: Operands;
  readonly args: Operands;
  readonly returns: string;
}

export interface Operands {
  /** How many there are at least. */
  readonly count: number;
  /** More may follow (`ARGV[n..]`). */
  readonly isOpen: boolean;
}

const ENTRY = /^(KEYS|ARGV)\[(\d+)(\.\.)?\]\s+\S/;
const RETURNS = /^Returns:?\s+(\S.*)/;

/**
 * Parses the header block of a script:
 * ```lua
 * -- Adds to a counter that lives for a while.
 * --
 * -- KEYS[1]   the counter
 * -- ARGV[1]   how much
 * -- ARGV[2..] names of who is told
 * --
 * -- Returns the new value.
 * ```
 * @throws {Error} that names the script, where a part is missing or the numbers have gaps
 */
export function parseHeader(name: string, source: string): ScriptHeader {
  const lines = headerLines(source);
  const purpose = lines[0] ?? '';
  if (purpose === '' || ENTRY.test(purpose) || RETURNS.test(purpose)) {
    throw new Error(`${name}.lua: its first line must be a comment that says what the script does`);
  }
  const returns = lines.map((line) => RETURNS.exec(line)?.[1]).find((text) => text !== undefined);
  if (returns === undefined) throw new Error(`${name}.lua: the header has no line "Returns …"`);
  return { purpose, keys: operands(name, 'KEYS', lines), args: operands(name, 'ARGV', lines), returns };
}

/** Where the header and the code disagree, in words; empty: nowhere. @param prelude what is loaded in front of the script */
export function headerFaults(name: string, source: string, prelude = ''): readonly string[] {
  const header = parseHeader(name, source);
  return [
    ...operandFaults(name, 'KEYS', header.keys, { body: source, prelude }),
    ...operandFaults(name, 'ARGV', header.args, { body: source, prelude }),
  ];
}

function headerLines(source: string): readonly string[] {
  const lines: string[] = [];
  for (const line of source.split('\n')) {
    const comment = /^--(?!\[\[) ?(.*)$/.exec(line);
    if (comment === null) break;
    lines.push((comment[1] ?? '').trim());
  }
  return lines;
}

function operands(name: string, table: string, lines: readonly string[]): Operands {
  const entries = lines.map((line) => ENTRY.exec(line)).filter((entry) => entry !== null && entry[1] === table);
  entries.forEach((entry, index) => {
    if (Number(entry?.[2]) !== index + 1) {
      throw new Error(`${name}.lua: ${table}[${entry?.[2] ?? ''}] stands where ${table}[${index + 1}] is expected`);
    }
    if (entry?.[3] !== undefined && index + 1 < entries.length) {
      throw new Error(`${name}.lua: ${table}[${index + 1}..] must be the last of ${table}`);
    }
  });
  const isOpen = entries.at(-1)?.[3] !== undefined;
  return { count: isOpen ? entries.length - 1 : entries.length, isOpen };
}

function operandFaults(
  name: string,
  table: string,
  declared: Operands,
  code: { body: string; prelude: string },
): readonly string[] {
  const body = uses(table, code.body);
  const all = uses(table, `${code.prelude}\n${code.body}`);
  const faults = [...body.indexes]
    .filter((index) => index > declared.count && !declared.isOpen)
    .map((index) => `${name}.lua: uses ${table}[${index}], which its header does not name`);
  for (let index = 1; index <= declared.count; index += 1) {
    if (!all.indexes.has(index) && !all.isOpen)
      faults.push(`${name}.lua: its header names ${table}[${index}], which it never uses`);
  }
  if (body.isOpen && !declared.isOpen)
    faults.push(`${name}.lua: reads any number of ${table}; its header must say ${table}[n..]`);
  if (declared.isOpen && !all.isOpen)
    faults.push(
      `${name}.lua: its header says ${table}[${declared.count + 1}..], but it reads none by a variable index`,
    );
  return faults;
}

/** Indexes that stand in the code, and whether it also reads by a computed index or hands the whole table on. */
function uses(table: string, source: string): { indexes: ReadonlySet<number>; isOpen: boolean } {
  const code = withoutComments(source);
  const indexes = new Set(
    [...code.matchAll(new RegExp(`\\b${table}\\[(\\d+)\\]`, 'g'))].map((match) => Number(match[1])),
  );
  const isOpen = new RegExp(`\\b${table}\\b(?!\\[\\d+\\])`).test(code);
  return { indexes, isOpen };
}

function withoutComments(source: string): string {
  return source.replace(/--\[\[[\s\S]*?\]\]/g, '').replace(/--.*/g, '');
}
