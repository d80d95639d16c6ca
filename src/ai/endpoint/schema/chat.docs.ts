import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiHeaders,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  ApiErrors,
  CALL_HEADERS,
  type DocumentedErrors,
  type DocumentedHeader,
  headerReferences,
  REPORT_HEADERS,
} from '../../../http/index.js';
import { COMPLETION_EXAMPLES, STREAM_EXAMPLES } from './completion.examples.js';
import { DRY_RUN_EXAMPLE } from './dry-run.schema.js';
import { oneOf } from './one-of.schema.js';
import { REQUEST_EXAMPLES } from './request.examples.js';

const DESCRIPTION = `To a provider that speaks OpenAI's format the body goes as it is, but for the model's name, this service's own members and \`stream_options\`; the answer comes back as it is, but for \`model\` and \`usage.cost\`. For Anthropic and Vertex AI both are translated; what they have no words for is refused by name with 422, unless another deployment can be told it.

A deployment that fails is tried again, then the model's other ones, then its fallbacks, all within one budget of attempts and one deadline. The \`x-coordinator-*\` headers say who answered, why and after how many attempts.

A request that says the same as an earlier one of the same caller's gets that one's answer, as long as its model keeps answers, at no cost; one that says the same as a call under way waits for its end, or reads along. \`user\`, \`metadata\`, the order of members and the way of delivery make no difference, everything else does. Only complete answers are kept. \`n\` above 1 and \`cache: false\` are passed by.

With \`stream: true\` the answer is a stream of server-sent events. Each \`data:\` line is a \`ChatCompletionChunk\`; \`data: [DONE]\` ends the stream. What fails before the first content is answered with its status; what fails later is an event with an \`Error\`, after which neither chunks nor \`[DONE]\` follow. Lines that begin with a colon keep the connection alive.`;

const { costUsd: COST, ...TOLD_ALWAYS } = REPORT_HEADERS;
const TOLD: readonly DocumentedHeader[] = Object.values(TOLD_ALWAYS);

const REQUEST_HEADERS = [
  {
    name: 'Idempotency-Key',
    required: false,
    description:
      "The request is answered once, however often it is sent with this key: a repeat waits for the call that is under way, or gets the same answer again. The key is the caller's own and is remembered for a day. Failures are not: then a repeat is a new call. A call with a key runs to its end also where its client leaves.",
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: 'order-4711-summary',
  },
  {
    name: 'Cache-Control',
    required: false,
    description:
      '`no-cache`: a call of its own, whose answer is kept. `no-store`: a call of its own, whose answer is not kept.',
    schema: { type: 'string' },
    example: 'no-cache',
  },
  {
    name: CALL_HEADERS.strict,
    required: false,
    description:
      '`true`: no model but those that the request names. Not a fallback where they fail, are left alone or are shut down, and not another one of the tier, but the error.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  {
    name: CALL_HEADERS.timeoutMs,
    required: false,
    description: "The time that this request has, ms; shorter than the server's own deadline, or that holds.",
    schema: { type: 'integer', minimum: 1 },
    example: 20_000,
  },
  {
    name: 'openai-beta',
    required: false,
    description: 'Goes to the provider.',
    schema: { type: 'string', maxLength: 256 },
  },
  {
    name: 'traceparent',
    required: false,
    description: 'W3C trace context; goes to the provider.',
    schema: { type: 'string', pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  {
    name: 'tracestate',
    required: false,
    description: 'W3C trace context; goes to the provider, together with `traceparent` only.',
    schema: { type: 'string', maxLength: 512 },
    example: 'vendor=value',
  },
];

const ERRORS: DocumentedErrors = {
  invalid_request: { message: 'messages must hold at least one message', param: 'messages' },
  context_length_exceeded: {
    message: "This model's maximum context length is 1047576 tokens.",
    param: 'messages',
  },
  model_not_allowed: { message: 'the model gpt-4.1 is not part of the tier free', param: 'model' },
  insufficient_scope: { message: 'this API key lacks the scope "chat"' },
  model_not_found: { message: 'the model "gpt-9" does not exist', param: 'model' },
  request_timeout: { message: 'the request took too long to arrive' },
  model_retired: {
    message: 'the model gpt-4.1 was shut down on 2027-01-14; its vendor names gpt-6-luna as successor',
    param: 'model',
  },
  request_too_large: { message: 'the request body is too large: the limit is 33554432 bytes' },
  unsupported_media_type: { message: 'the content-type must be application/json: it is missing' },
  idempotency_mismatch: {
    message: 'this Idempotency-Key was used for another request',
    param: 'Idempotency-Key',
  },
  unprocessable: { message: 'claude-sonnet-4.5 at anthropic: seed has no counterpart there', param: 'seed' },
  rate_limit_exceeded: { message: 'openai is at its rate limit' },
  insufficient_quota: { message: 'the quota bought from openai is used up' },
  upstream_error: { message: 'openai could not be reached' },
  upstream_auth: { message: "openai refused this service's credentials" },
  overloaded: { message: 'gpt-4.1 at openai has failed lately and is left alone for a while' },
  store_unavailable: { message: 'the store is not available now; try again later' },
  timeout: { message: 'the time this request had is over' },
};

/** Documents `POST /v1/chat/completions`. */
export function ChatCompletionDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createChatCompletion',
      summary: "OpenAI's chat completions, as JSON or as server-sent events",
      description: DESCRIPTION,
    }),
    ApiHeaders(REQUEST_HEADERS),
    ApiQuery({
      name: 'dryRun',
      required: false,
      description: '`true`: tells who would answer, with how many tokens and at what cost, and calls nobody.',
      schema: { type: 'boolean', default: false },
    }),
    ApiBody({
      description: 'An OpenAI chat completion request. Members not listed go to the provider untouched.',
      schema: { $ref: getSchemaPath('ChatCompletionRequest') },
      examples: REQUEST_EXAMPLES,
    }),
    CompletionAnswer(),
    // OpenAPI 3.0 has no words for what the events of a stream hold.
    ApiExtension('x-event-data', {
      oneOf: [{ $ref: getSchemaPath('ChatCompletionChunk') }, { $ref: getSchemaPath('Error') }],
    }),
    ApiErrors(ERRORS, TOLD),
  );
}

function CompletionAnswer(): MethodDecorator {
  return ApiOkResponse({
    description:
      'The completion; with `stream: true` as server-sent events. With `dryRun=true` what would become of it.',
    headers: headerReferences([...TOLD, COST, 'openai-processing-ms', 'openai-version']),
    content: {
      'application/json': {
        schema: oneOf('object', {
          'chat.completion': 'ChatCompletion',
          'chat.completion.dry_run': 'ChatCompletionDryRun',
        }),
        examples: { ...COMPLETION_EXAMPLES, dryRun: { summary: 'With `dryRun=true`', value: DRY_RUN_EXAMPLE } },
      },
      'text/event-stream': {
        schema: { type: 'string', description: 'Server-sent events; their data: `ChatCompletionChunk`, or `Error`.' },
        examples: STREAM_EXAMPLES,
      },
    },
  });
}
