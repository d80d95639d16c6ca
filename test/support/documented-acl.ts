import { readFileSync } from 'node:fs';

export type Documented = 'server' | 'cluster' | 'sentinel';

/** The lines of docs/deployment.md that make a user of Redis, as they stand there. */
const LINES: Readonly<Record<Documented, RegExp>> = {
  server: /^ACL SETUSER (coordinator reset .*~coordinator:.*)$/m,
  cluster: /^ACL SETUSER (coordinator \+cluster.*)$/m,
  sentinel: /^ACL SETUSER (coordinator reset .*sentinel\|.*)$/m,
};

export const ACL_USER = 'coordinator';
export const ACL_PASSWORD = 'a-password-of-tests';

/** What that user may, after its name. @throws {Error} where the documentation does not say */
export function documentedAcl(which: Documented): readonly string[] {
  const text = readFileSync(new URL('../../docs/deployment.md', import.meta.url), 'utf8');
  const line = LINES[which].exec(text)?.[1];
  if (line === undefined) throw new Error(`docs/deployment.md has no ACL of a ${which}`);
  const [, ...rights] = line.replace('<password>', ACL_PASSWORD).split(' ');
  return rights;
}

/** The commands that it allows, in lower case: `get`, `client|setname`. */
export function documentedCommands(which: Documented): readonly string[] {
  return documentedAcl(which).flatMap((right) => (right.startsWith('+') ? [right.slice(1)] : []));
}
