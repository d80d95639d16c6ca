import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { describeNamedErrors, errorResponseComponent, errorSchema } from './docs.errors.js';
import { DOCUMENTED_HEADERS, headerReferences } from './docs.headers.js';

type Components = NonNullable<OpenAPIObject['components']>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** A schema of the OpenAPI document. */
export type Schema = Exclude<NonNullable<Components['schemas']>[string], { $ref: string }>;

export interface DocsOptions {
  /** The product's version, as in package.json. */
  readonly version: string;
  /** Schemas that operations refer to by name, beside those made from classes. */
  readonly schemas?: Readonly<Record<string, Schema>>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const DESCRIPTION = `An OpenAI-compatible API in front of LLM providers: the official clients work with it as they are.

- Every answer carries \`x-request-id\`.
- Every failure has the one shape of the schema \`Error\`; its \`code\` says what happened, its headers whether and when to try again.
- Operations under \`/v1\` want a caller key as soon as callers are configured. The others want none.`;

const REQUEST_ID = {
  name: 'x-request-id',
  in: 'header',
  required: false,
  description:
    'Names the request in the answer, in the logs and towards the provider. What does not fit gets a new id.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  example: 'req-2f1c',
} as const;

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

/** The OpenAPI document of all controllers, with what holds for every operation. */
export function createDocument(app: NestFastifyApplication, options: DocsOptions): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, frame(options.version));
  for (const item of Object.values(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) complete(operation);
    }
  }
  const components = withCommonComponents(document.components ?? {}, options.schemas ?? {});
  return { ...document, components };
}

function frame(version: string): Omit<OpenAPIObject, 'paths'> {
  return new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('ai-api-coordinator')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc("OpenAI's reference of the wire format", 'https://platform.openai.com/docs/api-reference/chat')
    .addServer('/', 'The server that this document comes from')
    .addTag('chat', 'Completions by the models of the catalogue')
    .addTag('models', 'The catalogue: what can be asked for, at which price, until when')
    .addTag(
      'conversations',
      'Chats whose history is kept here: turns that never mix, are not lost, and fit their model',
    )
    .addTag('usage', 'What a caller has used, call by call and in sums, and what is left of its budgets')
    .addTag('locks', 'Who holds and who waits, on all pods; for operators: they want a key with the scope `admin`')
    .addTag('status', 'What is known of the providers; for operators: it wants a key with the scope `admin`')
    .addTag('operations', 'Probes and metrics; they want no key')
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      description: 'A caller key: an opaque text. While no callers are configured any key, or none, will do.',
    })
    .addSecurityRequirements('bearer')
    .build();
}

function complete(operation: Operation): void {
  describeNamedErrors(operation);
  operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/RequestId' }];
  for (const response of Object.values(operation.responses)) {
    if (response === undefined || '$ref' in response) continue;
    response.headers = { ...headerReferences(['x-request-id']), ...response.headers };
  }
  operation.responses.default ??= { $ref: '#/components/responses/Error' };
}

function withCommonComponents(components: Components, schemas: Readonly<Record<string, Schema>>): Components {
  return {
    ...components,
    schemas: { ...components.schemas, ...schemas, Error: errorSchema() },
    responses: { ...components.responses, Error: errorResponseComponent() },
    parameters: { ...components.parameters, RequestId: REQUEST_ID },
    headers: { ...components.headers, ...DOCUMENTED_HEADERS },
  };
}
