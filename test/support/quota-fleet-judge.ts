import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from './planted-project.js';

/** The simulator in a process of its own, as `npm run simulator` runs it. */
export interface JudgeProcess {
  /** Ends in /v1. */
  readonly url: string;
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>;
}

const LISTENS = /^simulator listens on (\S+)\n/m;

/**
 * Starts it with the models of a configuration, and waits until it listens.
 *
 * @throws {Error} where it ends before
 */
export async function spawnJudge(configFile: string): Promise<JudgeProcess> {
  const words = ['dist/simulator/main.js', '--port', '0', '--config', configFile];
  const child = spawn(process.execPath, words, { cwd: ROOT, env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  // Nothing outlives the tests, however they end.
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const url = await Promise.race([listening(child), ended.then(() => undefined)]);
  if (url === undefined) throw new Error('the judge ended before it listened');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  return { url, kill };
}

/** The URL of the line that says so. */
function listening({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const url = LISTENS.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
