import type { FuzzAnswer, FuzzOutcome } from './http-fuzz.client.js';
import type { FuzzRequest } from './http-fuzz.requests.js';

const SANE_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Of which a 5xx is meant: the caller's own limit was too short, or its version of HTTP is none of ours. */
const DELIBERATE = new Map([
  [504, 'timeout'],
  [505, 'http_version_unknown'],
]);

/** What is wrong with an answer; undefined: nothing. */
export function faultOf(request: FuzzRequest, outcome: FuzzOutcome): string | undefined {
  if ('failure' in outcome) return outcome.failure;
  return (
    headerFault(request, outcome) ?? (outcome.status >= 400 ? refusalFault(request, outcome) : successFault(outcome))
  );
}

function headerFault(request: FuzzRequest, { headers, status }: FuzzAnswer): string | undefined {
  const id = headers['x-request-id'];
  if (typeof id !== 'string' || !SANE_ID.test(id)) return `no sane x-request-id, but ${String(id)}`;
  if (!isAnswerTo(request, id)) return 'another x-request-id than was given';
  if (headers['x-content-type-options'] !== 'nosniff') return 'no nosniff';
  if (headers['content-security-policy'] === undefined) return 'no content-security-policy';
  return status >= 200 && status < 600 ? undefined : `status ${String(status)}`;
}

function isAnswerTo(request: FuzzRequest, id: string): boolean {
  const given = request.kind === 'message' ? request.headers['x-request-id'] : undefined;
  return typeof given !== 'string' || !SANE_ID.test(given) || given === id;
}

function refusalFault(request: FuzzRequest, answer: FuzzAnswer): string | undefined {
  const { status, headers, body } = answer;
  if (isHead(request) && body === '') return status < 500 ? undefined : `status ${String(status)}`;
  if (headers['content-type']?.startsWith('application/json') !== true)
    return `an error of type ${String(headers['content-type'])}`;
  const error = errorIn(body);
  if (error === undefined) return `an error in another shape: ${body.slice(0, 200)}`;
  return status < 500 || isDeliberate(request, status, error.code)
    ? undefined
    : `status ${String(status)}: ${body.slice(0, 200)}`;
}

function successFault({ status, headers, body }: FuzzAnswer): string | undefined {
  if (status === 204 || status === 304 || body === '') return undefined;
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  return isJson && parsed(body) === undefined ? `not JSON: ${body.slice(0, 200)}` : undefined;
}

function isHead(request: FuzzRequest): boolean {
  return request.kind === 'message' && request.method === 'HEAD';
}

/** HTTP of another version can only be raw bytes. */
function isDeliberate(request: FuzzRequest, status: number, code: string | null): boolean {
  return DELIBERATE.get(status) === code && (status === 504 ? isHurried(request) : request.kind === 'raw');
}

/** Also what a batch or a stream is cut short by. */
function isHurried(request: FuzzRequest): boolean {
  return request.kind === 'message' && request.headers['x-coordinator-timeout-ms'] !== undefined;
}

/** OpenAI's error object. */
function errorIn(body: string): { readonly code: string | null } | undefined {
  const value = parsed(body);
  const error: unknown = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
  if (typeof error !== 'object' || error === null) return undefined;
  const members = new Map<string, unknown>(Object.entries(error));
  const code = members.get('code');
  const isShape = isText(members.get('message')) && isText(members.get('type')) && isTextOrNull(members.get('param'));
  return isShape && isTextOrNull(code) ? { code } : undefined;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Said by its absence.
    return undefined;
  }
}
