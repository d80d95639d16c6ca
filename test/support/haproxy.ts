import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { ROOT } from './planted-project.js';
import { freePort } from './free-port.js';
import { MAX_STARTS } from './redis-server.js';

const HOST = '127.0.0.1';
const BACKEND = 'coordinators';
/** The file's servers, whose place is taken by slots without an address. */
const SERVER_LINES = /^ {4}server pod\d.*\n/gm;

/** What HAProxy's log says of one request. */
export interface BalancedRequest {
  /** `pod2`; `<NOSRV>`: nobody was asked. */
  readonly slot: string;
  /** Of the answer; -1: there was none. */
  readonly status: number;
  /** Who ended it early and when, `--` where nobody did (HAProxy's session state at disconnection). */
  readonly end: string;
  /** Further attempts to connect. */
  readonly retries: number;
  readonly request: string;
}

/** A HAProxy of the test's own, with the configuration that examples/haproxy.cfg recommends. Pods come and go as endpoints do. */
export class Haproxy {
  readonly url: string;
  readonly #addresses: (string | undefined)[];
  #log = '';

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly child: ChildProcess,
    slots: number,
  ) {
    this.url = `http://${HOST}:${String(port)}`;
    this.#addresses = Array.from({ length: slots }, () => undefined);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
  }

  /**
   * @param slots how many pods there may be at one time
   * @throws {Error} with what it wrote, where it does not start; how to get one, where there is none
   */
  static async start(slots: number): Promise<Haproxy> {
    for (let start = 1; ; start += 1) {
      const folder = await mkdtemp(join(tmpdir(), 'haproxy-'));
      try {
        return await Haproxy.#start(folder, slots);
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        if (start === MAX_STARTS) throw error;
      }
    }
  }

  static async #start(folder: string, slots: number): Promise<Haproxy> {
    const port = await freePort();
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configuration(folder, slots));
    const child = spawn(process.env['HAPROXY'] ?? 'haproxy', ['-f', file], {
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`, BIND: `${HOST}:${String(port)}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    process.once('exit', () => child.kill('SIGKILL'));
    const died = failure(child);
    const haproxy = new Haproxy(port, folder, child, slots);
    await Promise.race([eventually(async () => (await haproxy.#ask('show info')).includes('Version')), died]);
    return haproxy;
  }

  /** Lets a pod have calls, which has to be ready; from then on its own word decides. */
  async add(url: string): Promise<void> {
    const index = this.#addresses.indexOf(undefined);
    if (index === -1) throw new RangeError('all slots are taken');
    this.#addresses[index] = url;
    const slot = `pod${String(index + 1)}`;
    const { hostname, port } = new URL(url);
    await this.#ask(`set server ${BACKEND}/${slot} addr ${hostname} port ${port}`);
    await this.#ask(`set server ${BACKEND}/${slot} state ready`);
  }

  /** Frees the slot of a pod that is gone. */
  async remove(url: string): Promise<void> {
    const index = this.#addresses.indexOf(url);
    await this.#ask(`set server ${BACKEND}/pod${String(index + 1)} state maint`);
    this.#addresses[index] = undefined;
  }

  /** Resolves when so many pods get calls. */
  async serving(count: number): Promise<void> {
    await eventually(async () => (await this.#up()).length === count, 60_000);
  }

  async isUp(url: string): Promise<boolean> {
    return (await this.#up()).includes(`pod${String(this.#addresses.indexOf(url) + 1)}`);
  }

  /** All requests that have ended, in that order. */
  requests(): readonly BalancedRequest[] {
    return [...this.#log.matchAll(LOG_LINE)].map((match) => {
      const { slot = '', status = '', end = '', retries = '', request = '' } = match.groups ?? {};
      return { slot, status: Number(status), end, retries: Number(retries), request };
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #up(): Promise<readonly string[]> {
    const [head = '', ...lines] = (await this.#ask('show stat')).split('\n');
    const [name, status] = ['svname', 'status'].map((column) => head.replace(/^# /, '').split(',').indexOf(column));
    return (
      lines
        .map((line) => line.split(','))
        // On its way down it is `UP 1/2`, and still gets calls.
        .filter((cells) => cells[0] === BACKEND && cells[status ?? -1]?.startsWith('UP') === true)
        .map((cells) => cells[name ?? -1] ?? '')
        .filter((server) => server.startsWith('pod'))
    );
  }

  /** @throws {Error} for a command that is refused */
  #ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(join(this.folder, 'admin.sock'));
      socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
      socket.once('error', reject).once('end', () => {
        if (/^(Unknown|Invalid|No such|Require|'set server)/.test(answer)) reject(new Error(`${command}: ${answer}`));
        else resolve(answer);
      });
      socket.write(`${command}\n`);
    });
  }
}

/** `… coordinators/pod1 0/0/1/20/80 200 1234 - - ---- 9/9/8/3/0 0/0 "GET / HTTP/1.1"` (option httplog) */
const LOG_LINE =
  /coordinators\/(?<slot>\S+) [\d/+-]+ (?<status>-?\d+) \d+ - - (?<end>..).. \d+\/\d+\/\d+\/\d+\/\+?(?<retries>\d+) \S+ "(?<request>[^"]*)"/g;

function configuration(folder: string, slots: number): string {
  const example = readFileSync(`${ROOT}examples/haproxy.cfg`, 'utf8');
  if (example.match(SERVER_LINES)?.length !== 3)
    throw new Error('examples/haproxy.cfg has not the lines of three servers');
  return [
    example
      .replace(SERVER_LINES, '')
      .replace('global\n', `global\n    stats socket ${join(folder, 'admin.sock')} level admin\n`),
    `    server-template pod ${String(slots)} ${HOST}:1 disabled\n`,
  ].join('');
}

/** Never resolves; rejects when it ends. */
function failure(child: ChildProcess): Promise<never> {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const died = new Promise<never>((_, reject) => {
    child.once('error', (error) => {
      reject(
        new Error(
          'no haproxy: install it (apt-get install haproxy, brew install haproxy) or set HAPROXY=/path/to/haproxy',
          {
            cause: error,
          },
        ),
      );
    });
    child.once('close', () => {
      reject(new Error(`haproxy ended:\n${errors}`));
    });
  });
  died.catch(() => undefined);
  return died;
}
