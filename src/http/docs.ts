import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { STATUS_TABLE } from './status-table.js';

export interface DocsOptions {
  /** The product's version, as in package.json. */
  readonly version: string;
}

type Components = NonNullable<OpenAPIObject['components']>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const ERROR_RESPONSE = { $ref: '#/components/responses/Error' };
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/**
 * Serves the OpenAPI page at `/docs` and the document at `/docs-json`, from files of this machine only.
 * The document is built on the first request. Call it before `app.init()`.
 */
export function serveDocs(app: NestFastifyApplication, options: DocsOptions): void {
  SwaggerModule.setup('docs', app, () => createDocument(app, options), {
    customSiteTitle: 'ai-api-coordinator',
    raw: ['json'],
    swaggerOptions: { persistAuthorization: true },
  });
}

/** The OpenAPI document of all controllers, with the one error answer on every operation of `/v1`. */
export function createDocument(app: NestFastifyApplication, options: DocsOptions): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('ai-api-coordinator')
    .setDescription('An OpenAI-compatible API in front of LLM providers. Every answer carries `x-request-id`.')
    .setVersion(options.version)
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description: 'A caller key, or any text when no callers are configured.',
    })
    .addSecurityRequirements('bearer')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith('/v1/')) continue;
    for (const method of METHODS) withError(item[method]);
  }
  return { ...document, components: withErrorComponents(document.components ?? {}) };
}

function withError(operation: Operation | undefined): void {
  if (operation !== undefined) operation.responses.default ??= ERROR_RESPONSE;
}

function withErrorComponents(components: Components): Components {
  return {
    ...components,
    schemas: { ...components.schemas, Error: errorSchema() },
    responses: {
      ...components.responses,
      Error: {
        description: errorTable(),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function errorSchema(): NonNullable<Components['schemas']>[string] {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'param', 'code'],
        properties: {
          message: { type: 'string', example: 'temperature must not be greater than 2' },
          type: { type: 'string', enum: [...new Set(Object.values(STATUS_TABLE).map((row) => row.type))] },
          param: {
            type: 'string',
            nullable: true,
            example: 'temperature',
            description: 'The request member at fault.',
          },
          code: { type: 'string', nullable: true, enum: Object.keys(STATUS_TABLE), example: 'invalid_request' },
        },
      },
    },
  };
}

function errorTable(): string {
  const codesByStatus = new Map<number, string[]>();
  for (const [code, row] of Object.entries(STATUS_TABLE)) {
    codesByStatus.set(row.status, [...(codesByStatus.get(row.status) ?? []), code]);
  }
  const lines = [...codesByStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => `- ${String(status)}: ${codes.join(', ')}`);
  return [
    'Every failure has this shape. `Retry-After` and `retry-after-ms` say when to try again, `x-should-retry` whether. The codes:',
    '',
    ...lines,
  ].join('\n');
}
