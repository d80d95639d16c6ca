import { readFileSync } from 'node:fs';

/**
 * The commands of a shell block in a document, each whole, as they would be pasted.
 *
 * @param {string} path
 * @param {string} heading the block stands under it, before the next heading, e.g. `## Quick start`
 * @param {string} [start] of the commands that are wished for
 * @returns {string[]}
 */
export function shellCommands(path, heading, start = '') {
  const text = readFileSync(path, 'utf8');
  const from = text.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`${path} has no heading "${heading}"`);
  const section = text.slice(from + heading.length + 2);
  const end = section.search(/^#{1,4} /m);
  const blocks = [...(end < 0 ? section : section.slice(0, end)).matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  const commands = blocks.flatMap(([, block]) => splitCommands(block));
  return commands.filter((command) => command.startsWith(start));
}

/** A command goes on where a line ends in a backslash or within quotes. */
function splitCommands(block) {
  const commands = [];
  let command = '';
  for (const line of block.split('\n')) {
    command += command === '' ? line : `\n${line}`;
    if (command.endsWith('\\') || (command.match(/'/g)?.length ?? 0) % 2 === 1) continue;
    if (command.trim() !== '' && !command.startsWith('#')) commands.push(command);
    command = '';
  }
  return commands;
}
