import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseChatRequest } from '../../src/ai/call/chat-request.js';
import type { RouteReason } from '../../src/ai/route/obstacle.js';
import { STATUS_TABLE } from '../../src/http/index.js';
import { CompletionRig, dataOf } from '../support/completion-rig.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { record } from '../support/schema.checker.js';

const message = { role: 'user', content: 'Hi' };

let rig: CompletionRig;
let document: OpenApiDocument;
beforeAll(async () => {
  rig = await CompletionRig.start();
  document = await OpenApiDocument.of(rig.coordinator.url);
});
afterAll(() => rig.close());

describe('the OpenAPI document', () => {
  it('has these operations, by ids that clients may be generated from', () => {
    expect(document.root['openapi']).toMatch(/^3\.0\.\d$/);
    const ids = document.operations().map(({ method, path, value }) => [value['operationId'], `${method} ${path}`]);
    expect(Object.fromEntries(ids)).toEqual({
      createChatCompletion: 'post /v1/chat/completions',
      createChatCompletionBatch: 'post /v1/chat/completions/batch',
      getUsage: 'get /v1/usage',
      exportLedger: 'get /v1/usage/ledger',
      listModels: 'get /v1/models',
      retrieveModel: 'get /v1/models/{id}',
      createConversation: 'post /v1/conversations',
      listConversations: 'get /v1/conversations',
      chooseConversation: 'put /v1/conversations/{id}',
      retrieveConversation: 'get /v1/conversations/{id}',
      changeConversation: 'patch /v1/conversations/{id}',
      deleteConversation: 'delete /v1/conversations/{id}',
      listMessages: 'get /v1/conversations/{id}/messages',
      clearMessages: 'delete /v1/conversations/{id}/messages',
      exportConversation: 'get /v1/conversations/{id}/export',
      previewWindow: 'get /v1/conversations/{id}/window',
      createTurn: 'post /v1/conversations/{id}/turns',
      retrieveTurn: 'get /v1/conversations/{id}/turns/{turn}',
      readTurnEvents: 'get /v1/conversations/{id}/turns/{turn}/events',
      cancelTurn: 'post /v1/conversations/{id}/turns/{turn}/cancel',
      regenerateTurn: 'post /v1/conversations/{id}/turns/{turn}/regenerate',
      chat: 'post /v1/chat',
      listLocks: 'get /v1/locks',
      retrieveLock: 'get /v1/locks/{name}',
      releaseLock: 'delete /v1/locks/{name}',
      getStatus: 'get /v1/status',
      getHealth: 'get /health',
      getReadiness: 'get /ready',
      getMetrics: 'get /metrics',
    });
  });

  it('refers only to what is there, and has no schema that nothing refers to', () => {
    const references = document.references();
    for (const reference of references) expect(document.resolve(reference)).not.toEqual({});
    const schemas = Object.keys(record(record(document.root['components'])['schemas']));
    const unused = schemas.filter((name) => !references.includes(`#/components/schemas/${name}`));
    expect(unused).toEqual([]);
  });

  it('tells of every operation what it is for, under tags that are described', () => {
    const tags = document.root['tags'] as { name: string; description: string }[];
    const described = tags.filter(({ description }) => description !== '').map(({ name }) => name);
    for (const { value } of document.operations()) {
      expect(value['summary']).toMatch(/\w/);
      expect(value['tags']).toHaveLength(1);
      expect(described).toEqual(expect.arrayContaining(value['tags'] as string[]));
    }
    expect(document.root['servers']).toEqual([expect.objectContaining({ url: '/' })]);
  });

  it('asks for an opaque key under /v1 and for none elsewhere', () => {
    expect(document.root['security']).toEqual([{ bearer: [] }]);
    const { bearer } = record(record(document.root['components'])['securitySchemes']);
    expect(bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(bearer).not.toHaveProperty('bearerFormat');
    for (const { path, value } of document.operations())
      expect([path, value['security']]).toEqual([path, path.startsWith('/v1/') ? undefined : []]);
  });

  it('gives every response a description, the request id, a schema, and examples that conform to it', () => {
    for (const operation of document.operations()) {
      expect(document.responses(operation).filter(([status]) => status.startsWith('2'))).toHaveLength(1);
      for (const [status, response] of document.responses(operation)) {
        const where = `${operation.path} ${status}`;
        expect([where, response['description']]).toEqual([where, expect.stringMatching(/\w/)]);
        expect(record(response['headers'])).toHaveProperty('x-request-id');
        const media = document.media(where, response);
        expect([where, media.length > 0]).toEqual([where, true]);
        for (const { type, schema, examples } of media) {
          expect([where, type, examples.length > 0]).toEqual([where, type, true]);
          for (const example of examples) expect([where, document.faults(schema, example)]).toEqual([where, []]);
        }
      }
    }
  });

  it('gives headers and parameters a schema that their examples conform to', () => {
    const components = record(document.root['components']);
    const parameters = document.operations().flatMap(({ value }) => (value['parameters'] ?? []) as unknown[]);
    for (const item of [...Object.values(record(components['headers'])), ...parameters]) {
      const { name, description, schema, example } = document.follow(item);
      expect([name, description]).toEqual([name, expect.stringMatching(/\w/)]);
      expect([name, schema]).toEqual([name, expect.objectContaining({ type: expect.any(String) })]);
      if (example !== undefined) expect([name, document.faults(schema, example)]).toEqual([name, []]);
    }
  });

  it('lists the errors of an operation by the status table, and leaves their codes open', () => {
    for (const operation of document.operations()) {
      for (const [status, response] of document.responses(operation)) {
        const json = record(record(response['content'])['application/json']);
        if (record(json['schema'])['$ref'] !== '#/components/schemas/Error' || status === 'default') continue;
        const codes = Object.keys(record(json['examples'])) as (keyof typeof STATUS_TABLE)[];
        expect([...new Set(codes.map((code) => STATUS_TABLE[code].status))]).toEqual([Number(status)]);
      }
    }
    const { code } = record(
      record(record(document.resolve('#/components/schemas/Error')['properties'])['error'])['properties'],
    );
    expect(code).toMatchObject({ type: 'string' });
    expect(code).not.toHaveProperty('enum');
    for (const known of Object.keys(STATUS_TABLE)) expect(record(code)['description']).toContain(`\`${known}\``);
  });
});

describe('the OpenAPI document of a chat completion', () => {
  it('has a dry run that is off unless it is asked for', () => {
    const parameters = document.operation('createChatCompletion').value['parameters'] as unknown[];
    const dryRun = parameters.map((given) => document.follow(given)).find(({ name }) => name === 'dryRun');
    expect(dryRun).toMatchObject({ in: 'query', required: false, schema: { type: 'boolean', default: false } });
  });

  it('knows every reason for a model that answers', () => {
    const { description } = record(document.resolve('#/components/headers/x-coordinator-route'));
    const reasons: readonly RouteReason[] = [
      'requested',
      'alias',
      'tier',
      'quota',
      'busy',
      'cooldown',
      'context',
      'error',
      'retired',
    ];
    for (const reason of reasons) expect(description).toContain(`\`${reason}\` (`);
  });

  it('has request examples that are accepted, conform to the schema, and are answered', async () => {
    const [media] = document.media('request', record(document.operation('createChatCompletion').value['requestBody']));
    expect(media?.examples.length).toBeGreaterThan(5);
    for (const example of media?.examples ?? []) {
      expect(document.faults(media?.schema, example)).toEqual([]);
      expect(parseChatRequest(example, JSON.stringify(example)).messages).toEqual(record(example)['messages']);
      const { stream, ...body } = record(example);
      const { status } = await rig.ask({ ...body, model: 'test-model', models: ['test-model'] });
      expect([status, typeof stream]).toEqual([200, stream === undefined ? 'undefined' : 'boolean']);
    }
  });

  it.each([
    { model: 5 },
    { model: '' },
    { models: [] },
    { models: [1] },
    { models: Array(17).fill('m') },
    { messages: [] },
    { messages: 'Hi' },
    { messages: ['Hi'] },
    { messages: [{ content: 'Hi' }] },
    { stream: 'yes' },
    { stream_options: [] },
    { max_tokens: 0 },
    { max_completion_tokens: 1.5 },
    { n: -1 },
    { cache: 'no' },
  ])('has a schema that refuses what is refused: %j', (fault) => {
    const body = { model: 'test-model', messages: [message], ...fault };
    expect(() => parseChatRequest(body, JSON.stringify(body))).toThrow();
    expect(document.faults({ $ref: '#/components/schemas/ChatCompletionRequest' }, body)).not.toEqual([]);
  });

  it('has a schema that takes nulls where they are taken, and members it does not know', () => {
    const names = ['models', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n', 'cache'];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    const body = { model: 'test-model', messages: [message], ...nulls, top_k: 40 };
    expect(parseChatRequest(body, JSON.stringify(body))).toMatchObject(nulls);
    expect(document.faults({ $ref: '#/components/schemas/ChatCompletionRequest' }, body)).toEqual([]);
  });

  it('has stream examples whose every event is a chunk, but for one that ends in an error', () => {
    const media = document.media('', document.response(document.operation('createChatCompletion'), 200) ?? {});
    const examples = media.find(({ type }) => type === 'text/event-stream')?.examples.map(String) ?? [];
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) {
      const events = dataOf(example);
      const isBroken = 'error' in (events.at(-1) ?? {});
      expect(example.endsWith('data: [DONE]\n\n')).toBe(!isBroken);
      const chunks = isBroken ? events.slice(0, -1) : events;
      for (const chunk of chunks)
        expect(document.faults({ $ref: '#/components/schemas/ChatCompletionChunk' }, chunk)).toEqual([]);
      if (isBroken) expect(document.faults({ $ref: '#/components/schemas/Error' }, events.at(-1))).toEqual([]);
    }
  });
});
