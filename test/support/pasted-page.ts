import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ROOT } from './planted-project.js';

/** A block of shell commands on a page, and the heading that it stands under. */
export interface ShellBlock {
  readonly heading: string;
  readonly commands: string;
}

/** @param page from the project's folder */
export async function shellBlocks(page: string): Promise<readonly ShellBlock[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  let heading = '';
  return [...text.matchAll(/^#+ (?<title>.*)$|^```sh\n(?<commands>[\s\S]*?)^```$/gm)].flatMap(({ groups = {} }) => {
    const { title, commands } = groups;
    if (commands !== undefined) return [{ heading, commands }];
    heading = title ?? '';
    return [];
  });
}

/** Below what systems lend to outgoing connections (32768 in Linux, 49152 elsewhere): nobody has it by chance a moment later. */
const QUIET = { from: 12_000, count: 18_000 };
/** A block that takes longer waits for what does not come, ms. */
const LONGEST_MS = 150_000;

/** A port that stays free until somebody listens on purpose. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = QUIET.from + Math.floor(Math.random() * QUIET.count);
    const server = createServer();
    const outcome = await once(server.listen(port, '127.0.0.1'), 'listening').catch(() => 'taken');
    if (outcome === 'taken') continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** One shell into which blocks are pasted, as an operator does; the first command that fails ends it. */
export class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<void>;
  #isOver = false;
  #output = '';
  #pasted = 0;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#child = spawn('bash', ['--noprofile', '--norc', '-e'], { cwd: ROOT, env: environment, detached: true });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#isOver = true;
        resolve();
      });
    });
    process.once('exit', () => {
      this.#killAll();
    });
  }

  /** @returns what it printed @throws {Error} with what it printed, where a command fails or does not come to its end */
  async paste(commands: string): Promise<string> {
    this.#pasted += 1;
    const from = this.#output.length;
    const mark = `pasted-${String(this.#pasted)}`;
    this.#child.stdin.write(`${commands}\necho ${mark}\n`);
    const end = performance.now() + LONGEST_MS;
    while (!this.#output.includes(`${mark}\n`, from)) {
      if (this.#isOver || performance.now() > end)
        throw new Error(`failed:\n${commands}\nprinted:\n${this.#output.slice(from)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.#output.slice(from, this.#output.indexOf(mark, from));
  }

  /** Ends it and whatever it has started. */
  async end(): Promise<void> {
    this.#killAll();
    await this.#ended;
  }

  #killAll(): void {
    try {
      // The group of those that it started.
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch (error) {
      // Nobody is left.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
