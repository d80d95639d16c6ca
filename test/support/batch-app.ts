import { type DynamicModule, Module } from '@nestjs/common';
import { AI_OPTIONS } from '../../src/ai/ai.options.js';
import { BatchController } from '../../src/ai/batch/batch.controller.js';
import { BatchService } from '../../src/ai/batch/batch.service.js';
import { ITEM_ANSWERS, type ItemAnswers } from '../../src/ai/batch/item.answers.js';
import type { CompletionCall } from '../../src/ai/call/completion-call.js';
import { CompletionObserver } from '../../src/ai/call/completion.observer.js';
import type { ReuseTerms } from '../../src/ai/reuse/reuse.terms.js';
import { AuthModule, configureAuth } from '../../src/auth/index.js';
import { Drain, onRequestOver } from '../../src/http/index.js';
import { configureObservability, createLogger, ObservabilityModule } from '../../src/observability/index.js';
import { callerWithKey } from './callers.js';
import { type HttpApp, startHttpApp } from './http-app.js';
import { type Json, record } from './schema.checker.js';
import { completion } from './scripted-upstream.js';

export const KEY = 'frontend-key-0123456789';
export const DEADLINE_MS = 60_000;

/** What a call is answered; rejects when its signal aborts. */
export type ItemScript = (call: CompletionCall) => Promise<string>;

export const messages = [{ role: 'user', content: 'Hi' }];
export const request = (content: string, more: object = {}): object => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});

export const questions = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => request(`question ${at}`));

export const resultsOf = (body: Json): Json[] => body['results'] as Json[];

/** Says what it was asked. */
export const echo: ItemScript = ({ body }) => Promise.resolve(JSON.stringify(completion(contentOf(body))));

export function contentOf(body: Json): string {
  const [first] = Array.isArray(body['messages']) ? (body['messages'] as unknown[]) : [];
  return String(record(first)['content']);
}

/** The batch endpoint over answers that a test makes. */
export class BatchApp implements ItemAnswers {
  readonly calls: CompletionCall[] = [];
  readonly terms: ReuseTerms[] = [];
  script: ItemScript = echo;
  /** Under way now, and the most that were at one time. */
  open = 0;
  most = 0;
  readonly drain = new Drain({ drainDelayMs: 0, shutdownGraceMs: 50, flushMs: 2_000 });
  readonly #lines: string[] = [];
  #server: HttpApp | undefined;

  static async start(): Promise<BatchApp> {
    const app = new BatchApp();
    const logger = createLogger({ level: 'info', secrets: [] }, { write: (line) => void app.#lines.push(line) });
    const batch: DynamicModule = {
      module: BatchModule,
      providers: [
        BatchService,
        CompletionObserver,
        { provide: AI_OPTIONS, useValue: { requestDeadlineMs: DEADLINE_MS } },
        { provide: ITEM_ANSWERS, useValue: app },
      ],
    };
    const callers = [callerWithKey(KEY, { name: 'acme', scopes: ['chat'] })];
    app.#server = await startHttpApp({
      drain: app.drain,
      imports: [ObservabilityModule.forRoot({ logger }), AuthModule.forRoot({ callers }), batch],
      observe: (nest) => {
        configureObservability(nest, { onOver: onRequestOver });
      },
      prepare: configureAuth,
    });
    return app;
  }

  async complete(call: CompletionCall, terms: ReuseTerms): Promise<string> {
    this.calls.push(call);
    this.terms.push(terms);
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    try {
      return await this.script(call);
    } finally {
      this.open -= 1;
    }
  }

  get url(): string {
    if (this.#server === undefined) throw new Error('it is started before it is asked');
    return this.#server.url;
  }

  logs(): readonly Json[] {
    return this.#lines.map((line) => record(JSON.parse(line)));
  }

  metrics(): Promise<string> {
    return fetch(`${this.url}/metrics`).then((response) => response.text());
  }

  /** @param body - a string is sent as it is */
  send(body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.url}/v1/chat/completions/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  async ask(
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; body: Json }> {
    const response = await this.send(body, headers);
    return { status: response.status, headers: response.headers, body: record(await response.json()) };
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}

@Module({ controllers: [BatchController] })
class BatchModule {}

/** Answers once its gate is opened; rejects with the signal's reason before. */
export function gated(): { readonly script: ItemScript; open(): void } {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const script: ItemScript = (call) =>
    Promise.race([
      gate.then(() => echo(call)),
      new Promise<never>((_, reject) => {
        call.signal.addEventListener('abort', () => {
          reject(call.signal.reason as Error);
        });
      }),
    ]);
  return {
    script,
    open: () => {
      open();
    },
  };
}

/** The events of a stream by name, with their data. */
export function eventsOf(text: string): readonly (readonly [name: string, data: Json])[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(frame) ?? [];
      return [name, record(JSON.parse(data))] as const;
    });
}
