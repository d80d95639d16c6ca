import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { quietPort, type ShellBlock, Shell, shellBlocks } from '../support/pasted-page.js';
import { isFullProof, sized } from '../support/proof-scale.js';

jest.setTimeout(sized(120_000, 600_000));

const PAGE = 'docs/day-one.md';
/** Whatever listens on the page listens elsewhere here. */
const PORTS = /\b(?:640[12]|2640[123]|808[0-3]|909[123])\b/g;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ROTATION = 'Exchange the key, refusing nobody';

describe('day one, pasted from its page into one shell', () => {
  let blocks: readonly ShellBlock[];
  let folder: string;
  let shell: Shell;
  const ports = new Map<string, string>();
  /** What programs that the shell starts are given, when nothing was pasted yet. */
  let exported: string;

  beforeAll(async () => {
    blocks = await shellBlocks(PAGE);
    folder = await mkdtemp(join(tmpdir(), 'day-one-'));
    for (const [port] of blocks.flatMap(({ commands }) => [...commands.matchAll(PORTS)]))
      if (!ports.has(port)) ports.set(port, String(await quietPort()));
    shell = new Shell(environment());
    exported = await shell.paste('export -p');
  });
  afterAll(async () => {
    await shell.end();
    await rm(folder, { recursive: true, force: true });
  });

  const at = (port: string): string => `127.0.0.1:${ports.get(port) ?? port}`;

  function environment(): Record<string, string> {
    const servers = ['REDIS_SERVER', 'HAPROXY'].flatMap((name) => process.env[name] ?? []).map((path) => dirname(path));
    return {
      PATH: [dirname(process.execPath), ...servers, process.env['PATH'] ?? '', '/usr/sbin'].join(delimiter),
      ...{ HOME: folder, BIND: at('8080'), POD1: at('8081'), POD2: at('8082'), POD3: at('8083') },
    };
  }

  /** All blocks under a heading, in their order. @returns what they print */
  async function paste(
    heading: string,
    which = (_: ShellBlock, index: number): boolean => index >= 0,
  ): Promise<string> {
    const own = blocks.filter((block) => block.heading === heading).filter(which);
    if (own.length === 0) throw new Error(`${PAGE} has no commands under "${heading}"`);
    let printed = '';
    for (const { commands } of own) printed += await shell.paste(adapted(commands));
    return printed;
  }

  function adapted(commands: string): string {
    return commands
      .replaceAll(/\$PWD\/\.day-one|\.day-one/g, folder)
      .replaceAll(PORTS, (port) => ports.get(port) ?? port)
      .replace('DRAIN_DELAY_MS=5000', `DRAIN_DELAY_MS=${String(sized(1_500, 5_000))}`);
  }

  const valueOf = async (variable: string): Promise<string> => (await shell.paste(`echo "$${variable}"`)).trim();
  const ask = (key: string): Promise<Response> =>
    fetch(`http://${at('8080')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: JSON.stringify({ model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'echo:here' }] }),
    });

  it('begins with what a test run has done already', () => {
    expect(blocks[0]?.commands).toBe('npm ci\nnpm run build\nmkdir -p .day-one\n');
  });

  it('three pods on a Redis with sentinels serve behind the balancer', async () => {
    await paste('Redis with sentinels');
    await paste("A caller's key, and three pods");
    const answers = await paste('The balancer, and a call');
    expect(answers).toContain('"object":"chat.completion"');
    expect(answers).toContain('data: [DONE]');
    for (const port of ['8081', '8082', '8083']) {
      const body = await (await fetch(`http://${at(port)}/ready`)).json();
      expect(body).toMatchObject({ status: 'ok', details: { store: { status: 'up', kind: 'redis' } } });
    }
    expect((await ask('wrong')).status).toBe(401);
  });

  it('a key is exchanged, and nobody is refused', async () => {
    const old = await valueOf('key');
    // Each pod twice over takes its time: in the proof only.
    if (!isFullProof) {
      await shell.paste('new=$key');
      expect((await ask(old)).status).toBe(200);
      return;
    }
    const clients = new Clients(ask, old);
    await paste(ROTATION, (_, index) => index === 0);
    const fresh = await valueOf('new');
    expect(fresh).not.toBe(old);
    expect(await paste(ROTATION, (_, index) => index === 1)).toBe('200\n200\n');
    clients.key = fresh;
    expect(await paste(ROTATION, (_, index) => index === 2)).toBe('401\n200\n');
    expect(await clients.end()).toEqual(new Map([[200, expect.any(Number)]]));
    expect([(await ask(old)).status, (await ask(fresh)).status]).toEqual([401, 200]);
  });

  it('the figures to look at are there, and normal', async () => {
    expect(await paste('Read the figures')).toMatch(/^coordinator_completions_total\{.*outcome="ok".*\} [1-9]/m);
    const metrics = readFileSync(join(folder, 'metrics.txt'), 'utf8');
    const rows = readFileSync(PAGE, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const names = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([a-z_0-9]{9,})`/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !metrics.includes(`# TYPE ${String(name)} `))).toEqual([]);
    const lost = /^coordinator_(?:admission_degraded|fleet_store_lost|ledger_store_lost)(?:\{.*\})? [^0]/m;
    expect(metrics).not.toMatch(lost);
    expect(metrics).toMatch(/^coordinator_completions_total\{.*outcome="ok".*\} [1-9]/m);
  });

  it('a call is followed by its id, with the trace of its frontend', async () => {
    const printed = await paste('Follow a call');
    const line = JSON.parse(printed) as Readonly<Record<string, unknown>>;
    expect(line).toMatchObject({ msg: 'request', status: 200, caller: 'app', model: 'gpt-4.1', attempts: 1 });
    expect(line['trace_id']).toBe(TRACE);
  });

  it('nothing of it is in the environment of what the shell starts later', async () => {
    expect(await shell.paste('export -p')).toBe(exported);
  });

  it('all of it goes, the pods by themselves with 0, and what else the shell runs stays', async () => {
    await shell.paste('sleep 600 &');
    await paste('Take it all down');
    expect(await shell.paste('jobs -r; kill %?sleep')).toContain('sleep 600');
    expect(existsSync(folder)).toBe(false);
    await expect(ask('any')).rejects.toThrow('fetch failed');
  });
});

/** Calls one after the other, each with the key of the time. */
class Clients {
  #isOver = false;
  readonly #statuses = new Map<number, number>();
  readonly #lane: Promise<void>;

  constructor(
    private readonly ask: (key: string) => Promise<Response>,
    public key: string,
  ) {
    this.#lane = this.#run();
  }

  /** @returns how often each status came */
  async end(): Promise<ReadonlyMap<number, number>> {
    this.#isOver = true;
    await this.#lane;
    return this.#statuses;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const response = await this.ask(this.key);
      await response.text();
      this.#statuses.set(response.status, (this.#statuses.get(response.status) ?? 0) + 1);
    }
  }
}
