import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from './planted-project.js';

/** A regular expression as it stands in the sources. */
export interface RegExpLiteral {
  /** `src/http/host-rule.ts:7`. */
  readonly at: string;
  readonly pattern: RegExp;
}

/** All that stand in files under a folder of the project, each with the place. */
export function regExpLiteralsUnder(folder: string): readonly RegExpLiteral[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((name) => name.endsWith('.ts')).flatMap((name) => literalsOf(join(ROOT, folder, name)));
}

function literalsOf(path: string): readonly RegExpLiteral[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const found: RegExpLiteral[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ at: `${relative(ROOT, path)}:${String(line + 1)}`, pattern: regExpOf(node.text) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function regExpOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}
