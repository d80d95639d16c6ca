import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';

/** A DTO made of a body. */
export interface ReadBody {
  /** With all members but the hidden ones; to be validated. */
  readonly dto: object;
  /** Names that every object has (`constructor`, `toString`, …): no rule is about them, and some would mislead those that check. */
  readonly hidden: readonly string[];
}

/**
 * Makes a DTO of a JSON object. Members with a `@Type()` are transformed, all others are the body's own values: class-transformer
 * leaves out what is called like a member of every object, at any depth, and a schema or a text may well speak of a `constructor`.
 */
export function readBody(metatype: Type<object>, body: object): ReadBody {
  const names = Object.keys(body);
  const isHidden = (name: string): boolean => name in Object.prototype;
  const shown = names.filter((name) => !isHidden(name));
  // What becomes of an empty object tells which members have a type.
  const probe = plainToInstance(metatype, Object.fromEntries(shown.map((name) => [name, {}])));
  const typed = shown.filter((name) => !isPlain(Reflect.get(probe, name)));
  const given = Object.fromEntries(typed.map((name): [string, unknown] => [name, Reflect.get(body, name)]));
  const dto = plainToInstance(metatype, withoutHidden(given));
  for (const name of shown) if (!typed.includes(name)) define(dto, name, Reflect.get(body, name));
  return { dto, hidden: names.filter(isHidden) };
}

/** The whole body, its hidden members included, each an own property: nobody's prototype is touched. */
export function withHidden({ dto, hidden }: ReadBody, body: object): object {
  for (const name of hidden) define(dto, name, Object.getOwnPropertyDescriptor(body, name)?.value);
  return dto;
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

/** class-transformer would take a member called `constructor` for the class to be made. */
function withoutHidden(given: object): object {
  const read: unknown = JSON.parse(JSON.stringify(given), (name: string, value: unknown) =>
    name in Object.prototype ? undefined : value,
  );
  return Object(read) as object;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
