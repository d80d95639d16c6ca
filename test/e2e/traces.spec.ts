import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { messages, postCompletion, readAnswer } from '../support/completion-rig.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { sized } from '../support/proof-scale.js';
import {
  chunk,
  DONE,
  finish,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageChunk,
} from '../support/scripted-upstream.js';
import { environmentFor, type SpawnedServer, spawnServer, UPSTREAM_KEY } from '../support/spawned-server.js';
import { FRONTEND, spanNamed, TRACEPARENT, treeOf } from '../support/trace-rig.js';

jest.setTimeout(sized(120_000, 600_000));

/** Prints, when the process ends, how many of its modules are the SDK's. */
const COUNT_SDK = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(${JSON.stringify(import.meta.url)});
  const isSdk = (path) => /@opentelemetry\\/(?!api\\/)/.test(path);
  process.on('exit', () => process.stderr.write('SDK modules: ' + Object.keys(cache).filter(isSdk).length + '\\n'));
`)}`;

describe('A process with a collector', () => {
  let upstream: ScriptedUpstream;
  let collector: OtlpCollector;
  let server: SpawnedServer | undefined;

  const start = async (environment: Record<string, string>): Promise<SpawnedServer> => {
    upstream = await startScriptedUpstream();
    collector = await OtlpCollector.start();
    server = await spawnServer({
      environment: {
        ...environmentFor(upstream.url),
        ...(environment['COLLECTOR'] === 'on' && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
        ...environment,
      },
      nodeOptions: ['--import', COUNT_SDK],
    });
    return server;
  };

  afterEach(async () => {
    await server?.kill();
    await upstream.close();
    await collector.close();
  });

  it('sends one trace from the frontend to the provider, the last of it when it is told to end', async () => {
    const { url, process, ended } = await start({
      COLLECTOR: 'on',
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=collectors-key',
    });
    upstream.play(stream([chunk('a'), { waitMs: 300 }, finish(), usageChunk(), DONE]));
    const question = { model: 'gpt-4.1', messages, stream: true };
    const asked = postCompletion(url, question, { traceparent: TRACEPARENT });
    const response = await asked;
    // Its stream is under way, and goes on to its end.
    process.kill('SIGTERM');
    expect((await readAnswer(response)).text).toContain('[DONE]');
    expect(await ended).toMatchObject({ code: 0 });
    const { spans } = collector;
    const attempt = spans.find(({ name }) => name.startsWith('chat '));
    expect(treeOf(spans.filter(({ name }) => name !== 'admission wait'))).toEqual([
      'POST /v1/chat/completions',
      '  completion',
      `    ${String(attempt?.name)}`,
    ]);
    expect(spanNamed(spans, 'completion').resource).toMatchObject({ 'service.name': 'gateway' });
    expect(upstream.requests.at(-1)?.headers['traceparent']).toBe(
      `00-${FRONTEND.traceId}-${String(attempt?.spanId)}-01`,
    );
    expect(collector.metrics.get('gen_ai.client.operation.time_to_first_chunk')?.points[0]?.count).toBe(1);
    expect(collector.delivered.every(({ headers }) => headers['x-key'] === 'collectors-key')).toBe(true);
    expect(collector.text).not.toContain(UPSTREAM_KEY);
  });

  it('ends in time where the collector hangs', async () => {
    const { url, process, ended } = await start({ COLLECTOR: 'on', SHUTDOWN_GRACE_MS: '1500' });
    collector.mood = 'silent';
    await readAnswer(await postCompletion(url, { model: 'gpt-4.1', messages }));
    process.kill('SIGTERM');
    const { code, output } = await ended;
    expect(code).toBe(0);
    expect(output).toContain('the collector did not take the last traces and metrics in time');
  });

  it('loads the SDK, and one without a collector does not', async () => {
    for (const [environment, expected] of [
      [{ COLLECTOR: 'on' }, /SDK modules: [1-9]/],
      [{}, /SDK modules: 0\n/],
    ] as const) {
      const { url, process, ended } = await start(environment);
      const traceparent = TRACEPARENT;
      await readAnswer(await postCompletion(url, { model: 'gpt-4.1', messages }, { traceparent }));
      process.kill('SIGTERM');
      const { errors, output } = await ended;
      expect(errors).toMatch(expected);
      expect(output).toContain(`"trace_id":"${FRONTEND.traceId}"`);
      await upstream.close();
      await collector.close();
    }
    upstream = await startScriptedUpstream();
    collector = await OtlpCollector.start();
  });

  it('names at boot a protocol that it does not speak', async () => {
    const process = await start({ COLLECTOR: 'on', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(process.logs()).toContain('OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json');
  });
});
