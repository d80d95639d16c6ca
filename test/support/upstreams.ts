import { startFake } from './independent-fake.js';
import { startTestSimulator, TEST_MODELS } from './simulator.js';

/** A provider for the e2e suites, which run over each of them. Both echo a message that begins with `echo: `. */
export interface E2eUpstream {
  /** Base URL, ends in /v1. */
  readonly url: string;
  /** The completion requests that reached it, the latest hundred at least. */
  requests(): Promise<readonly SeenRequest[]>;
  close(): Promise<unknown>;
}

export interface SeenRequest {
  /** The body's text; of the simulator only its beginning, where it is long. */
  readonly text: string;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Headers with which every request is a call, whatever was asked before. */
export const TO_THE_PROVIDER = { 'cache-control': 'no-store' };

/** For `describe.each`: the built-in simulator, and a second opinion on the same protocol. */
export const UPSTREAMS: readonly (readonly [name: string, start: () => Promise<E2eUpstream>])[] = [
  ['the simulator', startSimulated],
  ['the independent fake', startFaked],
];

async function startSimulated(): Promise<E2eUpstream> {
  const models = TEST_MODELS.slice(0, 1).map((model) => ({ ...model, name: 'deepseek-v3.2', aliases: [] }));
  const simulator = await startTestSimulator({ models: [...TEST_MODELS, ...models] });
  return {
    url: simulator.url,
    requests: async () => {
      const { lastRequests } = await simulator.stats('?endpoint=chat');
      return lastRequests.map(({ rawBody, bodyBytes, headers }) => ({ text: rawBody, bytes: bodyBytes, headers }));
    },
    close: () => simulator.close(),
  };
}

async function startFaked(): Promise<E2eUpstream> {
  const fake = await startFake();
  return {
    url: fake.url,
    requests: () =>
      Promise.resolve(
        fake.requests
          .filter(({ path }) => path.endsWith('/chat/completions'))
          .map(({ text, headers }) => ({ text, bytes: Buffer.byteLength(text), headers })),
      ),
    close: fake.close,
  };
}

/** The parsed body of the latest completion request. */
export async function lastBody(upstream: E2eUpstream): Promise<Record<string, unknown>> {
  const requests = await upstream.requests();
  return JSON.parse(requests.at(-1)?.text ?? 'null') as Record<string, unknown>;
}
