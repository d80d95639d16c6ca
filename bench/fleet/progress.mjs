/** How far a measurement is: a bar on a terminal, one line elsewhere. */
import { say } from '../bench-run.mjs';

const WIDTH = 30;

/** @returns {(done: number) => void} to be called with what is done of it */
export function progressOf(title, total, output = process.stderr) {
  if (!output.isTTY) {
    say(title);
    return () => undefined;
  }
  return (done) => {
    const filled = Math.round((WIDTH * done) / total);
    output.write(`\r\x1b[K[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total}  ${title}`);
    if (done === total) output.write('\n');
  };
}
