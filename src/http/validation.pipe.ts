import {
  type ArgumentMetadata,
  type PipeTransform,
  type Type,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { validate, type ValidationError } from 'class-validator';
import { ApiError } from './api-error.js';
import { readBody, withHidden } from './body.members.js';
import { ClosedBody } from './closed-body.decorator.js';

const MAX_LISTED_FAULTS = 10;

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** Of class-validator, for a member that a DTO doesn't know. */
const UNKNOWN_MEMBER = 'whitelistValidation';

/** They say nothing of what a body holds. */
const WITHOUT_MEMBERS: readonly unknown[] = [Object, Array, String, Number, Boolean];

/**
 * Validates and transforms every DTO that a controller takes. A fault becomes a 400 in OpenAI's shape: `param` is the path of
 * the first one, the message lists them. A query parameter that its DTO doesn't know is a fault: a misspelt filter would mean
 * everything. Members of a body that a DTO doesn't know are left as they are, unless it is a `ClosedBody()`.
 */
export function createValidationPipe(): PipeTransform<unknown, Promise<unknown>> {
  const rules: ValidationPipeOptions = { transform: true, exceptionFactory: validationError };
  const ofQueries = new ValidationPipe({ ...rules, whitelist: true, forbidNonWhitelisted: true });
  const ofOthers = new ValidationPipe(rules);
  return {
    transform: (value: unknown, metadata: ArgumentMetadata): Promise<unknown> => {
      const { type, metatype } = metadata;
      if (type === 'body' && isDto(metatype) && isJsonObject(value)) return validBody(metatype, value);
      return (type === 'query' ? ofQueries : ofOthers).transform(value, metadata);
    },
  };
}

/** @throws ApiError invalid_request */
async function validBody(metatype: Type<object>, value: object): Promise<object> {
  const body = readBody(metatype, value);
  const isClosed = new Reflector().get(ClosedBody, metatype);
  const errors = await validate(body.dto, {
    whitelist: isClosed,
    forbidNonWhitelisted: isClosed,
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  const unknown = isClosed ? body.hidden.map(unknownMember) : [];
  if (errors.length + unknown.length > 0) throw validationError([...errors, ...unknown]);
  return withHidden(body, value);
}

function unknownMember(property: string): ValidationError {
  return { property, constraints: { [UNKNOWN_MEMBER]: '' }, children: [] };
}

function isDto(metatype: ArgumentMetadata['metatype']): metatype is Type<object> {
  return metatype !== undefined && !WITHOUT_MEMBERS.includes(metatype);
}

function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What class-validator found, as an answer: `messages[0].role: role must be a string`. */
export function validationError(errors: readonly ValidationError[]): ApiError {
  const faults = errors.flatMap((error) => faultsOf(error, ''));
  const [first] = faults;
  if (first === undefined) return new ApiError('invalid_request', 'the request is not valid');
  const told = [...new Set(faults.map((fault) => `${fault.path}: ${fault.message}`))];
  const listed = told.slice(0, MAX_LISTED_FAULTS);
  const left = told.length - listed.length;
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
