import { type ArgumentMetadata, type PipeTransform, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { ApiError } from './api-error.js';

const MAX_LISTED_FAULTS = 10;

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** Of class-validator, for a member that a DTO doesn't know. */
const UNKNOWN_MEMBER = 'whitelistValidation';

/**
 * Validates and transforms every DTO that a controller takes. A fault becomes a 400 in OpenAI's shape: `param` is the path of
 * the first one, the message lists them. A query parameter that its DTO doesn't know is a fault: a misspelt filter would mean
 * everything. Members of a body that a DTO doesn't know are left as they are.
 */
export function createValidationPipe(): PipeTransform<unknown, Promise<unknown>> {
  const rules: ValidationPipeOptions = { transform: true, exceptionFactory: validationError };
  const ofQueries = new ValidationPipe({ ...rules, whitelist: true, forbidNonWhitelisted: true });
  const ofOthers = new ValidationPipe(rules);
  return {
    transform: (value: unknown, metadata: ArgumentMetadata): Promise<unknown> =>
      (metadata.type === 'query' ? ofQueries : ofOthers).transform(value, metadata),
  };
}

/** What class-validator found, as an answer: `messages[0].role: role must be a string`. */
export function validationError(errors: readonly ValidationError[]): ApiError {
  const faults = errors.flatMap((error) => faultsOf(error, ''));
  const [first] = faults;
  if (first === undefined) return new ApiError('invalid_request', 'the request is not valid');
  const listed = faults.slice(0, MAX_LISTED_FAULTS).map((fault) => `${fault.path}: ${fault.message}`);
  const left = faults.length - listed.length;
  const message = left > 0 ? [...listed, `and ${String(left)} more`] : listed;
  return new ApiError('invalid_request', message.join('; '), { param: first.path });
}

function faultsOf(error: ValidationError, parent: string): readonly Fault[] {
  const path = childPath(parent, error.property);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    path,
    message: rule === UNKNOWN_MEMBER ? 'there is no such parameter' : message,
  }));
  const nested = (error.children ?? []).flatMap((child) => faultsOf(child, path));
  return [...own, ...nested];
}

function childPath(parent: string, property: string): string {
  if (/^\d+$/.test(property)) return `${parent}[${property}]`;
  return parent === '' ? property : `${parent}.${property}`;
}
