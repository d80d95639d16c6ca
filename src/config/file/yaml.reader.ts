import { LineCounter, isScalar, parseDocument, visit, type Document } from 'yaml';
import type { Faults } from '../faults.js';

/** More than any coordinator.yaml needs; a file beyond it is not one. */
const MOST_CHARACTERS = 1_000_000;
/** How often anchors may be repeated in all, counted through each other: the bound on "billion laughs". */
const MOST_ALIASES = 1_000;
const MOST_SYNTAX_FAULTS = 10;

const WORDS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is set twice in one mapping',
  MULTIPLE_DOCS: 'must be a single YAML document',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
};

/**
 * The file's content as plain values; undefined after noting why there is none. Syntax faults are noted as
 * `file:line:column`, all of them, without quoting the text.
 */
export function readYaml(text: string, path: string, faults: Faults): unknown {
  if (text.length > MOST_CHARACTERS) {
    faults.add(path, `must be at most ${String(MOST_CHARACTERS)} characters`);
    return undefined;
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { merge: true, prettyErrors: false, lineCounter: lines, logLevel: 'error' });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${String(line)}:${String(col)}`;
  };
  for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, MOST_SYNTAX_FAULTS)) {
    faults.add(at(pos[0]), WORDS[code] ?? message);
  }
  // A key set twice leaves a value that can still be looked at; after other errors the rest would be guesswork.
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return undefined;
  noteAmbiguousNumbers(document, at, faults);
  return content(document, path, faults);
}

function content(document: Document, path: string, faults: Faults): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    if (value === null || value === undefined) faults.add(path, 'is empty');
    return value ?? undefined;
  } catch (error) {
    // What toJS throws for the file's author: unknown or repeated anchors, merges of what is no mapping, a full stack.
    if (!(error instanceof Error)) throw error;
    faults.add(path, error.message);
    return undefined;
  }
}

/** `010` is ten in YAML 1.2 and eight in YAML 1.1: whoever writes it means one of them, and we cannot know which. */
function noteAmbiguousNumbers(document: Document, at: (offset: number) => string, faults: Faults): void {
  visit(document, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'number' && /^[-+]?0\d/.test(node.source ?? '')) {
      faults.add(at(node.range?.[0] ?? 0), 'must be a number without leading zeros, or text in quotes');
    }
  });
}
